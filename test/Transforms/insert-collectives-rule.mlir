// RUN: autopar-opt %s --autopar-insert-collectives -verify-diagnostics

// No collective changes the rule of a split.
parallel.mesh @m(tp = 4)
func.func @rule(%x: tensor<8xbf16, #parallel.sharding<[_ by tp]>>) -> tensor<8xbf16, #parallel.sharding<[_ by tp cap]>> {
  // expected-error @+1 {{'parallel.reshard' op changes the rule of a split or the order of sums, which no collective does: from [_ by tp] to [_ by tp cap]}}
  %y = parallel.reshard %x : tensor<8xbf16, #parallel.sharding<[_ by tp]>> -> tensor<8xbf16, #parallel.sharding<[_ by tp cap]>>
  return %y : tensor<8xbf16, #parallel.sharding<[_ by tp cap]>>
}
