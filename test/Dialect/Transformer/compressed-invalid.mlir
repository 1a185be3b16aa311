// RUN: autopar-opt %s --split-input-file --verify-diagnostics

!v = tensor<?x?x24xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!s = !transformer.cache<?x?x48xf32, #transformer.dims<[batch, context, _]>>
func.func @three_windows(%v: !v, %b: tensor<4x24xf32>, %w: tensor<8xbf16>) {
  %s = transformer.kv_cache : !s
  // expected-error @+1 {{'transformer.compress' op has values of 24 elements, expected the 8 of a result or twice as many}}
  %x = transformer.compress %v, %v, %b, %w states(%s : !s) eps(1.0e-6) theta(1.0e4) : !v, tensor<4x24xf32>, tensor<8xbf16> -> !y
  return
}

// -----

!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!s = !transformer.cache<?x?x16xf32, #transformer.dims<[batch, context, _]>>
func.func @uneven(%v: !y, %b: tensor<3x8xf32>, %w: tensor<8xbf16>) {
  %s = transformer.kv_cache : !s
  // expected-error @+1 {{'transformer.compress' op has rows of 3 tokens, expected 2 or more that divide the 8 elements of a result}}
  %x = transformer.compress %v, %v, %b, %w states(%s : !s) eps(1.0e-6) theta(1.0e4) : !y, tensor<3x8xf32>, tensor<8xbf16> -> !y
  return
}

// -----

!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!s = !transformer.cache<?x?x8xf32, #transformer.dims<[batch, context, _]>>
func.func @half_of_the_states(%v: !y, %b: tensor<4x8xf32>, %w: tensor<8xbf16>) {
  %s = transformer.kv_cache : !s
  // expected-error @+1 {{'transformer.compress' op has states of 8 elements, expected 16}}
  %x = transformer.compress %v, %v, %b, %w states(%s : !s) eps(1.0e-6) theta(1.0e4) : !y, tensor<4x8xf32>, tensor<8xbf16> -> !y
  return
}

// -----

!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!s = !transformer.cache<?x?x16xf32, #transformer.dims<[batch, context, _]>>
func.func @forgotten(%v: !y, %b: tensor<4x8xf32>, %w: tensor<8xbf16>) {
  %s = transformer.kv_cache window(3) : !s
  // expected-error @+1 {{'transformer.compress' op needs the last 4 tokens, but the cache keeps the last 3}}
  %x = transformer.compress %v, %v, %b, %w states(%s : !s) eps(1.0e-6) theta(1.0e4) : !y, tensor<4x8xf32>, tensor<8xbf16> -> !y
  return
}

// -----

