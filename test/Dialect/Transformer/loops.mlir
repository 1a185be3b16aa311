// RUN: autopar-opt %s --loop-invariant-code-motion | FileCheck %s

// A weight inside a repeat is one tensor per iteration: it stays inside.
// CHECK-LABEL: func @weight_of_each_iteration
func.func @weight_of_each_iteration(%x: tensor<4x64xbf16>) -> tensor<4x64xbf16> {
  // CHECK: transformer.repeat
  // CHECK-NEXT: transformer.weight
  %r = transformer.repeat 2 (%c = %x) : tensor<4x64xbf16> {
    %w = transformer.weight "a" : tensor<64x64xbf16>
    %y = transformer.linear %c, %w : tensor<4x64xbf16>, tensor<64x64xbf16> -> tensor<4x64xbf16>
    transformer.yield %y : tensor<4x64xbf16>
  }
  return %r : tensor<4x64xbf16>
}
