// RUN: %roundtrip %s | FileCheck %s

!x = tensor<4x64xbf16>

func.func @model(%x: !x) {
  return
}
func.func private @model_backward(%x: !x) attributes {training.part_of = @model} {
  return
}
func.func private @model_update() attributes {training.part_of = @model} {
  return
}
// CHECK: training.iteration backward(@model_backward) update(@model_update) recompute(norms + mlp) tried [none] missing [1024] products(f8E4M3FN) capacity(1.25) padded
training.iteration backward(@model_backward) update(@model_update) recompute(norms + mlp) tried [none] missing [1024] products(f8E4M3FN) capacity(1.25) padded

// Of another module, without the words that may be left out.
module {
  func.func @model() {
    return
  }
  func.func private @nothing() {
    return
  }
  // CHECK: training.iteration backward(@nothing) update(@nothing)
  training.iteration backward(@nothing) update(@nothing)
  // CHECK: training.microbatches(4) schedule(one_f_one_b) assumed [schedule]
  training.microbatches(4) schedule(one_f_one_b) assumed [schedule]
}

// CHECK-LABEL: func private @layer(
func.func private @layer(%x: !x) {
  // CHECK: training.save %arg0 "x" : tensor<4x64xbf16>
  training.save %x "x" : !x
  return
}

// CHECK-LABEL: func private @layer_backward
func.func private @layer_backward(%g: tensor<64x32xf32>) attributes {training.part_of = @layer} {
  // CHECK: training.saved "x" : tensor<4x64xbf16>
  %x = training.saved "x" : !x
  %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
  // CHECK: training.accumulate %arg0 of %fc : tensor<64x32xf32>, tensor<64x32xbf16>
  training.accumulate %g of %w : tensor<64x32xf32>, tensor<64x32xbf16>
  return
}

// CHECK-LABEL: func private @layer_update
func.func private @layer_update() attributes {training.part_of = @layer} {
  %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
  // CHECK: training.gradient %fc : tensor<64x32xbf16> -> tensor<64x32xf32>
  %g = training.gradient %w : tensor<64x32xbf16> -> tensor<64x32xf32>
  // CHECK: training.update %fc, %gradient adamw master states [f32, f32, f32] : tensor<64x32xbf16>, tensor<64x32xf32>
  %a = training.update %w, %g adamw master states [f32, f32, f32] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: training.update %fc, %gradient adamw states [bf16, bf16] : tensor<64x32xbf16>, tensor<64x32xf32>
  %b = training.update %w, %g adamw states [bf16, bf16] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: training.update %fc, %gradient sgd states [] : tensor<64x32xbf16>, tensor<64x32xf32>
  %c = training.update %w, %g sgd states [] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: training.mean %gradient of %fc over [1, 2] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64xf32>
  %rows = training.mean %g of %w over [1, 2] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64xf32>
  // CHECK: training.mean %gradient of %fc over [0, 0] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64x32xf32>
  %each = training.mean %g of %w over [0, 0] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64x32xf32>
  // CHECK: %[[R:.*]] = training.moving_mean %mean state bf16 : tensor<64xf32>
  %r = training.moving_mean %rows state bf16 : tensor<64xf32>
  // CHECK: %[[V:.*]] = training.moving_mean %mean_{{.*}} state f32 : tensor<64x32xf32>
  %v = training.moving_mean %each state f32 : tensor<64x32xf32>
  // CHECK: %[[C:.*]] = training.mean %gradient over [0, 1] : tensor<64x32xf32> -> tensor<32xf32>
  %c0 = training.mean %g over [0, 1] : tensor<64x32xf32> -> tensor<32xf32>
  // CHECK: %[[ALL:.*]] = training.mean %[[R]] over [0, 1] : tensor<64xf32> -> tensor<f32>
  %all = training.mean %r over [0, 1] : tensor<64xf32> -> tensor<f32>
  // CHECK: training.precondition %gradient by %[[R]], %[[C]], %[[ALL]] rows [0, 1] : tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<f32>
  %p = training.precondition %g by %r, %c0, %all rows [0, 1] : tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<f32>
  // CHECK: training.precondition %gradient by %[[V]] : tensor<64x32xf32>, tensor<64x32xf32>
  %q = training.precondition %g by %v : tensor<64x32xf32>, tensor<64x32xf32>
  // CHECK: training.update %fc, %step adafactor mean_square(%[[ALL]] : tensor<f32>) master states [f32] : tensor<64x32xbf16>, tensor<64x32xf32>
  %d = training.update %w, %p adafactor mean_square(%all : tensor<f32>) master states [f32] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: training.update %fc, %gradient adamw states [i8, i8]
  %f = training.update %w, %g adamw states [i8, i8] : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: training.momentum %fc, %gradient state f32 : tensor<64x32xbf16>, tensor<64x32xf32>
  %m = training.momentum %w, %g state f32 : tensor<64x32xbf16>, tensor<64x32xf32>
  // CHECK: training.orthogonalize %momentum rows [0, 1] steps 5 : tensor<64x32xbf16>
  %o = training.orthogonalize %m rows [0, 1] steps 5 : tensor<64x32xbf16>
  // CHECK: training.assign %updated to %fc : tensor<64x32xbf16>
  training.assign %a to %w : tensor<64x32xbf16>
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
  // CHECK: %zeros = training.zeros : tensor<4x64xbf16>
  %z = training.zeros : tensor<4x64xbf16>
  return %z : tensor<4x64xbf16>
}
