// RUN: autopar-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// training.iteration
//===----------------------------------------------------------------------===//

func.func @model(%x: tensor<4x64xbf16>) {
  return
}
func.func private @update() {
  return
}
// expected-error @+1 {{names @back, expected a private function with a body}}
training.iteration backward(@back) update(@update)

// -----

func.func @model(%x: tensor<4x64xbf16>) {
  return
}
func.func private @back()
func.func private @update() {
  return
}
// expected-error @+1 {{names @back, expected a private function with a body}}
training.iteration backward(@back) update(@update)

// -----

func.func @model(%x: tensor<4x64xbf16>) {
  return
}
func.func private @back(%x: tensor<8x64xbf16>) {
  return
}
func.func private @update() {
  return
}
// expected-error @+1 {{names @back, which takes or returns other values than expected}}
training.iteration backward(@back) update(@update)

// -----

func.func @model() {
  return
}
func.func private @back() {
  return
}
func.func private @update() -> tensor<4xbf16> {
  %w = transformer.weight "w" : tensor<4xbf16>
  return %w : tensor<4xbf16>
}
// expected-error @+1 {{names @update, which takes or returns other values than expected}}
training.iteration backward(@back) update(@update)

// -----

func.func @model() {
  return
}
func.func private @back() {
  return
}
// expected-note @+1 {{the first is here}}
training.iteration backward(@back) update(@back)
// expected-error @+1 {{is a second training of its module}}
training.iteration backward(@back) update(@back)

// -----

//===----------------------------------------------------------------------===//
// training.part_of
//===----------------------------------------------------------------------===//

// expected-error @+1 {{is a part of @nobody, which is no other function}}
func.func private @part() attributes {training.part_of = @nobody} {
  return
}

// -----

func.func private @whole() {
  return
}
func.func private @part() attributes {training.part_of = @whole} {
  return
}
// expected-error @+1 {{is a part of @part, which is a part itself}}
func.func private @inner() attributes {training.part_of = @part} {
  return
}

// -----

//===----------------------------------------------------------------------===//
// What is saved
//===----------------------------------------------------------------------===//

func.func private @layer(%x: tensor<4x64xbf16>) {
  // expected-note @+1 {{the first is here}}
  training.save %x "x" : tensor<4x64xbf16>
  // expected-error @+1 {{is a second one of "x" in its function}}
  training.save %x "x" : tensor<4x64xbf16>
  return
}

// -----

func.func private @layer() {
  return
}
func.func private @layer_backward() attributes {training.part_of = @layer} {
  // expected-error @+1 {{reads "x", which @layer does not save}}
  %x = training.saved "x" : tensor<4x64xbf16>
  return
}

// -----

