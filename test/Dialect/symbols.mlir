// A mesh and a workload, named or not, are no symbols: they stay as they are. What
// is stored stays with its op.
// RUN: %roundtrip %s --symbol-privatize=exclude=model --symbol-dce | FileCheck %s
// RUN: autopar-opt %s --autopar-list-tensors -o /dev/null 2> %t.before
// RUN: autopar-opt %s --symbol-privatize=exclude=model --symbol-dce --autopar-list-tensors -o /dev/null 2> %t.after
// RUN: diff %t.before %t.after
// RUN: FileCheck %s --check-prefix=LIST < %t.after

// CHECK: transformer.workload @w(phase = decode, batch = 8, query = 1, context = 4096)
transformer.workload @w(phase = decode, batch = 8, query = 1, context = 4096)
// CHECK: parallel.mesh @pod(dp = 2, tp = 8) {ep = dp*tp}
parallel.mesh @pod(dp = 2, tp = 8) {ep = dp*tp}

// CHECK-LABEL: func private @mtp
func.func private @mtp() {
  func.call @projection() : () -> ()
  return
}
// CHECK-LABEL: func private @projection
func.func private @projection() {
  %w = transformer.weight "mtp.projection" : tensor<8xbf16>
  return
}
// CHECK: transformer.stored @mtp
transformer.stored @mtp

// Neither called nor stored: not of the model.
// CHECK-NOT: @unused
func.func private @unused() {
  %w = transformer.weight "unused" : tensor<8xbf16>
  return
}

// CHECK-LABEL: func @model
func.func @model() {
  %w = transformer.weight "norm" : tensor<8xbf16>
  return
}

// LIST: norm
// LIST-NEXT: mtp.projection
// LIST-NOT: unused
