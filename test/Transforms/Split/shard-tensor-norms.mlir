// RUN: %roundtrip %s --autopar-shard-tensor | FileCheck %s
// RUN: autopar-opt %s --autopar-shard-tensor --autopar-insert-collectives | FileCheck %s --check-prefix=STEPS

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!heads = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!kv = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>

parallel.mesh(tp = 4)

// A norm over all heads needs the sum of their squares: each device sums its own,
// and a number for each token is reduced, not a row. Its weights stay whole.
// CHECK-LABEL: func @norm_over_heads
// STEPS-LABEL: func @norm_over_heads
func.func @norm_over_heads(%x: !x) -> !x {
  // CHECK: transformer.weight "q" : !w64_8tp_16_bf
  // CHECK: transformer.weight "k" : !w64_2tp_cap_16_bf
  // CHECK: transformer.weight "q_norm" : tensor<8x16xbf16>
  // CHECK: transformer.weight "k_norm" : tensor<2x16xbf16>
  // CHECK: transformer.weight "o" : !w8tp_16_64_bf
  %wq = transformer.weight "q" : tensor<64x8x16xbf16>
  %wk = transformer.weight "k" : tensor<64x2x16xbf16>
  %gq = transformer.weight "q_norm" : tensor<8x16xbf16>
  %gk = transformer.weight "k_norm" : tensor<2x16xbf16>
  %wo = transformer.weight "o" : tensor<8x16x64xbf16>
  %cache = transformer.kv_cache : !cache
  %q = transformer.linear %x, %wq : !x, tensor<64x8x16xbf16> -> !heads
  %k = transformer.linear %x, %wk : !x, tensor<64x2x16xbf16> -> !kv
  // CHECK: %[[Q:.*]] = transformer.square_sum {{.*}} over(2) : !bq_8tp_16_bf -> !bq_1_sum_tp
  // CHECK: %[[SUM:.*]] = parallel.reshard %[[Q]] : !bq_1_sum_tp -> !bq_1_float
  // CHECK-NEXT: transformer.rms_norm {{.*}} sums(%[[SUM]] : !bq_1_float) over(2) {{.*}} : !bq_8tp_16_bf, !w8tp_16_bf
  // STEPS: transformer.square_sum
  // STEPS-NEXT: parallel.all_slice {{.*}} dim 0 over [tp] : tensor<8x16xbf16> -> !w8tp_16_bf
  // STEPS-NEXT: parallel.all_reduce {{.*}} over [tp] : !bq_1_sum_tp -> !bq_1_float
  // STEPS-NEXT: transformer.rms_norm
  %qn = transformer.rms_norm %q, %gq over(2) eps(1.0e-6) : !heads, tensor<8x16xbf16>
  // Of heads by 'cap', copies share the sum.
  // CHECK: %[[K:.*]] = transformer.square_sum {{.*}} over(2) : !bq_2tp_cap_16_bf -> !bq_1_sum_tp
  // CHECK: transformer.rms_norm {{.*}} over(2) {{.*}} : !bq_2tp_cap_16_bf, !w2tp_cap_16_bf
  %kn = transformer.rms_norm %k, %gk over(2) eps(1.0e-6) : !kv, tensor<2x16xbf16>
  // CHECK-NEXT: transformer.rope {{.*}} : !bq_8tp_16_bf
  %r = transformer.rope %qn theta(1.0e4) : !heads
  // CHECK: transformer.attention {{.*}} : !bq_8tp_16_bf, !bq_2tp_cap_16_bf{{$}}
  %y = transformer.attention %r, %kn, %k cache(%cache) causal : !heads, !kv, !kv in !cache -> !heads
  %o = transformer.linear %y, %wo : !heads, tensor<8x16x64xbf16> -> !x
  return %o : !x
}

// Weights per head are split with them where each head has its own mean; the
// scores of sinks are those of heads.
// CHECK-LABEL: func @norm_of_each_head
func.func @norm_of_each_head(%x: !x) -> !x {
  // CHECK: transformer.weight "q_norm" : !w8tp_16_bf
  // CHECK: transformer.weight "sinks" : !w8tp_bf
  %wq = transformer.weight "q" : tensor<64x8x16xbf16>
  %wk = transformer.weight "k" : tensor<64x2x16xbf16>
  %g = transformer.weight "q_norm" : tensor<8x16xbf16>
  %sinks = transformer.weight "sinks" : tensor<8xbf16>
  %wo = transformer.weight "o" : tensor<8x16x64xbf16>
  %q = transformer.linear %x, %wq : !x, tensor<64x8x16xbf16> -> !heads
  %k = transformer.linear %x, %wk : !x, tensor<64x2x16xbf16> -> !kv
  // CHECK: transformer.rms_norm {{.*}} : !bq_8tp_16_bf, !w8tp_16_bf
  %n = transformer.rms_norm %q, %g eps(1.0e-6) : !heads, tensor<8x16xbf16>
  // CHECK: transformer.attention {{.*}} sinks(%sinks : !w8tp_bf) causal
  %y = transformer.attention %n, %k, %k sinks(%sinks : tensor<8xbf16>) causal : !heads, !kv, !kv -> !heads
  %o = transformer.linear %y, %wo : !heads, tensor<8x16x64xbf16> -> !x
  return %o : !x
}

// An argument is whole: what attends to it splits it, by the rule of its heads.
// CHECK-LABEL: func @whole_keys
func.func @whole_keys(%q: !heads, %k: !kv) -> !heads {
  %cache = transformer.kv_cache : !cache
  // CHECK-DAG: parallel.reshard %arg0 : !bq_8_16_bf -> !bq_8tp_16_bf
  // CHECK-DAG: parallel.reshard %arg1 : !bq_2_16_bf -> !bq_2tp_cap_16_bf
  // CHECK: transformer.attention {{.*}} : !bq_8tp_16_bf, !bq_2tp_cap_16_bf{{$}}
  %y = transformer.attention %q, %k, %k cache(%cache) causal : !heads, !kv, !kv in !cache -> !heads
  return %y : !heads
}