!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!s = !transformer.cache<?x?x16xf32, #transformer.dims<[batch, context, _]>>
func.func @odd(%v: !y, %b: tensor<4x8xf32>, %w: tensor<8xbf16>) {
  %s = transformer.kv_cache : !s
  // expected-error @+1 {{'transformer.compress' op turns 3 of 8 elements, expected an even part of them}}
  %x = transformer.compress %v, %v, %b, %w states(%s : !s) eps(1.0e-6) theta(1.0e4) width(3) last : !y, tensor<4x8xf32>, tensor<8xbf16> -> !y
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x8xbf16, #transformer.dims<[batch, context, _]>>
func.func @no_cache_of_rows(%q: !q, %row: !y) {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{'transformer.compressed_attention' op has compressed rows or a cache of them, expected both}}
  %x = transformer.compressed_attention %q, %row cache(%c : !c) compressed(%row : !y) window(3) : !q, !y
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x8xbf16, #transformer.dims<[batch, context, _]>>
func.func @not_compressed(%q: !q, %row: !y) {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{'transformer.compressed_attention' op caches 8 elements a token, expected a part of the 8 of a compressed row}}
  %x = transformer.compressed_attention %q, %row cache(%c : !c) compressed(%row : !y) rows(%c : !c) window(3) : !q, !y
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x8xbf16, #transformer.dims<[batch, context, _]>>
func.func @short_window(%q: !q, %row: !y) {
  %c = transformer.kv_cache window(2) : !c
  // expected-error @+1 {{'transformer.compressed_attention' op needs the last 3 tokens, but the cache keeps the last 2}}
  %x = transformer.compressed_attention %q, %row cache(%c : !c) window(3) : !q, !y
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!i = tensor<?x?x3xi32, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x8xbf16, #transformer.dims<[batch, context, _]>>
func.func @selects_nothing(%q: !q, %row: !y, %s: !i) {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{'transformer.compressed_attention' op has selected rows, but no compressed ones}}
  %x = transformer.compressed_attention %q, %row cache(%c : !c) selected(%s : !i) window(3) : !q, !y
  return
}

// -----

func.func @three_groups(%x: tensor<2x16x8x64xbf16>, %w: tensor<3x128x32xbf16>) {
  // expected-error @+1 {{'transformer.grouped_linear' op has 3 groups, which do not divide 8 heads}}
  %y = transformer.grouped_linear %x, %w : tensor<2x16x8x64xbf16>, tensor<3x128x32xbf16> -> tensor<2x16x3x32xbf16>
  return
}

// -----

func.func @narrow_groups(%x: tensor<2x16x8x64xbf16>, %w: tensor<4x64x32xbf16>) {
  // expected-error @+1 {{'transformer.grouped_linear' op has a weight of 64 elements, expected 128}}
  %y = transformer.grouped_linear %x, %w : tensor<2x16x8x64xbf16>, tensor<4x64x32xbf16> -> tensor<2x16x4x32xbf16>
  return
}

// -----

func.func @two_scores(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op has both 'sigmoid' and 'sqrt_softplus'}}
  %r = transformer.router %x, %w top_k(2) sigmoid sqrt_softplus : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @no_ids(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>, %t: tensor<100x2xi64>) {
  // expected-error @+1 {{'transformer.router' op has ids or a table of their experts, expected both}}
  %r = transformer.router %x, %w table(%t : tensor<100x2xi64>) top_k(2) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @wide_table(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>, %i: tensor<4xi32>, %t: tensor<100x3xi64>) {
  // expected-error @+1 {{'transformer.router' op}}
  %r = transformer.router %x, %w ids(%i : tensor<4xi32>) table(%t : tensor<100x3xi64>) top_k(2) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @table_of_floats(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>, %i: tensor<4xi32>, %t: tensor<100x2xbf16>) {
  // expected-error @+1 {{'transformer.router' op looks experts up by numbers that are not integers}}
  %r = transformer.router %x, %w ids(%i : tensor<4xi32>) table(%t : tensor<100x2xbf16>) top_k(2) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @corrected_table(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>, %i: tensor<4xi32>, %t: tensor<100x2xi64>, %c: tensor<8xf32>) {
  // expected-error @+1 {{'transformer.router' op looks experts up, and has a correction or groups to choose them by}}
  %r = transformer.router %x, %w correction(%c : tensor<8xf32>) ids(%i : tensor<4xi32>) table(%t : tensor<100x2xi64>) top_k(2)
      : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!w = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!i = tensor<?x?x3xi32, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x3xbf16, #transformer.dims<[batch, context, _]>>
func.func @part_of_a_key(%q: !q, %k: !y, %w: !w) {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{'transformer.indexer' op caches 3 elements a token, expected a part of the 8 of a key}}
  %s = transformer.indexer %q, %k, %w cache(%c : !c) top_k(3) : !q, !y, !w -> !i
  return
}

// -----

!q = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!i = tensor<?x?x2x3xi32, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x8xbf16, #transformer.dims<[batch, context, _]>>
func.func @many_local_blocks(%q: !q, %k: !y) {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{'transformer.block_indexer' op keeps 4 local blocks, expected 0 to 3}}
  %s = transformer.block_indexer %q, %k cache(%c : !c) block(4) top_k(3) local(4) : !q, !y -> !i
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!i = tensor<?x?x2x3xi32, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x16xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @blocks_of_no_size(%q: !q, %k: !k, %s: !i) {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{'transformer.attention' op has selected blocks or their size, expected both}}
  %y = transformer.attention %q, %k, %k cache(%c) selected(%s : !i) causal : !q, !k in !c
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!i = tensor<?x?x2x3xi32, #transformer.dims<[batch, query, _, _]>>
func.func @blocks_of_no_cache(%q: !q, %k: !k, %s: !i) {
  // expected-error @+1 {{'transformer.attention' op selects blocks, expected a cache, 'causal' and neither a window nor a chunk}}
  %y = transformer.attention %q, %k, %k selected(%s : !i) block(4) causal : !q, !k
  return
}
