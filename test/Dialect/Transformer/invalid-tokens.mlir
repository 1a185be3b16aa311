// RUN: autopar-opt %s -split-input-file -verify-diagnostics

func.func @norm_over_nothing(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op cannot work on operands of rank 3 with a result of rank 3}}
  %y = transformer.rms_norm %x over(0) eps(0.0) : tensor<4x8x64xbf16>
  return
}

// -----

func.func @norm_over_more_than_there_is(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op cannot work on operands of rank 3 with a result of rank 3}}
  %y = transformer.rms_norm %x over(4) eps(0.0) : tensor<4x8x64xbf16>
  return
}

// -----

func.func @norm_over_more_than_its_weight(%x: tensor<4x8x64xbf16>, %g: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op cannot work on operands of rank 3, 1 with a result of rank 3}}
  %y = transformer.rms_norm %x, %g over(2) eps(0.0) : tensor<4x8x64xbf16>
  return
}

// -----

func.func @norm_of_other_heads(%x: tensor<4x8x64xbf16>, %g: tensor<4x64xbf16>) {
  // expected-error @+1 {{'transformer.layer_norm' op dimension 0 of operand #1 is 4, but dimension 1 of operand #0 is 8}}
  %y = transformer.layer_norm %x, %g eps(0.0) : tensor<4x8x64xbf16>, tensor<4x64xbf16>
  return
}

// -----

func.func @offset_of_nothing(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op has a unit_offset and no weight to add it to}}
  %y = transformer.rms_norm %x eps(0.0) unit_offset : tensor<4x8x64xbf16>
  return
}

// -----

func.func @groups_that_do_not_divide(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op has 3 groups of 8 elements}}
  %y = transformer.rms_norm %x over(2) eps(0.0) groups(3) : tensor<4x8x64xbf16>
  return
}

// -----

func.func @no_groups(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op has 0 groups of 64 elements}}
  %y = transformer.rms_norm %x eps(0.0) groups(0) : tensor<4x8x64xbf16>
  return
}

// -----

func.func @limit_of_zero(%x: tensor<4x64xbf16>) {
  // expected-error @+1 {{'transformer.gated' op has a limit that is not a positive number}}
  %y = transformer.gated %x, %x silu limit(0.0) : tensor<4x64xbf16>
  return
}

// -----

func.func @router_scaled_by_zero(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op has a scale that is not a positive number}}
  %r = transformer.router %x, %w top_k(2) scaled(0.0) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

!x = tensor<4x8x64xbf16, #parallel.sharding<[_, _ by tp, _]>>
parallel.mesh(tp = 4)
func.func @norm_over_split_heads(%x: !x) {
  // expected-error @+1 {{'transformer.rms_norm' op needs dimension 1 of operand #0 whole, but it is split over [tp]}}
  %y = transformer.rms_norm %x over(2) eps(0.0) : !x
  return
}

// -----

func.func @norm_with_a_weight_of_unknown_width(%x: tensor<4x?xbf16, #transformer.dims<[_, query]>>, %g: tensor<64xbf16>) {
  // expected-error @+1 {{custom op 'transformer.rms_norm' expected the type of the weight after it}}
  %y = transformer.rms_norm %x, %g eps(0.0) : tensor<4x?xbf16, #transformer.dims<[_, query]>>
  return
}

// -----

func.func @position_table_of_rank_1(%x: tensor<4x8x64xbf16>, %t: tensor<48xbf16>) {
  // expected-error @+1 {{'transformer.position_embedding' op has a table of 48 elements, which are not rows of 64}}
  %y = transformer.position_embedding %x, %t : tensor<4x8x64xbf16>, tensor<48xbf16>
  return
}

// -----

func.func @position_table_of_another_width(%x: tensor<4x8x64xbf16>, %t: tensor<511x32xbf16>) {
  // expected-error @+1 {{'transformer.position_embedding' op has a table of 16352 elements, which are not rows of 64}}
  %y = transformer.position_embedding %x, %t : tensor<4x8x64xbf16>, tensor<511x32xbf16>
  return
}

// -----

func.func @first_row_of_all(%x: tensor<4x8x64xbf16>, %t: tensor<512x64xbf16>) {
  // expected-error @+1 {{'transformer.position_embedding' op has both first and same}}
  %y = transformer.position_embedding %x, %t first(2) same : tensor<4x8x64xbf16>, tensor<512x64xbf16>
  return
}

// -----

