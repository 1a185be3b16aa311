// RUN: %roundtrip %s | FileCheck %s

!split = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
!rows = tensor<4x64xbf16, #parallel.sharding<[_ by tp, _]>>
!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
!whole = tensor<4x64xbf16>

// CHECK: parallel.mesh(dp = 2, tp = 4)
parallel.mesh(dp = 2, tp = 4)

// CHECK-LABEL: module @mesh_of_open_size
module @mesh_of_open_size {
  // CHECK-NEXT: parallel.mesh(pp = 4, tp = ?)
  parallel.mesh(pp = 4, tp = ?)
}

// CHECK-LABEL: module @mesh_with_degrees
module @mesh_with_degrees {
  // CHECK-NEXT: parallel.mesh(dpo = 2, dpi = 8, tp = ?) {dp = dpo*dpi, ep = dpi*tp}
  parallel.mesh(dpo = 2, dpi = 8, tp = ?) {dp = dpo*dpi, ep = dpi*tp}
}

// CHECK-LABEL: module @mesh_without_axes
module @mesh_without_axes {
  // CHECK-NEXT: parallel.mesh()
  parallel.mesh()
}

// CHECK-LABEL: func @reshard
func.func @reshard(%x: !sum) -> !split {
  // CHECK: parallel.reshard %arg0 : !w4_64_sum_tp -> !w4_64tp_bf
  %y = parallel.reshard %x : !sum -> !split
  return %y : !split
}

// CHECK-LABEL: func @all_reduce
func.func @all_reduce(%x: !sum) {
  // CHECK: parallel.all_reduce %arg0 over [tp] : !w4_64_sum_tp -> tensor<4x64xbf16>
  %y = parallel.all_reduce %x over [tp] : !sum -> !whole
  return
}

// CHECK-LABEL: func @all_reduce_over_one_of_two_axes
func.func @all_reduce_over_one_of_two_axes(
    %x: tensor<64xbf16, #parallel.sharding<[_] partial [dp, tp]>>) {
  // CHECK: parallel.all_reduce %arg0 over [dp] : !w64_sum_dp_tp -> !w64_sum_tp
  %y = parallel.all_reduce %x over [dp]
      : tensor<64xbf16, #parallel.sharding<[_] partial [dp, tp]>>
      -> tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>
  return
}

// CHECK-LABEL: func @all_gather
func.func @all_gather(%x: !split) {
  // CHECK: parallel.all_gather %arg0 dim 1 over [tp] : !w4_64tp_bf -> tensor<4x64xbf16>
  %y = parallel.all_gather %x dim 1 over [tp] : !split -> !whole
  return
}

// CHECK-LABEL: func @all_gather_over_the_minor_axis
func.func @all_gather_over_the_minor_axis(
    %x: tensor<64xbf16, #parallel.sharding<[_ by dp*tp]>>) {
  // CHECK: parallel.all_gather %arg0 dim 0 over [tp] : !w64dptp_bf -> !w64dp_bf
  %y = parallel.all_gather %x dim 0 over [tp]
      : tensor<64xbf16, #parallel.sharding<[_ by dp*tp]>>
      -> tensor<64xbf16, #parallel.sharding<[_ by dp]>>
  return
}

// CHECK-LABEL: func @all_gather_of_a_set_over_any_axis
func.func @all_gather_of_a_set_over_any_axis(
    %x: tensor<?x8xbf16, #parallel.sharding<[{batch*query*2} by [batch by dp, query by tp], _]>>) {
  // CHECK: parallel.all_gather %arg0 dim 0 over [dp] : !bq2dptp_8_bf -> !bq2tp_8_bf
  %y = parallel.all_gather %x dim 0 over [dp]
      : tensor<?x8xbf16, #parallel.sharding<[{batch*query*2} by [batch by dp, query by tp], _]>>
      -> tensor<?x8xbf16, #parallel.sharding<[{batch*query*2} by {tp} of [batch by dp, query by tp], _]>>
  return
}

// CHECK-LABEL: func @reduce_scatter
func.func @reduce_scatter(%x: !sum) {
  // CHECK: parallel.reduce_scatter %arg0 dim 1 over [tp] : !w4_64_sum_tp -> !w4_64tp_bf
  %y = parallel.reduce_scatter %x dim 1 over [tp] : !sum -> !split
  return
}

