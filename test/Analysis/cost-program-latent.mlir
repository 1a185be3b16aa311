// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s
// RUN: autopar-opt %s --autopar-absorb-latent-attention --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=ABSORBED
// RUN: autopar-opt %s --autopar-estimate -o /dev/null | FileCheck %s --check-prefix=COUNT
// RUN: autopar-opt %s --autopar-absorb-latent-attention --autopar-estimate -o /dev/null | FileCheck %s --check-prefix=COUNT-ABSORBED

// Every cached token is scored by the indexer.
// CHECK: "name": "model/selected"
// CHECK: "columns": "[4]"
// CHECK-NEXT: "contraction": "[16]"
// CHECK: "window": 0

// Two products that one launch may make expand all cached tokens.
// CHECK: "name": "model/attn"
// CHECK: "fusion_group": 1
// CHECK-NEXT: "flop_class": "linear"
// CHECK: "rows": "[batch, context]"
// CHECK-NEXT: "columns": "[8, 16]"
// CHECK-NEXT: "contraction": "[64]"
// CHECK: "shape": "[batch, context, 72]"
// CHECK: "shape": "[batch, context, 8, 16]"
// CHECK: "name": "model/attn#2"
// CHECK: "fusion_group": 1
// CHECK: "columns": "[8, 32]"
// Keys of 16 and 8, values of 32.
// CHECK: "name": "model/attn#3"
// CHECK: "kind": "latent_attention"
// CHECK: "flop_class": "attention"
// CHECK: "rows": "[batch]"
// CHECK-NEXT: "columns": "[8]"
// CHECK-NEXT: "contraction": "[56]"
// CHECK: "window": 5

// New tokens only, and no more of the cache than is selected.
// ABSORBED: "name": "model/attn"
// ABSORBED: "kind": "batched_matmul"
// ABSORBED: "rows": "[batch, query]"
// ABSORBED-NEXT: "columns": "[8, 64]"
// ABSORBED-NEXT: "contraction": "[16]"
// ABSORBED: "name": "model/attn#2"
// ABSORBED: "kind": "sparse_attention"
// Twice the latent, and the rope part.
// ABSORBED: "contraction": "[136]"
// ABSORBED: "shape": "[batch, min(context, query*5), 72]"
// ABSORBED: "name": "model/attn#3"
// ABSORBED: "kind": "batched_matmul"
// ABSORBED: "rows": "[batch, query]"
// ABSORBED-NEXT: "columns": "[8, 32]"
// ABSORBED-NEXT: "contraction": "[64]"

// Of 8+9+10 pairs, 5+5+5 are selected.
// (72 + 16) * 2 bytes.
// COUNT: KV per token: 176 B
// 2*2*10*8*64*(16 + 32), and 2*2*4*16*27 + 2*2*8*56*15.
// COUNT: linear layers {{.*}} 983,040
// COUNT: attention {{.*}} 33,792
// 2*2*3*8*64*(16 + 32), and 2*2*4*16*27 + 2*2*8*136*15.
// COUNT-ABSORBED: linear layers {{.*}} 294,912
// COUNT-ABSORBED: attention {{.*}} 72,192

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!latent = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!part = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!cache = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!iq = tensor<?x?x4x16xbf16, #transformer.dims<[batch, query, _, _]>>
!ik = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!iw = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!ic = !transformer.cache<?x?x16xbf16, #transformer.dims<[batch, context, _]>>
!selected = tensor<?x?x5xi32, #transformer.dims<[batch, query, _]>>

transformer.workload(phase = prefill, batch = 2, query = 3, context = 10)

func.func @model(%q: !q, %l: !latent, %r: !part, %iq: !iq, %ik: !ik, %iw: !iw) -> !y {
  %wk = transformer.weight "k" : tensor<64x8x16xbf16>
  %wv = transformer.weight "v" : tensor<64x8x32xbf16>
  %c = transformer.kv_cache : !cache
  %i = transformer.kv_cache : !ic
  %s = transformer.indexer %iq, %ik, %iw cache(%i : !ic) top_k(5) : !iq, !ik, !iw -> !selected
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !cache) selected(%s : !selected) causal
      : !q, !latent, !part, tensor<64x8x16xbf16>, tensor<64x8x32xbf16> -> !y
  return %y : !y
}