func.func @first_row_before_the_table(%x: tensor<4x8x64xbf16>, %t: tensor<512x64xbf16>) {
  // expected-error @+1 {{'transformer.position_embedding' op attribute 'first' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %y = transformer.position_embedding %x, %t first(-1) : tensor<4x8x64xbf16>, tensor<512x64xbf16>
  return
}

// -----

func.func @inserted_width(%x: tensor<4x8x64xbf16>, %z: tensor<4x2x32xbf16>) {
  // expected-error @+1 {{'transformer.insert' op dimension 2 of operand #1 is 32, but dimension 2 of operand #0 is 64}}
  %y = transformer.insert %x, %z : tensor<4x8x64xbf16>, tensor<4x2x32xbf16>
  return
}

// -----

func.func @inserted_without_sequences(%x: tensor<4x8x64xbf16>, %z: tensor<2x64xbf16>) {
  // expected-error @+1 {{'transformer.insert' op cannot work on operands of rank 3, 2 with a result of rank 3}}
  %y = transformer.insert %x, %z : tensor<4x8x64xbf16>, tensor<2x64xbf16>
  return
}

// -----

func.func @merges_into_more(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.merge_tokens' op merges 8 tokens into 3, which do not divide them}}
  %y = transformer.merge_tokens %x mean : tensor<4x8x64xbf16> -> tensor<4x3x64xbf16>
  return
}

// -----

func.func @merges_into_other_tokens(%x: tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>>) {
  // expected-error @+1 {{'transformer.merge_tokens' op merges encoder_tokens*4 tokens into query, which do not divide them}}
  %y = transformer.merge_tokens %x : tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>> -> tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
  return
}

// -----

func.func @merges_and_loses(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.merge_tokens' op merges 4 tokens of 64 elements into one of 128}}
  %y = transformer.merge_tokens %x : tensor<4x8x64xbf16> -> tensor<4x2x128xbf16>
  return
}

// -----

func.func @merges_into_other_patches(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.merge_tokens' op merges 4 tokens of 64 elements into one of 192}}
  %y = transformer.merge_tokens %x : tensor<4x8x64xbf16> -> tensor<4x2x3x64xbf16>
  return
}

// -----

func.func @convolves_columns(%x: tensor<4x8x6x2xbf16>, %w: tensor<2x3x3x8xbf16>) {
  // expected-error @+1 {{'transformer.convolution' op makes 4 columns of 6, which they do not divide}}
  %y = transformer.convolution %x, %w : tensor<4x8x6x2xbf16>, tensor<2x3x3x8xbf16> -> tensor<4x4x4x8xbf16>
  return
}

// -----

func.func @convolves_a_plane_by_a_row(%x: tensor<4x8x6x2xbf16>, %w: tensor<2x3x8xbf16>) {
  // expected-error @+1 {{'transformer.convolution' op cannot work on operands of rank 4, 3 with a result of rank 4}}
  %y = transformer.convolution %x, %w : tensor<4x8x6x2xbf16>, tensor<2x3x8xbf16> -> tensor<4x8x6x8xbf16>
  return
}

// -----

func.func @part_of_another_width(%x: tensor<4x8x30x64xbf16>) {
  // expected-error @+1 {{'transformer.layer_part' op dimension 2 of the result is 32, but dimension 3 of operand #0 is 64}}
  %y = transformer.layer_part %x : tensor<4x8x30x64xbf16> -> tensor<4x8x32xbf16>
  return
}

// -----

func.func @mean_of_another_width(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.merge_tokens' op dimension 2 of the result is 256, but dimension 2 of operand #0 is 64}}
  %y = transformer.merge_tokens %x mean : tensor<4x8x64xbf16> -> tensor<4x2x256xbf16>
  return
}

// -----

func.func @scale_by_infinity(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.scale' op scales by a number that is not finite}}
  %y = "transformer.scale"(%x) <{factor = 0x7FF0000000000000 : f64}> : (tensor<4x8x64xbf16>) -> tensor<4x8x64xbf16>
  return
}

// -----

func.func @softcap_at_zero(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.softcap' op has a cap that is not a positive number}}
  %y = transformer.softcap %x at(0.0) : tensor<4x8x64xbf16>
  return
}

// -----

