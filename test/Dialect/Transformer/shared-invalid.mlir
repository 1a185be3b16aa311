// RUN: autopar-opt %s --split-input-file --verify-diagnostics

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x3x16xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @heads(%q: !q) {
  %c = transformer.kv_cache "full" : !c
  // expected-error @+1 {{'transformer.shared_attention' op has 4 query heads, which 3 key-value heads do not divide}}
  %x = transformer.shared_attention %q cache(%c) : !q in !c -> !q
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x8xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @half_a_row(%q: !q) {
  %c = transformer.kv_cache "full" : !c
  // expected-error @+1 {{'transformer.shared_attention' op reads 8 elements per head, expected 16: a key and a value}}
  %x = transformer.shared_attention %q cache(%c) : !q in !c -> !q
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x16xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @of_its_own(%q: !q) {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{'transformer.shared_attention' op reads a cache without a name, to which no other layer appends}}
  %x = transformer.shared_attention %q cache(%c) : !q in !c -> !q
  return
}

// -----

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x16xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @forgotten(%q: !q) {
  %c = transformer.kv_cache "sliding" window(512) : !c
  // expected-error @+1 {{'transformer.shared_attention' op sees all tokens, but the cache keeps the last 512}}
  %x = transformer.shared_attention %q cache(%c) : !q in !c -> !q
  return
}
