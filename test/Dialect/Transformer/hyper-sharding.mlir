// RUN: autopar-opt %s --shard-tp=4 | FileCheck %s --check-prefixes=CHECK,TP
// RUN: autopar-opt %s --shard-tp=4 --shard-sp | FileCheck %s --check-prefixes=CHECK,SP

// What a block leaves in parts is summed before it is added to the streams,
// which are four times as wide, and not after.
// CHECK-LABEL: func private @block
// TP: transformer.hyper_pre {{.*}} -> !bq_64_bf, !bq_4_float
// TP: transformer.linear {{.*}} -> !bq_64_sum_tp
// TP: %[[Y:.*]] = parallel.all_reduce {{.*}} over [tp]
// TP: transformer.hyper_post %{{.*}}, %[[Y]], %post : !bq_4_64_bf, !bq_64_bf, !bq_4_float
// SP: transformer.hyper_pre {{.*}} : !bqtp_4_64_bf, {{.*}} -> !bqtp_64_bf, !bqtp_4_float
// SP: parallel.all_gather
// SP: %[[Y:.*]] = parallel.reduce_scatter
// SP: transformer.hyper_post %{{.*}}, %[[Y]], %post : !bqtp_4_64_bf, !bqtp_64_bf, !bqtp_4_float
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!u = tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
!s = tensor<?x?x4x64xbf16, #transformer.dims<[batch, query, _, _]>>
!post = tensor<?x?x4xf32, #transformer.dims<[batch, query, _]>>
func.func private @block(%s: !s) -> !s {
  %w = transformer.weight "fn" stored [2, 0*1] : tensor<4x64x8xf32>
  %b = transformer.weight "base" : tensor<8xf32>
  %g = transformer.weight "scale" : tensor<2xf32>
  %wu = transformer.weight "up.weight" stored [1, 0] : tensor<64x256xbf16>
  %wd = transformer.weight "down.weight" stored [1, 0] : tensor<256x64xbf16>
  %x, %post = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0)
      : !s, tensor<4x64x8xf32>, tensor<8xf32>, tensor<2xf32> -> !x, !post
  %u = transformer.linear %x, %wu : !x, tensor<64x256xbf16> -> !u
  %a = transformer.activation %u silu : !u
  %y = transformer.linear %a, %wd : !u, tensor<256x64xbf16> -> !x
  %z = transformer.hyper_post %s, %y, %post : !s, !x, !post
  return %z : !s
}
func.func @model(%x: !x) -> !s {
  %s = transformer.hyper_expand %x : !x -> !s
  %z = call @block(%s) : (!s) -> !s
  return %z : !s
}
