// RUN: autopar-opt %s --split-input-file --shard-tp=4 | FileCheck %s

// Key heads are held by several devices where there are fewer of them; value
// heads lead, and what follows them is split as they are.
// CHECK-LABEL: func @delta
// CHECK: transformer.weight "q.weight" {{.*}} : !w64_2tp_cap_16_bf
// CHECK: transformer.state : !b_8tp_16_32_float
// CHECK: transformer.short_conv
// CHECK: %[[Y:.*]] = transformer.gated_delta_rule {{.*}} : !bq_2tp_cap_16_bf, !bq_8tp_32_bf, !bq_8tp_bf, !bq_8tp_bf, !w8tp_float, !w8tp_float, !b_8tp_16_32_float
// CHECK: transformer.gated %{{.*}}, %[[Y]] silu : !bq_8tp_32_bf
// CHECK: -> !bq_64_sum_tp
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!v = tensor<?x?x8x32xbf16, #transformer.dims<[batch, query, _, _]>>
!g = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!s = !transformer.state<?x8x16x32xf32, #transformer.dims<[batch, _, _, _]>>
func.func @delta(%x: !x) -> !x {
  %wq = transformer.weight "q.weight" stored [1*2, 0] : tensor<64x2x16xbf16>
  %wv = transformer.weight "v.weight" stored [1*2, 0] : tensor<64x8x32xbf16>
  %wz = transformer.weight "z.weight" stored [1*2, 0] : tensor<64x8x32xbf16>
  %wg = transformer.weight "b.weight" stored [1, 0] : tensor<64x8xbf16>
  %conv = transformer.weight "conv1d.weight" stored [0*1, 2] : tensor<2x16x4xbf16>
  %h = transformer.weight "A_log" : tensor<8xf32>
  %wo = transformer.weight "out_proj.weight" stored [2, 0*1] : tensor<8x32x64xbf16>
  %s = transformer.state : !s
  %q0 = transformer.linear %x, %wq : !x, tensor<64x2x16xbf16> -> !k
  %q = transformer.short_conv %q0, %conv silu : !k, tensor<2x16x4xbf16>
  %v = transformer.linear %x, %wv : !x, tensor<64x8x32xbf16> -> !v
  %z = transformer.linear %x, %wz : !x, tensor<64x8x32xbf16> -> !v
  %g = transformer.linear %x, %wg : !x, tensor<64x8xbf16> -> !g
  %y = transformer.gated_delta_rule %q, %q, %v, %g, %g, %h, %h state(%s)
      : !k, !v, !g, !g, tensor<8xf32>, tensor<8xf32>, !s
  %n = transformer.gated %z, %y silu : !v
  %o = transformer.linear %n, %wo : !v, tensor<8x32x64xbf16> -> !x
  return %o : !x
}

// -----

// Mamba 1: the products that make steps and matrices contract the channels,
// and are reduced. The one group is whole.
// CHECK-LABEL: func @mamba
// CHECK: %[[B:.*]] = transformer.linear %conv, %b : !bq_32tp_1_bf, !w32tp_1_1_16_bf -> !bq_1_16_sum_tp
// CHECK: parallel.all_reduce %dt_out over [tp]
// CHECK-NEXT: transformer.linear {{.*}}-> !bq_32tp_bf
// CHECK: %[[SUM:.*]] = parallel.all_reduce %[[B]] over [tp]
// CHECK: transformer.state_space %conv, %{{.*}}, %[[SUM]], %[[SUM]], {{.*}} : !bq_32tp_1_bf, !bq_32tp_bf, !bq_1_16_bf, !w32tp_16_float, !b_32tp_1_16_float
// CHECK: -> !bq_64_sum_tp
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!c = tensor<?x?x32x1xbf16, #transformer.dims<[batch, query, _, _]>>
!r = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!dt = tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
!b = tensor<?x?x1x16xbf16, #transformer.dims<[batch, query, _, _]>>
!s = !transformer.state<?x32x1x16xf32, #transformer.dims<[batch, _, _, _]>>
func.func @mamba(%x: !x) -> !x {
  %wx = transformer.weight "x.weight" stored [1*2, 0] : tensor<64x32x1xbf16>
  %wz = transformer.weight "z.weight" stored [1*2, 0] : tensor<64x32x1xbf16>
  %conv = transformer.weight "conv1d.weight" : tensor<32x1x4xbf16>
  %wb = transformer.weight "b.weight" stored [2*3, 0*1] : tensor<32x1x1x16xbf16>
  %wr = transformer.weight "dt.weight" stored [2, 0*1] : tensor<32x1x8xbf16>
  %wdt = transformer.weight "dt_proj.weight" stored [1, 0] : tensor<8x32xbf16>
  %bdt = transformer.weight "dt_proj.bias" : tensor<32xbf16>
  %a = transformer.weight "A_log" : tensor<32x16xf32>
  %wo = transformer.weight "out_proj.weight" stored [2, 0*1] : tensor<32x1x64xbf16>
  %s = transformer.state : !s
  %z = transformer.linear %x, %wz : !x, tensor<64x32x1xbf16> -> !c
  %x0 = transformer.linear %x, %wx : !x, tensor<64x32x1xbf16> -> !c
  %x1 = transformer.short_conv %x0, %conv silu : !c, tensor<32x1x4xbf16>
  %b = transformer.linear %x1, %wb : !c, tensor<32x1x1x16xbf16> -> !b
  %r = transformer.linear %x1, %wr : !c, tensor<32x1x8xbf16> -> !r
  %dt = transformer.linear %r, %wdt bias(%bdt : tensor<32xbf16>) : !r, tensor<8x32xbf16> -> !dt
  %y = transformer.state_space %x1, %dt, %b, %b, %a state(%s) : !c, !dt, !b, tensor<32x16xf32>, !s
  %g = transformer.gated %z, %y silu : !c
  %o = transformer.linear %g, %wo : !c, tensor<32x1x64xbf16> -> !x
  return %o : !x
}

