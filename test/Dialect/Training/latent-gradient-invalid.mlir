// RUN: autopar-opt %s --split-input-file --verify-diagnostics

!q = tensor<4x16x8x16xbf16>
!l = tensor<4x16x32xbf16>
!r = tensor<4x16x8xbf16>
!w = tensor<32x8x16xbf16>
func.func @queries_without_rope(%q: !q, %l: !l, %r: !r, %w: !w) {
  // expected-error @+1 {{'training.latent_normaliser' op has queries of 16 elements, expected 24: those of a key and its rope part}}
  %z = training.latent_normaliser %q, %l, %r, %w causal : !q, !l, !r, !w -> tensor<4x16x8xf32>
  return
}

// -----

!q = tensor<4x16x8x24xbf16>
!l = tensor<4x16x32xbf16>
!r = tensor<4x16x8xbf16>
!w = tensor<32x8x16xbf16>
func.func @counts_none(%q: !q, %l: !l, %r: !r, %w: !w) {
  // expected-error @+1 {{'training.latent_normaliser' op has a at_most of 0 tokens, expected at least 1}}
  %z = training.latent_normaliser %q, %l, %r, %w at_most(0) : !q, !l, !r, !w -> tensor<4x16x8xf32>
  return
}

// -----

!y = tensor<4x16x8x16xbf16>
!q = tensor<4x16x8x24xbf16>
!l = tensor<4x16x32xbf16>
!r = tensor<4x16x8xbf16>
!w = tensor<32x8x16xbf16>
!z = tensor<4x16x8xf32>
!s = tensor<4x16x4xi32>
!g = tensor<32x8x16xf32>
func.func @both(%y: !y, %q: !q, %l: !l, %r: !r, %w: !w, %z: !z, %s: !s) {
  // expected-error @+1 {{'training.latent_attention_backward' op has both selected tokens and a number of them}}
  %dq, %dl, %dr, %dk, %dv = training.latent_attention_backward %y, %q, %l, %r, %w, %w, %y, %z
      selected(%s : !s) at_most(4) causal : !y, !q, !l, !r, !w, !w, !z -> !l, !r, !g, !g
  return
}

// -----

!y = tensor<4x16x8x16xbf16>
!q = tensor<4x16x8x24xbf16>
!l = tensor<4x16x32xbf16>
!r = tensor<4x16x8xbf16>
!w = tensor<32x8x16xbf16>
!z = tensor<4x16x8xf32>
func.func @gradient(%y: !y, %q: !q, %l: !l, %r: !r, %w: !w, %z: !z) {
  // expected-error @+1 {{'training.latent_attention_backward' op dimension 2 of result #3 is 8, but dimension 2 of operand #4 is 16}}
  %dq, %dl, %dr, %dk, %dv = training.latent_attention_backward %y, %q, %l, %r, %w, %w, %y, %z
      causal : !y, !q, !l, !r, !w, !w, !z -> !l, !r, tensor<32x8x8xf32>, tensor<32x8x16xf32>
  return
}
