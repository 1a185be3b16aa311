// RUN: autopar-opt %s --autopar-shard-tensor -split-input-file -verify-diagnostics

// expected-error @+2 {{the module has no mesh axis 'tp' to split over}}
// expected-note @+1 {{declare it: parallel.mesh(tp = ?), or give --shard-tp=N}}
module {
}

// -----

// expected-error @+2 {{the module has no mesh axis 'tp' to split over}}
// expected-note @+1 {{declare it: parallel.mesh(tp = ?), or give --shard-tp=N}}
module {
  parallel.mesh(dp = 8)
}

// -----

// The sizes that work are those that all weights and caches allow.
!heads = tensor<?x?x12x16xbf16, #transformer.dims<[batch, query, _, _]>>
!kv = tensor<?x?x4x16xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x4x32xbf16, #transformer.dims<[batch, context, _, _]>>
parallel.mesh(tp = 8)
func.func @heads_that_8_does_not_divide(%x: tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>) {
  // expected-error @+2 {{'transformer.weight' op tp = 8 does not divide 12, dimension 1 of "q_proj.weight"}}
  // expected-note @+1 {{tp that works for this model: 1, 2, 4, 12}}
  %q = transformer.weight "q_proj.weight" : tensor<64x12x16xbf16>
  %k = transformer.weight "k_proj.weight" : tensor<64x4x16xbf16>
  %cache = transformer.kv_cache : !cache
  %0 = transformer.linear %x, %q
      : tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>, tensor<64x12x16xbf16> -> !heads
  %1 = transformer.linear %x, %k
      : tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>, tensor<64x4x16xbf16> -> !kv
  %2 = transformer.attention %0, %1, %1 cache(%cache) causal : !heads, !kv, !kv in !cache -> !heads
  return
}

// -----

parallel.mesh(tp = 3)
func.func @width_that_3_does_not_divide(%x: tensor<4x64xbf16>) {
  // expected-error @+2 {{'transformer.weight' op tp = 3 does not divide 8, dimension 1 of "up_proj.weight"}}
  // expected-note @+1 {{tp that works for this model: 1, 2, 4, 8}}
  %w = transformer.weight "up_proj.weight" : tensor<64x8xbf16>
  %u = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x8xbf16>
  %a = transformer.activation %u silu : tensor<4x8xbf16>
  return
}