// -----

// Gates with a product between them of the width of a head, whole; what is of
// channels is split by heads.
// CHECK-LABEL: func @kimi
// CHECK: transformer.linear %{{.*}}, %f_a {{.*}} -> !bq_16_bf
// CHECK: %[[DECAY:.*]] = transformer.linear %{{.*}}, %f_b {{.*}} -> !bq_8tp_16_bf
// CHECK-NOT: parallel
// CHECK: transformer.gated_delta_rule {{.*}}, %[[DECAY]], {{.*}} : !bq_8tp_cap_16_bf, {{.*}}, !bq_8tp_bf, !bq_8tp_16_bf{{.*}}, !w8tp_float, !w8tp_16_float, !b_8tp_16_16_float
// CHECK: -> !bq_64_sum_tp
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!k = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!r = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!g = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!s = !transformer.state<?x8x16x16xf32, #transformer.dims<[batch, _, _, _]>>
func.func @kimi(%x: !x) -> !x {
  %wk = transformer.weight "k.weight" stored [1*2, 0] : tensor<64x8x16xbf16>
  %wv = transformer.weight "v.weight" stored [1*2, 0] : tensor<64x8x16xbf16>
  %wa = transformer.weight "f_a.weight" stored [1, 0] : tensor<64x16xbf16>
  %wb = transformer.weight "f_b.weight" stored [1*2, 0] : tensor<16x8x16xbf16>
  %wg = transformer.weight "b.weight" stored [1, 0] : tensor<64x8xbf16>
  %a = transformer.weight "A_log" : tensor<8xf32>
  %b = transformer.weight "dt_bias" stored [0*1] : tensor<8x16xf32>
  %wo = transformer.weight "o.weight" stored [2, 0*1] : tensor<8x16x64xbf16>
  %s = transformer.state : !s
  %k = transformer.linear %x, %wk : !x, tensor<64x8x16xbf16> -> !k
  %v = transformer.linear %x, %wv : !x, tensor<64x8x16xbf16> -> !k
  %r = transformer.linear %x, %wa : !x, tensor<64x16xbf16> -> !r
  %f = transformer.linear %r, %wb : !r, tensor<16x8x16xbf16> -> !k
  %g = transformer.linear %x, %wg : !x, tensor<64x8xbf16> -> !g
  %y = transformer.gated_delta_rule %k, %k, %v, %g, %f, %a, %b state(%s)
      : !k, !k, !g, !k, tensor<8xf32>, tensor<8x16xf32>, !s
  %o = transformer.linear %y, %wo : !k, tensor<8x16x64xbf16> -> !x
  return %o : !x
}

// -----

// CHECK-LABEL: func @lightning
// CHECK: transformer.linear_attention {{.*}} : !bq_8tp_16_bf, !b_8tp_16_16_float
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!s = !transformer.state<?x8x16x16xf32, #transformer.dims<[batch, _, _, _]>>
func.func @lightning(%x: !x) {
  %w = transformer.weight "q.weight" stored [1*2, 0] : tensor<64x8x16xbf16>
  %s = transformer.state : !s
  %q = transformer.linear %x, %w : !x, tensor<64x8x16xbf16> -> !q
  %y = transformer.linear_attention %q, %q, %q state(%s) : !q, !s
  return
}