// CHECK-LABEL: func @all_to_all
func.func @all_to_all(%x: !split) {
  // CHECK: parallel.all_to_all %arg0 dim 1 to 0 over [tp] : !w4_64tp_bf -> !w4tp_64_bf
  %y = parallel.all_to_all %x dim 1 to 0 over [tp] : !split -> !rows
  return
}

// CHECK-LABEL: func @all_slice
func.func @all_slice(%x: !whole) {
  // CHECK: parallel.all_slice %arg0 dim 1 over [tp] : tensor<4x64xbf16> -> !w4_64tp_bf
  %y = parallel.all_slice %x dim 1 over [tp] : !whole -> !split
  return
}

// CHECK-LABEL: func @all_to_all_out_of_a_set_in_any_order
func.func @all_to_all_out_of_a_set_in_any_order(
    %x: tensor<?x8xbf16, #parallel.sharding<[{batch*query*2} by [batch by dp, query by tp], _]>>) {
  // CHECK: parallel.all_to_all %arg0 dim 0 to 1 over [tp, dp] : !bq2dptp_8_bf -> !bq2_8tpdp_bf
  %y = parallel.all_to_all %x dim 0 to 1 over [tp, dp]
      : tensor<?x8xbf16, #parallel.sharding<[{batch*query*2} by [batch by dp, query by tp], _]>>
      -> tensor<?x8xbf16, #parallel.sharding<[{batch*query*2}, _ by tp*dp]>>
  return
}

// CHECK-LABEL: func @all_to_all_into_a_set_in_another_order
func.func @all_to_all_into_a_set_in_another_order(
    %x: tensor<?x8xbf16, #parallel.sharding<[{batch*query*2} by {tp} of [batch by dp, query by tp], _ by dp]>>) {
  // CHECK: parallel.all_to_all %arg0 dim 1 to 0 over [dp] : !bq2tp_8dp_bf -> !bq2dptp_8_bf
  %y = parallel.all_to_all %x dim 1 to 0 over [dp]
      : tensor<?x8xbf16, #parallel.sharding<[{batch*query*2} by {tp} of [batch by dp, query by tp], _ by dp]>>
      -> tensor<?x8xbf16, #parallel.sharding<[{batch*query*2} by [batch by dp, query by tp], _]>>
  return
}

// CHECK-LABEL: func @permute
func.func @permute(%x: tensor<8x64xbf16, #parallel.sharding<[_ by dp*tp, _]>>) {
  // CHECK: parallel.permute %arg0 over [dp, tp] : !w8dptp_64_bf -> !w8tpdp_64_bf
  %y = parallel.permute %x over [dp, tp]
      : tensor<8x64xbf16, #parallel.sharding<[_ by dp*tp, _]>>
      -> tensor<8x64xbf16, #parallel.sharding<[_ by tp*dp, _]>>
  return
}

// CHECK-LABEL: func @permute_of_sums_in_another_order
func.func @permute_of_sums_in_another_order(
    %x: tensor<64xbf16, #parallel.sharding<[_] partial [dp, tp]>>) {
  // CHECK: parallel.permute %arg0 over [] : !w64_sum_dp_tp -> !w64_sum_tp_dp
  %y = parallel.permute %x over []
      : tensor<64xbf16, #parallel.sharding<[_] partial [dp, tp]>>
      -> tensor<64xbf16, #parallel.sharding<[_] partial [tp, dp]>>
  return
}

// CHECK-LABEL: module @permute_of_the_middle
module @permute_of_the_middle {
  parallel.mesh(a = 2, b = 3, c = 2, d = 2)
  // CHECK: func @order
  func.func @order(%x: tensor<24xbf16, #parallel.sharding<[_ by a*b*c*d]>>) {
    // CHECK: parallel.permute %arg0 over [b, c] : !w24abcd_bf -> !w24acbd_bf
    %y = parallel.permute %x over [b, c]
        : tensor<24xbf16, #parallel.sharding<[_ by a*b*c*d]>>
        -> tensor<24xbf16, #parallel.sharding<[_ by a*c*b*d]>>
    return
  }
}

// CHECK-LABEL: func @all_slice_by_the_rule_of_its_result
func.func @all_slice_by_the_rule_of_its_result(%x: tensor<1000xbf16>) {
  // CHECK: parallel.all_slice %arg0 dim 0 over [tp] : tensor<1000xbf16> -> !w1000tp_pad64_bf
  %y = parallel.all_slice %x dim 0 over [tp]
      : tensor<1000xbf16> -> tensor<1000xbf16, #parallel.sharding<[_ by tp pad 64]>>
  return
}

