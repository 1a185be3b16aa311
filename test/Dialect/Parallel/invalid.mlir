// RUN: autopar-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// #parallel.sharding, #parallel.dim
//===----------------------------------------------------------------------===//

// expected-error @+1 {{splits nothing and sums nothing: write #transformer.dims, or no encoding}}
func.func private @sharding_of_nothing(tensor<?x64xbf16, #parallel.sharding<[batch, _]>>)

// -----

// expected-error @+1 {{axis 'tp' appears twice}}
func.func private @axis_splits_twice(tensor<4x64xbf16, #parallel.sharding<[_ by tp, _ by tp]>>)

// -----

// expected-error @+1 {{axis 'tp' appears twice}}
func.func private @axis_splits_and_sums(tensor<64xbf16, #parallel.sharding<[_ by tp] partial [tp]>>)

// -----

// expected-error @+1 {{encoding describes 1 dimensions, the tensor has 2}}
func.func private @sharding_of_another_rank(tensor<4x64xbf16, #parallel.sharding<[_ by tp]>>)

// -----

// expected-error @+1 {{dimension 0 is '?' but its encoding names no symbol}}
func.func private @split_without_extent(tensor<?xbf16, #parallel.sharding<[_ by tp]>>)

// -----

// expected-error @+1 {{dimension 0 is named 'batch' and must print as '?', found 4}}
func.func private @split_of_named_number(tensor<4xbf16, #parallel.sharding<[batch by tp]>>)

// -----

// expected-error @+1 {{pads to a multiple of 0, expected a positive number}}
func.func private @pad_to_nothing(tensor<64xbf16, #parallel.sharding<[_ by tp pad 0]>>)

// -----

// expected-error @+1 {{expected valid keyword}}
func.func private @dim_by_no_axis() attributes {a = #parallel.dim<_ by>}

// -----

//===----------------------------------------------------------------------===//
// Encodings against the module's mesh
//===----------------------------------------------------------------------===//

!x = tensor<64xbf16, #parallel.sharding<[_ by tp]>>
func.func @axis_without_mesh(%x: !x) {
  // expected-error @+2 {{'transformer.add' op uses axis 'tp', but the module has no mesh}}
  // expected-note @+1 {{declare it: parallel.mesh(tp = ?)}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

!x = tensor<64xbf16, #parallel.sharding<[_ by tp]>>
parallel.mesh(dp = 8)
func.func @axis_not_in_the_mesh(%x: !x) {
  // expected-error @+2 {{'transformer.add' op uses axis 'tp', which the module's mesh does not have}}
  // expected-note @+1 {{declare it: parallel.mesh(tp = ?)}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

!x = tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>
parallel.mesh(dp = 8)
func.func @partial_axis_not_in_the_mesh(%x: !x) {
  // expected-error @+2 {{'transformer.add' op uses axis 'tp', which the module's mesh does not have}}
  // expected-note @+1 {{declare it: parallel.mesh(tp = ?)}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

// A degree is a product of axes, not an axis.
!x = tensor<64xbf16, #parallel.sharding<[_ by dp]>>
parallel.mesh(dpo = 2, dpi = 2) {dp = dpo*dpi}
func.func @degree_is_no_axis(%x: !x) {
  // expected-error @+2 {{'transformer.add' op uses axis 'dp', which the module's mesh does not have}}
  // expected-note @+1 {{declare it: parallel.mesh(dp = ?)}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

!x = tensor<12xbf16, #parallel.sharding<[_ by tp]>>
parallel.mesh(tp = 8)
func.func @plain_size_that_does_not_divide(%x: !x) {
  // expected-error @+2 {{'transformer.add' op tp = 8 does not divide 12, dimension 0}}
  // expected-note @+1 {{tp that works here: 1, 2, 3, 4, 6, 12}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

!x = tensor<8xbf16, #parallel.sharding<[_ by dp*tp]>>
parallel.mesh(dp = 4, tp = 4)
func.func @plain_product_that_does_not_divide(%x: !x) {
  // expected-error @+2 {{'transformer.add' op dp*tp = 16 does not divide 8, dimension 0}}
  // expected-note @+1 {{dp*tp that works here: 1, 2, 4, 8}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

!x = tensor<8xbf16, #parallel.sharding<[_ by tp cap]>>
parallel.mesh(tp = 12)
func.func @cap_neither_divides(%x: !x) {
  // expected-error @+2 {{'transformer.add' op tp = 12 does not divide 8, nor the other way round, dimension 0}}
  // expected-note @+1 {{tp that works here: 1, 2, 4, 8, 16, 24}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

//===----------------------------------------------------------------------===//
// Splits that do not agree
//===----------------------------------------------------------------------===//

parallel.mesh(tp = 8)
func.func @contracted_dimension_split_in_one_operand(
    %x: tensor<4x64xbf16>, %w: tensor<64x64xbf16, #parallel.sharding<[_ by tp, _]>>) {
  // expected-error @+1 {{'transformer.linear' op dimension 0 of operand #1 is split over [tp], but dimension 1 of operand #0 over []}}
  %y = transformer.linear %x, %w
      : tensor<4x64xbf16>, tensor<64x64xbf16, #parallel.sharding<[_ by tp, _]>> -> tensor<4x64xbf16>
  return
}

// -----

parallel.mesh(tp = 8)
func.func @column_product_of_whole_result(
    %x: tensor<4x64xbf16>, %w: tensor<64x64xbf16, #parallel.sharding<[_, _ by tp]>>) {
  // expected-error @+1 {{'transformer.linear' op dimension 1 of the result is split over [], but dimension 1 of operand #1 over [tp]}}
  %y = transformer.linear %x, %w
      : tensor<4x64xbf16>, tensor<64x64xbf16, #parallel.sharding<[_, _ by tp]>> -> tensor<4x64xbf16>
  return
}

// -----

!padded = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp pad 64]>>
parallel.mesh(tp = 8)
func.func @split_by_another_rule(
    %x: tensor<4x64xbf16>, %w: tensor<64x64xbf16, #parallel.sharding<[_, _ by tp]>>) {
  // expected-error @+1 {{'transformer.linear' op dimension 1 of the result is split by another rule than dimension 1 of operand #1}}
  %y = transformer.linear %x, %w
      : tensor<4x64xbf16>, tensor<64x64xbf16, #parallel.sharding<[_, _ by tp]>> -> !padded
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #parallel.sharding<[batch, query, _ by tp, _]>>
!k = tensor<?x?x2x64xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x128xbf16, #transformer.dims<[batch, context, _, _]>>
parallel.mesh(tp = 8)
func.func @attention_of_split_queries_to_whole_keys(%q: !q, %k: !k, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op dimension 2 of operand #1 is split over [], but dimension 2 of operand #0 over [tp]}}
  %y = transformer.attention %q, %k, %k cache(%c) causal : !q, !k, !k in !c -> !q
  return
}

// -----

//===----------------------------------------------------------------------===//
// Dimensions that must be whole
//===----------------------------------------------------------------------===//

!x = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
parallel.mesh(tp = 8)
func.func @rms_norm_of_split_width(%x: !x, %g: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op needs dimension 1 of operand #0 whole, but it is split over [tp]}}
  %y = transformer.rms_norm %x, %g eps(1.0e-5) : !x
  return
}

// -----

!x = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
parallel.mesh(tp = 8)
func.func @layer_norm_of_split_width(%x: !x, %g: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.layer_norm' op needs dimension 1 of operand #0 whole, but it is split over [tp]}}
  %y = transformer.layer_norm %x, %g eps(1.0e-5) : !x
  return
}

// -----

!x = tensor<4x8x64xbf16, #parallel.sharding<[_, _, _ by tp]>>
parallel.mesh(tp = 8)
func.func @rope_of_split_width(%x: !x) {
  // expected-error @+1 {{'transformer.rope' op needs dimension 2 of operand #0 whole, but it is split over [tp]}}
  %y = transformer.rope %x theta(1.0e4) : !x
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #parallel.sharding<[batch, query by tp, _, _]>>
!c = !transformer.cache<?x?x8x128xbf16, #transformer.dims<[batch, context, _, _]>>
parallel.mesh(tp = 8)
func.func @attention_that_appends_some_keys(%q: !q, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op needs dimension 1 of operand #1 whole, but it is split over [tp]}}
  %y = transformer.attention %q, %q, %q cache(%c) causal : !q, !q, !q in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #parallel.sharding<[batch, query by tp, _, _]>>
!c = !transformer.cache<?x?x8x128xbf16, #parallel.sharding<[batch, context by cp ring, _, _]>>
parallel.mesh(cp = 2, tp = 8)
func.func @attention_that_appends_to_others(%q: !q, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op needs dimension 1 of operand #1 whole, but it is split over [tp]}}
  %y = transformer.attention %q, %q, %q cache(%c) causal : !q, !q, !q in !c -> !q
  return
}

// -----

!c = !transformer.cache<?x?x8x128xbf16, #parallel.sharding<[batch, context by cp ring, _, _]>>
parallel.mesh(cp = 2)
func.func @cache_that_goes_round() {
  // expected-error @+1 {{'transformer.kv_cache' op has parts that go round: parallel.ring brings them}}
  %c = transformer.kv_cache : !c
  return
}

// -----

!w = tensor<2x64xbf16, #parallel.sharding<[_ by tp cap, _]>>
!x = tensor<4x2xbf16, #parallel.sharding<[_, _ by tp cap]>>
!y = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @sum_of_replicas(%x: !x, %w: !w) {
  // expected-error @+1 {{'transformer.linear' op sums over dimension 1 of operand #0, which is split by 'cap': replicas would be added, too}}
  %y = transformer.linear %x, %w : !x, !w -> !y
  return
}

// -----

!w = tensor<10x64xbf16, #parallel.sharding<[_ by tp pad 4, _]>>
!x = tensor<4x10xbf16, #parallel.sharding<[_, _ by tp pad 4]>>
!y = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 2)
func.func @sum_of_padding(%x: !x, %w: !w) {
  // expected-error @+1 {{'transformer.linear' op sums over dimension 1 of operand #0, which is split by 'pad': padding would be added, too}}
  %y = transformer.linear %x, %w : !x, !w -> !y
  return
}

// -----

!x = tensor<4x16x64xbf16, #parallel.sharding<[_, _ by tp, _]>>
parallel.mesh(tp = 8)
func.func @last_token_of_split_sequence(%x: !x) {
  // expected-error @+1 {{'transformer.last_token' op the result is partial over [], expected [tp]}}
  %y = transformer.last_token %x : !x -> tensor<4x64xbf16>
  return
}

// -----

!w = tensor<64x8xbf16, #parallel.sharding<[_, _ by tp]>>
parallel.mesh(tp = 8)
func.func @router_of_split_experts(%x: tensor<4x64xbf16>, %w: !w) {
  // expected-error @+1 {{'transformer.router' op needs dimension 1 of operand #1 whole, but it is split over [tp]}}
  %r = transformer.router %x, %w top_k(2) : tensor<4x64xbf16>, !w -> tensor<4x2xbf16>
  return
}

// -----

!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
!w = tensor<8x64x64xbf16, #parallel.sharding<[_ by tp, _, _]>>
parallel.mesh(tp = 8)
func.func @experts_split_by_expert(%t: !t, %w: !w) {
  // expected-error @+1 {{'transformer.experts' op operand #0 is not grouped, expected 'grouped [8 by tp]'}}
  %y = transformer.experts %t, %w top_k(2) : !t, !w -> !t
  return
}

// -----

//===----------------------------------------------------------------------===//
// Partial sums
//===----------------------------------------------------------------------===//

!x = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
!w = tensor<64x64xbf16, #parallel.sharding<[_ by tp, _]>>
parallel.mesh(tp = 8)
func.func @row_product_of_whole_result(%x: !x, %w: !w) {
  // expected-error @+1 {{'transformer.linear' op the result is partial over [], expected [tp]}}
  %y = transformer.linear %x, %w : !x, !w -> tensor<4x64xbf16>
  return
}

// -----

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @product_of_whole_operands_is_not_partial(%x: tensor<4x64xbf16>, %w: tensor<64x64xbf16>) {
  // expected-error @+1 {{'transformer.linear' op the result is partial over [tp], expected []}}
  %y = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x64xbf16> -> !sum
  return
}

// -----

!ids = tensor<4xi32>
!t = tensor<128x64xbf16, #parallel.sharding<[_ by tp, _]>>
parallel.mesh(tp = 8)
func.func @embedding_in_a_split_vocabulary(%ids: !ids, %t: !t) {
  // expected-error @+1 {{'transformer.embedding' op the result is partial over [], expected [tp]}}
  %x = transformer.embedding %ids, %t : !ids, !t -> tensor<4x64xbf16>
  return
}

// -----

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @add_bias_to_a_partial_sum(%x: !sum, %b: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.add_bias' op is not linear in operand #0 alone, which is a partial sum over [tp]: reduce it first}}
  %y = transformer.add_bias %x, %b : !sum, tensor<64xbf16>
  return
}

// -----

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @rms_norm_of_a_partial_sum(%x: !sum, %g: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op is not linear in operand #0 alone, which is a partial sum over [tp]: reduce it first}}
  %y = transformer.rms_norm %x, %g eps(1.0e-5) : !sum
  return
}

// -----

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @activation_of_a_partial_sum(%x: !sum) {
  // expected-error @+1 {{'transformer.activation' op is not linear in operand #0 alone, which is a partial sum over [tp]: reduce it first}}
  %y = transformer.activation %x silu : !sum
  return
}

// -----

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @gated_of_partial_sums(%g: !sum, %u: !sum) {
  // expected-error @+1 {{'transformer.gated' op is not linear in operand #0 alone, which is a partial sum over [tp]: reduce it first}}
  %y = transformer.gated %g, %u silu : !sum
  return
}

// -----

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @add_of_a_partial_sum_and_a_whole_value(%x: !sum, %y: tensor<4x64xbf16>) {
  // expected-error @+1 {{'transformer.add' op failed to verify that all of {lhs, rhs, result} have same type}}
  %z = "transformer.add"(%x, %y) : (!sum, tensor<4x64xbf16>) -> !sum
  return
}

// -----

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
!w = tensor<64x8xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @product_of_two_partial_sums(%x: !sum, %w: !w) {
  // expected-error @+1 {{'transformer.linear' op is not linear in operand #0 alone, which is a partial sum over [tp]: reduce it first}}
  %y = transformer.linear %x, %w : !sum, !w -> tensor<4x8xbf16, #parallel.sharding<[_, _] partial [tp]>>
  return
}

// -----

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @router_of_a_partial_sum(%x: !sum, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op is not linear in operand #0 alone, which is a partial sum over [tp]: reduce it first}}
  %r = transformer.router %x, %w top_k(2) : !sum, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// parallel.mesh
//===----------------------------------------------------------------------===//

// expected-error @+1 {{axis 'tp' has size 0, expected at least 1, or '?'}}
parallel.mesh(tp = 0)

// -----

// expected-error @+1 {{'parallel.mesh' op has the axis 'tp' twice}}
parallel.mesh(tp = 2, tp = 4)

// -----

// expected-error @+1 {{'parallel.mesh' op axis 'tp' has size 32768, expected a product of all sizes from 1 to 1073741824}}
parallel.mesh(dp = 65536, tp = 32768)

// -----

// expected-error @+1 {{'parallel.mesh' op has 1 axes and 2 sizes}}
"parallel.mesh"() <{sym_name = "pod", axes = ["tp"], sizes = array<i64: 2, 4>}> : () -> ()

// -----

// expected-error @+1 {{'parallel.mesh' op attribute 'axes' failed to satisfy constraint: mesh axes}}
"parallel.mesh"() <{sym_name = "pod", axes = [4], sizes = array<i64: 4>}> : () -> ()

// -----

// expected-error @+1 {{'parallel.mesh' op degree 'dp' is not a product of axes}}
"parallel.mesh"() <{sym_name = "pod", axes = ["tp"], sizes = array<i64: 4>, degrees = {dp = 4}}> : () -> ()

// -----

// expected-error @+1 {{'parallel.mesh' op degree 'dp' has an unknown factor "dpo"}}
parallel.mesh(tp = 2) {dp = dpo*tp}

// -----

// expected-error @+1 {{'parallel.mesh' op degree 'dp' has the axis 'tp' twice}}
parallel.mesh(tp = 2) {dp = tp*tp}

// -----

// expected-error @+1 {{'parallel.mesh' op degree 'tp' has the name of an axis}}
parallel.mesh(tp = 2) {tp = tp}

// -----

// expected-error @+1 {{degree 'ep' appears twice}}
parallel.mesh(tp = 2) {ep = tp, ep = tp}

// -----

// expected-note @+1 {{the first is here}}
parallel.mesh @first(tp = 2)
// expected-error @+1 {{'parallel.mesh' op is a second mesh of its module}}
parallel.mesh @second(tp = 2)

// -----

func.func @mesh_in_a_function() {
  // expected-error @+1 {{'parallel.mesh' op must be directly inside a module}}
  parallel.mesh(tp = 2)
  return
}

// -----

//===----------------------------------------------------------------------===//
// parallel.reshard
//===----------------------------------------------------------------------===//

parallel.mesh(tp = 8)
func.func @reshard_of_another_shape(%x: tensor<4x64xbf16>) {
  // expected-error @+1 {{'parallel.reshard' op changes the shape or the format of its operand}}
  %y = parallel.reshard %x : tensor<4x64xbf16> -> tensor<64x4xbf16>
  return
}

// -----

parallel.mesh(tp = 8)
func.func @reshard_to_another_format(%x: tensor<4x64xbf16>) {
  // expected-error @+1 {{'parallel.reshard' op changes the shape or the format of its operand}}
  %y = parallel.reshard %x : tensor<4x64xbf16> -> tensor<4x64xf32>
  return
}

// -----

func.func @reshard_renames(%x: tensor<?xbf16, #transformer.dims<[batch]>>) {
  // expected-error @+1 {{'parallel.reshard' op renames dimension 0}}
  %y = parallel.reshard %x
      : tensor<?xbf16, #transformer.dims<[batch]>> -> tensor<?xbf16, #transformer.dims<[query]>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// parallel.all_reduce
//===----------------------------------------------------------------------===//

parallel.mesh(tp = 8)
func.func @all_reduce_of_whole_values(%x: tensor<64xbf16>) {
  // expected-error @+1 {{'parallel.all_reduce' op sums over axis 'tp', over which its operand is not partial}}
  %y = parallel.all_reduce %x over [tp] : tensor<64xbf16> -> tensor<64xbf16>
  return
}

// -----

!sum = tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>
parallel.mesh(tp = 8)
func.func @all_reduce_twice_over_one_axis(%x: !sum) {
  // expected-error @+1 {{'parallel.all_reduce' op sums over axis 'tp', over which its operand is not partial}}
  %y = parallel.all_reduce %x over [tp, tp] : !sum -> tensor<64xbf16>
  return
}

// -----

!sum = tensor<64xbf16, #parallel.sharding<[_] partial [dp, tp]>>
parallel.mesh(dp = 2, tp = 8)
func.func @all_reduce_leaves_an_axis(%x: !sum) {
  // expected-error @+1 {{'parallel.all_reduce' op has the result layout [_], expected [_] partial [dp]}}
  %y = parallel.all_reduce %x over [tp] : !sum -> tensor<64xbf16>
  return
}

// -----

!sum = tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>
parallel.mesh(tp = 8)
func.func @all_reduce_to_another_format(%x: !sum) {
  // expected-error @+1 {{'parallel.all_reduce' op changes the shape or the format of its operand}}
  %y = parallel.all_reduce %x over [tp] : !sum -> tensor<64xf32>
  return
}

// -----

// Rows go by the order of the axes, too.

!t = tensor<?x64xbf16, #parallel.sharding<[{batch*query*2} grouped [8 by dp*tp], _]>>
!w = tensor<8x64x64xbf16, #parallel.sharding<[_ by tp*dp, _, _]>>
transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
parallel.mesh(dp = 2, tp = 2)
func.func @experts_in_another_order(%t: !t, %w: !w) {
  // expected-error @+1 {{'transformer.experts' op operand #0 is grouped over [dp, tp] of the experts [8 by dp*tp], expected 'grouped [8 by tp*dp]'}}
  %y = transformer.experts %t, %w top_k(2) : !t, !w -> !t
  return
}

// -----

!x = tensor<?x?x64xbf16, #parallel.sharding<[batch by dp, query, _]>>
!r = tensor<?x?x2xbf16, #parallel.sharding<[batch by dp, query, _]>>
!t = tensor<?x64xbf16, #parallel.sharding<[{batch*query*2} by [batch, query by dp], _]>>
transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
parallel.mesh(dp = 2)
func.func @rows_where_other_tokens_are(%x: !x, %r: !r) {
  // expected-error @+1 {{'transformer.dispatch' op has rows of the result where [batch, query by dp] are, but its tokens are [batch by dp, query]}}
  %y = transformer.dispatch %x, %r : !x, !r -> !t
  return
}

// -----

// expected-error @+1 {{a set is split over 'tp', and nothing says which tokens that is: write [.. by tp]}}
!x = tensor<?x8xbf16, #parallel.sharding<[{batch*query} by {tp} of [batch by dp, query], _]>>

// -----

// expected-error @+1 {{axis 'dp' splits the tokens of a set twice}}
!x = tensor<?x8xbf16, #parallel.sharding<[{batch*query} by [batch by dp, query by dp], _]>>

// -----

// expected-error @+1 {{a set lies as experts that are split by 'cap', which have no one place}}
!x = tensor<?x8xbf16, #parallel.sharding<[{batch*query} grouped [8 by dp cap], _]>>

// -----

// expected-error @+1 {{groups by '_' experts, expected their number}}
!x = tensor<?x8xbf16, #parallel.sharding<[{batch*query} grouped [_ by dp], _]>>

// -----

// expected-error @+1 {{groups by 2 dimensions, expected that of experts}}
!x = tensor<?x8xbf16, #parallel.sharding<[{batch*query} grouped [8 by dp, 4], _]>>

// -----

!x = tensor<?x8xbf16, #parallel.sharding<[{batch*query} grouped [6 by dp], _]>>
transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
parallel.mesh(dp = 4)
func.func @experts_that_do_not_divide(%x: !x) {
  // expected-error @+1 {{'parallel.all_gather' op has a set that lies as [6 by dp], but dp = 4 does not divide 6}}
  %y = parallel.all_gather %x dim experts over [dp] : !x -> tensor<?x8xbf16, #transformer.dims<[{batch*query}, _]>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// parallel.all_gather
//===----------------------------------------------------------------------===//

!x = tensor<64xbf16, #parallel.sharding<[_ by dp*tp]>>
parallel.mesh(dp = 2, tp = 8)
func.func @all_gather_of_the_major_axis(%x: !x) {
  // expected-error @+1 {{'parallel.all_gather' op works over [dp], which do not end the axes [dp, tp] of dimension 0}}
  %y = parallel.all_gather %x dim 0 over [dp] : !x -> tensor<64xbf16, #parallel.sharding<[_ by tp]>>
  return
}

// -----

!x = tensor<?x8xbf16, #parallel.sharding<[{batch*query} by [batch by dp, query], _]>>
parallel.mesh(dp = 2, tp = 8)
func.func @all_gather_of_a_set_over_another_axis(%x: !x) {
  // expected-error @+1 {{'parallel.all_gather' op works over [tp], which do not end the axes [dp] of dimension 0}}
  %y = parallel.all_gather %x dim 0 over [tp] : !x -> tensor<?x8xbf16, #transformer.dims<[{batch*query}, _]>>
  return
}

// -----

!x = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
parallel.mesh(tp = 8)
func.func @all_gather_of_a_dimension_too_many(%x: !x) {
  // expected-error @+1 {{'parallel.all_gather' op names dimension 2 of a tensor of rank 2}}
  %y = parallel.all_gather %x dim 2 over [tp] : !x -> tensor<4x64xbf16>
  return
}

// -----

!x = tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
parallel.mesh(tp = 8)
func.func @all_gather_that_stays_split(%x: !x) {
  // expected-error @+1 {{'parallel.all_gather' op has the result layout [_, _ by tp], expected [_, _]}}
  %y = parallel.all_gather %x dim 1 over [tp] : !x -> !x
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[batch, _ by tp]>>
parallel.mesh(tp = 8)
func.func @all_gather_renames(%x: !x) {
  // expected-error @+1 {{'parallel.all_gather' op has the result layout [query, _], expected [batch, _]}}
  %y = parallel.all_gather %x dim 1 over [tp] : !x -> tensor<?x64xbf16, #transformer.dims<[query, _]>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// parallel.reduce_scatter
//===----------------------------------------------------------------------===//

!sum = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
parallel.mesh(tp = 8)
func.func @reduce_scatter_that_stays_whole(%x: !sum) {
  // expected-error @+1 {{'parallel.reduce_scatter' op has the result layout [_, _], expected [_, _ by tp]}}
  %y = parallel.reduce_scatter %x dim 1 over [tp] : !sum -> tensor<4x64xbf16>
  return
}

// -----

parallel.mesh(tp = 8)
func.func @reduce_scatter_of_whole_values(%x: tensor<64xbf16>) {
  // expected-error @+1 {{'parallel.reduce_scatter' op sums over axis 'tp', over which its operand is not partial}}
  %y = parallel.reduce_scatter %x dim 0 over [tp]
      : tensor<64xbf16> -> tensor<64xbf16, #parallel.sharding<[_ by tp]>>
  return
}

// -----

!sum = tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>
parallel.mesh(tp = 8)
func.func @reduce_scatter_to_another_rank(%x: !sum) {
  // expected-error @+1 {{'parallel.reduce_scatter' op changes the rank of its operand}}
  %y = parallel.reduce_scatter %x dim 0 over [tp]
      : !sum -> tensor<8x8xbf16, #parallel.sharding<[_ by tp, _]>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// parallel.all_to_all
//===----------------------------------------------------------------------===//

!x = tensor<8x64xbf16, #parallel.sharding<[_, _ by tp]>>
parallel.mesh(tp = 8)
func.func @all_to_all_to_itself(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op moves a split from dimension 1 to itself}}
  %y = parallel.all_to_all %x dim 1 to 1 over [tp] : !x -> !x
  return
}

// -----

!x = tensor<8x64xbf16, #parallel.sharding<[_, _ by tp]>>
!y = tensor<8x64xbf16, #parallel.sharding<[_ by tp, _]>>
parallel.mesh(tp = 8)
func.func @all_to_all_from_the_wrong_side(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op works over [tp], which do not end the axes [] of dimension 0}}
  %y = parallel.all_to_all %x dim 0 to 1 over [tp] : !x -> !y
  return
}

// -----

!x = tensor<8x64xbf16, #parallel.sharding<[_, _ by tp]>>
parallel.mesh(tp = 8)
func.func @all_to_all_that_moves_nothing(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op has the result layout [_, _ by tp], expected [_ by tp, _]}}
  %y = parallel.all_to_all %x dim 1 to 0 over [tp] : !x -> !x
  return
}

// -----

!x = tensor<8x64xbf16, #parallel.sharding<[_, _ by tp]>>
!y = tensor<8x64xbf16, #parallel.sharding<[_ by tp, _]>>
parallel.mesh(tp = 8)
func.func @by_node_of_no_set(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op sends by node, or in another format, what is no set of routed tokens between dimension 0 and experts}}
  %y = parallel.all_to_all %x dim 1 to 0 over [tp] by_node top_k(2) : !x -> !y
  return
}

// -----

!x = tensor<8x64xbf16, #parallel.sharding<[_, _ by tp]>>
!y = tensor<8x64xbf16, #parallel.sharding<[_ by tp, _]>>
parallel.mesh(tp = 8)
func.func @format_of_no_set(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op sends by node, or in another format, what is no set of routed tokens between dimension 0 and experts}}
  %y = parallel.all_to_all %x dim 1 to 0 over [tp] as f8E4M3FN : !x -> !y
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @format_of_sums(%x: !y) {
  // expected-error @+1 {{'parallel.all_to_all' op sends rows back in another format: only those on their way to experts have one}}
  %y = parallel.all_to_all %x dim experts to 0 over [tp] as f8E4M3FN : !y -> !x
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @format_of_integers(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op has no cost in format}}
  %y = parallel.all_to_all %x dim 0 to experts over [tp] as i8 : !x -> !y
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @blocks_of_nothing(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op has blocks, which a format needs to be of at least one value}}
  %y = parallel.all_to_all %x dim 0 to experts over [tp] as f8E4M3FN blocks(0) : !x -> !y
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @by_node_of_no_experts(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op has top_k(0), expected 1 to 256}}
  %y = parallel.all_to_all %x dim 0 to experts over [tp] by_node top_k(0) : !x -> !y
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @by_node_of_many_groups(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op has groups(512), expected 1 to 256}}
  %y = parallel.all_to_all %x dim 0 to experts over [tp] by_node top_k(8) groups(512) keep(4) : !x -> !y
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @by_node_of_more_groups_than_there_are(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op keeps 8 of 4 groups}}
  %y = parallel.all_to_all %x dim 0 to experts over [tp] by_node top_k(8) groups(4) keep(8) : !x -> !y
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @by_node_of_uneven_groups(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op has 3 groups, which do not divide the 256 experts}}
  %y = parallel.all_to_all %x dim 0 to experts over [tp] by_node top_k(8) groups(3) keep(2) : !x -> !y
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @by_node_of_more_experts_than_are_kept(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op chooses 8 of 4 experts}}
  %y = parallel.all_to_all %x dim 0 to experts over [tp] by_node top_k(8) groups(64) keep(1) : !x -> !y
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
!y = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
parallel.mesh(tp = 8)
func.func @by_node_of_other_rows(%x: !x) {
  // expected-error @+1 {{'parallel.all_to_all' op has top_k(3), which does not divide the rows {batch*8}}}
  %y = parallel.all_to_all %x dim 0 to experts over [tp] by_node top_k(3) : !x -> !y
  return
}

// -----

//===----------------------------------------------------------------------===//
// parallel.all_slice
//===----------------------------------------------------------------------===//

!x = tensor<8x64xbf16, #parallel.sharding<[_, _ by tp]>>
!y = tensor<8x64xbf16, #parallel.sharding<[_ by tp, _]>>
parallel.mesh(tp = 8)
func.func @all_slice_over_a_used_axis(%x: !x) {
  // expected-error @+1 {{'parallel.all_slice' op splits over axis 'tp', which its operand already uses}}
  %y = parallel.all_slice %x dim 0 over [tp] : !x -> !y
  return
}

// -----

!x = tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>
parallel.mesh(tp = 8)
func.func @all_slice_over_a_partial_axis(%x: !x) {
  // expected-error @+1 {{'parallel.all_slice' op splits over axis 'tp', which its operand already uses}}
  %y = parallel.all_slice %x dim 0 over [tp] : !x -> tensor<64xbf16, #parallel.sharding<[_ by tp]>>
  return
}

// -----

parallel.mesh(dp = 2, tp = 8)
func.func @all_slice_over_another_axis(%x: tensor<64xbf16>) {
  // expected-error @+1 {{'parallel.all_slice' op has the result layout [_ by dp], expected [_ by tp]}}
  %y = parallel.all_slice %x dim 0 over [tp]
      : tensor<64xbf16> -> tensor<64xbf16, #parallel.sharding<[_ by dp]>>
  return
}

// -----

parallel.mesh(dp = 2)
func.func @all_slice_over_an_axis_not_in_the_mesh(%x: tensor<64xbf16>) {
  // expected-error @+2 {{'parallel.all_slice' op uses axis 'tp', which the module's mesh does not have}}
  // expected-note @+1 {{declare it: parallel.mesh(tp = ?)}}
  %y = parallel.all_slice %x dim 0 over [tp]
      : tensor<64xbf16> -> tensor<64xbf16, #parallel.sharding<[_ by tp]>>
  return
}

// -----

parallel.mesh(dp = 2, tp = 8)
func.func @all_slice_by_another_rule(%x: tensor<64xbf16, #parallel.sharding<[_ by dp]>>) {
  // expected-error @+1 {{'parallel.all_slice' op has the result layout [_ by dp*tp pad 64], expected [_ by dp*tp]}}
  %y = parallel.all_slice %x dim 0 over [tp]
      : tensor<64xbf16, #parallel.sharding<[_ by dp]>>
      -> tensor<64xbf16, #parallel.sharding<[_ by dp*tp pad 64]>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// parallel.permute
//===----------------------------------------------------------------------===//

!xy = tensor<64xbf16, #parallel.sharding<[_ by x*y]>>
!yx = tensor<64xbf16, #parallel.sharding<[_ by y*x]>>
parallel.mesh(x = 2, y = 2)
func.func @permute_over_one_axis(%a: !xy) {
  // expected-error @+1 {{'parallel.permute' op permutes over [x], but [x, y] change places}}
  %b = parallel.permute %a over [x] : !xy -> !yx
  return
}

// -----

!xy = tensor<64xbf16, #parallel.sharding<[_ by x*y]>>
parallel.mesh(x = 2, y = 2)
func.func @permute_of_nothing(%a: !xy) {
  // expected-error @+1 {{'parallel.permute' op permutes over [x, y], but [] change places}}
  %b = parallel.permute %a over [x, y] : !xy -> !xy
  return
}

// -----

!x = tensor<64xbf16, #parallel.sharding<[_ by x]>>
!y = tensor<64xbf16, #parallel.sharding<[_ by y]>>
parallel.mesh(x = 2, y = 2)
func.func @permute_to_another_axis(%a: !x) {
  // expected-error @+1 {{'parallel.permute' op has the result layout [_ by y], expected [_ by x]}}
  %b = parallel.permute %a over [] : !x -> !y
  return
}

// -----

!xy = tensor<64xbf16, #parallel.sharding<[_ by x*y]>>
parallel.mesh(x = 2, y = 2)
func.func @permute_by_another_rule(%a: !xy) {
  // expected-error @+1 {{'parallel.permute' op has the result layout [_ by y*x cap], expected [_ by y*x]}}
  %b = parallel.permute %a over [x, y] : !xy -> tensor<64xbf16, #parallel.sharding<[_ by y*x cap]>>
  return
}

// -----

!xy = tensor<64xbf16, #parallel.sharding<[_ by x*y]>>
parallel.mesh(x = 2, y = 2)
func.func @permute_to_another_rank(%a: !xy) {
  // expected-error @+1 {{'parallel.permute' op changes the rank of its operand}}
  %b = parallel.permute %a over [] : !xy -> tensor<8x8xbf16>
  return
}

// -----

!sum = tensor<64xbf16, #parallel.sharding<[_] partial [x]>>
parallel.mesh(x = 2, y = 2)
func.func @permute_of_a_sum(%a: !sum) {
  // expected-error @+1 {{'parallel.permute' op has the result layout [_] partial [y], expected [_] partial [x]}}
  %b = parallel.permute %a over [] : !sum -> tensor<64xbf16, #parallel.sharding<[_] partial [y]>>
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #parallel.sharding<[batch, query, _ by tp, _]>>
!k = tensor<?x?x2x64xbf16, #parallel.sharding<[batch, query, _ by tp cap, _]>>
!c = !transformer.cache<?x?x2x128xbf16, #parallel.sharding<[batch, context, _ by tp any, _]>>
parallel.mesh(tp = 4)
func.func @cache_of_other_heads(%q: !q, %k: !k) {
  %c = transformer.kv_cache : !c
  // expected-error @+1 {{'transformer.attention' op dimension 2 of operand #3 is split by another rule than dimension 2 of operand #0}}
  %y = transformer.attention %q, %k, %k cache(%c) causal : !q, !k, !k in !c -> !q
  return
}

// -----

!c = !transformer.cache<?x?x8x128xbf16, #parallel.sharding<[batch, context by cp, _, _]>>
!r = !transformer.cache<?x?x8x128xbf16, #parallel.sharding<[batch, context by cp ring, _, _]>>
parallel.mesh(cp = 2)
func.func @twice_round() {
  %c = transformer.kv_cache : !c
  %r = parallel.ring %c dim 1 over [cp] : !c -> !r
  // expected-error @+1 {{'parallel.ring' op passes dimension 1 round a ring, but it already goes round}}
  %s = parallel.ring %r dim 1 over [cp] : !r -> !r
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[query by cp, _]>>
parallel.mesh(cp = 2)
func.func @sum_of_what_stays(%x: !x) {
  // expected-error @+1 {{'parallel.ring_reduce' op sums what goes round over [cp], but dimension 0 does not}}
  %y = parallel.ring_reduce %x dim 0 over [cp] : !x -> !x
  return
}

// -----

!x = tensor<?x64xbf16, #parallel.sharding<[query by cp ring, _]>>
parallel.mesh(cp = 2)
func.func @sum_goes_on(%x: !x) {
  // expected-error @+1 {{'parallel.ring_reduce' op has a result that still goes round}}
  %y = parallel.ring_reduce %x dim 0 over [cp] : !x -> !x
  return
}

// -----

!p = tensor<10x4xbf16, #parallel.sharding<[_ by dp*tp pad 1, _]>>
!r = tensor<10x4xbf16, #parallel.sharding<[_ by dp pad 1, _]>>
parallel.mesh(dp = 2, tp = 3)
func.func @all_gather_of_a_part_of_padding(%x: !p) {
  // expected-error @+1 {{'parallel.all_gather' op changes dimension 0 between splits over [dp] and [dp, tp], which pad it otherwise: gather all of it first}}
  %y = parallel.all_gather %x dim 0 over [tp] : !p -> !r
  return
}

// -----

!p = tensor<10x4xbf16, #parallel.sharding<[_ by dp pad 6, _]>>
!r = tensor<10x4xbf16, #parallel.sharding<[_ by dp*tp pad 6, _]>>
parallel.mesh(dp = 2, tp = 3)
func.func @all_slice_of_padding_that_stays(%x: !p) {
  %y = parallel.all_slice %x dim 0 over [tp] : !p -> !r
  return
}
