// RUN: autopar-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{invalid tensor element type: 'tensor<4xbf16>'}}
func.func private @handle_to_a_handle(%c: !transformer.cache<tensor<4xbf16>>)

// -----

// expected-error @+1 {{expected '>'}}
func.func private @shape_and_name(%c: !transformer.cache<4xbf16 batch>)

// -----

// expected-error @+1 {{3 dimensions}}
func.func private @encoding_of_another_rank(%c: !transformer.cache<4x8xbf16, #transformer.dims<[batch, _, _]>>)

// -----

!s = !transformer.state<?x?x8x256xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @cache_of_another_kind() {
  // expected-error @+1 {{invalid kind of type specified: expected transformer.cache, but found '!transformer.state}}
  %c = transformer.kv_cache : !s
  return
}

// -----

!c = !transformer.cache<?x8x3xbf16, #transformer.dims<[batch, _, _]>>
func.func @state_of_another_kind(%x: tensor<2x4x8xbf16>, %w: tensor<8x4xbf16>, %s: !c) {
  // expected-error @+1 {{operand #2 must be a handle to what a recurrence remembers}}
  %y = transformer.short_conv %x, %w state(%s : !c) : tensor<2x4x8xbf16>, tensor<8x4xbf16>
  return
}

// -----

parallel.mesh(tp = 2)
!c = !transformer.cache<?x?x2x32xbf16, #parallel.sharding<[batch, context, _ by tp, _]>>
!d = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @gathered() {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{expected builtin.tensor, but found '!transformer.cache}}
  %d = parallel.all_gather %c dim 2 over [tp] : !c -> !d
  return
}

// -----

parallel.mesh(cp = 2)
!c = !transformer.cache<?x?x2x32xbf16, #parallel.sharding<[batch, context by cp, _, _]>>
!t = tensor<?x?x2x32xbf16, #parallel.sharding<[batch, context by cp ring, _, _]>>
func.func @ring_that_copies() {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{makes a value of a handle, or a handle of a value}}
  %r = parallel.ring %c dim 1 over [cp] : !c -> !t
  return
}