func.func private @layer(%x: tensor<4x64xbf16>) {
  // expected-note @+1 {{saved here as 'tensor<4x64xbf16>'}}
  training.save %x "x" : tensor<4x64xbf16>
  return
}
func.func private @layer_backward() attributes {training.part_of = @layer} {
  // expected-error @+1 {{reads "x" as another type than saved}}
  %x = training.saved "x" : tensor<4x64xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Gradients and updates
//===----------------------------------------------------------------------===//

func.func private @of_no_weight(%x: tensor<4x64xbf16>) {
  // expected-error @+1 {{is of no transformer.weight}}
  training.accumulate %x of %x : tensor<4x64xbf16>, tensor<4x64xbf16>
  return
}

// -----

func.func private @of_another_shape(%x: tensor<4x64xbf16>) {
  %w = transformer.weight "w" : tensor<64x4xbf16>
  // expected-error @+1 {{has a gradient of another shape than the weight}}
  training.accumulate %x of %w : tensor<4x64xbf16>, tensor<64x4xbf16>
  return
}

// -----

func.func private @read_in_another_shape() {
  %w = transformer.weight "w" : tensor<64x4xbf16>
  // expected-error @+1 {{has a gradient of another shape than the weight}}
  %g = training.gradient %w : tensor<64x4xbf16> -> tensor<4x64xbf16>
  return
}

// -----

func.func private @too_few_states(%g: tensor<4xf32>) {
  %w = transformer.weight "w" : tensor<4xbf16>
  // expected-error @+1 {{keeps 2 numbers of each parameter, expected 3 to 3}}
  %y = training.update %w, %g adamw master states [f32, f32] : tensor<4xbf16>, tensor<4xf32>
  return
}

// -----

func.func private @too_many_states(%g: tensor<4xf32>) {
  %w = transformer.weight "w" : tensor<4xbf16>
  // expected-error @+1 {{keeps 2 numbers of each parameter, expected 0 to 1}}
  %y = training.update %w, %g sgd states [f32, f32] : tensor<4xbf16>, tensor<4xf32>
  return
}

// -----

func.func private @states_of_no_format(%g: tensor<4xf32>) {
  %w = transformer.weight "w" : tensor<4xbf16>
  // expected-error @+1 {{keeps numbers of 'index', expected formats}}
  %y = training.update %w, %g sgd states [index] : tensor<4xbf16>, tensor<4xf32>
  return
}

// -----

func.func private @mean_square_of_adam(%w: tensor<4x8xbf16>, %g: tensor<4x8xf32>, %q: tensor<f32>) {
  // expected-error @+1 {{has a mean_square, by which adafactor alone shortens its step}}
  %y = training.update %w, %g adamw mean_square(%q : tensor<f32>) states [f32, f32] : tensor<4x8xbf16>, tensor<4x8xf32>
  return
}

// -----

func.func private @no_mean_square(%w: tensor<4x8xbf16>, %g: tensor<4x8xf32>) {
  // expected-error @+1 {{has no mean_square, by which adafactor alone shortens its step}}
  %y = training.update %w, %g adafactor states [] : tensor<4x8xbf16>, tensor<4x8xf32>
  return
}

// -----

func.func private @mean_square_of_rows(%w: tensor<4x8xbf16>, %g: tensor<4x8xf32>, %q: tensor<4xf32>) {
  // expected-error @+1 {{cannot work on operands of rank 2, 2, 1 with a result of rank 2}}
  %y = training.update %w, %g adafactor mean_square(%q : tensor<4xf32>) states [] : tensor<4x8xbf16>, tensor<4x8xf32>
  return
}

// -----

func.func private @means_in_an_update(%w: tensor<4x8xbf16>, %g: tensor<4x8xf32>, %q: tensor<f32>) {
  // expected-error @+1 {{keeps 2 numbers of each parameter, expected 1 to 1}}
  %y = training.update %w, %g adafactor mean_square(%q : tensor<f32>) master states [f32, f32] : tensor<4x8xbf16>, tensor<4x8xf32>
  return
}

// -----

func.func private @mean_over_what_is_not_there(%g: tensor<4x8xf32>) {
  // expected-error @+1 {{cannot work on operands of rank 2 with a result of rank 0}}
  %y = training.mean %g over [1, 3] squared : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func private @mean_over_one_place(%g: tensor<4x8xf32>) {
  // expected-error @+1 {{cannot work on operands of rank 2 with a result of rank 1}}
  %y = training.mean %g over [1] squared : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func private @mean_of_another_shape(%g: tensor<4x8xf32>) {
  // expected-error @+1 {{dimension 0 of the result is 8, but dimension 0 of operand #0 is 4}}
  %y = training.mean %g over [1, 2] squared : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func private @mean_in_bf16(%g: tensor<4x8xf32>) {
  // expected-error @+1 {{is not in f32}}
  %y = training.mean %g over [1, 2] squared : tensor<4x8xf32> -> tensor<4xbf16>
  return
}

// -----

func.func private @mean_of_no_weight(%g: tensor<4x8xf32>, %w: tensor<4x8xbf16>) {
  // expected-error @+1 {{is of the gradient of no transformer.weight}}
  %y = training.mean %g of %w over [1, 2] squared : tensor<4x8xf32>, tensor<4x8xbf16> -> tensor<4xf32>
  return
}

// -----

!g = tensor<4x8xf32, #parallel.sharding<[_, _ by tp]>>
parallel.mesh @m(tp = 2)
func.func private @mean_not_exchanged(%g: !g) {
  // expected-error @+1 {{the result is partial over [], expected [tp]}}
  %y = training.mean %g over [1, 2] squared : !g -> tensor<4xf32>
  return
}

// -----

!s = tensor<4xf32, #parallel.sharding<[_] partial [tp]>>
parallel.mesh @m(tp = 2)
func.func private @moving_mean_not_exchanged(%g: tensor<4x8xf32, #parallel.sharding<[_, _ by tp]>>) {
  %w = transformer.weight "w" : tensor<4x8xbf16, #parallel.sharding<[_, _ by tp]>>
  %s = training.mean %g of %w over [1, 2] squared
      : tensor<4x8xf32, #parallel.sharding<[_, _ by tp]>>, tensor<4x8xbf16, #parallel.sharding<[_, _ by tp]>> -> !s
  // expected-error @+1 {{partial sum}}
  %y = training.moving_mean %s state f32 : !s
  return
}

// -----

func.func private @moving_mean_of_an_argument(%s: tensor<4xf32>) {
  // expected-error @+1 {{is of no training.mean of the squares of a weight's gradient}}
  %y = training.moving_mean %s state f32 : tensor<4xf32>
  return
}

// -----

func.func private @moving_mean_of_no_weight(%g: tensor<4x8xf32>) {
  %s = training.mean %g over [1, 2] squared : tensor<4x8xf32> -> tensor<4xf32>
  // expected-error @+1 {{is of no training.mean of the squares of a weight's gradient}}
  %y = training.moving_mean %s state f32 : tensor<4xf32>
  return
}

// -----

func.func private @moving_mean_of_no_format(%g: tensor<4x8xf32>) {
  %w = transformer.weight "w" : tensor<4x8xbf16>
  %s = training.mean %g of %w over [1, 2] squared : tensor<4x8xf32>, tensor<4x8xbf16> -> tensor<4xf32>
  // expected-error @+1 {{keeps numbers of 'index', expected formats}}
  %y = training.moving_mean %s state index : tensor<4xf32>
  return
}

// -----

func.func private @rows_without_columns(%g: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{has rows in dimensions [0, 2] of 2, expected the first and the one behind the last, with columns behind them}}
  %y = training.precondition %g by %g, %c, %c rows [0, 2] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func private @one_mean_of_a_matrix(%g: tensor<4x8xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{cannot work on operands of rank 2, 1 with a result of rank 2}}
  %y = training.precondition %g by %r rows [0, 1] : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func private @rows_for_columns(%g: tensor<4x8xf32>, %r: tensor<4xf32>, %m: tensor<f32>) {
  // expected-error @+1 {{dimension 0 of operand #2 is 4, but dimension 1 of operand #0 is 8}}
  %y = training.precondition %g by %r, %r, %m rows [0, 1] : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return
}

// -----

func.func private @update_of_another_shape(%w: tensor<4xbf16>, %g: tensor<8xf32>) {
  // expected-error @+1 {{dimension 0 of operand #1 is 8, but dimension 0 of operand #0 is 4}}
  %y = training.update %w, %g sgd states [] : tensor<4xbf16>, tensor<8xf32>
  return
}

// -----

func.func private @momentum_of_another_shape(%w: tensor<4xbf16>, %g: tensor<8xf32>) {
  // expected-error @+1 {{dimension 0 of operand #1 is 8, but dimension 0 of operand #0 is 4}}
  %y = training.momentum %w, %g state f32 : tensor<4xbf16>, tensor<8xf32>
  return
}

// -----

func.func private @momentum_of_no_format(%w: tensor<4xbf16>, %g: tensor<4xf32>) {
  // expected-error @+1 {{keeps numbers of 'index', expected formats}}
  %y = training.momentum %w, %g state index : tensor<4xbf16>, tensor<4xf32>
  return
}

// -----

func.func private @rows_alone(%m: tensor<4xbf16>) {
  // expected-error @+1 {{has rows in dimensions [0, 1] of 1, expected the first and the one behind the last, with columns behind them}}
  %y = training.orthogonalize %m rows [0, 1] steps 5 : tensor<4xbf16>
  return
}

// -----

func.func private @no_rows(%m: tensor<4x8xbf16>) {
  // expected-error @+1 {{has rows in dimensions [1, 1] of 2, expected}}
  %y = training.orthogonalize %m rows [1, 1] steps 5 : tensor<4x8xbf16>
  return
}

// -----

func.func private @rows_of_three_places(%m: tensor<4x8xbf16>) {
  // expected-error @+1 {{has rows in dimensions [0, 1, 2] of 2, expected}}
  %y = training.orthogonalize %m rows [0, 1, 2] steps 5 : tensor<4x8xbf16>
  return
}

// -----

func.func private @no_steps(%m: tensor<4x8xbf16>) {
  // expected-error @+1 {{takes 0 steps, expected 1 or more}}
  %y = training.orthogonalize %m rows [0, 1] steps 0 : tensor<4x8xbf16>
  return
}

// -----

func.func private @assigned_to_no_weight(%x: tensor<4xbf16>) {
  // expected-error @+1 {{gives elements to no transformer.weight}}
  training.assign %x to %x : tensor<4xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Ops of backwards
//===----------------------------------------------------------------------===//

func.func private @probability_of_one(%x: tensor<4x64xbf16>) {
  // expected-error @+1 {{has a probability of 1.000000e+00, expected 0 to below 1}}
  %m = training.dropout_mask %x probability(1.0) seed(0) : tensor<4x64xbf16> -> tensor<4x64xi8>
  return
}

// -----

func.func private @labels_of_other_tokens(%x: tensor<4x16x1000xf32>, %l: tensor<4x8xi32>) {
  // expected-error @+1 {{dimension 1 of operand #1 is 8, but dimension 1 of operand #0 is 16}}
  %y = training.cross_entropy %x, %l : tensor<4x16x1000xf32>, tensor<4x8xi32> -> tensor<4x16xf32>
  return
}

// -----

func.func private @loss_of_no_form(%x: tensor<4x16x1000xf32>, %l: tensor<4x16xi32>) {
  // expected-error @+1 {{has the form 'lazy', expected eager, in-place, compiled or fused}}
  %y = training.cross_entropy %x, %l {form = "lazy"} : tensor<4x16x1000xf32>, tensor<4x16xi32> -> tensor<4x16xf32>
  return
}

// -----

func.func private @loss_in_no_chunks(%x: tensor<4x16x1000xf32>, %l: tensor<4x16xi32>) {
  // expected-error @+1 {{attribute 'chunks' failed to satisfy constraint}}
  %y = training.cross_entropy %x, %l {chunks = 0 : i64} : tensor<4x16x1000xf32>, tensor<4x16xi32> -> tensor<4x16xf32>
  return
}

// -----

func.func private @product_of_other_tokens(%x: tensor<4x64xbf16>, %dy: tensor<8x32xbf16>, %w: tensor<64x32xbf16>) {
  // expected-error @+1 {{dimension 0 of operand #1 is 8, but dimension 0 of operand #0 is 4}}
  %dw = training.product_gradient weight %x, %dy of %w
      : tensor<4x64xbf16>, tensor<8x32xbf16>, tensor<64x32xbf16> -> tensor<64x32xf32>
  return
}

// -----

func.func private @product_of_no_tokens(%x: tensor<64xbf16>, %dy: tensor<32xbf16>, %w: tensor<64x32xbf16>) {
  // expected-error @+1 {{cannot work on operands of rank 1, 1, 2 with a result of rank 2}}
  %dw = training.product_gradient weight %x, %dy of %w
      : tensor<64xbf16>, tensor<32xbf16>, tensor<64x32xbf16> -> tensor<64x32xf32>
  return
}

// -----

func.func private @contracted_with_another(%dy: tensor<4x32xbf16>, %w: tensor<64x16xbf16>) {
  // expected-error @+1 {{dimension 1 of operand #1 is 16, but dimension 1 of operand #0 is 32}}
  %dx = training.product_gradient input %dy, %w : tensor<4x32xbf16>, tensor<64x16xbf16> -> tensor<4x64xbf16>
  return
}

// -----

func.func private @weight_of_no_name(%x: tensor<4x64xbf16>, %dy: tensor<4x32xbf16>) {
  // expected-error @+1 {{is the gradient of a weight, and names none}}
  %dw = training.product_gradient weight %x, %dy
      : tensor<4x64xbf16>, tensor<4x32xbf16> -> tensor<64x32xf32>
  return
}

// -----

func.func private @input_of_a_weight(%dy: tensor<4x32xbf16>, %w: tensor<64x32xbf16>, %x: tensor<4x64xbf16>) {
  // expected-error @+1 {{is the gradient of an input, and names a weight}}
  %dx = training.product_gradient input %dy, %w of %x
      : tensor<4x32xbf16>, tensor<64x32xbf16>, tensor<4x64xbf16> -> tensor<4x64xbf16>
  return
}

// -----

func.func private @states_of_two_vocabularies(%dy: tensor<4x10x10xbf16>, %t: tensor<10x10x64xbf16>) {
  // expected-error @+1 {{cannot work on operands of rank 3, 3 with a result of rank 2}}
  %dx = training.product_gradient states %dy, %t
      : tensor<4x10x10xbf16>, tensor<10x10x64xbf16> -> tensor<4x64xbf16>
  return
}

// -----

func.func private @bias_of_another_width(%dy: tensor<4x64xbf16>, %b: tensor<32xbf16>) {
  // expected-error @+1 {{dimension 0 of operand #1 is 32, but dimension 1 of operand #0 is 64}}
  %db = training.sum_tokens %dy of %b : tensor<4x64xbf16>, tensor<32xbf16> -> tensor<32xf32>
  return
}

// -----

func.func private @normaliser_of_values(%q: tensor<4x16x8x64xbf16>, %k: tensor<4x16x2x64xbf16>) {
  // expected-error @+1 {{the result has rank 4, expected 3}}
  %z = training.attention_normaliser %q, %k causal
      : tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16> -> tensor<4x16x8x64xf32>
  return
}

// -----

func.func private @key_without_what_is_shared(%k: tensor<4x16x8x128xbf16>, %r: tensor<4x16x64xbf16>) {
  // expected-error @+1 {{has heads of 128 elements, expected 192: those of a head, and those that all share}}
  %y = training.concat_shared %k, %r
      : tensor<4x16x8x128xbf16>, tensor<4x16x64xbf16> -> tensor<4x16x8x128xbf16>
  return
}

// -----

func.func private @shared_by_other_tokens(%k: tensor<4x16x8x128xbf16>, %r: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{dimension 1 of operand #1 is 8, but dimension 1 of operand #0 is 16}}
  %y = training.concat_shared %k, %r
      : tensor<4x16x8x128xbf16>, tensor<4x8x64xbf16> -> tensor<4x16x8x192xbf16>
  return
}

// -----

func.func private @shared_by_no_heads(%k: tensor<128xbf16>, %r: tensor<64xbf16>) {
  // expected-error @+1 {{cannot work on operands of rank 1, 1 with a result of rank 1}}
  %y = training.concat_shared %k, %r : tensor<128xbf16>, tensor<64xbf16> -> tensor<192xbf16>
  return
}

// -----

func.func private @gradient_of_other_heads(%dy: tensor<4x16x8x192xbf16>) {
  // expected-error @+1 {{has heads of 192 elements, expected 160: those of a head, and those that all share}}
  %dx, %ds = training.concat_shared_backward %dy
      : tensor<4x16x8x192xbf16> -> tensor<4x16x8x128xbf16>, tensor<4x16x32xbf16>
  return
}

// -----

func.func private @inserted_of_another_width(%dz: tensor<4x16x64xbf16>) {
  // expected-error @+1 {{dimension 2 of result #1 is 32, but dimension 2 of operand #0 is 64}}
  %dx, %dy = training.insert_backward %dz : tensor<4x16x64xbf16> -> tensor<4x8x32xbf16>
  return
}

// -----

func.func private @merged_of_three(%dy: tensor<4x3x64xbf16>) {
  // expected-error @+1 {{merges 16 tokens into 3, which do not divide them}}
  %dx = training.merge_tokens_backward %dy : tensor<4x3x64xbf16> -> tensor<4x16x64xbf16>
  return
}

// -----

func.func @model() {
  return
}
func.func private @nothing() {
  return
}
// expected-error @+1 {{unknown recomputation 'some', expected none, selective, full}}
training.iteration backward(@nothing) update(@nothing) recompute(some)

// -----

func.func @model() {
  return
}
func.func private @nothing() {
  return
}
// expected-error @+1 {{attribute 'recompute' failed to satisfy constraint: a recomputation, as in norms + mlp}}
"training.iteration"() {backward = @nothing, update = @nothing, recompute = "full"} : () -> ()

// -----

func.func @model() {
  return
}
func.func private @nothing() {
  return
}
// expected-error @+1 {{recomputes 'auto', expected what was chosen}}
training.iteration backward(@nothing) update(@nothing) recompute(auto)

// -----

func.func @model() {
  return
}
func.func private @nothing() {
  return
}
// expected-error @+1 {{'training.iteration' op has 2 numbers of missing bytes for 1 forms that were tried}}
training.iteration backward(@nothing) update(@nothing) recompute(full) tried [none] missing [1, 2]

// -----

func.func @model() {
  return
}
func.func private @nothing() {
  return
}
// expected-error @+1 {{'training.iteration' op has capacity 0.000000e+00, expected 0.000001 to 1000}}
training.iteration backward(@nothing) update(@nothing) capacity(0.0)

// -----

func.func @model() {
  return
}
func.func private @nothing() {
  return
}
// expected-error @+1 {{'training.iteration' op has capacity 1.001000e+03, expected 0.000001 to 1000}}
training.iteration backward(@nothing) update(@nothing) capacity(1001.0)

// -----

func.func @model() {
  return
}
func.func private @nothing() {
  return
}
// expected-error @+1 {{'training.iteration' op is padded to no capacity}}
training.iteration backward(@nothing) update(@nothing) padded

// -----

//===----------------------------------------------------------------------===//
// Outside of functions
//===----------------------------------------------------------------------===//

%x = transformer.weight "w" : tensor<4xbf16>
// expected-error @+1 {{'training.save' op lies outside of a function}}
training.save %x "s" : tensor<4xbf16>

// -----

// expected-error @+1 {{'training.saved' op lies outside of a function}}
%x = training.saved "s" : tensor<4xbf16>

// -----

// A module inside has functions of its own.
func.func private @f() {
  builtin.module {
    %x = transformer.weight "w" : tensor<4xbf16>
    // expected-error @+1 {{'training.save' op lies outside of a function}}
    training.save %x "s" : tensor<4xbf16>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Values that are made of each other
//===----------------------------------------------------------------------===//

func.func private @f(%g: tensor<4xf32>) {
  %a = transformer.scale %b by(2.0) : tensor<4xbf16>
  %b = transformer.scale %a by(2.0) : tensor<4xbf16>
  // expected-error @+1 {{'training.accumulate' op is of no transformer.weight}}
  training.accumulate %g of %b : tensor<4xf32>, tensor<4xbf16>
  return
}

// -----

// In loops, too, names are those of the function.
func.func private @f(%x: tensor<4xbf16>) {
  transformer.repeat 2 {
    // expected-note @+1 {{the first is here}}
    training.save %x "s" : tensor<4xbf16>
    transformer.yield
  }
  // expected-error @+1 {{is a second one of "s" in its function}}
  training.save %x "s" : tensor<4xbf16>
  training.save %x "t" : tensor<4xbf16>
  return
}

// -----

// expected-error @+1 {{'training.microbatches' op has 0 microbatches, expected 1 to }}
training.microbatches(0) schedule(gpipe)

// -----

// expected-error @+1 {{'training.microbatches' op is interleaved, and has one stage}}
training.microbatches(2) schedule(interleaved)

// -----

// expected-error @+1 {{'training.microbatches' op}}
training.microbatches(2) schedule(gpipe) assumed [stages]

// -----

func.func @inside() {
  // expected-error @+1 {{'training.microbatches' op must be directly inside a module}}
  training.microbatches(2) schedule(gpipe)
  return
}
