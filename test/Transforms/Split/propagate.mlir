// RUN: %roundtrip %s --autopar-propagate | FileCheck %s
// RUN: autopar-opt %s --autopar-propagate --autopar-propagate --autopar-insert-collectives | FileCheck %s --check-prefix=STEPS

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!b = tensor<?x?x64xbf16, #parallel.sharding<[batch by dp, query, _]>>
!f = tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>

transformer.workload(phase = prefill, batch = 4, query = 64, context = 64)
parallel.mesh(dp = 2, tp = 2)

// One weight says that widths are split, the cache that heads are, the argument
// of the model that sequences are.
// CHECK-LABEL: func private @layer
// CHECK-SAME: (%{{.*}}: !bdp_q_64_bf) -> !bdp_q_64_bf
// STEPS-LABEL: func private @layer
func.func private @layer(%x: !x) -> !x {
  // CHECK: transformer.weight "up" : !w64_256tp_bf
  %up = transformer.weight "up" : tensor<64x256xbf16, #parallel.sharding<[_, _ by tp]>>
  // CHECK: transformer.weight "down" : !w256tp_64_bf
  %down = transformer.weight "down" : tensor<256x64xbf16>
  // CHECK: transformer.weight "q" : !w64_8tp_16_bf
  // CHECK: transformer.weight "k" : !w64_2tp_cap_16_bf
  // CHECK: transformer.weight "o" : !w8tp_16_64_bf
  %wq = transformer.weight "q" : tensor<64x8x16xbf16>
  %wk = transformer.weight "k" : tensor<64x2x16xbf16>
  %wo = transformer.weight "o" : tensor<8x16x64xbf16>
  // CHECK: transformer.kv_cache : !bdp_c_2tp_cap_32_bf
  %cache = transformer.kv_cache : !transformer.cache<?x?x2x32xbf16, #parallel.sharding<[batch, context, _ by tp cap, _]>>
  %c = parallel.reshard %cache : !transformer.cache<?x?x2x32xbf16, #parallel.sharding<[batch, context, _ by tp cap, _]>> -> !c
  %q = transformer.linear %x, %wq : !x, tensor<64x8x16xbf16> -> !q
  %k = transformer.linear %x, %wk : !x, tensor<64x2x16xbf16> -> !k
  %a = transformer.attention %q, %k, %k cache(%c) causal : !q, !k, !k in !c -> !q
  // CHECK: transformer.linear {{.*}} -> !bdp_q_64_sum_tp
  // STEPS: parallel.all_reduce {{.*}} over [tp]
  %o = transformer.linear %a, %wo : !q, tensor<8x16x64xbf16> -> !x
  %y = transformer.add %x, %o : !x
  %w = parallel.reshard %up : tensor<64x256xbf16, #parallel.sharding<[_, _ by tp]>> -> tensor<64x256xbf16>
  %h = transformer.linear %y, %w : !x, tensor<64x256xbf16> -> !f
  %g = transformer.activation %h gelu : !f
  // STEPS: parallel.all_reduce {{.*}} over [tp]
  %d = transformer.linear %g, %down : !f, tensor<256x64xbf16> -> !x
  %z = transformer.add %y, %d : !x
  return %z : !x
}

// CHECK-LABEL: func @model
// CHECK-SAME: (%{{.*}}: !bdp_q_64_bf) -> !bdp_q_64_bf
func.func @model(%x: !b) -> !x {
  %s = parallel.reshard %x : !b -> !x
  // CHECK: transformer.repeat 2 {{.*}} : !bdp_q_64_bf
  %y = transformer.repeat 2 layers "layers" from 0 (%a = %s) : !x {
    %b = func.call @layer(%a) : (!x) -> !x
    transformer.yield %b : !x
  }
  return %y : !x
}
