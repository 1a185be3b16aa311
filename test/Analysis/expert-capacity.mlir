// With a capacity, dimensions of routed tokens are limited, in forwards and
// backwards; tables of loads say so of the same layers.

// RUN: autopar-translate --import-hf mixtral-8x7b -o %t.mlir
// RUN: autopar-opt %t.mlir --phase=train --batch=16 --context=64 --shard-dp=8 --shard-ep=8 --expert-capacity-factor=1.25 -o %t.split.mlir
// RUN: autopar-opt %t.split.mlir --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s
// CHECK: "layer": "moe_decoder_backward"
// CHECK: batch*query*2 limited by the experts of moe_decoder_backward by dpi any
// CHECK: "capacity": {
// CHECK-NEXT: "factor": 1.25,
// CHECK-NEXT: "padded": false,
// CHECK-NEXT: "experts": 8,
// CHECK-NEXT: "top_k": 2,
// CHECK-NEXT: "tokens": "[batch by dpi any, query]"

// RUN: autopar-opt %t.mlir --phase=train --batch=16 --context=64 --shard-dp=8 --shard-ep=8 --expert-load=zipf:1.0 -o %t.loads.mlir
// RUN: autopar-opt %t.loads.mlir --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOADS
// LOADS: "layer": "moe_decoder_backward"
// LOADS: shared by the experts of moe_decoder
// LOADS-NOT: shared by the experts of moe_decoder_backward

// Layers that route otherwise have no capacity in common.

// RUN: not autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'training.iteration' op gives experts of layers that route otherwise one capacity
// OTHER: note: routes to 1 of 8 experts, others to 2 of 8

func.func @model(%x: tensor<4x16x64xbf16>) {
  %w = transformer.weight "gate" : tensor<64x8xbf16>
  %two = transformer.router %x, %w top_k(2) : tensor<4x16x64xbf16>, tensor<64x8xbf16> -> tensor<4x16x2xbf16>
  %one = transformer.router %x, %w top_k(1) : tensor<4x16x64xbf16>, tensor<64x8xbf16> -> tensor<4x16x1xbf16>
  return
}
func.func private @back(%x: tensor<4x16x64xbf16>) {
  return
}
func.func private @update() {
  return
}
training.iteration backward(@back) update(@update) capacity(1.0)
