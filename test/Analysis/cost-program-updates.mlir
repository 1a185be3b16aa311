// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s

// What updates keep of a weight, and what they multiply.

func.func @model(%x: tensor<8x64xbf16>) {
  return
}
func.func private @model_backward(%x: tensor<8x64xbf16>) attributes {training.part_of = @model} {
  return
}
func.func private @model_update() attributes {training.part_of = @model} {
  %w = transformer.weight "w" : tensor<4x64x768xbf16>
  %g = training.gradient %w : tensor<4x64x768xbf16> -> tensor<4x64x768xf32>

  // A matrix has fewer rows than columns: A = X X^T, A A, and what is left by X.
  // CHECK: "name": "model_update/momentum"
  %m = training.momentum %w, %g state f32 : tensor<4x64x768xbf16>, tensor<4x64x768xf32>
  // CHECK: "name": "model_update/orthogonal"
  // CHECK: "count": 5
  // CHECK: "flop_factor": 2
  // CHECK-NEXT: "rows": "[4, 64]"
  // CHECK-NEXT: "columns": "[64]"
  // CHECK-NEXT: "contraction": "[768]"
  // CHECK: "name": "model_update/orthogonal#2"
  // CHECK: "rows": "[4, 64]"
  // CHECK-NEXT: "columns": "[64]"
  // CHECK-NEXT: "contraction": "[64]"
  // CHECK: "name": "model_update/orthogonal#3"
  // CHECK: "rows": "[4, 64]"
  // CHECK-NEXT: "columns": "[768]"
  // CHECK-NEXT: "contraction": "[64]"
  %o = training.orthogonalize %m rows [1, 2] steps 5 : tensor<4x64x768xbf16>
  %y = training.update %w, %o sgd master states [f32] : tensor<4x64x768xbf16>, tensor<4x64x768xbf16>
  training.assign %y to %w : tensor<4x64x768xbf16>

  // With more rows than columns it is turned.
  // CHECK: "name": "model_update/orthogonal#4"
  // CHECK: "rows": "[32]"
  // CHECK-NEXT: "columns": "[32]"
  // CHECK-NEXT: "contraction": "[96]"
  %v = transformer.weight "v" : tensor<96x32xbf16>
  %turned = training.orthogonalize %v rows [0, 1] steps 1 : tensor<96x32xbf16>

  // CHECK: "residents"
  // The momentum, then the copy.
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[4, 64, 768]"
  // CHECK-NEXT: "type": "fp32"
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[4, 64, 768]"

  // Two states of a byte, each with a scale for 256 of them.
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[4, 64, 768]"
  // CHECK-NEXT: "type": "int8"
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[4, 64, 3]"
  // CHECK-NEXT: "type": "fp32"
  // CHECK: "kind": "optimizer"
  // CHECK: "type": "int8"
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[4, 64, 3]"
  %b = training.update %w, %g adamw states [i8, i8] : tensor<4x64x768xbf16>, tensor<4x64x768xf32>

  // Of each matrix of four, a number of each row and of each column.
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[4, 64]"
  // CHECK-NEXT: "type": "bf16"
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[4, 768]"
  // CHECK-NEXT: "type": "bf16"
  %rows = training.mean %g of %w over [2, 3] squared : tensor<4x64x768xf32>, tensor<4x64x768xbf16> -> tensor<4x64xf32>
  %columns = training.mean %g of %w over [1, 2] squared : tensor<4x64x768xf32>, tensor<4x64x768xbf16> -> tensor<4x768xf32>
  %f = training.moving_mean %rows state bf16 : tensor<4x64xf32>
  %i = training.moving_mean %columns state bf16 : tensor<4x768xf32>

  // Blocks go on over the ends of rows: 1,000 elements are four of them.
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[10, 100]"
  // CHECK: "kind": "optimizer"
  // CHECK: "shape": "[4]"
  %s = transformer.weight "s" : tensor<10x100xbf16>
  %h = training.gradient %s : tensor<10x100xbf16> -> tensor<10x100xf32>
  %c = training.update %s, %h sgd states [i8] : tensor<10x100xbf16>, tensor<10x100xf32>
  return
}
training.iteration backward(@model_backward) update(@model_update)
