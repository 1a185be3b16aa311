// Layers 1, 3 and 5 of six have experts.
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
transformer.workload(phase = prefill, batch = 4, query = 64, context = 64)
parallel.mesh(dp = 2) {ep = dp}
func.func private @dense(%x: !x) -> !x {
  %w = transformer.weight "w" : tensor<64x64xbf16>
  %y = transformer.linear %x, %w : !x, tensor<64x64xbf16> -> !x
  return %y : !x
}
func.func private @moe(%x: !x) -> !x {
  %gate = transformer.weight "gate" : tensor<64x4xbf16>
  %w = transformer.weight "experts" : tensor<4x64x64xbf16>
  %r = transformer.router %x, %gate top_k(2) groups(2) keep(1) : !x, tensor<64x4xbf16> -> !r
  %t = transformer.dispatch %x, %r : !x, !r -> !t
  %u = transformer.experts %t, %w top_k(2) : !t, tensor<4x64x64xbf16> -> !t
  %y = transformer.combine %u, %r : !t, !r -> !x
  return %y : !x
}
func.func @model(%x0: !x) -> !x {
  %y = transformer.repeat 3 layers "layers" from 0 (%x = %x0) : !x {
    %a = func.call @dense(%x) : (!x) -> !x
    %b = func.call @moe(%a) : (!x) -> !x
    transformer.yield %b : !x
  }
  return %y : !x
}
