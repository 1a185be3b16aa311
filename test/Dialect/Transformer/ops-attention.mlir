// RUN: %roundtrip %s | FileCheck %s

!heads = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!kv = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!values = tensor<?x?x2x32xbf16, #transformer.dims<[batch, query, _, _]>>
!wide = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
!wide_cache = !transformer.cache<?x?x2x48xbf16, #transformer.dims<[batch, context, _, _]>>
!encoded = tensor<?x?x2x16xbf16, #transformer.dims<[batch, encoder_tokens, _, _]>>
!memory = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, cross_tokens, _, _]>>

// CHECK-LABEL: func @caches
func.func @caches() {
  // CHECK: transformer.kv_cache : !bct_2_32_bf
  %memory = transformer.kv_cache : !memory
  // CHECK: transformer.kv_cache : !bc_576_bf
  %latent = transformer.kv_cache : !transformer.cache<?x?x576xbf16, #transformer.dims<[batch, context, _]>>
  return
}

// CHECK-LABEL: func @encoder
func.func @encoder(%q: !heads, %k: !kv) {
  // CHECK: transformer.attention %arg0, %arg1, %arg1 : !bq_8_16_bf, !bq_2_16_bf{{$}}
  %y = transformer.attention %q, %k, %k : !heads, !kv, !kv -> !heads
  return
}

// CHECK-LABEL: func @values_of_another_width
func.func @values_of_another_width(%q: !heads, %k: !kv, %v: !values, %c: !wide_cache) {
  // CHECK: transformer.attention %arg0, %arg1, %arg2 cache(%arg3) causal : !bq_8_16_bf, !bq_2_16_bf, !bq_2_32_bf -> !bq_8_32_bf
  %y = transformer.attention %q, %k, %v cache(%c) causal : !heads, !kv, !values in !wide_cache -> !wide
  return
}

// CHECK-LABEL: func @cross_attention
func.func @cross_attention(%q: !heads, %k: !encoded, %c: !memory) {
  // CHECK: transformer.attention %arg0, %arg1, %arg1 cache(%arg2) : !bq_8_16_bf, !bet_2_16_bf in !bct_2_32_bf{{$}}
  %y = transformer.attention %q, %k, %k cache(%c) : !heads, !encoded, !encoded in !memory -> !heads
  return
}

// CHECK-LABEL: func @variants
func.func @variants(%q: !heads, %k: !kv, %c: !cache, %s: tensor<8xbf16>) {
  // CHECK: transformer.attention %arg0, %arg1, %arg1 cache(%arg2) sinks(%arg3 : tensor<8xbf16>) causal window(128) : !bq_8_16_bf, !bq_2_16_bf{{$}}
  %sinks = transformer.attention %q, %k, %k cache(%c) sinks(%s : tensor<8xbf16>) causal window(128)
      : !heads, !kv, !kv in !cache -> !heads
  // CHECK: cache(%arg2) causal chunk(8192) softcap(50.0) alibi
  %chunk = transformer.attention %q, %k, %k cache(%c) causal chunk(8192) softcap(50.0) alibi
      : !heads, !kv, !kv -> !heads
  // CHECK: cache(%arg2) causal scale(0.0625) softcap(50.0)
  %scaled = transformer.attention %q, %k, %k cache(%c) causal scale(0.0625) softcap(50.0)
      : !heads, !kv, !kv -> !heads
  return
}

// CHECK-LABEL: func @rope_of_a_part
func.func @rope_of_a_part(%x: !heads) {
  // CHECK: transformer.rope %arg0 theta(10000.0) scaling(yarn) width(8) : !bq_8_16_bf
  %y = transformer.rope %x theta(10000.0) scaling(yarn) width(8) : !heads
  // CHECK: transformer.rope %arg0 theta(10000.0) width(8) last interleaved : !bq_8_16_bf
  %z = transformer.rope %x theta(10000.0) width(8) last interleaved : !heads
  return
}

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!latent = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!part = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!latents = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!selected = tensor<?x?x4xi32, #transformer.dims<[batch, query, _]>>
!wk = tensor<64x8x16xbf16>
!wv = tensor<64x8x32xbf16>