func.func @bias_of_other_experts(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>, %b: tensor<4xbf16>) {
  // expected-error @+1 {{'transformer.router' op dimension 0 of operand #2 is 4, but dimension 1 of operand #1 is 8}}
  %r = transformer.router %x, %w bias(%b : tensor<4xbf16>) top_k(2) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @correction_of_other_experts(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>, %b: tensor<4xbf16>) {
  // expected-error @+1 {{'transformer.router' op dimension 0 of operand #2 is 4, but dimension 1 of operand #1 is 8}}
  %r = transformer.router %x, %w correction(%b : tensor<4xbf16>) top_k(2) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @uneven_groups(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op has 3 groups of 8 experts, which they do not divide}}
  %r = transformer.router %x, %w top_k(2) groups(3) keep(1) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @no_groups(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op has 0 groups of 8 experts, which they do not divide}}
  %r = transformer.router %x, %w top_k(2) groups(0) keep(1) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @keeps_no_group(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op keeps 0 of 4 groups}}
  %r = transformer.router %x, %w top_k(2) groups(4) keep(0) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @keeps_more_groups(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op keeps 5 of 4 groups}}
  %r = transformer.router %x, %w top_k(2) groups(4) keep(5) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @keeps_too_few_experts(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op has top_k(3) of the 2 experts in the groups that it keeps}}
  %r = transformer.router %x, %w top_k(3) groups(4) keep(1) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x3xbf16>
  return
}

// -----

!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func @expert_bias_of_another_width(%t: !t, %w: tensor<8x64x64xbf16>, %b: tensor<8x32xbf16>) {
  // expected-error @+1 {{'transformer.experts' op dimension 1 of operand #2 is 32, but dimension 2 of operand #1 is 64}}
  %y = transformer.experts %t, %w bias(%b : tensor<8x32xbf16>) top_k(2) : !t, tensor<8x64x64xbf16> -> !t
  return
}

// -----

!t = tensor<?x64xbf16, #parallel.sharding<[{batch*query*2}, _ by tp]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*query*2}, _] partial [tp]>>
!w = tensor<8x64x64xbf16, #parallel.sharding<[_, _ by tp, _]>>
parallel.mesh(tp = 4)
func.func @expert_bias_on_a_row_product(%t: !t, %w: !w, %b: tensor<8x64xbf16>) {
  // expected-error @+1 {{'transformer.experts' op sums over [tp] and adds a bias, which every device would add: add it after the reduction}}
  %y = transformer.experts %t, %w bias(%b : tensor<8x64xbf16>) top_k(2) : !t, !w -> !y
  return
}

// -----

func.func @expert_bias_for_other_tokens(%x: tensor<4x64xbf16>, %r: tensor<8x2xbf16>, %b: tensor<8x64xbf16>) {
  // expected-error @+1 {{'transformer.add_expert_bias' op dimension 0 of operand #1 is 8, but dimension 0 of operand #0 is 4}}
  %y = transformer.add_expert_bias %x, %r, %b : tensor<4x64xbf16>, tensor<8x2xbf16>, tensor<8x64xbf16>
  return
}

// -----

func.func @biases_of_more_experts_than_there_are(%x: tensor<4x64xbf16>, %r: tensor<4x9xbf16>, %b: tensor<8x64xbf16>) {
  // expected-error @+1 {{'transformer.add_expert_bias' op has top_k(9) of 8 experts}}
  %y = transformer.add_expert_bias %x, %r, %b : tensor<4x64xbf16>, tensor<4x9xbf16>, tensor<8x64xbf16>
  return
}

// -----

func.func @factors_of_another_width(%x: tensor<4x8x64xbf16>, %f: tensor<32xbf16>) {
  // expected-error @+1 {{'transformer.multiply' op dimension 0 of operand #1 is 32, but dimension 2 of operand #0 is 64}}
  %y = transformer.multiply %x, %f : tensor<4x8x64xbf16>, tensor<32xbf16>
  return
}

// -----

func.func @weights_of_other_tokens(%x: tensor<4x8x64xbf16>, %w: tensor<4x9xbf16>) {
  // expected-error @+1 {{'transformer.weigh' op dimension 1 of operand #1 is 9, but dimension 1 of operand #0 is 8}}
  %y = transformer.weigh %x, %w sigmoid : tensor<4x8x64xbf16>, tensor<4x9xbf16>
  return
}

// -----

func.func @convolution_of_a_fraction(%x: tensor<4x9x64xbf16>, %w: tensor<64x3x64xbf16>) {
  // expected-error @+1 {{'transformer.convolution' op makes 4 tokens of 9, which they do not divide}}
  %y = transformer.convolution %x, %w : tensor<4x9x64xbf16>, tensor<64x3x64xbf16> -> tensor<4x4x64xbf16>
  return
}

// -----

