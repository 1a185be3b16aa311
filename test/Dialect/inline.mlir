// What a weight, a cache or a state is depends on the calls around it: functions
// that have one are not inlined, nor is any call in a repeat.
// RUN: autopar-opt %s --inline --symbol-dce | FileCheck %s
// RUN: autopar-opt %s --autopar-list-tensors -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: autopar-opt %s --inline --autopar-list-tensors -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIST

// LIST: layers.0.w
// LIST-NEXT: layers.1.w
// LIST-NEXT: norm
// LIST-NOT: w

!x = tensor<?x64xbf16, #transformer.dims<[batch, _]>>

// CHECK-LABEL: func private @inner
func.func private @inner(%x: !x) -> !x {
  %w = transformer.weight "w" : tensor<64x64xbf16>
  %y = transformer.linear %x, %w : !x, tensor<64x64xbf16> -> !x
  return %y : !x
}

// A layer without weights of its own: each call counts.
// CHECK-LABEL: func private @layer
func.func private @layer(%x: !x) -> !x {
  // CHECK: call @inner
  %y = func.call @inner(%x) : (!x) -> !x
  return %y : !x
}

// CHECK-LABEL: func private @norm
func.func private @norm(%x: !x) -> !x {
  %w = transformer.weight "norm" : tensor<64xbf16>
  %y = transformer.rms_norm %x, %w eps(1.0e-05) : !x
  return %y : !x
}

// CHECK-LABEL: func private @forget
func.func private @forget(%x: !x) -> !x {
  %s = transformer.state : !transformer.state<?x64xf32, #transformer.dims<[batch, _]>>
  return %x : !x
}

// CHECK-LABEL: func private @remember
func.func private @remember(%x: !x) -> !x {
  %c = transformer.kv_cache : !transformer.cache<?x?x64xbf16, #transformer.dims<[batch, context, _]>>
  return %x : !x
}

// CHECK-NOT: func private @relu
func.func private @relu(%x: !x) -> !x {
  %y = transformer.activation %x relu : !x
  return %y : !x
}

// CHECK-LABEL: func @model
func.func @model(%x0: !x) -> !x {
  // CHECK: transformer.repeat
  // CHECK-NEXT: call @layer
  %x1 = transformer.repeat 2 layers "layers" from 0 (%x = %x0) : !x {
    %y = func.call @layer(%x) : (!x) -> !x
    transformer.yield %y : !x
  }
  // CHECK: transformer.activation
  %x2 = func.call @relu(%x1) : (!x) -> !x
  // CHECK-NEXT: call @norm
  %x3 = func.call @norm(%x2) : (!x) -> !x
  // CHECK-NEXT: call @forget
  %x4 = func.call @forget(%x3) : (!x) -> !x
  // CHECK-NEXT: call @remember
  %x5 = func.call @remember(%x4) : (!x) -> !x
  return %x5 : !x
}
