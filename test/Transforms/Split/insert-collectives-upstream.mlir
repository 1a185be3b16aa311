// RUN: autopar-opt %s --autopar-insert-collectives -split-input-file -verify-diagnostics \
// RUN:   | FileCheck %s --implicit-check-not=parallel.reshard

// Reshards that the `shard` dialect of MLIR 22 lowers to wrong shapes, or
// crashes on: several axes, uneven splits, steps that belong together.

!whole = tensor<8x16xbf16>
!x_ = tensor<8x16xbf16, #parallel.sharding<[_ by x, _]>>
!y_ = tensor<8x16xbf16, #parallel.sharding<[_ by y, _]>>
!xy_ = tensor<8x16xbf16, #parallel.sharding<[_ by x*y, _]>>
!yx_ = tensor<8x16xbf16, #parallel.sharding<[_ by y*x, _]>>
!x_y = tensor<8x16xbf16, #parallel.sharding<[_ by x, _ by y]>>
!y_x = tensor<8x16xbf16, #parallel.sharding<[_ by y, _ by x]>>
!sum = tensor<8x16xbf16, #parallel.sharding<[_, _] partial [x]>>

parallel.mesh(x = 2, y = 2)

// CHECK-LABEL: func @both_dimensions_to_whole
func.func @both_dimensions_to_whole(%a: !x_y) -> !whole {
  // CHECK-NEXT: %[[ROWS:.*]] = parallel.all_gather %arg0 dim 0 over [x] : !w8x_16y_bf -> !w8_16y_bf
  // CHECK-NEXT: %[[ALL:.*]] = parallel.all_gather %[[ROWS]] dim 1 over [y] : !w8_16y_bf -> tensor<8x16xbf16>
  // CHECK-NEXT: return %[[ALL]]
  %b = parallel.reshard %a : !x_y -> !whole
  return %b : !whole
}

// CHECK-LABEL: func @axes_change_dimensions
func.func @axes_change_dimensions(%a: !x_y) -> !y_x {
  // CHECK-NEXT: %[[ROWS:.*]] = parallel.all_gather %arg0 dim 0 over [x]
  // CHECK-NEXT: %[[MOVED:.*]] = parallel.all_to_all %[[ROWS]] dim 1 to 0 over [y]
  // CHECK-NEXT: %[[PART:.*]] = parallel.all_slice %[[MOVED]] dim 1 over [x] : !w8y_16_bf -> !w8y_16x_bf
  // CHECK-NEXT: return %[[PART]]
  %b = parallel.reshard %a : !x_y -> !y_x
  return %b : !y_x
}

// CHECK-LABEL: func @whole_to_both_dimensions
func.func @whole_to_both_dimensions(%a: !whole) -> !x_y {
  // CHECK-NEXT: %[[ROWS:.*]] = parallel.all_slice %arg0 dim 0 over [x]
  // CHECK-NEXT: %[[PART:.*]] = parallel.all_slice %[[ROWS]] dim 1 over [y] : !w8x_16_bf -> !w8x_16y_bf
  // CHECK-NEXT: return %[[PART]]
  %b = parallel.reshard %a : !whole -> !x_y
  return %b : !x_y
}

// CHECK-LABEL: func @one_dimension_to_both
func.func @one_dimension_to_both(%a: !xy_) -> !x_y {
  // CHECK-NEXT: %[[PART:.*]] = parallel.all_to_all %arg0 dim 0 to 1 over [y] : !w8xy_16_bf -> !w8x_16y_bf
  // CHECK-NEXT: return %[[PART]]
  %b = parallel.reshard %a : !xy_ -> !x_y
  return %b : !x_y
}

// CHECK-LABEL: func @two_axes_of_one_dimension_to_whole
func.func @two_axes_of_one_dimension_to_whole(%a: !xy_) -> !whole {
  // CHECK-NEXT: %[[ALL:.*]] = parallel.all_gather %arg0 dim 0 over [x, y]
  // CHECK-NEXT: return %[[ALL]]
  %b = parallel.reshard %a : !xy_ -> !whole
  return %b : !whole
}

