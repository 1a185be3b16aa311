// RUN: autopar-opt %s --canonicalize | FileCheck %s

!split = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
!rows = tensor<4x64xbf16, #parallel.sharding<[_ by tp, _]>>
!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
!whole = tensor<4x64xbf16>

!by_both = tensor<8xbf16, #parallel.sharding<[_ by dp*tp]>>
!by_both_swapped = tensor<8xbf16, #parallel.sharding<[_ by tp*dp]>>

parallel.mesh(dp = 2, tp = 4)

// CHECK-LABEL: func @reshard_to_the_same_layout
func.func @reshard_to_the_same_layout(%x: !split) -> !split {
  // CHECK-NEXT: return %arg0
  %y = parallel.reshard %x : !split -> !split
  return %y : !split
}

// CHECK-LABEL: func @collectives_over_no_axes
func.func @collectives_over_no_axes(%x: !split) -> !split {
  // CHECK-NEXT: return %arg0
  %0 = parallel.all_reduce %x over [] : !split -> !split
  %1 = parallel.all_gather %0 dim 1 over [] : !split -> !split
  %2 = parallel.reduce_scatter %1 dim 1 over [] : !split -> !split
  %3 = parallel.all_to_all %2 dim 1 to 0 over [] : !split -> !split
  %4 = parallel.all_slice %3 dim 1 over [] : !split -> !split
  return %4 : !split
}

// CHECK-LABEL: func @gather_of_slice
func.func @gather_of_slice(%x: !whole) -> !whole {
  // CHECK-NEXT: return %arg0
  %part = parallel.all_slice %x dim 1 over [tp] : !whole -> !split
  %y = parallel.all_gather %part dim 1 over [tp] : !split -> !whole
  return %y : !whole
}

// CHECK-LABEL: func @slice_of_gather
func.func @slice_of_gather(%x: !split) -> !split {
  // CHECK-NEXT: return %arg0
  %all = parallel.all_gather %x dim 1 over [tp] : !split -> !whole
  %y = parallel.all_slice %all dim 1 over [tp] : !whole -> !split
  return %y : !split
}

// CHECK-LABEL: func @slice_of_gather_along_another_dimension
func.func @slice_of_gather_along_another_dimension(%x: !split) -> !rows {
  // CHECK: parallel.all_gather %arg0 dim 1 over [tp]
  // CHECK: parallel.all_slice {{.*}} dim 0 over [tp]
  %all = parallel.all_gather %x dim 1 over [tp] : !split -> !whole
  %y = parallel.all_slice %all dim 0 over [tp] : !whole -> !rows
  return %y : !rows
}

!padded = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp pad 128]>>

// CHECK-LABEL: func @slice_of_gather_by_another_rule
func.func @slice_of_gather_by_another_rule(%x: !split) -> !padded {
  // CHECK: parallel.all_gather %arg0 dim 1 over [tp]
  // CHECK: parallel.all_slice {{.*}} dim 1 over [tp]
  %all = parallel.all_gather %x dim 1 over [tp] : !split -> !whole
  %y = parallel.all_slice %all dim 1 over [tp] : !whole -> !padded
  return %y : !padded
}

// CHECK-LABEL: func @all_to_all_and_back
func.func @all_to_all_and_back(%x: !split) -> !split {
  // CHECK-NEXT: return %arg0
  %rows = parallel.all_to_all %x dim 1 to 0 over [tp] : !split -> !rows
  %y = parallel.all_to_all %rows dim 0 to 1 over [tp] : !rows -> !split
  return %y : !split
}

// CHECK-LABEL: func @permute_and_back
func.func @permute_and_back(%x: !by_both) -> !by_both {
  // CHECK-NEXT: return %arg0
  %0 = parallel.permute %x over [dp, tp] : !by_both -> !by_both_swapped
  %y = parallel.permute %0 over [dp, tp] : !by_both_swapped -> !by_both
  return %y : !by_both
}

// CHECK-LABEL: func @permute_to_the_same_order
func.func @permute_to_the_same_order(%x: !by_both) -> !by_both {
  // CHECK-NEXT: return %arg0
  %y = parallel.permute %x over [] : !by_both -> !by_both
  return %y : !by_both
}

// CHECK-LABEL: func @slice_of_reduced
func.func @slice_of_reduced(%x: !sum) -> !split {
  // CHECK-NEXT: %[[PART:.*]] = parallel.reduce_scatter %arg0 dim 1 over [tp]
  // CHECK-NEXT: return %[[PART]]
  %all = parallel.all_reduce %x over [tp] : !sum -> !whole
  %y = parallel.all_slice %all dim 1 over [tp] : !whole -> !split
  return %y : !split
}

// CHECK-LABEL: func @slice_of_reduced_with_another_use
func.func @slice_of_reduced_with_another_use(%x: !sum) -> (!whole, !split) {
  // CHECK: %[[ALL:.*]] = parallel.all_reduce %arg0 over [tp]
  // CHECK: parallel.all_slice %[[ALL]] dim 1 over [tp]
  %all = parallel.all_reduce %x over [tp] : !sum -> !whole
  %y = parallel.all_slice %all dim 1 over [tp] : !whole -> !split
  return %all, %y : !whole, !split
}

// CHECK-LABEL: func @unused_collectives
func.func @unused_collectives(%x: !sum) {
  // CHECK-NEXT: return
  %y = parallel.all_reduce %x over [tp] : !sum -> !whole
  return
}
