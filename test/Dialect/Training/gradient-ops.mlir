// RUN: %roundtrip %s | FileCheck %s

!ids = tensor<4x16xi32>
!x = tensor<4x16x64xbf16>
!q = tensor<4x16x8x16xbf16>
!k = tensor<4x16x2x16xbf16>
!p = tensor<4x8x16x16xbf16>
!z = tensor<4x16x8xf32>
!m = tensor<4x16x64xi8>
!scores = tensor<4x16x1000xf32>
!table = tensor<1000x64xbf16>
!sum = tensor<1000x64xf32>

// CHECK-LABEL: func @cross_entropy
func.func @cross_entropy(%x: !scores, %l: !ids) {
  // CHECK: training.cross_entropy %arg0, %arg1 : tensor<4x16x1000xf32>, tensor<4x16xi32> -> tensor<4x16xf32>
  %y = training.cross_entropy %x, %l : !scores, !ids -> tensor<4x16xf32>
  // CHECK: training.cross_entropy_backward %arg0, %arg1 : tensor<4x16x1000xf32>, tensor<4x16xi32>
  %d = training.cross_entropy_backward %x, %l : !scores, !ids
  // CHECK: training.cross_entropy %arg0, %arg1 {chunks = 8 : i64, form = "in-place"} : tensor<4x16x1000xf32>
  %z = training.cross_entropy %x, %l {chunks = 8 : i64, form = "in-place"} : !scores, !ids -> tensor<4x16xf32>
  // CHECK: training.cross_entropy_backward %arg0, %arg1 {form = "eager"} : tensor<4x16x1000xf32>
  %e = training.cross_entropy_backward %x, %l {form = "eager"} : !scores, !ids
  return
}

// CHECK-LABEL: func @cast
func.func @cast(%x: !x) {
  // CHECK: transformer.cast %arg0 : tensor<4x16x64xbf16> -> tensor<4x16x64xf32>
  %y = transformer.cast %x : !x -> tensor<4x16x64xf32>
  return
}

// CHECK-LABEL: func @linear_backward
func.func @linear_backward(%dy: !q, %w: tensor<64x8x16xbf16>, %o: tensor<64x32xbf16>, %dz: tensor<4x16x32xbf16>) {
  // CHECK: training.product_gradient input %arg0, %arg1 : tensor<4x16x8x16xbf16>, tensor<64x8x16xbf16> -> tensor<4x16x64xbf16>
  %dx = training.product_gradient input %dy, %w : !q, tensor<64x8x16xbf16> -> !x
  // CHECK: training.product_gradient input %arg3, %arg2 : tensor<4x16x32xbf16>, tensor<64x32xbf16> -> tensor<4x16x64xbf16>
  %du = training.product_gradient input %dz, %o : tensor<4x16x32xbf16>, tensor<64x32xbf16> -> !x
  return
}

// CHECK-LABEL: func @logits_backward
func.func @logits_backward(%dy: !scores, %t: !table) {
  // CHECK: training.product_gradient states %arg0, %arg1 : tensor<4x16x1000xf32>, tensor<1000x64xbf16> -> tensor<4x16x64xbf16>
  %dx = training.product_gradient states %dy, %t : !scores, !table -> !x
  return
}

// CHECK-LABEL: func @product_gradient
func.func @product_gradient(%x: !x, %dy: !q, %w: tensor<64x8x16xbf16>) {
  // CHECK: training.product_gradient weight %arg0, %arg1 of %arg2 : tensor<4x16x64xbf16>, tensor<4x16x8x16xbf16>, tensor<64x8x16xbf16> -> tensor<64x8x16xf32>
  %dw = training.product_gradient weight %x, %dy of %w : !x, !q, tensor<64x8x16xbf16> -> tensor<64x8x16xf32>
  return
}

// CHECK-LABEL: func @sum_tokens
func.func @sum_tokens(%dy: !q, %b: tensor<8x16xbf16>) {
  // CHECK: training.sum_tokens %arg0 of %arg1 : tensor<4x16x8x16xbf16>, tensor<8x16xbf16> -> tensor<8x16xf32>
  %db = training.sum_tokens %dy of %b : !q, tensor<8x16xbf16> -> tensor<8x16xf32>
  return
}

