// RUN: %roundtrip %s --autopar-shard-tensor | FileCheck %s

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!routing = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!routed = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
!routed_wide = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>

parallel.mesh(tp = 4)

// A bias of the experts' columns is split with them. That of the rows is added
// after the reduction, which stays behind the combination: a token is reduced
// once, not once per expert.
// CHECK-LABEL: func @biases
func.func @biases(%x: !x) -> !x {
  // CHECK: transformer.weight "up.bias" : !w8_32tp_bf
  // CHECK: %[[BIAS:.*]] = transformer.weight "down.bias" : tensor<8x64xbf16>
  %router = transformer.weight "router" : tensor<64x8xbf16>
  %up = transformer.weight "up" : tensor<8x64x32xbf16>
  %up_bias = transformer.weight "up.bias" : tensor<8x32xbf16>
  %down = transformer.weight "down" : tensor<8x32x64xbf16>
  %down_bias = transformer.weight "down.bias" : tensor<8x64xbf16>
  // CHECK: %[[R:.*]] = transformer.router
  %r = transformer.router %x, %router top_k(2) : !x, tensor<64x8xbf16> -> !routing
  %t = transformer.dispatch %x, %r : !x, !routing -> !routed
  // CHECK: transformer.experts {{.*}} bias(%{{.*}} : !w8_32tp_bf) top_k(2)
  %u = transformer.experts %t, %up bias(%up_bias : tensor<8x32xbf16>) top_k(2)
      : !routed, tensor<8x64x32xbf16> -> !routed_wide
  %a = transformer.activation %u silu : !routed_wide
  // CHECK: transformer.experts %{{[^ ]*}}, %{{[^ ]*}} top_k(2) : !bq2_32tp_bf, !w8_32tp_64_bf -> !bq2_64_sum_tp
  %d = transformer.experts %a, %down bias(%down_bias : tensor<8x64xbf16>) top_k(2)
      : !routed_wide, tensor<8x32x64xbf16> -> !routed
  // CHECK: %[[SUM:.*]] = transformer.combine {{.*}} -> !bq_64_sum_tp
  // CHECK-NEXT: %[[Y:.*]] = parallel.reshard %[[SUM]] : !bq_64_sum_tp -> !bq_64_bf
  // CHECK-NEXT: transformer.add_expert_bias %[[Y]], %[[R]], %[[BIAS]] : !bq_64_bf, !bq_2_bf, tensor<8x64xbf16>
  %y = transformer.combine %d, %r : !routed, !routing -> !x
  return %y : !x
}

// A scale goes before the reduction.
// CHECK-LABEL: func @scaled_sum
func.func @scaled_sum(%ids: tensor<4x16xi32>) -> tensor<4x16x64xbf16> {
  %table = transformer.weight "embed" : tensor<1000x64xbf16>
  %x = transformer.embedding %ids, %table : tensor<4x16xi32>, tensor<1000x64xbf16> -> tensor<4x16x64xbf16>
  // CHECK: %[[Y:.*]] = transformer.scale {{.*}} : !w4_16_64_sum_tp
  // CHECK-NEXT: parallel.reshard %[[Y]]
  %y = transformer.scale %x by(12.0) : tensor<4x16x64xbf16>
  return %y : tensor<4x16x64xbf16>
}
