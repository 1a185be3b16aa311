// RUN: %roundtrip %s | FileCheck %s

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!p = tensor<?x?x16xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>>
!m = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>>

// CHECK-LABEL: func @insert_backward
func.func @insert_backward(%dz: !x) {
  // CHECK: %dx, %d_inserted = training.insert_backward %arg0 : !bq_64_bf -> !bet_64_bf
  %dx, %dy = training.insert_backward %dz : !x -> !y
  return
}

// CHECK-LABEL: func @merge_tokens_backward
func.func @merge_tokens_backward(%dy: !y) {
  // CHECK: %dx = training.merge_tokens_backward %arg0 : !bet_64_bf -> !bet4_16_bf
  %dx = training.merge_tokens_backward %dy : !y -> !p
  // CHECK: %dx_0 = training.merge_tokens_backward %arg0 mean : !bet_64_bf -> !bet4_64_bf
  %dz = training.merge_tokens_backward %dy mean : !y -> !m
  return
}
