// A layer with latent attention, 8 heads of 16 + 8 elements and values of 32,
// and an encoder whose tokens are put into the stream.

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x40xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x48xbf16, #transformer.dims<[batch, context, _]>>
!patches = tensor<?x?x12xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>>
!merged = tensor<?x?x48xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!image = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!last = tensor<?x64xbf16, #transformer.dims<[batch, _]>>
!scores = tensor<?x100xbf16, #transformer.dims<[batch, _]>>
module @latent {
  transformer.workload(phase = train, batch = 4, query = 6, context = 6)
  parallel.mesh(tp = 2)
  func.func private @encoder(%x: !patches) -> !patches {
    %w = transformer.weight "fc.weight" : tensor<12x12xbf16>
    %y = transformer.linear %x, %w : !patches, tensor<12x12xbf16> -> !patches
    return %y : !patches
  }
  func.func private @decoder(%x: !x) -> !x {
    %wq = transformer.weight "q_proj.weight" : tensor<64x8x24xbf16>
    %wl = transformer.weight "kv_a_proj.weight" : tensor<64x40xbf16>
    %wr = transformer.weight "k_rope_proj.weight" : tensor<64x8xbf16>
    %wk = transformer.weight "k_b_proj.weight" : tensor<40x8x16xbf16>
    %wv = transformer.weight "v_b_proj.weight" : tensor<40x8x32xbf16>
    %wo = transformer.weight "o_proj.weight" : tensor<8x32x64xbf16>
    %n = transformer.rms_norm %x eps(1.0e-5) : !x
    %q0 = transformer.linear %n, %wq : !x, tensor<64x8x24xbf16> -> !q
    %q = transformer.rope %q0 theta(100.0) width(8) last : !q
    %l = transformer.linear %n, %wl : !x, tensor<64x40xbf16> -> !l
    %r0 = transformer.linear %n, %wr : !x, tensor<64x8xbf16> -> !r
    %r = transformer.rope %r0 theta(100.0) : !r
    %c = transformer.kv_cache : !c
    %a = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal
        : !q, !l, !r, tensor<40x8x16xbf16>, tensor<40x8x32xbf16> -> !y
    %o = transformer.linear %a, %wo : !y, tensor<8x32x64xbf16> -> !x
    %s = transformer.add %x, %o : !x
    return %s : !x
  }
  func.func @model(%pixels: !patches, %ids: !ids) -> !scores {
    %p = transformer.repeat 2 layers "vision" from 0 (%x = %pixels) : !patches {
      %y = func.call @encoder(%x) : (!patches) -> !patches
      transformer.yield %y : !patches
    }
    %m = transformer.merge_tokens %p : !patches -> !merged
    %wp = transformer.weight "projector.weight" : tensor<48x64xbf16>
    %flat = transformer.linear %m, %wp : !merged, tensor<48x64xbf16> -> !image
    %bent = transformer.activation %flat gelu : !image
    %image = transformer.add %bent, %flat : !image
    %t = transformer.weight "embed.weight" : tensor<100x64xbf16>
    %x0 = transformer.embedding %ids, %t : !ids, tensor<100x64xbf16> -> !x
    %x1 = transformer.insert %x0, %image : !x, !image
    %x2 = transformer.repeat 3 layers "layers" from 0 (%x = %x1) : !x {
      %y = func.call @decoder(%x) : (!x) -> !x
      transformer.yield %y : !x
    }
    %last = transformer.last_token %x2 : !x -> !last
    %scores = transformer.logits %last, %t : !last, tensor<100x64xbf16> -> !scores
    return %scores : !scores
  }
}
