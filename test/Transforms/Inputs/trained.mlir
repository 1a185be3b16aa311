// A layer and what lies around it, as a checkpoint has them.

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!wide = tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x4x16xbf16, #transformer.dims<[batch, query, _, _]>>
!last = tensor<?x64xbf16, #transformer.dims<[batch, _]>>
!logits = tensor<?x1000xbf16, #transformer.dims<[batch, _]>>
module @trained {
  transformer.workload(phase = train, batch = 16, query = 32, context = 32)
  parallel.mesh(dp = 2, tp = 4)
  func.func private @decoder(%x: !x) -> !x {
    %norm = transformer.weight "norm.weight" : tensor<64xbf16>
    %q_proj = transformer.weight "q_proj.weight" : tensor<64x8x16xbf16>
    %k_proj = transformer.weight "k_proj.weight" : tensor<64x4x16xbf16>
    %v_proj = transformer.weight "v_proj.weight" : tensor<64x4x16xbf16>
    %o_proj = transformer.weight "o_proj.weight" : tensor<8x16x64xbf16>
    %up_proj = transformer.weight "up_proj.weight" : tensor<64x256xbf16>
    %down_proj = transformer.weight "down_proj.weight" : tensor<256x64xbf16>
    %n = transformer.rms_norm %x, %norm eps(1.0e-5) : !x
    %q = transformer.linear %n, %q_proj : !x, tensor<64x8x16xbf16> -> !q
    %k = transformer.linear %n, %k_proj : !x, tensor<64x4x16xbf16> -> !k
    %v = transformer.linear %n, %v_proj : !x, tensor<64x4x16xbf16> -> !k
    %cache = transformer.kv_cache : !transformer.cache<?x?x4x32xbf16, #transformer.dims<[batch, context, _, _]>>
    %a = transformer.attention %q, %k, %v cache(%cache) causal : !q, !k
    %o = transformer.linear %a, %o_proj : !q, tensor<8x16x64xbf16> -> !x
    %r = transformer.add %x, %o : !x
    %up = transformer.linear %r, %up_proj : !x, tensor<64x256xbf16> -> !wide
    %g = transformer.activation %up gelu : !wide
    %down = transformer.linear %g, %down_proj : !wide, tensor<256x64xbf16> -> !x
    %y = transformer.add %r, %down : !x
    return %y : !x
  }
  func.func @model(%ids: !ids) -> !logits {
    %embed = transformer.weight "embed.weight" : tensor<1000x64xbf16>
    %x0 = transformer.embedding %ids, %embed : !ids, tensor<1000x64xbf16> -> !x
    %x1 = transformer.repeat 3 layers "layers" from 0 (%x = %x0) : !x {
      %y = func.call @decoder(%x) : (!x) -> !x
      transformer.yield %y : !x
    }
    %last = transformer.last_token %x1 : !x -> !last
    %logits = transformer.logits %last, %embed : !last, tensor<1000x64xbf16> -> !logits
    return %logits : !logits
  }
}
