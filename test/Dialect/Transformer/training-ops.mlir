// RUN: %roundtrip %s | FileCheck %s

!x = tensor<4x64xbf16>

func.func @model(%x: !x) {
  return
}
func.func private @model_backward(%x: !x) attributes {transformer.part_of = @model} {
  return
}
func.func private @model_update() attributes {transformer.part_of = @model} {
  return
}
// CHECK: transformer.training backward(@model_backward) update(@model_update) recompute("norms+mlp") tried ["none"] missing [1024] products(f8E4M3FN) capacity(1.25) padded
transformer.training backward(@model_backward) update(@model_update) recompute("norms+mlp") tried ["none"] missing [1024] products(f8E4M3FN) capacity(1.25) padded

// Of another module, without the words that may be left out.
module {
  func.func @model() {
    return
  }
  func.func private @nothing() {
    return
  }
  // CHECK: transformer.training backward(@nothing) update(@nothing)
  transformer.training backward(@nothing) update(@nothing)
}

// CHECK-LABEL: func private @layer(
func.func private @layer(%x: !x) {
  // CHECK: transformer.save %arg0 "x" : tensor<4x64xbf16>
  transformer.save %x "x" : !x
  return
}

// CHECK-LABEL: func private @layer_backward
func.func private @layer_backward(%g: tensor<64x32xf32>) attributes {transformer.part_of = @layer} {
  // CHECK: transformer.saved "x" : tensor<4x64xbf16>
  %x = transformer.saved "x" : !x
  %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
  // CHECK: transformer.accumulate %arg0 of %fc : tensor<64x32xf32>, tensor<64x32xbf16>
  transformer.accumulate %g of %w : tensor<64x32xf32>, tensor<64x32xbf16>
  return
}

// CHECK-LABEL: func private @layer_update
func.func private @layer_update() attributes {transformer.part_of = @layer} {
  %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
  // CHECK: transformer.gradient %fc : tensor<64x32xbf16> -> tensor<64x32xf32>
  %g = transformer.gradient %w : tensor<64x32xbf16> -> tensor<64x32xf32>
  // CHECK: transformer.update %fc, %gradient adamw master states [f32, f32, f32] : tensor<64x32xbf16>, tensor<64x32xf32>
  %a = transformer.update %w, %g adamw master states [f32, f32, f32] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: transformer.update %fc, %gradient adamw states [bf16, bf16] : tensor<64x32xbf16>, tensor<64x32xf32>
  %b = transformer.update %w, %g adamw states [bf16, bf16] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: transformer.update %fc, %gradient sgd states [] : tensor<64x32xbf16>, tensor<64x32xf32>
  %c = transformer.update %w, %g sgd states [] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: transformer.mean %gradient of %fc over [1, 2] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64xf32>
  %rows = transformer.mean %g of %w over [1, 2] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64xf32>
  // CHECK: transformer.mean %gradient of %fc over [0, 0] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64x32xf32>
  %each = transformer.mean %g of %w over [0, 0] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64x32xf32>
  // CHECK: %[[R:.*]] = transformer.moving_mean %mean state bf16 : tensor<64xf32>
  %r = transformer.moving_mean %rows state bf16 : tensor<64xf32>
  // CHECK: %[[V:.*]] = transformer.moving_mean %mean_{{.*}} state f32 : tensor<64x32xf32>
  %v = transformer.moving_mean %each state f32 : tensor<64x32xf32>
  // CHECK: %[[C:.*]] = transformer.mean %gradient over [0, 1] : tensor<64x32xf32> -> tensor<32xf32>
  %c0 = transformer.mean %g over [0, 1] : tensor<64x32xf32> -> tensor<32xf32>
  // CHECK: %[[ALL:.*]] = transformer.mean %[[R]] over [0, 1] : tensor<64xf32> -> tensor<f32>
  %all = transformer.mean %r over [0, 1] : tensor<64xf32> -> tensor<f32>
  // CHECK: transformer.precondition %gradient by %[[R]], %[[C]], %[[ALL]] rows [0, 1] : tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<f32>
  %p = transformer.precondition %g by %r, %c0, %all rows [0, 1] : tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<f32>
  // CHECK: transformer.precondition %gradient by %[[V]] : tensor<64x32xf32>, tensor<64x32xf32>
  %q = transformer.precondition %g by %v : tensor<64x32xf32>, tensor<64x32xf32>
  // CHECK: transformer.update %fc, %step adafactor mean_square(%[[ALL]] : tensor<f32>) master states [f32] : tensor<64x32xbf16>, tensor<64x32xf32>
  %d = transformer.update %w, %p adafactor mean_square(%all : tensor<f32>) master states [f32] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: transformer.update %fc, %gradient adamw states [i8, i8]
  %f = transformer.update %w, %g adamw states [i8, i8] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: transformer.momentum %fc, %gradient state f32 : tensor<64x32xbf16>, tensor<64x32xf32>
  %m = transformer.momentum %w, %g state f32 : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: transformer.orthogonalize %momentum rows [0, 1] steps 5 : tensor<64x32xbf16>
  %o = transformer.orthogonalize %m rows [0, 1] steps 5 : tensor<64x32xbf16>
  // CHECK: transformer.assign %updated to %fc : tensor<64x32xbf16>
  transformer.assign %a to %w : tensor<64x32xbf16>
  return
}

// CHECK-LABEL: func private @down
func.func private @down() {
  // CHECK: transformer.repeat 3 layers "layers" from 2 reversed {
  // CHECK-NEXT: func.call @layer_update() : () -> ()
  transformer.repeat 3 layers "layers" from 2 reversed {
    func.call @layer_update() : () -> ()
    transformer.yield
  }
  return
}

// CHECK-LABEL: func private @sum
func.func private @sum() -> tensor<4x64xbf16> {
  // CHECK: %zeros = transformer.zeros : tensor<4x64xbf16>
  %z = transformer.zeros : tensor<4x64xbf16>
  return %z : tensor<4x64xbf16>
}
