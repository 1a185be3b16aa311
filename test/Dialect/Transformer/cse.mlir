// RUN: autopar-opt %s --cse | FileCheck %s
// RUN: autopar-opt %s --canonicalize | FileCheck %s --check-prefix=DEAD

// CHECK-LABEL: func @products_of_equal_operands_merge
func.func @products_of_equal_operands_merge(%x: tensor<4x64xbf16>) -> tensor<4x64xbf16> {
  // CHECK: %[[W:.*]] = transformer.weight "w.weight"
  // CHECK: %[[Y:.*]] = transformer.linear %arg0, %[[W]]
  // CHECK-NOT: transformer.linear
  // CHECK: transformer.add %[[Y]], %[[Y]]
  %w = transformer.weight "w.weight" : tensor<64x64xbf16>
  %y = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x64xbf16> -> tensor<4x64xbf16>
  %z = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x64xbf16> -> tensor<4x64xbf16>
  %sum = transformer.add %y, %z : tensor<4x64xbf16>
  return %sum : tensor<4x64xbf16>
}

// Where one tensor is named twice is not for CSE to say.
// CHECK-LABEL: func @weights_stay
func.func @weights_stay() -> (tensor<64xbf16>, tensor<64xbf16>) {
  // CHECK: transformer.weight "w"
  // CHECK: transformer.weight "w"
  %v = transformer.weight "w" : tensor<64xbf16>
  %w = transformer.weight "w" : tensor<64xbf16>
  return %v, %w : tensor<64xbf16>, tensor<64xbf16>
}

!cache = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>

// Two caches are two resident tensors, however equal they look.
// CHECK-LABEL: func @caches_stay
func.func @caches_stay() -> (!cache, !cache) {
  // CHECK: transformer.kv_cache
  // CHECK: transformer.kv_cache
  %a = transformer.kv_cache : !cache
  %b = transformer.kv_cache : !cache
  return %a, %b : !cache, !cache
}

// DEAD-LABEL: func @unused_products_go
func.func @unused_products_go(%x: tensor<4x64xbf16>) {
  // DEAD-NOT: transformer.linear
  %w = transformer.weight "w.weight" : tensor<64x64xbf16>
  %y = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x64xbf16> -> tensor<4x64xbf16>
  // DEAD: return
  return
}

!q = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>

// It writes to the cache.
// DEAD-LABEL: func @unused_attention_stays
func.func @unused_attention_stays(%q: !q) {
  // DEAD: transformer.attention
  %cache = transformer.kv_cache : !cache
  %y = transformer.attention %q, %q, %q cache(%cache) : !q, !q, !q in !cache -> !q
  return
}

// Without a cache it writes nothing.
// DEAD-LABEL: func @unused_attention_of_an_encoder_goes
func.func @unused_attention_of_an_encoder_goes(%q: !q) {
  // DEAD-NOT: transformer.attention
  %y = transformer.attention %q, %q, %q : !q, !q, !q -> !q
  // DEAD: return
  return
}

// Two appends to a cache are two, and what is unused stays resident.
// CHECK-LABEL: func @appends_stay
// DEAD-LABEL: func @appends_stay
func.func @appends_stay(%q: !q) -> (!q, !q) {
  // CHECK-COUNT-2: transformer.attention
  // DEAD: transformer.weight "unused"
  // DEAD: transformer.kv_cache
  // DEAD: transformer.kv_cache
  %unused = transformer.weight "unused" : tensor<64xbf16>
  %other = transformer.kv_cache : !cache
  %cache = transformer.kv_cache : !cache
  %x = transformer.attention %q, %q, %q cache(%cache) : !q, !q, !q in !cache -> !q
  %y = transformer.attention %q, %q, %q cache(%cache) : !q, !q, !q in !cache -> !q
  return %x, %y : !q, !q
}
