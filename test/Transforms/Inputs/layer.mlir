!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
!f = tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
transformer.workload(phase = prefill, batch = 4, query = 64, context = 64)
parallel.mesh(dp = 2, cp = 4, tp = 2)
func.func private @layer(%x: !x) -> !x {
  %wq = transformer.weight "q" : tensor<64x8x16xbf16>
  %wk = transformer.weight "k" : tensor<64x2x16xbf16>
  %wv = transformer.weight "v" : tensor<64x2x16xbf16>
  %wo = transformer.weight "o" : tensor<8x16x64xbf16>
  %wg = transformer.weight "gate" : tensor<64x256xbf16>
  %wu = transformer.weight "up" : tensor<64x256xbf16>
  %wd = transformer.weight "down" : tensor<256x64xbf16>
  %g = transformer.weight "norm" : tensor<64xbf16>
  %n = transformer.rms_norm %x, %g eps(1.0e-5) : !x, tensor<64xbf16>
  %q = transformer.linear %n, %wq : !x, tensor<64x8x16xbf16> -> !q
  %k = transformer.linear %n, %wk : !x, tensor<64x2x16xbf16> -> !k
  %v = transformer.linear %n, %wv : !x, tensor<64x2x16xbf16> -> !k
  %c = transformer.kv_cache : !c
  %a = transformer.attention %q, %k, %v cache(%c) causal : !q, !k, !k in !c -> !q
  %o = transformer.linear %a, %wo : !q, tensor<8x16x64xbf16> -> !x
  %y = transformer.add %x, %o : !x
  %gate = transformer.linear %y, %wg : !x, tensor<64x256xbf16> -> !f
  %up = transformer.linear %y, %wu : !x, tensor<64x256xbf16> -> !f
  %h = transformer.gated %gate, %up silu : !f
  %d = transformer.linear %h, %wd : !f, tensor<256x64xbf16> -> !x
  %z = transformer.add %y, %d : !x
  return %z : !x
}
func.func @model(%x: !x) -> !x {
  %y = transformer.repeat 2 layers "layers" from 0 (%a = %x) : !x {
    %b = func.call @layer(%a) : (!x) -> !x
    transformer.yield %b : !x
  }
  return %y : !x
}
