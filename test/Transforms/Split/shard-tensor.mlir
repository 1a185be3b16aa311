// RUN: autopar-opt %s --autopar-shard-tensor > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=TYPES < %t
// RUN: autopar-opt %t --autopar-shard-tensor | diff - %t

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!wide = tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
!heads = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!kv = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
!last = tensor<?x64xbf16, #transformer.dims<[batch, _]>>
!scores = tensor<?x1000xbf16, #transformer.dims<[batch, _]>>

// TYPES-DAG: !bq_256tp_bf = tensor<?x?x256xbf16, #parallel.sharding<[batch, query, _ by tp]>>
// TYPES-DAG: !bq_64_sum_tp = tensor<?x?x64xbf16, #parallel.sharding<[batch, query, _] partial [tp]>>
// TYPES-DAG: !bq_2tp_cap_16_bf = tensor<?x?x2x16xbf16, #parallel.sharding<[batch, query, _ by tp cap, _]>>
// TYPES-DAG: !w1000tp_pad64_64_bf = tensor<1000x64xbf16, #parallel.sharding<[_ by tp pad 64, _]>>

parallel.mesh(tp = 4)

// A function keeps its type.
// CHECK-LABEL: func @column_then_row
// CHECK-SAME: (%arg0: !bq_64_bf) -> !bq_64_bf
func.func @column_then_row(%x: !x) -> !x {
  // CHECK: transformer.weight "gate" : !w64_256tp_bf
  // CHECK: transformer.weight "up" : !w64_256tp_bf
  // CHECK: transformer.weight "down" : !w256tp_64_bf
  %gate = transformer.weight "gate" : tensor<64x256xbf16>
  %up = transformer.weight "up" : tensor<64x256xbf16>
  %down = transformer.weight "down" : tensor<256x64xbf16>
  // CHECK: transformer.linear %arg0, {{.*}} : !bq_64_bf, !w64_256tp_bf -> !bq_256tp_bf
  %g = transformer.linear %x, %gate : !x, tensor<64x256xbf16> -> !wide
  %u = transformer.linear %x, %up : !x, tensor<64x256xbf16> -> !wide
  // CHECK: transformer.gated {{.*}} : !bq_256tp_bf
  %a = transformer.gated %g, %u silu : !wide
  // CHECK: %[[DOWN:.*]] = transformer.linear {{.*}} : !bq_256tp_bf, !w256tp_64_bf -> !bq_64_sum_tp
  %y = transformer.linear %a, %down : !wide, tensor<256x64xbf16> -> !x
  // CHECK-NEXT: %[[SUM:.*]] = parallel.reshard %[[DOWN]] : !bq_64_sum_tp -> !bq_64_bf
  // CHECK-NEXT: return %[[SUM]] : !bq_64_bf
  return %y : !x
}

// A bias is split with its columns, and added after the reduction of its rows.
// CHECK-LABEL: func @biases
func.func @biases(%x: !x) -> !x {
  // CHECK: transformer.weight "up.bias" : !w256tp_bf
  // CHECK: %[[BIAS:.*]] = transformer.weight "down.bias" : tensor<64xbf16>
  %up = transformer.weight "up.weight" : tensor<64x256xbf16>
  %up_bias = transformer.weight "up.bias" : tensor<256xbf16>
  %down = transformer.weight "down.weight" : tensor<256x64xbf16>
  %down_bias = transformer.weight "down.bias" : tensor<64xbf16>
  // CHECK: transformer.linear {{.*}} bias(%{{.*}} : !w256tp_bf) {{.*}}-> !bq_256tp_bf
  %u = transformer.linear %x, %up bias(%up_bias : tensor<256xbf16>)
      : !x, tensor<64x256xbf16> -> !wide
  %a = transformer.activation %u gelu : !wide
  // CHECK: %[[DOWN:[^ ]*]] = transformer.linear
  // CHECK-NOT: bias(
  // CHECK-SAME: -> !bq_64_sum_tp
  // CHECK-NEXT: %[[SUM:.*]] = parallel.reshard %[[DOWN]] : !bq_64_sum_tp -> !bq_64_bf
  // CHECK-NEXT: transformer.add_bias %[[SUM]], %[[BIAS]] : !bq_64_bf, tensor<64xbf16>
  %y = transformer.linear %a, %down bias(%down_bias : tensor<64xbf16>)
      : !wide, tensor<256x64xbf16> -> !x
  return %y : !x
}

