// RUN: %roundtrip %s | FileCheck %s

!x = tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
!v = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!g = tensor<?x?x2x6xbf16, #transformer.dims<[batch, query, _, _]>>
!w = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!i = tensor<?x?x3xi32, #transformer.dims<[batch, query, _]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!states = !transformer.cache<?x?x32xf32, #transformer.dims<[batch, context, _]>>
!plain = !transformer.cache<?x?x16xf32, #transformer.dims<[batch, context, _]>>
!cache = !transformer.cache<?x?x8xbf16, #transformer.dims<[batch, context, _]>>
!rows = !transformer.cache<?x?x2xbf16, #transformer.dims<[batch, context, _]>>

// CHECK-LABEL: func @compress
func.func @compress(%v: !v, %o: !y, %b: tensor<4x16xf32>, %p: tensor<4x8xf32>, %w: tensor<8xbf16>) -> (!y, !y) {
  %s = transformer.kv_cache window(8) : !states
  // CHECK: %compressed = transformer.compress %arg0, %arg0, %arg2, %arg4 states(%cache : !{{.*}}) eps(1.0e-06) theta(160000.0) scaling(yarn) width(4) last interleaved : !bq_16_bf, tensor<4x16xf32>, tensor<8xbf16> -> !bq_8_bf
  %x = transformer.compress %v, %v, %b, %w states(%s : !states) eps(1.0e-6) theta(1.6e5) scaling(yarn) width(4) last interleaved
      : !v, tensor<4x16xf32>, tensor<8xbf16> -> !y
  %t = transformer.kv_cache window(4) : !plain
  // CHECK: transformer.compress %arg1, %arg1, %arg3, %arg4 states(%{{.*}}) eps(1.0e-06) theta(10000.0) : !bq_8_bf
  %z = transformer.compress %o, %o, %p, %w states(%t : !plain) eps(1.0e-6) theta(1.0e4)
      : !y, tensor<4x8xf32>, tensor<8xbf16> -> !y
  return %x, %z : !y, !y
}

// CHECK-LABEL: func @attend
func.func @attend(%q: !q, %row: !y, %key: !y, %iq: !q, %w: !w, %sinks: tensor<4xf32>) -> (!q, !q) {
  %c = transformer.kv_cache window(3) : !cache
  // CHECK: %attn = transformer.compressed_attention %arg0, %arg1 cache(%{{.*}}) sinks(%arg5 : tensor<4xf32>) window(3) : !bq_4_8_bf, !bq_8_bf
  %x = transformer.compressed_attention %q, %row cache(%c : !cache) sinks(%sinks : tensor<4xf32>) window(3) : !q, !y
  %k = transformer.kv_cache : !rows
  // A key for every four tokens.
  // CHECK: %selected = transformer.indexer %arg3, %arg2, %arg4 cache(%{{.*}}) top_k(3)
  %s = transformer.indexer %iq, %key, %w cache(%k : !rows) top_k(3) : !q, !y, !w -> !i
  %m = transformer.kv_cache : !rows
  // CHECK: transformer.compressed_attention %arg0, %arg1 cache(%{{.*}}) compressed(%arg2 : !bq_8_bf) rows(%{{.*}}) selected(%selected : !{{.*}}) window(3)
  %y = transformer.compressed_attention %q, %row cache(%c : !cache) compressed(%key : !y) rows(%m : !rows)
      selected(%s : !i) window(3) : !q, !y
  return %x, %y : !q, !q
}

// CHECK-LABEL: func @output
func.func @output(%y: !q, %w: tensor<2x16x6xbf16>) -> !g {
  // CHECK: %rope = transformer.rope %arg0 theta(10000.0) width(4) last interleaved inverse : !bq_4_8_bf
  %t = transformer.rope %y theta(1.0e4) width(4) last interleaved inverse : !q
  // CHECK: %grouped = transformer.grouped_linear %rope, %arg1 : !bq_4_8_bf, tensor<2x16x6xbf16> -> !bq_2_6_bf
  %g = transformer.grouped_linear %t, %w : !q, tensor<2x16x6xbf16> -> !g
  return %g : !g
}

// CHECK-LABEL: func @route
func.func @route(%x: !x, %w: tensor<32x8xbf16>, %ids: !ids, %t: tensor<100x2xi64>) -> (!r, !r) {
  // CHECK: transformer.router %arg0, %arg1 ids(%arg2 : !{{.*}}) table(%arg3 : tensor<100x2xi64>) top_k(2) sqrt_softplus normalized scaled(1.5)
  %a = transformer.router %x, %w ids(%ids : !ids) table(%t : tensor<100x2xi64>) top_k(2) sqrt_softplus normalized scaled(1.5)
      : !x, tensor<32x8xbf16> -> !r
  // CHECK: transformer.router %arg0, %arg1 top_k(2) sqrt_softplus :
  %b = transformer.router %x, %w top_k(2) sqrt_softplus : !x, tensor<32x8xbf16> -> !r
  return %a, %b : !r, !r
}

!k = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!kv = !transformer.cache<?x?x2x16xbf16, #transformer.dims<[batch, context, _, _]>>
!blocks = tensor<?x?x2x3xi32, #transformer.dims<[batch, query, _, _]>>
// CHECK-LABEL: func @blocks
func.func @blocks(%q: !q, %k: !k, %iq: !k, %ik: !y) -> !q {
  %c = transformer.kv_cache : !cache
  // CHECK: %selected = transformer.block_indexer %arg2, %arg3 cache(%{{.*}}) block(4) top_k(3) local(1)
  %s = transformer.block_indexer %iq, %ik cache(%c : !cache) block(4) top_k(3) local(1) : !k, !y -> !blocks
  %kv = transformer.kv_cache : !kv
  // CHECK: transformer.attention %arg0, %arg1, %arg1 cache(%{{.*}}) selected(%selected : !{{.*}}) block(4) causal
  %y = transformer.attention %q, %k, %k cache(%kv) selected(%s : !blocks) block(4) causal : !q, !k in !kv
  return %y : !q
}
