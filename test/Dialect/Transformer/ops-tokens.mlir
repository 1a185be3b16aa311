// RUN: %roundtrip %s | FileCheck %s

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!heads = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!patches = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>>
!images = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!joined = tensor<?x?x256xbf16, #transformer.dims<[batch, encoder_tokens, _]>>

// CHECK-LABEL: func @norms
func.func @norms(%x: !heads, %g: tensor<16xbf16>, %h: tensor<8x16xbf16>) {
  // CHECK: transformer.rms_norm %arg0 eps(1.0e-05) : !bq_8_16_bf
  %none = transformer.rms_norm %x eps(1.0e-5) : !heads
  // CHECK: transformer.rms_norm %arg0, %arg1 eps(1.0e-05) unit_offset : !bq_8_16_bf
  %offset = transformer.rms_norm %x, %g eps(1.0e-5) unit_offset : !heads
  // CHECK: transformer.rms_norm %arg0, %arg2 over(2) eps(1.0e-05) : !bq_8_16_bf, tensor<8x16xbf16>
  %over = transformer.rms_norm %x, %h over(2) eps(1.0e-5) : !heads, tensor<8x16xbf16>
  // CHECK: transformer.rms_norm %arg0, %arg2 over(2) eps(1.0e-05) groups(4) : !bq_8_16_bf, tensor<8x16xbf16>
  %groups = transformer.rms_norm %x, %h over(2) eps(1.0e-5) groups(4) : !heads, tensor<8x16xbf16>
  // CHECK: %[[SQUARES:.*]] = transformer.square_sum %arg0 over(2) groups(4) : !bq_8_16_bf -> !bq_4_float
  %squares = transformer.square_sum %x over(2) groups(4) : !heads -> tensor<?x?x4xf32, #transformer.dims<[batch, query, _]>>
  // CHECK: transformer.rms_norm %arg0, %arg2 sums(%[[SQUARES]] : !bq_4_float) over(2) eps(1.0e-05) groups(4) : !bq_8_16_bf, tensor<8x16xbf16>
  %given = transformer.rms_norm %x, %h sums(%squares : tensor<?x?x4xf32, #transformer.dims<[batch, query, _]>>) over(2) eps(1.0e-5) groups(4) : !heads, tensor<8x16xbf16>
  // CHECK: transformer.layer_norm %arg0, %arg2 eps(1.0e-05) : !bq_8_16_bf, tensor<8x16xbf16>
  %per_head = transformer.layer_norm %x, %h eps(1.0e-5) : !heads, tensor<8x16xbf16>
  // CHECK: transformer.layer_norm %arg0 bias(%arg1 : tensor<16xbf16>) eps(1.0e-05) : !bq_8_16_bf
  %bias = transformer.layer_norm %x bias(%g : tensor<16xbf16>) eps(1.0e-5) : !heads
  return
}

// CHECK-LABEL: func @position_embedding
func.func @position_embedding(%x: !x, %t: tensor<512x64xbf16>) {
  // CHECK: transformer.position_embedding %arg0, %arg1 : !bq_64_bf, tensor<512x64xbf16>
  %y = transformer.position_embedding %x, %t : !x, tensor<512x64xbf16>
  // CHECK: transformer.position_embedding %arg0, %arg1 first(2) : !bq_64_bf, tensor<512x64xbf16>
  %z = transformer.position_embedding %x, %t first(2) : !x, tensor<512x64xbf16>
  // CHECK: transformer.position_embedding %arg0, %arg1 same : !bq_64_bf, tensor<512x64xbf16>
  %s = transformer.position_embedding %x, %t same : !x, tensor<512x64xbf16>
  return
}

// CHECK-LABEL: func @insert
func.func @insert(%x: !x, %y: !images) {
  // CHECK: transformer.insert %arg0, %arg1 : !bq_64_bf, !bet_64_bf
  %z = transformer.insert %x, %y : !x, !images
  return
}

// CHECK-LABEL: func @merge_tokens
func.func @merge_tokens(%x: !patches) {
  // CHECK: transformer.merge_tokens %arg0 : !bet4_64_bf -> !bet_256_bf
  %y = transformer.merge_tokens %x : !patches -> !joined
  // CHECK: transformer.merge_tokens %arg0 mean : !bet4_64_bf -> !bet_64_bf
  %z = transformer.merge_tokens %x mean : !patches -> !images
  return
}

// CHECK-LABEL: func @merge_patches
func.func @merge_patches(%x: tensor<4x16x64xbf16>, %w: tensor<2x2x64x8xbf16>) {
  // CHECK: transformer.merge_tokens %arg0 : tensor<4x16x64xbf16> -> tensor<4x4x2x2x64xbf16>
  %y = transformer.merge_tokens %x : tensor<4x16x64xbf16> -> tensor<4x4x2x2x64xbf16>
  %z = transformer.linear %y, %w : tensor<4x4x2x2x64xbf16>, tensor<2x2x64x8xbf16> -> tensor<4x4x8xbf16>
  return
}

// CHECK-LABEL: func @convolve_plane
func.func @convolve_plane(%x: tensor<4x16x8x1xbf16>, %w: tensor<1x3x3x64xbf16>, %b: tensor<64xbf16>) {
  // CHECK: transformer.convolution %arg0, %arg1 bias(%arg2 : tensor<64xbf16>)
  %y = transformer.convolution %x, %w bias(%b : tensor<64xbf16>)
      : tensor<4x16x8x1xbf16>, tensor<1x3x3x64xbf16> -> tensor<4x8x4x64xbf16>
  return
}

// CHECK-LABEL: func @layer_part
func.func @layer_part(%x: tensor<4x16x30x64xbf16>) {
  // CHECK: transformer.layer_part %arg0 : tensor<4x16x30x64xbf16> -> tensor<4x16x64xbf16>
  %y = transformer.layer_part %x : tensor<4x16x30x64xbf16> -> tensor<4x16x64xbf16>
  return
}

// CHECK-LABEL: func @scale
func.func @scale(%x: !x) {
  // CHECK: transformer.scale %arg0 by(-0.5) : !bq_64_bf
  %y = transformer.scale %x by(-0.5) : !x
  // CHECK: transformer.softcap %arg0 at(30.0) : !bq_64_bf
  %z = transformer.softcap %x at(30.0) : !x
  return
}

// Ops take encoded tokens as they take others.
// CHECK-LABEL: func @encoded_tokens
func.func @encoded_tokens(%ids: tensor<?x?xi32, #transformer.dims<[batch, encoder_tokens]>>,
                          %t: tensor<100x64xbf16>, %w: tensor<64x256xbf16>, %g: tensor<256xbf16>) {
  %x = transformer.embedding %ids, %t
      : tensor<?x?xi32, #transformer.dims<[batch, encoder_tokens]>>, tensor<100x64xbf16> -> !images
  // CHECK: transformer.linear {{.*}} : !bet_64_bf, tensor<64x256xbf16> -> !bet_256_bf
  %y = transformer.linear %x, %w : !images, tensor<64x256xbf16> -> !joined
  %n = transformer.rms_norm %y, %g eps(1.0e-5) : !joined
  %a = transformer.activation %n quick_gelu : !joined
  return
}

// CHECK-LABEL: func @functions
func.func @functions(%x: !x) {
  // CHECK: sigmoid
  %0 = transformer.activation %x sigmoid : !x
  // CHECK: tanh
  %1 = transformer.activation %x tanh : !x
  // CHECK: softplus
  %2 = transformer.activation %x softplus : !x
  // CHECK: exp
  %3 = transformer.activation %x exp : !x
  // CHECK: relu6
  %4 = transformer.activation %x relu6 : !x
  // CHECK: leaky_relu
  %5 = transformer.activation %x leaky_relu : !x
  // CHECK: hardswish
  %6 = transformer.activation %x hardswish : !x
  // CHECK: mish
  %7 = transformer.activation %x mish : !x
  // CHECK: identity
  %8 = transformer.gated %x, %x identity : !x
  // CHECK: transformer.gated %arg0, %arg0 quick_gelu unit_offset limit(7.0) : !bq_64_bf
  %9 = transformer.gated %x, %x quick_gelu unit_offset limit(7.0) : !x
  return
}

!routing = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!routed = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>

// CHECK-LABEL: func @experts
func.func @experts(%x: !x, %w: tensor<64x8xbf16>, %b: tensor<8xbf16>, %c: tensor<8xf32>,
                   %t: !routed, %e: tensor<8x64x64xbf16>, %eb: tensor<8x64xbf16>) {
  // CHECK: transformer.router %arg0, %arg1 bias(%arg2 : tensor<8xbf16>) top_k(2)
  %r = transformer.router %x, %w bias(%b : tensor<8xbf16>) top_k(2) : !x, tensor<64x8xbf16> -> !routing
  // CHECK: transformer.router %arg0, %arg1 correction(%arg3 : tensor<8xf32>) top_k(2) sigmoid groups(4) keep(2)
  %s = transformer.router %x, %w correction(%c : tensor<8xf32>) top_k(2) sigmoid groups(4) keep(2)
      : !x, tensor<64x8xbf16> -> !routing
  // CHECK: transformer.router %arg0, %arg1 top_k(2) normalized scaled(2.5)
  %n = transformer.router %x, %w top_k(2) normalized scaled(2.5) : !x, tensor<64x8xbf16> -> !routing
  // CHECK: transformer.experts %arg4, %arg5 bias(%arg6 : tensor<8x64xbf16>) top_k(2)
  %y = transformer.experts %t, %e bias(%eb : tensor<8x64xbf16>) top_k(2) : !routed, tensor<8x64x64xbf16> -> !routed
  // CHECK: transformer.add_expert_bias %arg0, %{{.*}}, %arg6 : !bq_64_bf, !bq_2_bf, tensor<8x64xbf16>
  %z = transformer.add_expert_bias %x, %r, %eb : !x, !routing, tensor<8x64xbf16>
  return
}

// CHECK-LABEL: func @factors
func.func @factors(%x: !x, %heads: !heads, %f: tensor<64xbf16>, %one: tensor<1xbf16>,
                   %w: tensor<?x?xbf16, #transformer.dims<[batch, query]>>) {
  // CHECK: transformer.multiply %arg0, %arg2 : !bq_64_bf, tensor<64xbf16>
  %0 = transformer.multiply %x, %f : !x, tensor<64xbf16>
  // CHECK: transformer.multiply %arg0, %arg3 : !bq_64_bf, tensor<1xbf16>
  %1 = transformer.multiply %x, %one : !x, tensor<1xbf16>
  // CHECK: transformer.weigh %arg0, %arg4 sigmoid : !bq_64_bf, !bq_bf
  %2 = transformer.weigh %x, %w sigmoid : !x, tensor<?x?xbf16, #transformer.dims<[batch, query]>>
  return
}

// CHECK-LABEL: func @convolution
func.func @convolution(%x: tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*2, _]>>,
                       %w: tensor<64x3x64xbf16>, %b: tensor<64xbf16>) {
  // CHECK: transformer.convolution %arg0, %arg1 bias(%arg2 : tensor<64xbf16>)
  %y = transformer.convolution %x, %w bias(%b : tensor<64xbf16>)
      : tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*2, _]>>, tensor<64x3x64xbf16> -> !images
  return
}

