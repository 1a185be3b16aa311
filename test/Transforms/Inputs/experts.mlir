!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
!f = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>
transformer.workload(phase = prefill, batch = 4, query = 64, context = 64)
parallel.mesh(dpo = 1, dpi = 2, tp = 4) {dp = dpo*dpi, ep = dpi*tp}
func.func @moe(%x: !x) -> !x {
  %gate = transformer.weight "gate" : tensor<64x8xbf16>
  %we = transformer.weight "up" : tensor<8x64x32xbf16>
  %wd = transformer.weight "down" : tensor<8x32x64xbf16>
  %r = transformer.router %x, %gate top_k(2) : !x, tensor<64x8xbf16> -> !r
  %t = transformer.dispatch %x, %r : !x, !r -> !t
  %u = transformer.experts %t, %we top_k(2) : !t, tensor<8x64x32xbf16> -> !f
  %h = transformer.activation %u silu : !f
  %d = transformer.experts %h, %wd top_k(2) : !f, tensor<8x32x64xbf16> -> !t
  %y = transformer.combine %d, %r : !t, !r -> !x
  return %y : !x
}
