// RUN: %roundtrip %s --split-input-file --autopar-shard-tensor | FileCheck %s

// A partial sum cannot become a split over the same axis: it is reduced first.

// CHECK-LABEL: func.func @tied_without_a_norm
// CHECK: %[[SUM:.*]] = transformer.embedding
// CHECK: %[[WHOLE:.*]] = parallel.reshard %[[SUM]]
// CHECK-NEXT: transformer.logits %[[WHOLE]],
parallel.mesh(tp = 4)
func.func @tied_without_a_norm(%ids: tensor<4xi32>) -> tensor<4x1000xbf16> {
  %t = transformer.weight "embed" : tensor<1000x64xbf16>
  %x = transformer.embedding %ids, %t : tensor<4xi32>, tensor<1000x64xbf16> -> tensor<4x64xbf16>
  %y = transformer.logits %x, %t : tensor<4x64xbf16>, tensor<1000x64xbf16> -> tensor<4x1000xbf16>
  return %y : tensor<4x1000xbf16>
}

// -----

// A reshard inside a repeat does not dominate what follows it.

// CHECK-LABEL: func.func @used_inside_and_after_a_repeat
// CHECK: transformer.repeat
// CHECK: parallel.reshard
// CHECK: transformer.yield
// CHECK: parallel.reshard
// CHECK-NEXT: transformer.rms_norm
parallel.mesh(tp = 4)
func.func @used_inside_and_after_a_repeat(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>) -> tensor<4x64xbf16> {
  %w = transformer.weight "a" : tensor<64x64xbf16>
  %y = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x64xbf16> -> tensor<4x64xbf16>
  %z = transformer.activation %y silu : tensor<4x64xbf16>
  %r = transformer.repeat 2 (%c = %x) : tensor<4x64xbf16> {
    %n = transformer.rms_norm %z, %g eps(1.0e-5) : tensor<4x64xbf16>
    transformer.yield %n : tensor<4x64xbf16>
  }
  %n = transformer.rms_norm %z, %g eps(1.0e-5) : tensor<4x64xbf16>
  %s = transformer.add %n, %r : tensor<4x64xbf16>
  return %s : tensor<4x64xbf16>
}

// -----

// A weight that leaves the function leaves it as it was.

// CHECK-LABEL: func.func @returned_weight
// CHECK: %[[W:.*]] = transformer.weight
// CHECK: %[[WHOLE:.*]] = parallel.reshard %[[W]]
// CHECK: return %[[WHOLE]]
parallel.mesh(tp = 4)
func.func @returned_weight(%x: tensor<4x64xbf16>) -> tensor<64x64xbf16> {
  %w = transformer.weight "a" : tensor<64x64xbf16>
  %y = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x64xbf16> -> tensor<4x64xbf16>
  %z = transformer.activation %y silu : tensor<4x64xbf16>
  return %w : tensor<64x64xbf16>
}
