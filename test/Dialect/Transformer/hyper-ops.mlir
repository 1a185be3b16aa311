// RUN: %roundtrip %s | FileCheck %s

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!s = tensor<?x?x4x64xbf16, #transformer.dims<[batch, query, _, _]>>
!post = tensor<?x?x4xf32, #transformer.dims<[batch, query, _]>>
!residual = tensor<?x?x4x4xf32, #transformer.dims<[batch, query, _, _]>>

// CHECK-LABEL: func @expand
func.func @expand(%x: !x) -> !s {
  // CHECK: %streams = transformer.hyper_expand %arg0 : !bq_64_bf -> !bq_4_64_bf
  %s = transformer.hyper_expand %x : !x -> !s
  return %s : !s
}

// CHECK-LABEL: func @independent
func.func @independent(%s: !s, %w: tensor<4x64x8xf32>, %b: tensor<8xf32>, %g: tensor<2xf32>) -> !s {
  // CHECK: %mixed, %post = transformer.hyper_pre %arg0, %arg1, %arg2, %arg3 eps(1.0e-05) gate_eps(1.0e-06) post(2.0) : !bq_4_64_bf, tensor<4x64x8xf32>, tensor<8xf32>, tensor<2xf32> -> !bq_64_bf, !bq_4_float
  %x, %post = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0)
      : !s, tensor<4x64x8xf32>, tensor<8xf32>, tensor<2xf32> -> !x, !post
  // CHECK: %streams = transformer.hyper_post %arg0, %mixed, %post : !bq_4_64_bf, !bq_64_bf, !bq_4_float
  %z = transformer.hyper_post %s, %x, %post : !s, !x, !post
  return %z : !s
}

// CHECK-LABEL: func @constrained
func.func @constrained(%s: !s, %w: tensor<4x64x24xf32>, %b: tensor<24xf32>, %g: tensor<3xf32>) -> !s {
  // CHECK: %mixed, %post, %residual = transformer.hyper_pre {{.*}} post(2.0) sinkhorn(20) : {{.*}} -> !bq_64_bf, !bq_4_float, !bq_4_4_float
  %x, %post, %residual = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(1.0e-6) post(2.0) sinkhorn(20)
      : !s, tensor<4x64x24xf32>, tensor<24xf32>, tensor<3xf32> -> !x, !post, !residual
  // CHECK: transformer.hyper_post %arg0, %mixed, %post residual(%residual : !bq_4_4_float) : !bq_4_64_bf, !bq_64_bf, !bq_4_float
  %z = transformer.hyper_post %s, %x, %post residual(%residual : !residual) : !s, !x, !post
  return %z : !s
}

// CHECK-LABEL: func @head
func.func @head(%s: !s, %w: tensor<4x64x4xf32>, %b: tensor<4xf32>, %g: tensor<1xf32>) -> !x {
  // CHECK: %mixed = transformer.hyper_pre %arg0, %arg1, %arg2, %arg3 eps(1.0e-05) gate_eps(0.0) : {{.*}} -> !bq_64_bf
  %x = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-5) gate_eps(0.0)
      : !s, tensor<4x64x4xf32>, tensor<4xf32>, tensor<1xf32> -> !x
  return %x : !x
}
