// RUN: autopar-opt %s --split-input-file --verify-diagnostics

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
func.func @kernel(%x: !x, %w: tensor<64x1xbf16>) {
  // expected-error @+1 {{'training.short_conv_backward' op has a kernel of 1 tokens, expected at least 2}}
  %dx, %dw = training.short_conv_backward %x, %x, %w : !x, tensor<64x1xbf16> -> tensor<64x1xf32>
  return
}

// -----

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
func.func @bias(%x: !x, %w: tensor<64x4xbf16>, %b: tensor<64xbf16>) {
  // expected-error @+1 {{'training.short_conv_backward' op has bias, but no gradient of it}}
  %dx, %dw = training.short_conv_backward %x, %x, %w bias(%b : tensor<64xbf16>)
      : !x, tensor<64x4xbf16> -> tensor<64x4xf32>
  return
}

// -----

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
func.func @weight(%x: !x, %w: tensor<64x4xbf16>) {
  // expected-error @+1 {{'training.short_conv_backward' op}}
  %dx, %dw = training.short_conv_backward %x, %x, %w : !x, tensor<64x4xbf16> -> tensor<32x4xf32>
  return
}

// -----

!x = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!dt = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!g = tensor<?x?x2x32xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @no_skip(%x: !x, %dt: !dt, %b: !g, %a: tensor<8xf32>) {
  // expected-error @+1 {{'training.state_space_backward' op has no d, but a gradient of it}}
  %dx, %ddt, %db, %dc, %da, %dd = training.state_space_backward %x, %x, %dt, %b, %b, %a
      : !x, !dt, !g, tensor<8xf32> -> !g, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

!x = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!dt = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!g = tensor<?x?x3x32xbf16, #transformer.dims<[batch, query, _, _]>>
func.func @groups(%x: !x, %dt: !dt, %b: !g, %a: tensor<8xf32>) {
  // expected-error @+1 {{'training.state_space_backward' op has 8 heads, which 3 groups do not divide}}
  %dx, %ddt, %db, %dc, %da = training.state_space_backward %x, %x, %dt, %b, %b, %a
      : !x, !dt, !g, tensor<8xf32> -> !g, tensor<8xf32>
  return
}

// -----

!k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!v = tensor<?x?x4x32xbf16, #transformer.dims<[batch, query, _, _]>>
!g = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
func.func @rates(%q: !k, %v: !v, %g: !g, %a: tensor<2xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'training.gated_delta_rule_backward' op has 4 heads in the values, but 2 in a_log}}
  %dq, %dk, %dv, %dbeta, %ddecay, %da = training.gated_delta_rule_backward %v, %q, %q, %v, %g, %g, %a, %b
      : !k, !v, !g, !g, tensor<2xf32>, tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

!x = tensor<?x?x8x?xbf16, #transformer.dims<[batch, query, _, query]>>
func.func @width(%x: !x) {
  // expected-error @+1 {{'training.linear_attention_backward' op has query for dimension 3, expected a number}}
  %dq, %dk, %dv = training.linear_attention_backward %x, %x, %x, %x : !x
  return
}
