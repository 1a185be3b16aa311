// RUN: autopar-opt %s -split-input-file -verify-diagnostics

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @window_and_chunk(%q: !q, %k: !k, %v: !k, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op has both a window and a chunk}}
  %y = transformer.attention %q, %k, %v cache(%c) causal window(4) chunk(4) : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @empty_chunk(%q: !q, %k: !k, %v: !k, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op has a chunk of 0 tokens, expected at least 1}}
  %y = transformer.attention %q, %k, %v cache(%c) causal chunk(0) : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @negative_chunk(%q: !q, %k: !k, %v: !k, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op has a chunk of -4 tokens, expected at least 1}}
  %y = transformer.attention %q, %k, %v cache(%c) causal chunk(-4) : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @softcap_of_zero(%q: !q, %k: !k, %v: !k, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op has a softcap that is not a positive number}}
  %y = transformer.attention %q, %k, %v cache(%c) causal softcap(0.0) : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @too_few_sinks(%q: !q, %k: !k, %v: !k, %c: !c, %s: tensor<2xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has 2 heads in its sinks, expected 8}}
  %y = transformer.attention %q, %k, %v cache(%c) sinks(%s : tensor<2xbf16>) : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @sinks_of_rank_2(%q: !q, %k: !k, %v: !k, %c: !c, %s: tensor<8x1xbf16>) {
  // expected-error @+1 {{'transformer.attention' op cannot work on operands of rank 4, 4, 4, 4, 2 with a result of rank 4}}
  %y = transformer.attention %q, %k, %v cache(%c) sinks(%s : tensor<8x1xbf16>) : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!v = tensor<?x?x4x16xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @more_values_than_keys(%q: !q, %k: !k, %v: !v) {
  // expected-error @+1 {{'transformer.attention' op has 4 heads in its values, expected 2}}
  %y = transformer.attention %q, %k, %v causal : !q, !k, !v -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x4x32xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @cache_of_more_heads(%q: !q, %k: !k, %v: !k, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op has 4 heads in its cache, expected 2}}
  %y = transformer.attention %q, %k, %v cache(%c) causal : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x4x16xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @result_of_fewer_heads(%q: !q, %k: !k, %v: !k) {
  // expected-error @+1 {{'transformer.attention' op has 4 heads in its result, expected 8}}
  %y = transformer.attention %q, %k, %v causal : !q, !k, !k -> !y
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x32xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @keys_of_another_width(%q: !q, %k: !k, %v: !k) {
  // expected-error @+1 {{'transformer.attention' op dimension 3 of operand #1 is 32, but dimension 3 of operand #0 is 16}}
  %y = transformer.attention %q, %k, %v causal : !q, !k, !k -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @result_of_another_width(%q: !q, %k: !k, %v: !k) {
  // expected-error @+1 {{'transformer.attention' op dimension 3 of the result is 32, but dimension 3 of operand #2 is 16}}
  %y = transformer.attention %q, %k, %v causal : !q, !k, !k -> !y
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, encoder_tokens, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, cross_tokens, _, _]>>
func.func @causal_cross_attention(%q: !q, %k: !k, %v: !k, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op is causal, but has queries of query tokens and keys of encoder_tokens}}
  %y = transformer.attention %q, %k, %v cache(%c) causal : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x?x16xbf16, #transformer.dims<[batch, query, query, _]>>
func.func @symbolic_heads(%q: !q, %k: !q, %v: !q) {
  // expected-error @+1 {{'transformer.attention' op has query for dimension 2, expected a number}}
  %y = transformer.attention %q, %k, %v  : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!wk = tensor<64x8x16xbf16>
!wv = tensor<64x8x32xbf16>
func.func @queries_without_rope(%q: !q, %l: !l, %r: !r, %wk: !wk, %wv: !wv, %c: !c) {
  // expected-error @+1 {{'transformer.latent_attention' op has queries of 16 elements, expected 24: those of a key and its rope part}}
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal : !q, !l, !r, !wk, !wv -> !y
  return
}

// -----

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x64xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!wk = tensor<64x8x16xbf16>
!wv = tensor<64x8x32xbf16>
func.func @cache_without_rope(%q: !q, %l: !l, %r: !r, %wk: !wk, %wv: !wv, %c: !c) {
  // expected-error @+1 {{'transformer.latent_attention' op caches 64 elements, expected 72: a latent and a rope part}}
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal : !q, !l, !r, !wk, !wv -> !y
  return
}

// -----

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!wk = tensor<32x8x16xbf16>
!wv = tensor<64x8x32xbf16>
func.func @weight_of_another_latent(%q: !q, %l: !l, %r: !r, %wk: !wk, %wv: !wv, %c: !c) {
  // expected-error @+1 {{'transformer.latent_attention' op dimension 0 of operand #3 is 32, but dimension 2 of operand #1 is 64}}
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal : !q, !l, !r, !wk, !wv -> !y
  return
}

// -----

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!wk = tensor<64x8x16xbf16>
!wv = tensor<64x4x32xbf16>
func.func @values_of_other_heads(%q: !q, %l: !l, %r: !r, %wk: !wk, %wv: !wv, %c: !c) {
  // expected-error @+1 {{'transformer.latent_attention' op dimension 1 of operand #4 is 4, but dimension 2 of operand #0 is 8}}
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal : !q, !l, !r, !wk, !wv -> !y
  return
}

// -----

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!wk = tensor<64x8x16xbf16>
!wv = tensor<64x8x32xbf16>
func.func @result_of_another_value_width(%q: !q, %l: !l, %r: !r, %wk: !wk, %wv: !wv, %c: !c) {
  // expected-error @+1 {{'transformer.latent_attention' op dimension 3 of the result is 16, but dimension 2 of operand #4 is 32}}
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal : !q, !l, !r, !wk, !wv -> !y
  return
}

// -----

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x1x72xbf16, #transformer.dims<[batch, context, _, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!wk = tensor<64x8x16xbf16>
!wv = tensor<64x8x32xbf16>
func.func @cache_of_heads(%q: !q, %l: !l, %r: !r, %wk: !wk, %wv: !wv, %c: !c) {
  // expected-error @+1 {{'transformer.latent_attention' op cannot work on operands of rank 4, 3, 3, 3, 3, 4 with a result of rank 4}}
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal : !q, !l, !r, !wk, !wv -> !y
  return
}

// -----

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!wk = tensor<64x8x16xbf16>
!wv = tensor<64x8x32xbf16>
func.func @symbolic_selection(%q: !q, %l: !l, %r: !r, %wk: !wk, %wv: !wv, %c: !c, %s: tensor<?x?x?xi32, #transformer.dims<[batch, query, query]>>) {
  // expected-error @+1 {{'transformer.latent_attention' op has query for dimension 2, expected a number}}
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) selected(%s : tensor<?x?x?xi32, #transformer.dims<[batch, query, query]>>) causal : !q, !l, !r, !wk, !wv -> !y
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!w = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x16xbf16, #transformer.dims<[batch, context, _]>>
!s = tensor<?x?x4xi32, #transformer.dims<[batch, query, _]>>
func.func @selects_none(%q: !q, %k: !k, %w: !w, %c: !c) {
  // expected-error @+1 {{'transformer.indexer' op has top_k(0), expected at least 1}}
  %s = transformer.indexer %q, %k, %w cache(%c : !c) top_k(0) : !q, !k, !w -> !s
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!w = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x16xbf16, #transformer.dims<[batch, context, _]>>
!s = tensor<?x?x4xi32, #transformer.dims<[batch, query, _]>>
func.func @selects_more_than_it_returns(%q: !q, %k: !k, %w: !w, %c: !c) {
  // expected-error @+1 {{'transformer.indexer' op keeps 5 tokens, but the result has 4}}
  %s = transformer.indexer %q, %k, %w cache(%c : !c) top_k(5) : !q, !k, !w -> !s
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!w = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x16xbf16, #transformer.dims<[batch, context, _]>>
!s = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
func.func @selects_by_floats(%q: !q, %k: !k, %w: !w, %c: !c) {
  // expected-error @+1 {{'transformer.indexer' op selects tokens by indices that are not integers}}
  %s = transformer.indexer %q, %k, %w cache(%c : !c) top_k(4) : !q, !k, !w -> !s
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!w = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x16xbf16, #transformer.dims<[batch, context, _]>>
!s = tensor<?x?x4xi32, #transformer.dims<[batch, query, _]>>
func.func @weights_of_other_heads(%q: !q, %k: !k, %w: !w, %c: !c) {
  // expected-error @+1 {{'transformer.indexer' op dimension 2 of operand #2 is 4, but dimension 2 of operand #0 is 8}}
  %s = transformer.indexer %q, %k, %w cache(%c : !c) top_k(4) : !q, !k, !w -> !s
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!w = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x32xbf16, #transformer.dims<[batch, context, _]>>
!s = tensor<?x?x4xi32, #transformer.dims<[batch, query, _]>>
func.func @cache_of_another_width(%q: !q, %k: !k, %w: !w, %c: !c) {
  // expected-error @+1 {{'transformer.indexer' op dimension 2 of operand #3 is 32, but dimension 3 of operand #0 is 16}}
  %s = transformer.indexer %q, %k, %w cache(%c : !c) top_k(4) : !q, !k, !w -> !s
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @rope_of_0(%x: !q) {
  // expected-error @+1 {{'transformer.rope' op turns 0 of 16 elements, expected an even part of them}}
  %y = transformer.rope %x theta(1.0e4) width(0) : !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @rope_of_7(%x: !q) {
  // expected-error @+1 {{'transformer.rope' op turns 7 of 16 elements, expected an even part of them}}
  %y = transformer.rope %x theta(1.0e4) width(7) : !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @rope_of_18(%x: !q) {
  // expected-error @+1 {{'transformer.rope' op turns 18 of 16 elements, expected an even part of them}}
  %y = transformer.rope %x theta(1.0e4) width(18) : !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @rope_of_the_last(%x: !q) {
  // expected-error @+1 {{'transformer.rope' op turns the last elements without a width: how many}}
  %y = transformer.rope %x theta(1.0e4) last : !q
  return
}

// -----

!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @scale_of_zero(%q: !q) {
  // expected-error @+1 {{'transformer.attention' op has a scale that is not a positive number}}
  %y = transformer.attention %q, %q, %q scale(0.0) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x24xbf16, #parallel.sharding<[batch, query, _ by tp, _]>>
!l = tensor<?x?x64xbf16, #parallel.sharding<[batch, query, _ by tp]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!y = tensor<?x?x8x32xbf16, #parallel.sharding<[batch, query, _ by tp, _]>>
!wk = tensor<64x8x16xbf16, #parallel.sharding<[_, _ by tp, _]>>
!wv = tensor<64x8x32xbf16, #parallel.sharding<[_, _ by tp, _]>>
parallel.mesh(tp = 4)
func.func @split_latent(%q: !q, %l: !l, %r: !r, %wk: !wk, %wv: !wv, %c: !c) {
  // expected-error @+1 {{'transformer.latent_attention' op needs dimension 2 of operand #1 whole, but it is split over [tp]}}
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal : !q, !l, !r, !wk, !wv -> !y
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>

func.func @bias_of_other_heads(%q: !q, %b: tensor<32x4xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has 4 heads in its bias, expected 8}}
  %y = transformer.attention %q, %q, %q bias(%b : tensor<32x4xbf16>) max_distance(128) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>

func.func @bias_without_a_largest_distance(%q: !q, %b: tensor<32x8xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has a bias without max_distance, or the reverse}}
  %y = transformer.attention %q, %q, %q bias(%b : tensor<32x8xbf16>) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>

func.func @buckets_beyond_the_largest_distance(%q: !q, %b: tensor<32x8xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has 32 buckets for distances up to 8, of which 8 would have one each: expected 1 or more, and a max_distance above}}
  %y = transformer.attention %q, %q, %q bias(%b : tensor<32x8xbf16>) max_distance(8) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>

func.func @too_few_buckets(%q: !q, %b: tensor<2x8xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has 2 buckets for distances up to 8, of which 0 would have one each: expected 1 or more, and a max_distance above}}
  %y = transformer.attention %q, %q, %q bias(%b : tensor<2x8xbf16>) max_distance(8) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x8x128xbf16, #transformer.dims<[batch, context, _, _]>>

func.func @sees_what_is_gone(%q: !q) {
  %c = transformer.kv_cache window(512) : !cache
  // expected-error @+1 {{'transformer.attention' op sees all tokens, but the cache keeps the last 512}}
  %y = transformer.attention %q, %q, %q cache(%c) causal : !q, !q, !q in !cache -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x8x128xbf16, #transformer.dims<[batch, context, _, _]>>

func.func @sees_more_than_the_cache_keeps(%q: !q) {
  %c = transformer.kv_cache window(512) : !cache
  // expected-error @+1 {{'transformer.attention' op sees 1024 tokens, but the cache keeps the last 512}}
  %y = transformer.attention %q, %q, %q cache(%c) causal window(1024) : !q, !q, !q in !cache -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, encoder_tokens, _, _]>>
func.func @plane_of_an_even_table(%q: !q, %d: tensor<28x64xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has tables of 28 rows for a plane, expected an odd number}}
  %y = transformer.attention %q, %q, %q plane(%d, %d : tensor<28x64xbf16>, tensor<28x64xbf16>) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, encoder_tokens, _, _]>>
func.func @planes_that_differ(%q: !q, %d: tensor<27x64xbf16>, %a: tensor<29x64xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has tables of a plane that differ}}
  %y = transformer.attention %q, %q, %q plane(%d, %a : tensor<27x64xbf16>, tensor<29x64xbf16>) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, encoder_tokens, _, _]>>
func.func @plane_of_another_chunk(%q: !q, %d: tensor<27x64xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has a chunk of 64 tokens, expected a plane of 14 rows and columns}}
  %y = transformer.attention %q, %q, %q plane(%d, %d : tensor<27x64xbf16>, tensor<27x64xbf16>) chunk(64) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, encoder_tokens, _, _]>>
func.func @distances_of_an_even_table(%q: !q, %d: tensor<28x64xbf16>) {
  // expected-error @+1 {{'transformer.attention' op has 28 rows of distances, expected an odd number}}
  %y = transformer.attention %q, %q, %q distances(%d : tensor<28x64xbf16>) : !q, !q, !q -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #parallel.sharding<[batch, encoder_tokens by tp, _, _]>>
parallel.mesh(tp = 2)
func.func @channels_of_some_tokens(%q: !q) {
  // expected-error @+1 {{'transformer.channel_attention' op}}
  %y = transformer.channel_attention %q, %q, %q : !q
  return
}