// CHECK-LABEL: func @factor_gradient
func.func @factor_gradient(%dy: !x, %x: !x, %f: tensor<64xbf16>, %one: tensor<1xbf16>) {
  // CHECK: training.factor_gradient %arg0, %arg1 of %arg2 : tensor<4x16x64xbf16>, tensor<64xbf16> -> tensor<64xf32>
  %df = training.factor_gradient %dy, %x of %f : !x, tensor<64xbf16> -> tensor<64xf32>
  // CHECK: training.factor_gradient %arg0, %arg1 of %arg3 : tensor<4x16x64xbf16>, tensor<1xbf16> -> tensor<1xf32>
  %do = training.factor_gradient %dy, %x of %one : !x, tensor<1xbf16> -> tensor<1xf32>
  return
}

// CHECK-LABEL: func @tables
func.func @tables(%ids: !ids, %dy: !x, %t: !table) {
  // CHECK: training.embedding_gradient %arg0, %arg1 of %arg2 : tensor<4x16xi32>, tensor<4x16x64xbf16>, tensor<1000x64xbf16> -> tensor<1000x64xf32>
  %dt = training.embedding_gradient %ids, %dy of %t : !ids, !x, !table -> !sum
  // CHECK: training.position_gradient %arg1 of %arg2 first(2) : tensor<4x16x64xbf16>, tensor<1000x64xbf16> -> tensor<1000x64xf32>
  %dp = training.position_gradient %dy of %t first(2) : !x, !table -> !sum
  // A table that holds two rows in each of its own.
  // CHECK: training.position_gradient %arg1 of %pairs : tensor<4x16x64xbf16>, tensor<500x128xbf16> -> tensor<500x128xf32>
  %pairs = transformer.weight "pairs" : tensor<500x128xbf16>
  %dq = training.position_gradient %dy of %pairs : !x, tensor<500x128xbf16> -> tensor<500x128xf32>
  // CHECK: training.position_gradient %arg1 of %arg2 same : tensor<4x16x64xbf16>, tensor<1000x64xbf16> -> tensor<1000x64xf32>
  %ds = training.position_gradient %dy of %t same : !x, !table -> !sum
  return
}

// CHECK-LABEL: func @norms
func.func @norms(%dy: !q, %x: !q, %g: tensor<16xbf16>, %h: tensor<8x16xbf16>) {
  // CHECK: training.norm_backward %arg0, %arg1, %arg2 eps(1.0e-05) unit_offset : tensor<4x16x8x16xbf16>
  %dx = training.norm_backward %dy, %x, %g eps(1.0e-5) unit_offset : !q
  // CHECK: training.norm_backward %arg0, %arg1, %arg3 centered over(2) eps(1.0e-05) groups(4) : tensor<4x16x8x16xbf16>, tensor<8x16xbf16>
  %dz = training.norm_backward %dy, %x, %h centered over(2) eps(1.0e-5) groups(4) : !q, tensor<8x16xbf16>
  // CHECK: training.norm_backward %arg0, %arg1 eps(1.0e-05) : tensor<4x16x8x16xbf16>
  %dn = training.norm_backward %dy, %x eps(1.0e-5) : !q
  // CHECK: training.norm_gradient %arg0, %arg1 of %arg2 eps(1.0e-05) : tensor<4x16x8x16xbf16>, tensor<16xbf16> -> tensor<16xf32>
  %dw = training.norm_gradient %dy, %x of %g eps(1.0e-5) : !q, tensor<16xbf16> -> tensor<16xf32>
  // CHECK: training.norm_gradient %arg0, %arg1 of %arg3 centered over(2) eps(1.0e-05) groups(4) : tensor<4x16x8x16xbf16>, tensor<8x16xbf16> -> tensor<8x16xf32>
  %dv = training.norm_gradient %dy, %x of %h centered over(2) eps(1.0e-5) groups(4) : !q, tensor<8x16xbf16> -> tensor<8x16xf32>
  return
}

