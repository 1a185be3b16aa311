// RUN: %roundtrip %s | FileCheck %s

!k = tensor<?x?x8x128xbf16, #transformer.dims<[batch, query, _, _]>>
!r = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x8x192xbf16, #transformer.dims<[batch, query, _, _]>>

// CHECK-LABEL: func @concat_shared
func.func @concat_shared(%k: !k, %r: !r) {
  // CHECK: %key = transformer.concat_shared %arg0, %arg1 : !bq_8_128_bf, !bq_64_bf -> !bq_8_192_bf
  %y = transformer.concat_shared %k, %r : !k, !r -> !y
  return
}

// CHECK-LABEL: func @concat_shared_backward
func.func @concat_shared_backward(%dy: !y) {
  // CHECK: %dx, %d_shared = transformer.concat_shared_backward %arg0 : !bq_8_192_bf -> !bq_8_128_bf, !bq_64_bf
  %dx, %ds = transformer.concat_shared_backward %dy : !y -> !k, !r
  return
}
