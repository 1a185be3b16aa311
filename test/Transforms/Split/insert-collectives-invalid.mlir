// RUN: autopar-opt %s --autopar-insert-collectives -verify-diagnostics

!sum = tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>

parallel.mesh(tp = 4)

func.func @whole_to_partial(%x: tensor<64xbf16>) -> !sum {
  // expected-error @+1 {{'parallel.reshard' op makes a partial sum over 'tp' of whole values}}
  %y = parallel.reshard %x : tensor<64xbf16> -> !sum
  return %y : !sum
}
