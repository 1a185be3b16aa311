// RUN: autopar-opt %s --autopar-insert-collectives > %t
// RUN: FileCheck %s --implicit-check-not=parallel.reshard < %t
// RUN: autopar-opt %t --autopar-insert-collectives | diff - %t

!whole = tensor<64x64xbf16>
!rows = tensor<64x64xbf16, #parallel.sharding<[_ by tp, _]>>
!columns = tensor<64x64xbf16, #parallel.sharding<[_, _ by tp]>>
!sum = tensor<64x64xbf16, #parallel.sharding<[_, _] partial [tp]>>

parallel.mesh(dp = 2, tp = 4)

// CHECK-LABEL: func @same_layout
func.func @same_layout(%x: !rows) -> !rows {
  // CHECK-NEXT: return %arg0
  %y = parallel.reshard %x : !rows -> !rows
  return %y : !rows
}

// CHECK-LABEL: func @partial_to_whole
func.func @partial_to_whole(%x: !sum) -> !whole {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_reduce %arg0 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !sum -> !whole
  return %y : !whole
}

// CHECK-LABEL: func @split_to_whole
func.func @split_to_whole(%x: !columns) -> !whole {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_gather %arg0 dim 1 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !columns -> !whole
  return %y : !whole
}

// CHECK-LABEL: func @whole_to_split
func.func @whole_to_split(%x: !whole) -> !columns {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_slice %arg0 dim 1 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !whole -> !columns
  return %y : !columns
}

// CHECK-LABEL: func @partial_to_split
func.func @partial_to_split(%x: !sum) -> !columns {
  // CHECK-NEXT: %[[Y:.*]] = parallel.reduce_scatter %arg0 dim 1 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !sum -> !columns
  return %y : !columns
}

// CHECK-LABEL: func @split_to_split
func.func @split_to_split(%x: !columns) -> !rows {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_to_all %arg0 dim 1 to 0 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !columns -> !rows
  return %y : !rows
}

!by_both = tensor<64x64xbf16, #parallel.sharding<[_ by dp*tp, _]>>
!by_dp = tensor<64x64xbf16, #parallel.sharding<[_ by dp, _]>>
!by_both_swapped = tensor<64x64xbf16, #parallel.sharding<[_ by tp*dp, _]>>

// CHECK-LABEL: func @minor_axis_only
func.func @minor_axis_only(%x: !by_both) -> !by_dp {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_gather %arg0 dim 0 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !by_both -> !by_dp
  return %y : !by_dp
}

// CHECK-LABEL: func @another_order_of_axes
func.func @another_order_of_axes(%x: !by_both) -> !by_both_swapped {
  // CHECK-NEXT: %[[Y:.*]] = parallel.permute %arg0 over [dp, tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !by_both -> !by_both_swapped
  return %y : !by_both_swapped
}

!both_sums = tensor<64x64xbf16, #parallel.sharding<[_, _] partial [dp, tp]>>
!dp_sum = tensor<64x64xbf16, #parallel.sharding<[_, _] partial [dp]>>

// CHECK-LABEL: func @one_reduction_over_two_axes
func.func @one_reduction_over_two_axes(%x: !both_sums) -> !whole {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_reduce %arg0 over [dp, tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !both_sums -> !whole
  return %y : !whole
}

// CHECK-LABEL: func @sum_stays_partial_over_the_other_axis
func.func @sum_stays_partial_over_the_other_axis(%x: !both_sums) -> !dp_sum {
  // CHECK-NEXT: %[[Y:.*]] = parallel.all_reduce %arg0 over [tp]
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x : !both_sums -> !dp_sum
  return %y : !dp_sum
}

// CHECK-LABEL: func @partial_and_split_to_whole
func.func @partial_and_split_to_whole(
    %x: tensor<64x64xbf16, #parallel.sharding<[_ by dp, _] partial [tp]>>) -> !whole {
  // CHECK-NEXT: %[[SUM:.*]] = parallel.all_reduce %arg0 over [tp]
  // CHECK-NEXT: parallel.all_gather %[[SUM]] dim 0 over [dp]
  %y = parallel.reshard %x
      : tensor<64x64xbf16, #parallel.sharding<[_ by dp, _] partial [tp]>> -> !whole
  return %y : !whole
}

// CHECK-LABEL: func @sums_in_another_order
func.func @sums_in_another_order(%x: !both_sums)
    -> tensor<64x64xbf16, #parallel.sharding<[_, _] partial [tp, dp]>> {
  // CHECK-NEXT: %[[Y:.*]] = parallel.permute %arg0 over [] : !w64_64_sum_dp_tp -> !w64_64_sum_tp_dp
  // CHECK-NEXT: return %[[Y]]
  %y = parallel.reshard %x
      : !both_sums -> tensor<64x64xbf16, #parallel.sharding<[_, _] partial [tp, dp]>>
  return %y : tensor<64x64xbf16, #parallel.sharding<[_, _] partial [tp, dp]>>
}

!padded = tensor<?x1000xbf16, #parallel.sharding<[batch, _ by tp pad 64]>>
!named = tensor<?x1000xbf16, #transformer.dims<[batch, _]>>

// CHECK-LABEL: func @named_dimension_to_whole
func.func @named_dimension_to_whole(%x: !padded) -> !named {
  // CHECK-NEXT: parallel.all_gather %arg0 dim 1 over [tp] : !b_1000tp_pad64_bf -> !b_1000_bf
  %y = parallel.reshard %x : !padded -> !named
  return %y : !named
}

// CHECK-LABEL: func @named_dimension_to_split
func.func @named_dimension_to_split(%x: !named) -> !padded {
  // CHECK-NEXT: parallel.all_slice %arg0 dim 1 over [tp] : !b_1000_bf -> !b_1000tp_pad64_bf
  %y = parallel.reshard %x : !named -> !padded
  return %y : !padded
}

// CHECK-LABEL: func @gather_that_is_sliced_at_once
func.func @gather_that_is_sliced_at_once(%x: !padded) -> !padded {
  // CHECK-NEXT: return %arg0
  %all = parallel.reshard %x : !padded -> !named
  %y = parallel.reshard %all : !named -> !padded
  return %y : !padded
}

// CHECK-LABEL: func @in_a_repeat
func.func @in_a_repeat(%x0: !whole) -> !whole {
  // CHECK: transformer.repeat
  // CHECK-NEXT: parallel.all_slice
  // CHECK-NEXT: parallel.all_gather
  %x1 = transformer.repeat 2 (%x = %x0) : !whole {
    %part = parallel.reshard %x : !whole -> !rows
    %y = parallel.reshard %part : !rows -> !whole
    transformer.yield %y : !whole
  }
  return %x1 : !whole
}
