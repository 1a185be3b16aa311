// Weights of one name and layer, or outside of layers, are one tensor.
// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --implicit-check-not='"name": "table"' --implicit-check-not='"name": "w"'
// RUN: autopar-opt %s --autopar-list-tensors -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIST --implicit-check-not=table --implicit-check-not=layers

// LIST: table{{[[:space:]]}}
// LIST-NEXT: layers.0.w
// LIST-NEXT: layers.1.w

// CHECK-LABEL: "residents"
// CHECK: "name": "table",
// CHECK-NEXT: "kind": "weight",
// CHECK-NEXT: "layer": "model",
// CHECK-NEXT: "count": 1,
// CHECK: "name": "w",
// CHECK-NEXT: "kind": "weight",
// CHECK-NEXT: "layer": "layer",
// CHECK-NEXT: "count": 2,

!x = tensor<?x64xbf16, #transformer.dims<[batch, _]>>
!w = tensor<64x64xbf16>

func.func private @mlp(%x: !x) -> !x {
  %w = transformer.weight "w" : !w
  %y = transformer.linear %x, %w : !x, !w -> !x
  return %y : !x
}

func.func private @layer(%x: !x) -> !x {
  %w0 = transformer.weight "w" : !w
  %w1 = transformer.weight "w" : !w
  %y0 = transformer.linear %x, %w0 : !x, !w -> !x
  %y1 = transformer.linear %y0, %w1 : !x, !w -> !x
  %y2 = func.call @mlp(%y1) : (!x) -> !x
  return %y2 : !x
}

func.func private @head(%x: !x) -> !x {
  %table = transformer.weight "table" : !w
  %y = transformer.linear %x, %table : !x, !w -> !x
  return %y : !x
}

// What is stored has no second one either.
func.func private @mtp(%x: !x) -> !x {
  %table = transformer.weight "table" : !w
  %y = transformer.linear %x, %table : !x, !w -> !x
  return %y : !x
}
transformer.stored @mtp

func.func @model(%x: !x) -> !x {
  %table = transformer.weight "table" : !w
  %x0 = transformer.linear %x, %table : !x, !w -> !x
  %x1 = transformer.repeat 2 layers "layers" from 0 (%c = %x0) : !x {
    %z = func.call @layer(%c) : (!x) -> !x
    transformer.yield %z : !x
  }
  %x2 = func.call @head(%x1) : (!x) -> !x
  return %x2 : !x
}
