// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s

// The program follows the IR as a user edits it: counts of repeats,
// RUN: sed 's/repeat 5 /repeat 50 /' %s \
// RUN:   | autopar-opt --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=MORE
// and ops that are gone.
// RUN: sed '/ silu /d; s/linear %%a,/linear %%x,/' %s \
// RUN:   | autopar-opt --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=LESS

!x = tensor<?x64xbf16, #transformer.dims<[batch, _]>>

// One entry per function, with how often a step runs it: nested repeats
// multiply, calls add up. What is not called is not there.
// CHECK-LABEL: "layers"
// CHECK: "name": "model"
// CHECK-NEXT: "count": 1
// CHECK: "name": "layer"
// CHECK-NEXT: "count": 11
// CHECK: "name": "inner"
// CHECK-NEXT: "count": 33
// CHECK-NOT: "uncalled"
// CHECK-LABEL: "kernels"
// CHECK: "name": "inner/activation"
// CHECK: "count": 33
// CHECK: "name": "inner/w_out"
// CHECK: "count": 33
// CHECK-LABEL: "residents"
// CHECK: "name": "w"
// CHECK: "count": 33

// MORE-LABEL: "layers"
// MORE: "name": "layer"
// MORE-NEXT: "count": 101
// MORE: "name": "inner"
// MORE-NEXT: "count": 303

// LESS-LABEL: "kernels"
// LESS-NOT: "inner/activation"
// LESS: "name": "inner/w_out"

func.func private @uncalled(%x: !x) -> !x {
  %y = transformer.activation %x relu : !x
  return %y : !x
}

func.func private @inner(%x: !x) -> !x {
  %w = transformer.weight "w" : tensor<64x64xbf16>
  %a = transformer.activation %x silu : !x
  %y = transformer.linear %a, %w : !x, tensor<64x64xbf16> -> !x
  return %y : !x
}

func.func private @layer(%x0: !x) -> !x {
  %x1 = transformer.repeat 3 (%x = %x0) : !x {
    %y = func.call @inner(%x) : (!x) -> !x
    transformer.yield %y : !x
  }
  return %x1 : !x
}

func.func @model(%x0: !x) -> !x {
  %x1 = func.call @layer(%x0) : (!x) -> !x
  %x2 = transformer.repeat 2 (%x = %x1) : !x {
    %y2 = transformer.repeat 5 (%y = %x) : !x {
      %z = func.call @layer(%y) : (!x) -> !x
      transformer.yield %z : !x
    }
    transformer.yield %y2 : !x
  }
  return %x2 : !x
}