// CHECK-LABEL: func @latent_attention
func.func @latent_attention(%q: !q, %l: !latent, %r: !part, %wk: !wk, %wv: !wv, %c: !latents, %s: !selected,
                            %sinks: tensor<8xf32>) {
  // CHECK: transformer.latent_attention %arg0, %arg1, %arg2, %arg3, %arg4 cache(%arg5 : !bc_72_bf) causal : !bq_8_24_bf, !bq_64_bf, !bq_8_bf, tensor<64x8x16xbf16>, tensor<64x8x32xbf16> -> !bq_8_32_bf
  %expanded = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !latents) causal
      : !q, !latent, !part, !wk, !wv -> !wide
  // CHECK: cache(%arg5 : !bc_72_bf) at_most(16) causal :
  %bounded = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !latents) at_most(16) causal
      : !q, !latent, !part, !wk, !wv -> !wide
  // CHECK: cache(%arg5 : !bc_72_bf) selected(%arg6 : !bq_4_int) causal absorbed
  %absorbed = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !latents) selected(%s : !selected) causal absorbed
      : !q, !latent, !part, !wk, !wv -> !wide
  // CHECK: cache(%arg5 : !bc_72_bf) selected(%arg6 : !bq_4_int) sinks(%arg7 : tensor<8xf32>) causal
  %sunk = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !latents) selected(%s : !selected)
      sinks(%sinks : tensor<8xf32>) causal : !q, !latent, !part, !wk, !wv -> !wide
  return
}

!keys = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!indexed = !transformer.cache<?x?x16xbf16, #transformer.dims<[batch, context, _]>>

// Of the step's own tokens.
// CHECK-LABEL: func @latent_attention_of_step
func.func @latent_attention_of_step(%q: !q, %l: !latent, %r: !part, %wk: !wk, %wv: !wv, %s: !selected) {
  // CHECK: transformer.latent_attention %arg0, %arg1, %arg2, %arg3, %arg4 selected(%arg5 : !bq_4_int) causal absorbed : !bq_8_24_bf
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv selected(%s : !selected) causal absorbed
      : !q, !latent, !part, !wk, !wv -> !wide
  return
}

// CHECK-LABEL: func @indexer_of_step
func.func @indexer_of_step(%q: !heads, %k: !keys, %w: !part) {
  // CHECK: %selected = transformer.indexer %arg0, %arg1, %arg2 top_k(4) : !bq_8_16_bf, !bq_16_bf, !bq_8_bf -> !bq_4_int
  %s = transformer.indexer %q, %k, %w top_k(4) : !heads, !keys, !part -> !selected
  return
}

// CHECK-LABEL: func @indexer
func.func @indexer(%q: !heads, %k: !keys, %w: !part, %c: !indexed) {
  // CHECK: %selected = transformer.indexer %arg0, %arg1, %arg2 cache(%arg3 : !bc_16_bf) top_k(4) : !bq_8_16_bf, !bq_16_bf, !bq_8_bf -> !bq_4_int
  %s = transformer.indexer %q, %k, %w cache(%c : !indexed) top_k(4) : !heads, !keys, !part -> !selected
  return
}

// CHECK-LABEL: func @plane
func.func @plane(%q: !q, %d: tensor<27x24xbf16>) {
  // CHECK: transformer.attention %arg0, %arg0, %arg0 plane(%arg1, %arg1 : tensor<27x24xbf16>, tensor<27x24xbf16>) chunk(196)
  %y = transformer.attention %q, %q, %q plane(%d, %d : tensor<27x24xbf16>, tensor<27x24xbf16>) chunk(196) : !q, !q, !q -> !q
  return
}

// CHECK-LABEL: func @position_bias
func.func @position_bias(%q: !q, %b: tensor<32x8xbf16>) {
  // CHECK: transformer.attention %arg0, %arg0, %arg0 bias(%arg1 : tensor<32x8xbf16>) max_distance(128)
  %y = transformer.attention %q, %q, %q bias(%b : tensor<32x8xbf16>) max_distance(128) : !q, !q, !q -> !q
  return
}

// CHECK-LABEL: func @distances
func.func @distances(%q: !q, %d: tensor<401x24xbf16>) {
  // CHECK: transformer.attention %arg0, %arg0, %arg0 distances(%arg1 : tensor<401x24xbf16>) chunk(200)
  %y = transformer.attention %q, %q, %q distances(%d : tensor<401x24xbf16>) chunk(200) : !q, !q, !q -> !q
  return
}

// CHECK-LABEL: func @channel_attention
func.func @channel_attention(%q: !q) {
  // CHECK: %attn = transformer.channel_attention %arg0, %arg0, %arg0 :
  %y = transformer.channel_attention %q, %q, %q : !q
  return
}
