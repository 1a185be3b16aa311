// RUN: %roundtrip %s --autopar-quantize="format=gptq-int4 parameters=group=32 ignore=down" \
// RUN:   | FileCheck %s
// RUN: autopar-opt %s --autopar-quantize=format=fp8-block --autopar-print-cost-program -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=COST
// RUN: autopar-opt %s --autopar-quantize=format=fp8-block --autopar-list-tensors -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIST

// CHECK: #gptq_int4 = #transformer.format<"gptq-int4" {qweight : i32 [i*4/32, o], qzeros : i32 [i/32, o*4/32], scales : f16 [i/32, o], g_idx : i32 [i]}>

!x = tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x576xbf16, #parallel.sharding<[batch, query, _ by tp]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!routing = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!routed = tensor<?x256xbf16, #transformer.dims<[{batch*query*2}, _]>>

module @tiny {
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
parallel.mesh(tp = 2)

func.func @model(%ids: !ids) {
  // Tables, norms and routers stay.
  // CHECK: transformer.weight "embed.weight" : tensor<
  %table = transformer.weight "embed.weight" : tensor<1000x256xbf16>
  %x = transformer.embedding %ids, %table : !ids, tensor<1000x256xbf16> -> !x
  // CHECK: transformer.weight "norm.weight" : tensor<
  %g = transformer.weight "norm.weight" : tensor<256xbf16>
  %n = transformer.rms_norm %x, %g eps(1.0e-5) : !x
  // CHECK: transformer.weight "router.weight" stored [1, 0] : tensor<
  %r = transformer.weight "router.weight" stored [1, 0] : tensor<256x4xbf16>
  %routing = transformer.router %n, %r top_k(2) : !x, tensor<256x4xbf16> -> !routing

  // CHECK: transformer.weight "up.weight" stored [1, 0] as(#gptq_int4) : !
  %w = transformer.weight "up.weight" stored [1, 0] : tensor<256x576xbf16, #parallel.sharding<[_, _ by tp]>>
  %y = transformer.linear %n, %w : !x, tensor<256x576xbf16, #parallel.sharding<[_, _ by tp]>> -> !y

  // CHECK: transformer.weight "experts.*.down.weight" stored [2, 1] : tensor<
  %e = transformer.weight "experts.*.down.weight" stored [2, 1] : tensor<4x256x256xbf16>
  %set = transformer.dispatch %n, %routing : !x, !routing -> !routed
  %d = transformer.experts %set, %e top_k(2) : !routed, tensor<4x256x256xbf16> -> !routed
  return
}
}

// Products multiply fp8 and read what is stored. 576 rows of scales in 5
// blocks, split unevenly.
// COST: "op": "linear"
// COST: "compute": "fp8"
// COST: "role": "weight"
// COST: "shape": "[256, 576 by tp]"
// COST-NEXT: "type": "fp8"
// COST: "role": "weight"
// COST: "shape": "[5 by tp any, 2]"
// COST-NEXT: "type": "fp32"
// COST: "op": "experts"
// COST: "shape": "[4, 256, 256]"
// COST: "top_k": 2
// COST: "shape": "[4, 2, 2]"
// COST: "top_k": 2

// Scales hold no parameters.
// COST-LABEL: "residents"
// COST: "name": "up.weight"
// COST: "shape": "[256, 576 by tp]"
// COST: "values": "[256, 576 by tp]"
// COST: "name": "up.weight_scale_inv"
// COST: "shape": "[5 by tp any, 2]"
// COST: "values": "[0]"
// COST: "name": "experts.*.down.weight"
// COST: "top_k": 2
// COST: "name": "experts.*.down.weight_scale_inv"
// COST: "shape": "[4, 2, 2]"

// LIST: up.weight	[576, 256]	F8_E4M3	147456
// LIST-NEXT: up.weight_scale_inv	[5, 2]	F32	40
// LIST-NEXT: experts.0.down.weight	[256, 256]	F8_E4M3	65536
