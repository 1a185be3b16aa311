// Encoded tokens are gathered: each device inserts those of its own places, and
// the stream, which is longer, stays split.

// RUN: autopar-opt %s --pass-pipeline='builtin.module(autopar-shard-context,autopar-insert-collectives)' | FileCheck %s

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!images = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!heads = tensor<?x?x8x8xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x8x16xbf16, #transformer.dims<[batch, context, _, _]>>

parallel.mesh(cp = 4)

// CHECK-LABEL: func @model
// CHECK: parallel.all_gather %arg1 dim 1 over [cp] : !betcp_64_bf -> !bet_64_bf
// CHECK-NOT: all_gather
// CHECK: transformer.insert {{.*}} : !bqcp_64_bf, !bet_64_bf
// CHECK-NOT: all_gather
func.func @model(%ids: !ids, %images: !images) -> !x {
  %table = transformer.weight "embed" : tensor<128x64xbf16>
  %w = transformer.weight "q" : tensor<64x8x8xbf16>
  %o = transformer.weight "o" : tensor<8x8x64xbf16>
  %cache = transformer.kv_cache : !cache
  %x = transformer.embedding %ids, %table : !ids, tensor<128x64xbf16> -> !x
  %all = transformer.insert %x, %images : !x, !images
  %q = transformer.linear %all, %w : !x, tensor<64x8x8xbf16> -> !heads
  %y = transformer.attention %q, %q, %q cache(%cache) causal : !heads, !heads, !heads in !cache -> !heads
  %z = transformer.linear %y, %o : !heads, tensor<8x8x64xbf16> -> !x
  return %z : !x
}
