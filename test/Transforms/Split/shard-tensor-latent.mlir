// RUN: %roundtrip %s --autopar-shard-tensor | FileCheck %s

!x = tensor<?x?x96xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!latent = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!part = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!cache = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!values = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>

parallel.mesh(tp = 4)

// Heads are split; the latents, which all heads share, and their cache are
// whole.
// CHECK-LABEL: func @latent_attention
func.func @latent_attention(%x: !x) -> !x {
  // CHECK: transformer.weight "q_b" : !w96_8tp_24_bf
  // CHECK: transformer.weight "kv_a" : tensor<96x64xbf16>
  // CHECK: transformer.weight "kr" : tensor<96x8xbf16>
  // CHECK: transformer.weight "k_b" : !w64_8tp_16_bf
  // CHECK: transformer.weight "v_b" : !w64_8tp_32_bf
  // CHECK: transformer.weight "o" : !w8tp_32_96_bf
  // CHECK: transformer.kv_cache : !bc_72_bf
  %wq = transformer.weight "q_b" : tensor<96x8x24xbf16>
  %wl = transformer.weight "kv_a" : tensor<96x64xbf16>
  %wr = transformer.weight "kr" : tensor<96x8xbf16>
  %wk = transformer.weight "k_b" : tensor<64x8x16xbf16>
  %wv = transformer.weight "v_b" : tensor<64x8x32xbf16>
  %wo = transformer.weight "o" : tensor<8x32x96xbf16>
  %cache = transformer.kv_cache : !cache
  %q = transformer.linear %x, %wq : !x, tensor<96x8x24xbf16> -> !q
  %l = transformer.linear %x, %wl : !x, tensor<96x64xbf16> -> !latent
  %r = transformer.linear %x, %wr : !x, tensor<96x8xbf16> -> !part
  // CHECK: transformer.latent_attention {{.*}} : !bq_8tp_24_bf, !bq_64_bf, !bq_8_bf, !w64_8tp_16_bf, !w64_8tp_32_bf -> !bq_8tp_32_bf
  %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%cache : !cache) causal
      : !q, !latent, !part, tensor<64x8x16xbf16>, tensor<64x8x32xbf16> -> !values
  // CHECK: transformer.linear {{.*}}-> !bq_96_sum_tp
  %o = transformer.linear %y, %wo : !values, tensor<8x32x96xbf16> -> !x
  return %o : !x
}
