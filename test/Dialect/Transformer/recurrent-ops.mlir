// RUN: %roundtrip %s | FileCheck %s

!x = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!flat = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!h = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!g = tensor<?x?x2x32xbf16, #transformer.dims<[batch, query, _, _]>>
!one = tensor<?x?x1x32xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!s = !transformer.state<?x8x16x32xf32, #transformer.dims<[batch, _, _, _]>>
!sk = !transformer.state<?x8x16x16xf32, #transformer.dims<[batch, _, _, _]>>
!conv = !transformer.state<?x64x3xbf16, #transformer.dims<[batch, _, _]>>

// CHECK-LABEL: func @state
func.func @state() {
  // CHECK: %state = transformer.state : !b_8_16_32_float
  %s = transformer.state : !s
  return
}

// CHECK-LABEL: func @short_conv
func.func @short_conv(%x: !flat, %w: tensor<64x4xbf16>, %b: tensor<64xbf16>,
                      %y: !x, %v: tensor<8x16x4xbf16>, %s: !conv) {
  // CHECK: %conv = transformer.short_conv %arg0, %arg1 : !bq_64_bf, tensor<64x4xbf16>
  %0 = transformer.short_conv %x, %w : !flat, tensor<64x4xbf16>
  // CHECK: transformer.short_conv %arg0, %arg1 bias(%arg2 : tensor<64xbf16>) state(%arg5 : !b_64_3_bf) silu
  %1 = transformer.short_conv %x, %w bias(%b : tensor<64xbf16>) state(%s : !conv) silu : !flat, tensor<64x4xbf16>
  // CHECK: transformer.short_conv %arg0, %arg1 state(%arg5 : !b_64_3_bf)
  %2 = transformer.short_conv %x, %w state(%s : !conv) : !flat, tensor<64x4xbf16>
  // CHECK: transformer.short_conv %arg3, %arg4
  %3 = transformer.short_conv %y, %v : !x, tensor<8x16x4xbf16>
  return
}

// CHECK-LABEL: func @state_space
func.func @state_space(%x: !x, %dt: !h, %b: !g, %c: !g, %a: tensor<8xf32>, %s: !s) {
  // CHECK: %ssm = transformer.state_space %arg0, %arg1, %arg2, %arg3, %arg4 state(%arg5) : !bq_8_16_bf, !bq_8_bf, !bq_2_32_bf, tensor<8xf32>, !b_8_16_32_float
  %0 = transformer.state_space %x, %dt, %b, %c, %a state(%s) : !x, !h, !g, tensor<8xf32>, !s
  // CHECK: state(%arg5) d(%arg4 : tensor<8xf32>) dt_bias(%arg4 : tensor<8xf32>)
  %1 = transformer.state_space %x, %dt, %b, %c, %a state(%s) d(%a : tensor<8xf32>) dt_bias(%a : tensor<8xf32>)
      : !x, !h, !g, tensor<8xf32>, !s
  // CHECK: state(%arg5) dt_bias(%arg4 : tensor<8xf32>)
  %2 = transformer.state_space %x, %dt, %b, %c, %a state(%s) dt_bias(%a : tensor<8xf32>)
      : !x, !h, !g, tensor<8xf32>, !s
  return
}

// Mamba 1: a channel a head, one group, an `a` for each state.
// CHECK-LABEL: func @state_space_of_channels
!c = tensor<?x?x8x1xbf16, #transformer.dims<[batch, query, _, _]>>
!cs = !transformer.state<?x8x1x32xf32, #transformer.dims<[batch, _, _, _]>>
func.func @state_space_of_channels(%x: !c, %dt: !h, %b: !one, %a: tensor<8x32xf32>, %s: !cs) {
  // CHECK: transformer.state_space %arg0, %arg1, %arg2, %arg2, %arg3 state(%arg4) : !bq_8_1_bf, !bq_8_bf, !bq_1_32_bf, tensor<8x32xf32>, !b_8_1_32_float
  %0 = transformer.state_space %x, %dt, %b, %b, %a state(%s) : !c, !h, !one, tensor<8x32xf32>, !cs
  return
}

// CHECK-LABEL: func @gated_delta_rule
func.func @gated_delta_rule(%q: !k, %v: !x, %g: !h, %a: tensor<8xf32>, %s: !sk) {
  // CHECK: %delta = transformer.gated_delta_rule %arg0, %arg0, %arg1, %arg2, %arg2, %arg3, %arg3 state(%arg4) : !bq_2_16_bf, !bq_8_16_bf, !bq_8_bf, !bq_8_bf, tensor<8xf32>, tensor<8xf32>, !b_8_16_16_float
  %0 = transformer.gated_delta_rule %q, %q, %v, %g, %g, %a, %a state(%s)
      : !k, !x, !h, !h, tensor<8xf32>, tensor<8xf32>, !sk
  return
}

// A decay of each channel of the key.
// CHECK-LABEL: func @gated_delta_rule_of_channels
func.func @gated_delta_rule_of_channels(%k: !x, %g: !h, %a: tensor<8xf32>, %b: tensor<8x16xf32>, %s: !sk) {
  // CHECK: transformer.gated_delta_rule %arg0, %arg0, %arg0, %arg1, %arg0, %arg2, %arg3 state(%arg4) : !bq_8_16_bf, !bq_8_16_bf, !bq_8_bf, !bq_8_16_bf, tensor<8xf32>, tensor<8x16xf32>, !b_8_16_16_float
  %0 = transformer.gated_delta_rule %k, %k, %k, %g, %k, %a, %b state(%s)
      : !x, !x, !h, !x, tensor<8xf32>, tensor<8x16xf32>, !sk
  return
}

// CHECK-LABEL: func @linear_attention
func.func @linear_attention(%q: !x, %s: !sk) {
  // CHECK: %linear_attn = transformer.linear_attention %arg0, %arg0, %arg0 state(%arg1) : !bq_8_16_bf, !b_8_16_16_float
  %0 = transformer.linear_attention %q, %q, %q state(%s) : !x, !sk
  // CHECK: transformer.linear_attention %arg0, %arg0, %arg0 state(%arg1) layers(80) : !bq_8_16_bf, !b_8_16_16_float
  %1 = transformer.linear_attention %q, %q, %q state(%s) layers(80) : !x, !sk
  return
}
