// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s

#tensor = #transformer.format<"fp8" compute f8E4M3FN {weight : f8E4M3FN, scale : f32 []}>
#blocks = #transformer.format<"blocks" compute f8E4M3FN {weight : f8E4M3FN, scale_inv : f32 [o/128, i/128]}>

!x = tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
!routing = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!routed = tensor<?x256xbf16, #transformer.dims<[{batch*query*2}, _]>>

func.func @model(%x: !x) -> !x {
  %g = transformer.weight "norm" : tensor<256xbf16>
  %q = transformer.weight "q.weight" stored [0, 1] as(#tensor) : tensor<256x256xbf16>
  %k = transformer.weight "k.weight" stored [0, 1] as(#tensor) : tensor<256x256xbf16>
  %o = transformer.weight "o.weight" stored [0, 1] as(#blocks) : tensor<256x256xbf16>
  %r = transformer.weight "router" : tensor<256x8xbf16>
  %e = transformer.weight "experts" : tensor<8x256x256xbf16>
  %s = transformer.weight "shared.weight" stored [0, 1] as(#blocks) : tensor<256x256xbf16>
  // A cast with one scale is part of the launch of the norm before it, once for
  // both products.
  // CHECK: "name": "model/norm"
  // CHECK: "fusion_group": [[GROUP:[0-9]+]],
  // CHECK: "name": "model/q_out/quantize"
  // CHECK-NEXT: "op": "quantize"
  // CHECK: "kind": "elementwise"
  // CHECK-NEXT: "fusion_group": [[GROUP]],
  // CHECK: "access": "read"
  // CHECK: "access": "write"
  // CHECK: "type": "fp8"
  // CHECK: "name": "model/q_out"
  // CHECK: "name": "model/k_out"
  %0 = transformer.rms_norm %x, %g eps(1.0e-6) : !x
  %1 = transformer.linear %0, %q : !x, tensor<256x256xbf16> -> !x
  %2 = transformer.linear %0, %k : !x, tensor<256x256xbf16> -> !x
  // One with scales of blocks is launched alone: neither the sum before it nor
  // the one behind the product is in its group.
  // CHECK: "op": "add"
  // CHECK: "fusion_group": [[SUM:[0-9]+]],
  // CHECK: "op": "quantize"
  // CHECK-NOT: "fusion_group": [[SUM]],
  // CHECK: "op": "linear"
  %3 = transformer.add %1, %2 : !x
  %4 = transformer.linear %3, %o : !x, tensor<256x256xbf16> -> !x
  // Shared experts neither lead to the routed ones nor read what they make.
  // CHECK: "op": "router"
  // CHECK-NOT: "beside_experts"
  // CHECK: "op": "quantize"
  // CHECK: "beside_experts": true
  // CHECK: "op": "linear"
  // CHECK: "beside_experts": true
  // CHECK: "op": "add"
  // CHECK-NOT: "beside_experts"
  %5 = transformer.router %4, %r top_k(2) : !x, tensor<256x8xbf16> -> !routing
  %6 = transformer.dispatch %4, %5 : !x, !routing -> !routed
  %7 = transformer.experts %6, %e top_k(2) : !routed, tensor<8x256x256xbf16> -> !routed
  %8 = transformer.combine %7, %5 : !routed, !routing -> !x
  %9 = transformer.linear %4, %s : !x, tensor<256x256xbf16> -> !x
  %10 = transformer.add %8, %9 : !x
  return %10 : !x
}
