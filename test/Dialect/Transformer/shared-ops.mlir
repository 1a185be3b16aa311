// RUN: %roundtrip %s | FileCheck %s

!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!y = tensor<?x?x4x6xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x14xbf16, #transformer.dims<[batch, context, _, _]>>

// CHECK-LABEL: func @reader
func.func @reader(%q: !q) -> (!y, !y) {
  // CHECK: %cache = transformer.kv_cache "full" : !bc_2_14_bf
  %c = transformer.kv_cache "full" : !c
  // CHECK: %attn = transformer.shared_attention %arg0 cache(%cache) : !bq_4_8_bf in !bc_2_14_bf{{.*}} -> !bq_4_6_bf
  %x = transformer.shared_attention %q cache(%c) : !q in !c -> !y
  // CHECK: transformer.kv_cache "sliding" window(512) : !bc_2_14_bf
  %w = transformer.kv_cache "sliding" window(512) : !c
  // CHECK: transformer.shared_attention %arg0 cache(%{{.*}}) window(512) scale(1.0) : !bq_4_8_bf
  %z = transformer.shared_attention %q cache(%w) window(512) scale(1.0) : !q in !c -> !y
  return %x, %z : !y, !y
}
