// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s

// What a device holds of the tensors of a format follows from the value's splits.
#gptq = #transformer.format<"gptq" {qweight : i32 [i*4/32, o], scales : f16 [i/128, o], g_idx : i32 [i]}>
#fp8 = #transformer.format<"fp8" {weight : f8E4M3FN, weight_scale_inv : f32 [o/128, i/128], scalar : f32 []}>
#nf4 = #transformer.format<"nf4" {weight : ui8 [all/2, 1], weight.absmax : ui8 [all/64]}>

!heads = tensor<256x8x16xbf16, #parallel.sharding<[_, _ by tp, _]>>
!shared = tensor<256x2x16xbf16, #parallel.sharding<[_, _ by tp cap, _]>>

parallel.mesh(tp = 4)
func.func @model() {
  // CHECK-LABEL: "residents"
  // Heads stay heads, with their rule, where a head is a whole number of words.
  // CHECK: "name": "qkv.qweight"
  // CHECK: "shape": "[32, 8 by tp, 16]"
  // CHECK: "values": "[256, 8 by tp, 16]"
  // CHECK: "name": "qkv.scales"
  // CHECK: "shape": "[2, 8 by tp, 16]"
  // CHECK: "values": "[0]"
  // CHECK: "name": "qkv.g_idx"
  // CHECK: "shape": "[256]"
  // CHECK: "name": "qkv.qweight"
  // CHECK: "shape": "[32, 2 by tp cap, 16]"
  // CHECK: "name": "qkv.scales"
  // CHECK: "shape": "[2, 2 by tp cap, 16]"
  // What no part of the tensor is split along counts once, with the first.
  // CHECK-NOT: "name": "qkv.g_idx"
  %q = transformer.weight "qkv.weight" stored [1*2 at 0 of 160, 0] as(#gptq) : !heads
  %k = transformer.weight "qkv.weight" stored [1*2 at 128 of 160, 0] as(#gptq) : !shared

  // Blocks of 128 rows over parts of 160 and 96: 2 of the 2, then none.
  // CHECK: "name": "ab.weight"
  // CHECK: "name": "ab.weight_scale_inv"
  // CHECK: "shape": "[2, 2]"
  // CHECK: "name": "ab.scalar"
  // CHECK: "shape": "[]"
  // CHECK: "name": "ab.weight"
  // CHECK: "shape": "[256, 96]"
  // CHECK-NOT: "name": "ab
  %a = transformer.weight "ab.weight" stored [1 at 0 of 256, 0] as(#fp8) : tensor<256x160xbf16>
  %b = transformer.weight "ab.weight" stored [1 at 160 of 256, 0] as(#fp8) : tensor<256x96xbf16>

  // A flat tensor is split as a whole.
  // CHECK: "name": "flat.weight"
  // CHECK: "shape": "[64 by tp, 8, 1]"
  // CHECK: "name": "flat.weight.absmax"
  // CHECK: "shape": "[16 by tp any]"
  %f = transformer.weight "flat.weight" stored [1, 0] as(#nf4)
      : tensor<16x64xbf16, #parallel.sharding<[_, _ by tp]>>
  return
}
