// RUN: sed '/transformer.workload/d' %s \
// RUN:   | autopar-opt --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s
// RUN: sed 's/encoder_tokens/query/g; s/cross_tokens/context/g' %s \
// RUN:   | autopar-opt --autopar-estimate=explain=true -o /dev/null | FileCheck %s --check-prefix=COUNT

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!v = tensor<?x?x2x32xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x48xbf16, #transformer.dims<[batch, context, _, _]>>
!ks = tensor<?x?x2x16xbf16, #transformer.dims<[batch, encoder_tokens, _, _]>>
!cm = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, cross_tokens, _, _]>>

transformer.workload(phase = prefill, batch = 2, query = 3, context = 10)

func.func @model(%q: !q, %k: !k, %v: !v, %ks: !ks, %s: tensor<8xbf16>) -> !q {
  %c = transformer.kv_cache window(4) : !c
  %cm = transformer.kv_cache : !cm
  // Positions 7 to 9 in chunks of 4: 4+1+2 pairs, of keys of 16 and values of 32.
  // CHECK: "name": "model/attn"
  // CHECK: "rows": "[batch]"
  // CHECK-NEXT: "columns": "[8]"
  // CHECK-NEXT: "contraction": "[48]"
  // CHECK: "context": "context"
  // CHECK-NEXT: "causal": true
  // CHECK-NEXT: "window": 0
  // CHECK-NEXT: "chunk": 4
  // CHECK: "shape": "[batch, min(context, 4), 2, 48]"
  // COUNT: 2 x 2 x 8 x 48 x 7 pairs (causal, chunk 4)
  %a = transformer.attention %q, %k, %v cache(%c) sinks(%s : tensor<8xbf16>) causal chunk(4)
      : !q, !k, !v in !c -> !y
  // Every token sees all that is cached of the other sequence.
  // CHECK: "name": "model/attn#2"
  // CHECK: "query": "query"
  // CHECK-NEXT: "context": "cross_tokens"
  // CHECK-NEXT: "causal": false
  // CHECK: "shape": "[batch, cross_tokens, 2, 32]"
  // CHECK: "shape": "[batch, encoder_tokens, 2, 16]"
  // COUNT: 2 x 2 x 8 x 32 x 30 pairs
  %b = transformer.attention %q, %ks, %ks cache(%cm) : !q, !ks, !ks in !cm -> !q
  // An encoder sees the tokens of the step, which it writes nowhere.
  // CHECK: "name": "model/attn#3"
  // CHECK: "kind": "encoder_attention"
  // CHECK: "context": "query"
  // CHECK-NOT: "kv_cache"
  // CHECK: "name": "model/rope"
  // COUNT: 2 x 2 x 8 x 32 x 9 pairs
  %d = transformer.attention %b, %k, %k : !q, !k, !k -> !q
  // Only what turns is moved.
  // CHECK: "shape": "[batch, query, 8, 8]"
  // CHECK: "shape": "[batch, query, 8, 8]"
  %e = transformer.rope %d theta(1.0e4) width(8) : !q
  return %e : !q
}
// Encoded tokens take no more memory as a sequence grows: only the other cache
// is paged.
// CHECK-LABEL: "residents"
// CHECK: "shape": "[batch, min(context, 4), 2, 48]"
// CHECK: "paged_dim": 1
// CHECK: "shape": "[batch, cross_tokens, 2, 32]"
// CHECK-NOT: "paged_dim"
// CHECK-LABEL: "activations"