// Key-value heads are split as far as there are any, then replicated.
// CHECK-LABEL: func @heads
func.func @heads(%x: !x) -> !x {
  // CHECK: transformer.weight "q" : !w64_8tp_16_bf
  // CHECK: transformer.weight "k" : !w64_2tp_cap_16_bf
  // CHECK: transformer.weight "o" : !w8tp_16_64_bf
  %wq = transformer.weight "q" : tensor<64x8x16xbf16>
  %wk = transformer.weight "k" : tensor<64x2x16xbf16>
  %wo = transformer.weight "o" : tensor<8x16x64xbf16>
  // CHECK: transformer.kv_cache : !bc_2tp_cap_32_bf
  %cache = transformer.kv_cache : !cache
  %q = transformer.linear %x, %wq : !x, tensor<64x8x16xbf16> -> !heads
  %k = transformer.linear %x, %wk : !x, tensor<64x2x16xbf16> -> !kv
  // CHECK: transformer.rope {{.*}} : !bq_8tp_16_bf
  %r = transformer.rope %q theta(1.0e4) : !heads
  // CHECK: transformer.attention {{.*}} cache(%{{.*}}) causal : !bq_8tp_16_bf, !bq_2tp_cap_16_bf{{$}}
  %y = transformer.attention %r, %k, %k cache(%cache) causal : !heads, !kv, !kv in !cache -> !heads
  // CHECK: transformer.linear {{.*}} : !bq_8tp_16_bf, !w8tp_16_64_bf -> !bq_64_sum_tp
  %o = transformer.linear %y, %wo : !heads, tensor<8x16x64xbf16> -> !x
  return %o : !x
}

// Norms of single heads do not disturb the split; their weights stay whole.
// CHECK-LABEL: func @norm_of_heads
func.func @norm_of_heads(%x: !x) -> !x {
  // CHECK: transformer.weight "q_norm" : tensor<16xbf16>
  %wq = transformer.weight "q" : tensor<64x8x16xbf16>
  %g = transformer.weight "q_norm" : tensor<16xbf16>
  %cache = transformer.kv_cache : !transformer.cache<?x?x8x32xbf16, #transformer.dims<[batch, context, _, _]>>
  %wo = transformer.weight "o" : tensor<8x16x64xbf16>
  %q = transformer.linear %x, %wq : !x, tensor<64x8x16xbf16> -> !heads
  // CHECK: transformer.rms_norm {{.*}} : !bq_8tp_16_bf
  %n = transformer.rms_norm %q, %g eps(1.0e-6) : !heads
  %y = transformer.attention %n, %n, %n cache(%cache) causal
      : !heads, !heads, !heads -> !heads
  %o = transformer.linear %y, %wo : !heads, tensor<8x16x64xbf16> -> !x
  return %o : !x
}

// CHECK-LABEL: func @vocabulary
func.func @vocabulary(%ids: !ids, %g: tensor<64xbf16>) -> !scores {
  // CHECK: transformer.weight "embed" : !w1000tp_pad64_64_bf
  // CHECK: transformer.weight "head" : !w1000tp_pad64_64_bf
  %table = transformer.weight "embed" : tensor<1000x64xbf16>
  %head = transformer.weight "head" : tensor<1000x64xbf16>
  // CHECK: %[[PARTIAL:.*]] = transformer.embedding {{.*}} : !bq_int, !w1000tp_pad64_64_bf -> !bq_64_sum_tp
  %x = transformer.embedding %ids, %table : !ids, tensor<1000x64xbf16> -> !x
  // The last token may be taken before the reduction, which is linear.
  // CHECK-NEXT: %[[LAST:.*]] = transformer.last_token %[[PARTIAL]] : !bq_64_sum_tp -> !b_64_sum_tp
  // CHECK-NEXT: parallel.reshard %[[LAST]] : !b_64_sum_tp -> !b_64_bf
  %last = transformer.last_token %x : !x -> !last
  %n = transformer.rms_norm %last, %g eps(1.0e-5) : !last
  // CHECK: %[[LOGITS:.*]] = transformer.logits {{.*}} : !b_64_bf, !w1000tp_pad64_64_bf -> !b_1000tp_pad64_bf
  // CHECK-NEXT: parallel.reshard %[[LOGITS]] : !b_1000tp_pad64_bf -> !b_1000_bf
  %y = transformer.logits %n, %head : !last, tensor<1000x64xbf16> -> !scores
  return %y : !scores
}

// CHECK-LABEL: func @tied_embeddings
func.func @tied_embeddings(%ids: !ids, %g: tensor<64xbf16>) -> !scores {
  // CHECK: %[[TABLE:.*]] = transformer.weight "embed" : !w1000tp_pad64_64_bf
  // CHECK: transformer.embedding %arg0, %[[TABLE]]
  // CHECK: transformer.logits {{.*}}, %[[TABLE]]
  %table = transformer.weight "embed" : tensor<1000x64xbf16>
  %x = transformer.embedding %ids, %table : !ids, tensor<1000x64xbf16> -> !x
  %n = transformer.rms_norm %x, %g eps(1.0e-5) : !x
  %last = transformer.last_token %n : !x -> !last
  %y = transformer.logits %last, %table : !last, tensor<1000x64xbf16> -> !scores
  return %y : !scores
}

!routing = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!routed = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
!routed_wide = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>