// CHECK-LABEL: func @another_axis
func.func @another_axis(%a: !x_) -> !y_ {
  // CHECK-NEXT: %[[ALL:.*]] = parallel.all_gather %arg0 dim 0 over [x]
  // CHECK-NEXT: %[[PART:.*]] = parallel.all_slice %[[ALL]] dim 0 over [y]
  // CHECK-NEXT: return %[[PART]]
  %b = parallel.reshard %a : !x_ -> !y_
  return %b : !y_
}

// CHECK-LABEL: func @another_order
func.func @another_order(%a: !xy_) -> !yx_ {
  // CHECK-NEXT: %[[PART:.*]] = parallel.permute %arg0 over [x, y] : !w8xy_16_bf -> !w8yx_16_bf
  // CHECK-NEXT: return %[[PART]]
  %b = parallel.reshard %a : !xy_ -> !yx_
  return %b : !yx_
}

// CHECK-LABEL: func @partial_sum_to_rows
func.func @partial_sum_to_rows(%a: !sum) -> !x_ {
  // CHECK-NEXT: %[[PART:.*]] = parallel.reduce_scatter %arg0 dim 0 over [x]
  // CHECK-NEXT: return %[[PART]]
  %b = parallel.reshard %a : !sum -> !x_
  return %b : !x_
}

// CHECK-LABEL: func @reduction_that_is_sliced
func.func @reduction_that_is_sliced(%a: !sum) -> !x_ {
  // CHECK-NEXT: %[[PART:.*]] = parallel.reduce_scatter %arg0 dim 0 over [x]
  // CHECK-NEXT: return %[[PART]]
  %b = parallel.all_reduce %a over [x] : !sum -> !whole
  %c = parallel.all_slice %b dim 0 over [x] : !whole -> !x_
  return %c : !x_
}

// CHECK-LABEL: func @gather_that_is_sliced
func.func @gather_that_is_sliced(%a: !x_) -> !x_ {
  // CHECK-NEXT: return %arg0
  %b = parallel.all_gather %a dim 0 over [x] : !x_ -> !whole
  %c = parallel.all_slice %b dim 0 over [x] : !whole -> !x_
  return %c : !x_
}

// Five rows over two devices: `any` says that blocks may be uneven.
!uneven = tensor<5x8xbf16, #parallel.sharding<[_ by x any, _]>>

// CHECK-LABEL: func @uneven_rows_to_whole
func.func @uneven_rows_to_whole(%a: !uneven) -> tensor<5x8xbf16> {
  // CHECK-NEXT: %[[ALL:.*]] = parallel.all_gather %arg0 dim 0 over [x]
  // CHECK-NEXT: return %[[ALL]]
  %b = parallel.reshard %a : !uneven -> tensor<5x8xbf16>
  return %b : tensor<5x8xbf16>
}

// CHECK-LABEL: func @uneven_rows_to_columns
func.func @uneven_rows_to_columns(%a: !uneven)
    -> tensor<5x8xbf16, #parallel.sharding<[_, _ by x]>> {
  // CHECK-NEXT: parallel.all_to_all %arg0 dim 0 to 1 over [x]
  %b = parallel.reshard %a : !uneven -> tensor<5x8xbf16, #parallel.sharding<[_, _ by x]>>
  return %b : tensor<5x8xbf16, #parallel.sharding<[_, _ by x]>>
}

// -----

// Without the word they must be even.
parallel.mesh(x = 2)
func.func @five_rows_over_two_devices(%a: tensor<5x8xbf16>) {
  // expected-error @+2 {{'parallel.reshard' op x = 2 does not divide 5, dimension 0}}
  // expected-note @+1 {{x that works here: 1, 5}}
  %b = parallel.reshard %a : tensor<5x8xbf16> -> tensor<5x8xbf16, #parallel.sharding<[_ by x, _]>>
  return
}
