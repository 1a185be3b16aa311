!bc_72_bf = !transformer.cache<?x?x72xbf16, #transformer.dims<[batch, context, _]>>
!bq_4_int = tensor<?x?x4xi32, #transformer.dims<[batch, query, _]>>
!bq_64_bf = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!bq_8_24_bf = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!bq_8_32_bf = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!bq_8_bf = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
module {
  func.func @latents(%arg0: !bq_8_24_bf, %arg1: !bq_64_bf, %arg2: !bq_8_bf, %arg3: tensor<64x8x16xbf16>, %arg4: tensor<64x8x32xbf16>, %arg5: !bq_4_int) -> (!bq_8_32_bf, !bq_8_32_bf) {
    %cache = transformer.kv_cache : !bc_72_bf
    %attn = transformer.latent_attention %arg0, %arg1, %arg2, %arg3, %arg4 cache(%cache : !bc_72_bf) at_most(4) causal : !bq_8_24_bf, !bq_64_bf, !bq_8_bf, tensor<64x8x16xbf16>, tensor<64x8x32xbf16> -> !bq_8_32_bf
    %attn_0 = transformer.latent_attention %arg0, %arg1, %arg2, %arg3, %arg4 selected(%arg5 : !bq_4_int) causal absorbed : !bq_8_24_bf, !bq_64_bf, !bq_8_bf, tensor<64x8x16xbf16>, tensor<64x8x32xbf16> -> !bq_8_32_bf
    return %attn, %attn_0 : !bq_8_32_bf, !bq_8_32_bf
  }
}