func.func @convolution_of_another_width(%x: tensor<4x8x64xbf16>, %w: tensor<32x3x64xbf16>) {
  // expected-error @+1 {{'transformer.convolution' op dimension 0 of operand #1 is 32, but dimension 2 of operand #0 is 64}}
  %y = transformer.convolution %x, %w : tensor<4x8x64xbf16>, tensor<32x3x64xbf16> -> tensor<4x4x64xbf16>
  return
}

// -----

func.func @squares_in_another_format(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.square_sum' op has sums that are not in f32}}
  %s = transformer.square_sum %x over(2) : tensor<4x8x64xbf16> -> tensor<4x1xbf16>
  return
}

// -----

func.func @squares_of_other_groups(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.square_sum' op has sums of 2 groups, expected 4}}
  %s = transformer.square_sum %x over(2) groups(4) : tensor<4x8x64xbf16> -> tensor<4x2xf32>
  return
}

// -----

func.func @squares_of_no_dimension(%x: tensor<4x8x64xbf16>) {
  // expected-error @+1 {{'transformer.square_sum' op cannot work on operands of rank 3 with a result of rank 3}}
  %s = transformer.square_sum %x over(0) : tensor<4x8x64xbf16> -> tensor<4x8x1xf32>
  return
}

// -----

func.func @norm_with_other_sums(%x: tensor<4x8x64xbf16>, %s: tensor<4x2xf32>) {
  // expected-error @+1 {{'transformer.rms_norm' op has sums of 2 groups, expected 1}}
  %y = transformer.rms_norm %x sums(%s : tensor<4x2xf32>) over(2) eps(0.0) : tensor<4x8x64xbf16>
  return
}

// -----

!x = tensor<4x8x64xbf16, #parallel.sharding<[_, _ by tp, _]>>
parallel.mesh(tp = 4)
func.func @squares_that_are_not_reduced(%x: !x) {
  // expected-error @+1 {{'transformer.square_sum' op the result is partial over [], expected [tp]}}
  %s = transformer.square_sum %x over(2) : !x -> tensor<4x1xf32>
  return
}

// -----

!x = tensor<4x8x64xbf16, #parallel.sharding<[_, _ by tp, _]>>
!s = tensor<4x1xf32, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 4)
func.func @norm_with_partial_sums(%x: !x, %s: !s) {
  // expected-error @+1 {{'transformer.rms_norm' op is not linear in operand #1 alone, which is a partial sum over [tp]: reduce it first}}
  %y = transformer.rms_norm %x sums(%s : !s) over(2) eps(0.0) : !x
  return
}

// -----

func.func @convolution_of_no_square(%x: tensor<4x16x64xbf16>, %w: tensor<64x3x3x64xbf16>) {
  // expected-error @+1 {{'transformer.convolution' op makes 8 tokens of a plane of 16, which it divides by no square}}
  %y = transformer.convolution %x, %w : tensor<4x16x64xbf16>, tensor<64x3x3x64xbf16> -> tensor<4x8x64xbf16>
  return
}

// -----

func.func @channels_of_a_fraction(%x: tensor<4x9x64xbf16>, %w: tensor<64x3xbf16>) {
  // expected-error @+1 {{'transformer.channel_convolution' op makes 4 tokens of 9, which they do not divide}}
  %y = transformer.channel_convolution %x, %w : tensor<4x9x64xbf16>, tensor<64x3xbf16> -> tensor<4x4x64xbf16>
  return
}

// -----

func.func @channels_of_another_width(%x: tensor<4x8x64xbf16>, %w: tensor<32x3xbf16>) {
  // expected-error @+1 {{'transformer.channel_convolution' op dimension 0 of operand #1 is 32, but dimension 2 of operand #0 is 64}}
  %y = transformer.channel_convolution %x, %w : tensor<4x8x64xbf16>, tensor<32x3xbf16> -> tensor<4x8x64xbf16>
  return
}

// -----

func.func @batch_norm_of_nothing(%x: tensor<4x16x64xbf16>, %c: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.batch_norm' op has an eps that is not a positive number}}
  %y = transformer.batch_norm %x, %c, %c, %c, %c eps(-1.0) : tensor<4x16x64xbf16>, tensor<64xbf16>
  return
}

// -----

!x = tensor<4x16x64xbf16, #parallel.sharding<[_, _, _ by tp]>>
parallel.mesh(tp = 2)
func.func @probabilities_of_a_part(%x: !x) {
  // expected-error @+1 {{'transformer.softmax' op}}
  %y = transformer.softmax %x : !x
  return
}