// CHECK-LABEL: func @elementwise
func.func @elementwise(%dy: !x, %x: !x, %y: !x) {
  // CHECK: training.activation_backward %arg0, %arg1 gelu : tensor<4x16x64xbf16>
  %dx = training.activation_backward %dy, %x gelu : !x
  // CHECK: training.gated_backward %arg0, %arg1, %arg2 silu : tensor<4x16x64xbf16>
  %dg, %du = training.gated_backward %dy, %x, %y silu : !x
  // CHECK: training.gated_backward %arg0, %arg1, %arg2 gelu unit_offset limit(7.0) : tensor<4x16x64xbf16>
  %dh, %dv = training.gated_backward %dy, %x, %y gelu unit_offset limit(7.0) : !x
  // CHECK: training.softcap_backward %arg0, %arg1 at(30.0) : tensor<4x16x64xbf16>
  %dc = training.softcap_backward %dy, %x at(30.0) : !x
  return
}

// CHECK-LABEL: func @dropout
func.func @dropout(%x: !x) {
  // CHECK: training.dropout_mask %arg0 probability(0.1) seed(3) : tensor<4x16x64xbf16> -> tensor<4x16x64xi8>
  %m = training.dropout_mask %x probability(0.1) seed(3) : !x -> !m
  // CHECK: training.dropout %arg0, %{{.*}} probability(0.1) : tensor<4x16x64xbf16>, tensor<4x16x64xi8>
  %y = training.dropout %x, %m probability(0.1) : !x, !m
  return
}

// CHECK-LABEL: func @rope_backward
func.func @rope_backward(%dy: !q) {
  // CHECK: training.rope_backward %arg0 theta(500000.0) : tensor<4x16x8x16xbf16>
  %dx = training.rope_backward %dy theta(5.0e5) : !q
  // CHECK: training.rope_backward %arg0 theta(500000.0) scaling(yarn) width(8) last interleaved : tensor<4x16x8x16xbf16>
  %dz = training.rope_backward %dy theta(5.0e5) scaling(yarn) width(8) last interleaved : !q
  return
}

// CHECK-LABEL: func @attention
func.func @attention(%dy: !q, %q: !q, %k: !k, %v: !k) {
  // CHECK: training.attention_normaliser %arg1, %arg2 causal window(4) scale(0.5) : tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16> -> tensor<4x16x8xf32>
  %z = training.attention_normaliser %q, %k causal window(4) scale(0.5) : !q, !k -> !z
  // CHECK: training.attention_normaliser %arg1, %arg2 chunk(8) : tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16> -> tensor<4x16x8xf32>
  %c = training.attention_normaliser %q, %k chunk(8) : !q, !k -> !z
  // CHECK: training.attention_backward %arg0, %arg1, %arg2, %arg3, %arg0, %{{.*}} causal window(4) scale(0.5) : tensor<4x16x8x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x8xf32> -> tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x2x16xbf16>
  %dq, %dk, %dv = training.attention_backward %dy, %q, %k, %v, %dy, %z causal window(4) scale(0.5) : !q, !q, !k, !k, !q, !z -> !q, !k, !k
  // CHECK: training.attention_backward %arg0, %arg1, %arg2, %arg3, %arg0, %{{.*}} chunk(8) : tensor<4x16x8x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x8xf32> -> tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x2x16xbf16>
  %da, %db, %dc = training.attention_backward %dy, %q, %k, %v, %dy, %c chunk(8) : !q, !q, !k, !k, !q, !z -> !q, !k, !k
  return
}

// CHECK-LABEL: func @written
func.func @written(%dy: !q, %q: !q, %k: !k, %v: !k) {
  // CHECK: training.attention_probabilities %arg1, %arg2 causal window(4) scale(0.5) : tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16> -> tensor<4x8x16x16xbf16>
  %p = training.attention_probabilities %q, %k causal window(4) scale(0.5) : !q, !k -> !p
  // CHECK: training.attend %{{.*}}, %arg3 : tensor<4x8x16x16xbf16>, tensor<4x16x2x16xbf16> -> tensor<4x16x8x16xbf16>
  %y = training.attend %p, %v : !p, !k -> !q
  // CHECK: training.attend_backward %arg0, %{{.*}}, %arg3 : tensor<4x16x8x16xbf16>, tensor<4x8x16x16xbf16>, tensor<4x16x2x16xbf16>
  %dp, %dv = training.attend_backward %dy, %p, %v : !q, !p, !k
  // CHECK: training.attention_probabilities_backward %{{.*}}, %{{.*}}, %arg1, %arg2 scale(0.5) : tensor<4x8x16x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>
  %dq, %dk = training.attention_probabilities_backward %dp, %p, %q, %k scale(0.5) : !p, !q, !k
  return
}
