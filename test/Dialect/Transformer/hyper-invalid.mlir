// RUN: autopar-opt %s --split-input-file --verify-diagnostics

func.func @streams_without_tokens(%x: tensor<2x16x64xbf16>) {
  // expected-error @+1 {{'transformer.hyper_expand' op}}
  %s = transformer.hyper_expand %x : tensor<2x16x64xbf16> -> tensor<2x4x64xbf16>
  return
}

// -----

func.func @few_coefficients(%s: tensor<2x16x4x64xbf16>, %w: tensor<4x64x4xf32>, %b: tensor<4xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'transformer.hyper_pre' op has a weight of 4 elements, expected 8}}
  %x, %p = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0)
      : tensor<2x16x4x64xbf16>, tensor<4x64x4xf32>, tensor<4xf32>, tensor<2xf32> -> tensor<2x16x64xbf16>, tensor<2x16x4xf32>
  return
}

// -----

func.func @many_streams(%s: tensor<2x16x1099511627776x1xbf16>, %w: tensor<1099511627776x1x24xf32>, %b: tensor<24xf32>, %g: tensor<3xf32>) {
  // expected-error @+1 {{'transformer.hyper_pre' op has a weight of 24 elements, expected 9223372036854775807}}
  %x, %p, %r = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0) sinkhorn(20)
      : tensor<2x16x1099511627776x1xbf16>, tensor<1099511627776x1x24xf32>, tensor<24xf32>, tensor<3xf32> -> tensor<2x16x1xbf16>, tensor<2x16x1099511627776xf32>, tensor<2x16x1099511627776x1099511627776xf32>
  return
}

// -----

func.func @many_scales(%s: tensor<2x16x4x64xbf16>, %w: tensor<4x64x8xf32>, %b: tensor<8xf32>, %g: tensor<3xf32>) {
  // expected-error @+1 {{'transformer.hyper_pre' op has a scale of 3 elements, expected 2}}
  %x, %p = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0)
      : tensor<2x16x4x64xbf16>, tensor<4x64x8xf32>, tensor<8xf32>, tensor<3xf32> -> tensor<2x16x64xbf16>, tensor<2x16x4xf32>
  return
}

// -----

func.func @no_post(%s: tensor<2x16x4x64xbf16>, %w: tensor<4x64x4xf32>, %b: tensor<4xf32>, %g: tensor<1xf32>) {
  // expected-error @+1 {{'transformer.hyper_pre' op has 'post' or a result for it, expected both}}
  %x = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0)
      : tensor<2x16x4x64xbf16>, tensor<4x64x4xf32>, tensor<4xf32>, tensor<1xf32> -> tensor<2x16x64xbf16>
  return
}

// -----

func.func @no_residual(%s: tensor<2x16x4x64xbf16>, %w: tensor<4x64x8xf32>, %b: tensor<8xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'transformer.hyper_pre' op has 'sinkhorn' or a residual, expected both}}
  %x, %p = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0) sinkhorn(20)
      : tensor<2x16x4x64xbf16>, tensor<4x64x8xf32>, tensor<8xf32>, tensor<2xf32> -> tensor<2x16x64xbf16>, tensor<2x16x4xf32>
  return
}

// -----

func.func @no_iterations(%s: tensor<2x16x4x64xbf16>, %w: tensor<4x64x24xf32>, %b: tensor<24xf32>, %g: tensor<3xf32>) {
  // expected-error @+1 {{'transformer.hyper_pre' op has sinkhorn(0), expected 1 to 1000}}
  %x, %p, %r = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0) sinkhorn(0)
      : tensor<2x16x4x64xbf16>, tensor<4x64x24xf32>, tensor<24xf32>, tensor<3xf32> -> tensor<2x16x64xbf16>, tensor<2x16x4xf32>, tensor<2x16x4x4xf32>
  return
}

// -----

func.func @negative_eps(%s: tensor<2x16x4x64xbf16>, %w: tensor<4x64x4xf32>, %b: tensor<4xf32>, %g: tensor<1xf32>) {
  // expected-error @+1 {{'transformer.hyper_pre' op has an eps that is negative or not finite}}
  %x = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(-1.0e-6)
      : tensor<2x16x4x64xbf16>, tensor<4x64x4xf32>, tensor<4xf32>, tensor<1xf32> -> tensor<2x16x64xbf16>
  return
}

// -----

func.func @no_magnitude(%s: tensor<2x16x4x64xbf16>, %w: tensor<4x64x8xf32>, %b: tensor<8xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'transformer.hyper_pre' op has a post that is not a positive number}}
  %x, %p = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(0.0)
      : tensor<2x16x4x64xbf16>, tensor<4x64x8xf32>, tensor<8xf32>, tensor<2xf32> -> tensor<2x16x64xbf16>, tensor<2x16x4xf32>
  return
}

// -----

func.func @other_streams(%s: tensor<2x16x4x64xbf16>, %y: tensor<2x16x64xbf16>, %p: tensor<2x16x3xf32>) {
  // expected-error @+1 {{'transformer.hyper_post' op}}
  %z = transformer.hyper_post %s, %y, %p : tensor<2x16x4x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x3xf32>
  return
}
