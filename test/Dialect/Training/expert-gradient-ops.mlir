// RUN: %roundtrip %s | FileCheck %s

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!s = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!w = tensor<?x?xbf16, #transformer.dims<[batch, query]>>
!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
!y = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>

// CHECK-LABEL: func @routing
func.func @routing(%x: !x, %w: tensor<64x8xbf16>, %b: tensor<8xbf16>, %r: !r) {
  // CHECK: training.router_scores %arg0, %arg1 bias(%arg2 : tensor<8xbf16>) sigmoid : !bq_64_bf, tensor<64x8xbf16> -> !bq_8_bf
  %s = training.router_scores %x, %w bias(%b : tensor<8xbf16>) sigmoid : !x, tensor<64x8xbf16> -> !s
  // CHECK: training.router_scores %arg0, %arg1 : !bq_64_bf, tensor<64x8xbf16> -> !bq_8_bf
  %z = training.router_scores %x, %w : !x, tensor<64x8xbf16> -> !s
  // CHECK: training.router_backward %arg3, %{{.*}}, %arg3 sigmoid normalized scaled(2.5) : !bq_2_bf, !bq_8_bf
  %dl = training.router_backward %r, %s, %r sigmoid normalized scaled(2.5) : !r, !s
  // CHECK: training.router_backward %arg3, %{{.*}}, %arg3 : !bq_2_bf, !bq_8_bf
  %dm = training.router_backward %r, %z, %r : !r, !s
  return
}

// CHECK-LABEL: func @tokens
func.func @tokens(%dy: !x, %t: !t, %r: !r) {
  // CHECK: training.routing_gradient %arg0, %arg1, %arg2 : !bq_64_bf, !bq2_64_bf, !bq_2_bf -> !bq_2_bf
  %dr = training.routing_gradient %dy, %t, %r : !x, !t, !r -> !r
  // CHECK: training.combine_backward %arg0, %arg2 : !bq_64_bf, !bq_2_bf -> !bq2_64_bf
  %dt = training.combine_backward %dy, %r : !x, !r -> !t
  // CHECK: training.dispatch_backward %arg1, %arg2 : !bq2_64_bf, !bq_2_bf -> !bq_64_bf
  %dx = training.dispatch_backward %t, %r : !t, !r -> !x
  return
}

// CHECK-LABEL: func @weigh_gradient
func.func @weigh_gradient(%dy: !x, %x: !x, %w: !w) {
  // CHECK: training.weigh_gradient %arg0, %arg1, %arg2 sigmoid : !bq_64_bf, !bq_64_bf, !bq_bf -> !bq_bf
  %dw = training.weigh_gradient %dy, %x, %w sigmoid : !x, !x, !w -> !w
  return
}

// CHECK-LABEL: func @products
func.func @products(%x: !t, %dy: !y, %w: tensor<8x64x32xbf16>, %b: tensor<8x32xbf16>) {
  // CHECK: training.experts_backward %arg1, %arg2 top_k(2) : !bq2_32_bf, tensor<8x64x32xbf16> -> !bq2_64_bf
  %dx = training.experts_backward %dy, %w top_k(2) : !y, tensor<8x64x32xbf16> -> !t
  // CHECK: training.experts_gradient %arg0, %arg1 of %arg2 : !bq2_64_bf, !bq2_32_bf, tensor<8x64x32xbf16> -> tensor<8x64x32xf32>
  %dw = training.experts_gradient %x, %dy of %w : !t, !y, tensor<8x64x32xbf16> -> tensor<8x64x32xf32>
  // CHECK: training.sum_experts %arg1 of %arg3 : !bq2_32_bf, tensor<8x32xbf16> -> tensor<8x32xf32>
  %db = training.sum_experts %dy of %b : !y, tensor<8x32xbf16> -> tensor<8x32xf32>
  return
}

// CHECK-LABEL: func @sink_gradient
func.func @sink_gradient(%dy: tensor<4x16x8x64xbf16>, %k: tensor<4x16x2x64xbf16>, %s: tensor<8xbf16>) {
  // CHECK: training.attention_normaliser %arg0, %arg1 sinks(%arg2 : tensor<8xbf16>) causal softcap(30.0) : tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16> -> tensor<4x16x8xf32>
  %z = training.attention_normaliser %dy, %k sinks(%s : tensor<8xbf16>) causal softcap(30.0) : tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16> -> tensor<4x16x8xf32>
  // CHECK: training.sink_gradient %arg0, %arg0, %{{.*}}, %arg2 : tensor<4x16x8x64xbf16>, tensor<4x16x8xf32>, tensor<8xbf16> -> tensor<8xf32>
  %ds = training.sink_gradient %dy, %dy, %z, %s : tensor<4x16x8x64xbf16>, tensor<4x16x8xf32>, tensor<8xbf16> -> tensor<8xf32>
  // CHECK: training.attention_backward %arg0, %arg0, %arg1, %arg1, %arg0, %{{.*}} causal softcap(30.0) : tensor<4x16x8x64xbf16>, tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x8x64xbf16>, tensor<4x16x8xf32> -> tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x2x64xbf16>
  %dq, %dk, %dv = training.attention_backward %dy, %dy, %k, %k, %dy, %z causal softcap(30.0) : tensor<4x16x8x64xbf16>, tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x8x64xbf16>, tensor<4x16x8xf32> -> tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x2x64xbf16>
  return
}
