// RUN: %roundtrip %s | FileCheck %s

!c = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!x = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!dt = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!g = tensor<?x?x2x32xbf16, #transformer.dims<[batch, query, _, _]>>
!h = tensor<8xf32>
!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>

// CHECK-LABEL: func @short_conv
func.func @short_conv(%dy: !c, %x: !c, %w: tensor<64x4xbf16>, %b: tensor<64xbf16>) {
  // CHECK: %dx, %dw, %db = training.short_conv_backward %arg0, %arg1, %arg2 bias(%arg3 : tensor<64xbf16>) silu : !bq_64_bf, tensor<64x4xbf16> -> tensor<64x4xf32>, tensor<64xf32>
  %dx, %dw, %db = training.short_conv_backward %dy, %x, %w bias(%b : tensor<64xbf16>) silu
      : !c, tensor<64x4xbf16> -> tensor<64x4xf32>, tensor<64xf32>
  // CHECK: training.short_conv_backward %arg0, %arg1, %arg2 : !bq_64_bf, tensor<64x4xbf16> -> tensor<64x4xf32>
  %dx2, %dw2 = training.short_conv_backward %dy, %x, %w : !c, tensor<64x4xbf16> -> tensor<64x4xf32>
  return
}

// CHECK-LABEL: func @state_space
func.func @state_space(%dy: !x, %x: !x, %dt: !dt, %b: !g, %c: !g, %a: !h) {
  // CHECK: %dx, %d_dt, %d_input, %d_output, %da, %dd = training.state_space_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 d(%arg5 : tensor<8xf32>) dt_bias(%arg5 : tensor<8xf32>) : !bq_8_16_bf, !bq_8_bf, !bq_2_32_bf, tensor<8xf32> -> !bq_2_32_bf, tensor<8xf32>, tensor<8xf32>
  %dx, %ddt, %db, %dc, %da, %dd = training.state_space_backward %dy, %x, %dt, %b, %c, %a d(%a : !h) dt_bias(%a : !h)
      : !x, !dt, !g, !h -> !g, !h, !h
  // CHECK: training.state_space_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 : !bq_8_16_bf, !bq_8_bf, !bq_2_32_bf, tensor<8xf32> -> !bq_2_32_bf, tensor<8xf32>
  %dx2, %ddt2, %db2, %dc2, %da2 = training.state_space_backward %dy, %x, %dt, %b, %c, %a
      : !x, !dt, !g, !h -> !g, !h
  // CHECK: transformer.state_space %arg1, %arg2, %arg3, %arg4, %arg5 : !bq_8_16_bf, !bq_8_bf, !bq_2_32_bf, tensor<8xf32>
  %y = transformer.state_space %x, %dt, %b, %c, %a : !x, !dt, !g, !h
  return
}

// CHECK-LABEL: func @gated_delta_rule
func.func @gated_delta_rule(%dy: !x, %q: !k, %k: !k, %v: !x, %beta: !dt, %decay: !dt, %h: !h) {
  // CHECK: %dq, %dk, %dv, %d_beta, %d_decay, %da = training.gated_delta_rule_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg6 : !bq_2_16_bf, !bq_8_16_bf, !bq_8_bf, !bq_8_bf, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %dq, %dk, %dv, %dbeta, %ddecay, %da = training.gated_delta_rule_backward %dy, %q, %k, %v, %beta, %decay, %h, %h
      : !k, !x, !dt, !dt, !h, !h -> !h
  // CHECK: transformer.gated_delta_rule %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg6 : !bq_2_16_bf, !bq_8_16_bf, !bq_8_bf, !bq_8_bf, tensor<8xf32>, tensor<8xf32>
  %y = transformer.gated_delta_rule %q, %k, %v, %beta, %decay, %h, %h : !k, !x, !dt, !dt, !h, !h
  return
}

// CHECK-LABEL: func @gated_delta_rule_of_channels
func.func @gated_delta_rule_of_channels(%dy: !x, %k: !x, %beta: !dt, %decay: !x, %h: !h, %b: tensor<8x16xf32>) {
  // CHECK: training.gated_delta_rule_backward %arg0, %arg1, %arg1, %arg1, %arg2, %arg3, %arg4, %arg5 : !bq_8_16_bf, !bq_8_16_bf, !bq_8_bf, !bq_8_16_bf, tensor<8xf32>, tensor<8x16xf32> -> tensor<8xf32>
  %dq, %dk, %dv, %dbeta, %ddecay, %da = training.gated_delta_rule_backward %dy, %k, %k, %k, %beta, %decay, %h, %b
      : !x, !x, !dt, !x, !h, tensor<8x16xf32> -> !h
  return
}

// CHECK-LABEL: func @linear_attention
func.func @linear_attention(%dy: !x, %q: !x, %k: !x, %v: !x) {
  // CHECK: %dq, %dk, %dv = training.linear_attention_backward %arg0, %arg1, %arg2, %arg3 layers(80) : !bq_8_16_bf
  %dq, %dk, %dv = training.linear_attention_backward %dy, %q, %k, %v layers(80) : !x
  // CHECK: transformer.linear_attention %arg1, %arg2, %arg3 layers(80) : !bq_8_16_bf
  %y = transformer.linear_attention %q, %k, %v layers(80) : !x
  return
}