// CHECK-LABEL: func.func @square_convolution
func.func @square_convolution(%x: tensor<4x16x64xbf16>, %w: tensor<64x3x3x32xbf16>) {
  // CHECK: transformer.convolution %arg0, %arg1 : tensor<4x16x64xbf16>, tensor<64x3x3x32xbf16> -> tensor<4x4x32xbf16>
  %y = transformer.convolution %x, %w : tensor<4x16x64xbf16>, tensor<64x3x3x32xbf16> -> tensor<4x4x32xbf16>
  return
}

// CHECK-LABEL: func @channel_convolution
func.func @channel_convolution(%x: tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*2, _]>>,
                               %w: tensor<64x15xbf16>, %b: tensor<64xbf16>) {
  // CHECK: transformer.channel_convolution %arg0, %arg1 bias(%arg2 : tensor<64xbf16>)
  %y = transformer.channel_convolution %x, %w bias(%b : tensor<64xbf16>)
      : tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*2, _]>>, tensor<64x15xbf16> -> !images
  return
}

// CHECK-LABEL: func @channel_convolution_of_a_plane
func.func @channel_convolution_of_a_plane(%x: tensor<4x16x6x8xbf16>, %s: tensor<4x16x8xbf16>, %w: tensor<8x3x3xbf16>) {
  // CHECK: transformer.channel_convolution %arg0, %arg2 : tensor<4x16x6x8xbf16>, tensor<8x3x3xbf16> -> tensor<4x8x3x8xbf16>
  %y = transformer.channel_convolution %x, %w : tensor<4x16x6x8xbf16>, tensor<8x3x3xbf16> -> tensor<4x8x3x8xbf16>
  // CHECK: transformer.channel_convolution %arg1, %arg2 : tensor<4x16x8xbf16>, tensor<8x3x3xbf16> -> tensor<4x4x8xbf16>
  %z = transformer.channel_convolution %s, %w : tensor<4x16x8xbf16>, tensor<8x3x3xbf16> -> tensor<4x4x8xbf16>
  return
}

// CHECK-LABEL: func @batch_norm
func.func @batch_norm(%x: tensor<4x16x64xbf16>, %c: tensor<64xbf16>) {
  // CHECK: transformer.batch_norm %arg0, %arg1, %arg1, %arg1, %arg1 eps(1.0e-05) : tensor<4x16x64xbf16>, tensor<64xbf16>
  %y = transformer.batch_norm %x, %c, %c, %c, %c eps(1.0e-5) : tensor<4x16x64xbf16>, tensor<64xbf16>
  return
}

// CHECK-LABEL: func @softmax
func.func @softmax(%x: tensor<4x16x42xbf16>) {
  // CHECK: transformer.softmax %arg0 : tensor<4x16x42xbf16>
  %y = transformer.softmax %x : tensor<4x16x42xbf16>
  return
}
