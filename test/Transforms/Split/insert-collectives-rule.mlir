// RUN: autopar-opt %s --autopar-insert-collectives | FileCheck %s --implicit-check-not=parallel.reshard

parallel.mesh(dp = 2, tp = 4)

// A split that changes its rule begins anew.
// CHECK-LABEL: func @another_rule
func.func @another_rule(%x: tensor<8xbf16, #parallel.sharding<[_ by tp]>>) -> tensor<8xbf16, #parallel.sharding<[_ by tp cap]>> {
  // CHECK-NEXT: %[[ALL:.*]] = parallel.all_gather %arg0 dim 0 over [tp] : !w8tp_bf -> tensor<8xbf16>
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_slice %[[ALL]] dim 0 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : tensor<8xbf16, #parallel.sharding<[_ by tp]>> -> tensor<8xbf16, #parallel.sharding<[_ by tp cap]>>
  return %y : tensor<8xbf16, #parallel.sharding<[_ by tp cap]>>
}

// Some axes remain, by the operand's rule.
// CHECK-LABEL: func @capped_axes_that_remain
func.func @capped_axes_that_remain(%x: tensor<8xbf16, #parallel.sharding<[_ by dp*tp cap]>>) -> tensor<8xbf16, #parallel.sharding<[_ by dp cap]>> {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_gather %arg0 dim 0 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : tensor<8xbf16, #parallel.sharding<[_ by dp*tp cap]>> -> tensor<8xbf16, #parallel.sharding<[_ by dp cap]>>
  return %y : tensor<8xbf16, #parallel.sharding<[_ by dp cap]>>
}

// A cap of 8 holds for dp*tp and for tp*dp, but not for each number between.
// CHECK-LABEL: func @capped_axes_that_change_places
func.func @capped_axes_that_change_places(%x: tensor<8x8xbf16, #parallel.sharding<[_ by dp cap, _ by tp cap]>>) -> tensor<8x8xbf16, #parallel.sharding<[_ by tp cap, _ by dp cap]>> {
  // CHECK-NOT: dp*tp
  // CHECK-NOT: tp*dp
  // CHECK: return
  %y = parallel.reshard %x : tensor<8x8xbf16, #parallel.sharding<[_ by dp cap, _ by tp cap]>> -> tensor<8x8xbf16, #parallel.sharding<[_ by tp cap, _ by dp cap]>>
  return %y : tensor<8x8xbf16, #parallel.sharding<[_ by tp cap, _ by dp cap]>>
}

// Appended axes take the rule of the goal.
// CHECK-LABEL: func @columns_to_padded_rows
func.func @columns_to_padded_rows(%x: tensor<100x64xbf16, #parallel.sharding<[_, _ by tp]>>) -> tensor<100x64xbf16, #parallel.sharding<[_ by tp pad 16, _]>> {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_to_all %arg0 dim 1 to 0 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : tensor<100x64xbf16, #parallel.sharding<[_, _ by tp]>> -> tensor<100x64xbf16, #parallel.sharding<[_ by tp pad 16, _]>>
  return %y : tensor<100x64xbf16, #parallel.sharding<[_ by tp pad 16, _]>>
}

// Symbols may be split unevenly: on the way the queries are split by both axes,
// which a number could not.
// CHECK-LABEL: func @through_queries_of_both_axes
func.func @through_queries_of_both_axes(
    %x: tensor<?x?xbf16, #parallel.sharding<[batch by dp*tp, query]>>)
    -> tensor<?x?xbf16, #parallel.sharding<[batch by tp, query by dp]>> {
  // CHECK-NEXT: %[[MOVED:.*]] = parallel.all_to_all %arg0 dim 0 to 1 over [dp, tp]
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_to_all %[[MOVED]] dim 1 to 0 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x
      : tensor<?x?xbf16, #parallel.sharding<[batch by dp*tp, query]>>
      -> tensor<?x?xbf16, #parallel.sharding<[batch by tp, query by dp]>>
  return %y : tensor<?x?xbf16, #parallel.sharding<[batch by tp, query by dp]>>
}