// CHECK-LABEL: func @names_of_results
func.func @names_of_results(%s: !sum, %x: !split, %w: !whole) {
  // CHECK: %resharded = parallel.reshard
  %0 = parallel.reshard %s : !sum -> !split
  // CHECK: %sum = parallel.all_reduce
  %1 = parallel.all_reduce %s over [tp] : !sum -> !whole
  // CHECK: %gathered = parallel.all_gather
  %2 = parallel.all_gather %x dim 1 over [tp] : !split -> !whole
  // CHECK: %part = parallel.reduce_scatter
  %3 = parallel.reduce_scatter %s dim 1 over [tp] : !sum -> !split
  // CHECK: %exchanged = parallel.all_to_all
  %4 = parallel.all_to_all %x dim 1 to 0 over [tp] : !split -> !rows
  // CHECK: %slice = parallel.all_slice
  %5 = parallel.all_slice %w dim 1 over [tp] : !whole -> !split
  // CHECK: %permuted = parallel.permute
  %6 = parallel.permute %x over [] : !split -> !split
  return
}

// CHECK-LABEL: module @experts_in_order
module @experts_in_order {
  parallel.mesh(dpi = 2, tp = ?)
  // CHECK: parallel.expert_placement over [dpi, tp] policy block {redundant = 2 : i64}
  parallel.expert_placement over [dpi, tp] policy block {redundant = 2}
}

// CHECK-LABEL: module @experts_by_loads
module @experts_by_loads {
  parallel.mesh(ep = 2)
  // CHECK: parallel.expert_placement over [ep] policy balanced layers [3, 4]
  // CHECK-SAME: slots dense<{{\[\[}}0, 1, 0, 2], [2, 1, 0, 1]]> : tensor<2x4xi32>
  // CHECK-SAME: loads dense<{{[^>]*}}> : tensor<2x3xf64>
  // CHECK-SAME: node_sends dense<{{[^>]*}}> : tensor<2x3xf64>
  // CHECK-SAME: {groups = 3 : i64, groups_in_node, loads_from = "a.csv", redundant = 1 : i64, tolerance = 0.000000e+00 : f64, trace_from = "b.csv"}
  parallel.expert_placement over [ep] policy balanced layers [3, 4]
      slots dense<[[0, 1, 0, 2], [2, 1, 0, 1]]> : tensor<2x4xi32>
      loads dense<[[6.0, 2.0, 1.0], [0.0, 0.0, 0.0]]> : tensor<2x3xf64>
      node_sends dense<[[8.0, 1.0, 2.5], [0.0, 0.0, 0.0]]> : tensor<2x3xf64>
      {redundant = 1, groups = 3, groups_in_node, tolerance = 0.0, loads_from = "a.csv", trace_from = "b.csv"}
}

!part = tensor<?x64xbf16, #parallel.sharding<[context by tp, _]>>
!turning = tensor<?x64xbf16, #parallel.sharding<[context by tp ring, _]>>

// CHECK-LABEL: func @ring
func.func @ring(%x: !part) {
  // CHECK: parallel.ring %arg0 dim 0 over [tp] : {{.*}} -> {{.*}}
  %y = parallel.ring %x dim 0 over [tp] : !part -> !turning
  return
}

// CHECK-LABEL: func @ring_reduce
func.func @ring_reduce(%x: !turning) {
  // CHECK: parallel.ring_reduce %arg0 dim 0 over [tp] : {{.*}} -> {{.*}}
  %y = parallel.ring_reduce %x dim 0 over [tp] : !turning -> !part
  return
}

// CHECK-LABEL: module @experts_in_resources
module @experts_in_resources {
  parallel.mesh(ep = 2)
  // CHECK: slots dense_resource<some_slots> : tensor<1x2xi32>
  parallel.expert_placement over [ep] policy round_robin layers [0]
      slots dense_resource<some_slots> : tensor<1x2xi32>
      loads dense<1.0> : tensor<1x2xf64>
}

// CHECK: some_slots: "0x040000000100000000000000"
{-#
  dialect_resources: {
    builtin: {
      some_slots: "0x040000000100000000000000"
    }
  }
#-}
