// RUN: %roundtrip %s | FileCheck %s

!k = tensor<?x?x8x128xbf16, #transformer.dims<[batch, query, _, _]>>
!r = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x8x192xbf16, #transformer.dims<[batch, query, _, _]>>

// CHECK-LABEL: func @concat_shared
func.func @concat_shared(%k: !k, %r: !r) {
  // CHECK: %key = training.concat_shared %arg0, %arg1 : !bq_8_128_bf, !bq_64_bf -> !bq_8_192_bf
  %y = training.concat_shared %k, %r : !k, !r -> !y
  return
}

// CHECK-LABEL: func @concat_shared_backward
func.func @concat_shared_backward(%dy: !y) {
  // CHECK: %dx, %d_shared = training.concat_shared_backward %arg0 : !bq_8_192_bf -> !bq_8_128_bf, !bq_64_bf
  %dx, %ds = training.concat_shared_backward %dy : !y -> !k, !r
  return
}

!q = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
!p = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!v = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!z = tensor<?x?x8xf32, #transformer.dims<[batch, query, _]>>
!s = tensor<?x?x4xi32, #transformer.dims<[batch, query, _]>>
!w = tensor<32x8x16xbf16>
!g = tensor<32x8x16xf32>

// CHECK-LABEL: func @latent_normaliser
func.func @latent_normaliser(%q: !q, %l: !l, %r: !p, %wk: !w, %s: !s) {
  // CHECK: %normaliser = training.latent_normaliser %arg0, %arg1, %arg2, %arg3 selected(%arg4 : !bq_4_int) causal : !bq_8_24_bf, !bq_32_bf, !bq_8_bf, tensor<32x8x16xbf16> -> !bq_8_float
  %z = training.latent_normaliser %q, %l, %r, %wk selected(%s : !s) causal : !q, !l, !p, !w -> !z
  // CHECK: training.latent_normaliser %arg0, %arg1, %arg2, %arg3 at_most(4) : !bq_8_24_bf
  %m = training.latent_normaliser %q, %l, %r, %wk at_most(4) : !q, !l, !p, !w -> !z
  return
}

// CHECK-LABEL: func @latent_attention_backward
func.func @latent_attention_backward(%dy: !v, %q: !q, %l: !l, %r: !p, %w: !w, %z: !z, %s: !s) {
  // CHECK: %dq, %d_latent, %d_rope, %d_key_weight, %d_value_weight = training.latent_attention_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg4, %arg0, %arg5 selected(%arg6 : !bq_4_int) causal : !bq_8_16_bf, !bq_8_24_bf, !bq_32_bf, !bq_8_bf, tensor<32x8x16xbf16>, tensor<32x8x16xbf16>, !bq_8_float -> !bq_32_bf, !bq_8_bf, tensor<32x8x16xf32>, tensor<32x8x16xf32>
  %dq, %dl, %dr, %dwk, %dwv = training.latent_attention_backward %dy, %q, %l, %r, %w, %w, %dy, %z selected(%s : !s) causal
      : !v, !q, !l, !p, !w, !w, !z -> !l, !p, !g, !g
  // CHECK: training.latent_attention_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg4, %arg0, %arg5 at_most(4) : !bq_8_16_bf
  %dq2, %dl2, %dr2, %dwk2, %dwv2 = training.latent_attention_backward %dy, %q, %l, %r, %w, %w, %dy, %z at_most(4)
      : !v, !q, !l, !p, !w, !w, !z -> !l, !p, !g, !g
  return
}

