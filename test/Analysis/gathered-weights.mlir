// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s

// A weight of a format is gathered, held and read as it is stored, scales
// included; products with it multiply what they do without a gather.
#fp8 = #transformer.format<"fp8" compute f8E4M3FN {weight : f8E4M3FN, weight_scale_inv : f32 [o/128, i/128]}>

!x = tensor<?x256xbf16, #parallel.sharding<[batch by dp, _]>>
!y = tensor<?x512xbf16, #parallel.sharding<[batch by dp, _]>>
!w = tensor<256x512xbf16, #parallel.sharding<[_ by dp any, _]>>

transformer.workload(phase = prefill, batch = 8, query = 1, context = 1)
parallel.mesh(dp = 8)

// CHECK: "name": "model/linear"
// CHECK: "compute": "fp8"
// CHECK: "role": "weight"
// CHECK: "shape": "[256, 512]"
// CHECK-NEXT: "type": "fp8"
// CHECK: "role": "weight"
// CHECK: "shape": "[4, 2]"
// CHECK-NEXT: "type": "fp32"
// CHECK-LABEL: "collectives"
// CHECK: "shape": "[256 by dp any, 512]"
// CHECK-NEXT: "type": "fp8"
// CHECK: "shape": "[4, 2 by dp any]"
// CHECK-NEXT: "type": "fp32"
// CHECK-LABEL: "activations"
// CHECK: "name": "gathered"
// CHECK: "shape": "[256, 512]"
// CHECK-NEXT: "type": "fp8"
// CHECK: "name": "gathered"
// CHECK: "shape": "[4, 2]"
// CHECK-NEXT: "type": "fp32"
func.func @model(%x: !x) -> !y {
  %w = transformer.weight "up.weight" stored [1, 0] as(#fp8) : !w
  %whole = parallel.all_gather %w dim 0 over [dp] : !w -> tensor<256x512xbf16>
  %y = transformer.linear %x, %whole : !x, tensor<256x512xbf16> -> !y
  return %y : !y
}
