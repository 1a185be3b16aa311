// Manifold-constrained hyper-connections around two blocks, then the head. The
// logits are those of DeepseekV4HyperConnection and DeepseekV4HyperHead of
// transformers 5.23, in double precision with the same weights and tokens.

// RUN: autopar-run %s --batch=1 --query=2 | FileCheck %s
// RUN: autopar-opt %s --shard-cp=2 --phase=prefill --batch=1 --prompt=2 -o %t.mlir
// RUN: autopar-run %t.mlir | FileCheck %s
// CHECK: [1, 16] -0.16998{{[0-9]*}} -0.00210{{[0-9]*}} 0.12423{{[0-9]*}} -0.15131{{[0-9]*}} -0.35284{{[0-9]*}} 0.04118{{[0-9]*}} -0.03173{{[0-9]*}} 0.90045{{[0-9]*}}

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!s = tensor<?x?x3x8xbf16, #transformer.dims<[batch, query, _, _]>>
!post = tensor<?x?x3xf32, #transformer.dims<[batch, query, _]>>
!residual = tensor<?x?x3x3xf32, #transformer.dims<[batch, query, _, _]>>
!last = tensor<?x8xbf16, #transformer.dims<[batch, _]>>
!logits = tensor<?x16xbf16, #transformer.dims<[batch, _]>>

func.func @model(%ids: !ids) -> !logits {
  %table = transformer.weight "embed.weight" : tensor<16x8xbf16>
  %w1 = transformer.weight "first.fn" stored [2, 0*1] : tensor<3x8x15xf32>
  %b1 = transformer.weight "first.base" : tensor<15xf32>
  %g1 = transformer.weight "first.scale" : tensor<3xf32>
  %w2 = transformer.weight "second.fn" stored [2, 0*1] : tensor<3x8x15xf32>
  %b2 = transformer.weight "second.base" : tensor<15xf32>
  %g2 = transformer.weight "second.scale" : tensor<3xf32>
  %w3 = transformer.weight "head.fn" stored [2, 0*1] : tensor<3x8x3xf32>
  %b3 = transformer.weight "head.base" : tensor<3xf32>
  %g3 = transformer.weight "head.scale" : tensor<1xf32>
  %x = transformer.embedding %ids, %table : !ids, tensor<16x8xbf16> -> !x
  %s0 = transformer.hyper_expand %x : !x -> !s
  %x1, %post1, %residual1 = transformer.hyper_pre %s0, %w1, %b1, %g1 eps(1.0e-5) gate_eps(1.0e-3) post(2.0) sinkhorn(4)
      : !s, tensor<3x8x15xf32>, tensor<15xf32>, tensor<3xf32> -> !x, !post, !residual
  %y1 = transformer.activation %x1 silu : !x
  %s1 = transformer.hyper_post %s0, %y1, %post1 residual(%residual1 : !residual) : !s, !x, !post
  %x2, %post2, %residual2 = transformer.hyper_pre %s1, %w2, %b2, %g2 eps(1.0e-5) gate_eps(1.0e-3) post(2.0) sinkhorn(4)
      : !s, tensor<3x8x15xf32>, tensor<15xf32>, tensor<3xf32> -> !x, !post, !residual
  %y2 = transformer.activation %x2 silu : !x
  %s2 = transformer.hyper_post %s1, %y2, %post2 residual(%residual2 : !residual) : !s, !x, !post
  %x3 = transformer.hyper_pre %s2, %w3, %b3, %g3 eps(1.0e-5) gate_eps(1.0e-3)
      : !s, tensor<3x8x3xf32>, tensor<3xf32>, tensor<1xf32> -> !x
  %t = transformer.last_token %x3 : !x -> !last
  %l = transformer.logits %t, %table : !last, tensor<16x8xbf16> -> !logits
  return %l : !logits
}