// Experts are split by their width: each device has a part of each. Partial sums
// are combined before their reduction.
// CHECK-LABEL: func @experts
func.func @experts(%x: !x) -> !x {
  // CHECK: transformer.weight "router" : tensor<64x8xbf16>
  // CHECK: transformer.weight "up" : !w8_64_32tp_bf
  // CHECK: transformer.weight "down" : !w8_32tp_64_bf
  %router = transformer.weight "router" : tensor<64x8xbf16>
  %up = transformer.weight "up" : tensor<8x64x32xbf16>
  %down = transformer.weight "down" : tensor<8x32x64xbf16>
  %r = transformer.router %x, %router top_k(2) : !x, tensor<64x8xbf16> -> !routing
  // CHECK: transformer.dispatch {{.*}} -> !bq2_64_bf
  %t = transformer.dispatch %x, %r : !x, !routing -> !routed
  // CHECK: transformer.experts {{.*}} : !bq2_64_bf, !w8_64_32tp_bf -> !bq2_32tp_bf
  %u = transformer.experts %t, %up top_k(2) : !routed, tensor<8x64x32xbf16> -> !routed_wide
  %a = transformer.activation %u silu : !routed_wide
  // CHECK: transformer.experts {{.*}} : !bq2_32tp_bf, !w8_32tp_64_bf -> !bq2_64_sum_tp
  %d = transformer.experts %a, %down top_k(2) : !routed_wide, tensor<8x32x64xbf16> -> !routed
  // CHECK: %[[SUM:.*]] = transformer.combine {{.*}} : !bq2_64_sum_tp, !bq_2_bf -> !bq_64_sum_tp
  // CHECK-NEXT: parallel.reshard %[[SUM]] : !bq_64_sum_tp -> !bq_64_bf
  %y = transformer.combine %d, %r : !routed, !routing -> !x
  return %y : !x
}

// Two partial sums are added before one reduction.
// CHECK-LABEL: func @sum_of_two_products
func.func @sum_of_two_products(%x: !x) -> !x {
  %up = transformer.weight "up" : tensor<64x256xbf16>
  %a = transformer.weight "a" : tensor<256x64xbf16>
  %b = transformer.weight "b" : tensor<256x64xbf16>
  %u = transformer.linear %x, %up : !x, tensor<64x256xbf16> -> !wide
  %s = transformer.activation %u relu : !wide
  %ya = transformer.linear %s, %a : !wide, tensor<256x64xbf16> -> !x
  %yb = transformer.linear %s, %b : !wide, tensor<256x64xbf16> -> !x
  // CHECK: %[[SUM:.*]] = transformer.add {{.*}} : !bq_64_sum_tp
  // CHECK-NEXT: parallel.reshard %[[SUM]] : !bq_64_sum_tp -> !bq_64_bf
  %y = transformer.add %ya, %yb : !x
  return %y : !x
}

// A value that two ops need whole is put together once.
// CHECK-LABEL: func @one_reshard_for_two_uses
func.func @one_reshard_for_two_uses(%x: !x, %g: tensor<256xbf16>) -> !wide {
  %up = transformer.weight "up" : tensor<64x256xbf16>
  %u = transformer.linear %x, %up : !x, tensor<64x256xbf16> -> !wide
  // CHECK: %[[SPLIT:.*]] = transformer.activation
  %s = transformer.activation %u relu : !wide
  // CHECK: %[[WHOLE:.*]] = parallel.reshard %[[SPLIT]] : !bq_256tp_bf -> !bq_256_bf
  // CHECK-NOT: parallel.reshard
  // CHECK: transformer.rms_norm %[[WHOLE]]
  // CHECK: transformer.layer_norm %[[WHOLE]]
  %a = transformer.rms_norm %s, %g eps(1.0e-5) : !wide
  %b = transformer.layer_norm %s, %g eps(1.0e-5) : !wide
  %y = transformer.add %a, %b : !wide
  return %y : !wide
}

// What a repeat carries keeps its type: it is put together before and inside.
// CHECK-LABEL: func @repeat
func.func @repeat(%ids: !ids) -> !x {
  %table = transformer.weight "embed" : tensor<1000x64xbf16>
  // CHECK: %[[PARTIAL:.*]] = transformer.embedding
  // CHECK: %[[X0:.*]] = parallel.reshard %[[PARTIAL]] : !bq_64_sum_tp -> !bq_64_bf
  // CHECK: transformer.repeat 2 (%{{.*}} = %[[X0]]) : !bq_64_bf
  %x0 = transformer.embedding %ids, %table : !ids, tensor<1000x64xbf16> -> !x
  %x1 = transformer.repeat 2 (%x = %x0) : !x {
    %up = transformer.weight "up" : tensor<64x256xbf16>
    %down = transformer.weight "down" : tensor<256x64xbf16>
    %u = transformer.linear %x, %up : !x, tensor<64x256xbf16> -> !wide
    %a = transformer.activation %u relu : !wide
    %y = transformer.linear %a, %down : !wide, tensor<256x64xbf16> -> !x
    // CHECK: %[[Y:.*]] = parallel.reshard {{.*}} : !bq_64_sum_tp -> !bq_64_bf
    // CHECK-NEXT: transformer.yield %[[Y]] : !bq_64_bf
    transformer.yield %y : !x
  }
  return %x1 : !x
}
