// RUN: autopar-opt %s --canonicalize | FileCheck %s

!x = tensor<4x16x64xbf16>
!wide = tensor<4x16x64xf32>
!narrow = tensor<4x16x64xf8E4M3FN>

// Neutral ops are their operands.
// CHECK-LABEL: func private @neutral
func.func private @neutral(%x: !x) -> !x {
  // CHECK-NEXT: return %arg0
  %cast = transformer.cast %x : !x -> !x
  %scaled = transformer.scale %cast by(1.0) : !x
  %same = transformer.activation %scaled identity : !x
  %merged = transformer.merge_tokens %same : !x -> !x
  return %merged : !x
}

// CHECK-LABEL: func private @widened
func.func private @widened(%x: !x) -> !x {
  // CHECK-NEXT: return %arg0
  %wide = transformer.cast %x : !x -> !wide
  %back = transformer.cast %wide : !wide -> !x
  return %back : !x
}

// What a format in between has rounded stays rounded.
// CHECK-LABEL: func private @rounded
func.func private @rounded(%x: !x) -> !x {
  // CHECK-COUNT-2: transformer.cast
  %narrow = transformer.cast %x : !x -> !narrow
  %back = transformer.cast %narrow : !narrow -> !x
  return %back : !x
}

// CHECK-LABEL: func private @kept
func.func private @kept(%x: !x) -> tensor<4x4x64xbf16> {
  // CHECK-NEXT: transformer.scale %arg0 by(2.0)
  // CHECK-NEXT: transformer.activation {{.*}} relu
  // CHECK-NEXT: transformer.merge_tokens {{.*}} mean
  %scaled = transformer.scale %x by(2.0) : !x
  %active = transformer.activation %scaled relu : !x
  %merged = transformer.merge_tokens %active mean : !x -> tensor<4x4x64xbf16>
  return %merged : tensor<4x4x64xbf16>
}
