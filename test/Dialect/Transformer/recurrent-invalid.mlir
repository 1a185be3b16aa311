// RUN: autopar-opt %s --split-input-file --verify-diagnostics

func.func @state_without_batch() {
  // expected-error @+1 {{'transformer.state' op expected a tensor [batch, ..] of rank 2 or more}}
  %s = transformer.state : !transformer.state<4x8xf32>
  return
}

// -----

func.func @state_of_rank_1() {
  // expected-error @+1 {{'transformer.state' op expected a tensor [batch, ..] of rank 2 or more}}
  %s = transformer.state : !transformer.state<?xf32, #transformer.dims<[batch]>>
  return
}

// -----

func.func @state_of_a_scalar() {
  // expected-error @+1 {{'transformer.state' op expected a tensor [batch, ..] of rank 2 or more}}
  %s = transformer.state : !transformer.state<f32>
  return
}

// -----

func.func @state_of_tokens() {
  // expected-error @+1 {{'transformer.state' op has context for dimension 1}}
  %s = transformer.state : !transformer.state<?x?x8xf32, #transformer.dims<[batch, context, _]>>
  return
}

// -----

parallel.mesh(tp = 2)
func.func @state_is_partial() {
  // expected-error @+1 {{'transformer.state' op is a partial sum}}
  %s = transformer.state : !transformer.state<?x8xf32, #parallel.sharding<[batch, _] partial [tp]>>
  return
}

// -----

func.func @conv_of_one_token(%x: tensor<2x4x8xbf16>, %w: tensor<8x1xbf16>) {
  // expected-error @+1 {{'transformer.short_conv' op has a kernel of 1 tokens, expected at least 2}}
  %y = transformer.short_conv %x, %w : tensor<2x4x8xbf16>, tensor<8x1xbf16>
  return
}

// -----

func.func @conv_with_a_long_state(%x: tensor<2x4x8xbf16>, %w: tensor<8x4xbf16>, %s: !transformer.state<2x8x4xbf16>) {
  // expected-error @+1 {{'transformer.short_conv' op has a state of 4 tokens, expected 3 for a kernel of 4}}
  %y = transformer.short_conv %x, %w state(%s : !transformer.state<2x8x4xbf16>) : tensor<2x4x8xbf16>, tensor<8x4xbf16>
  return
}

// -----

!w = tensor<8x?xbf16, #transformer.dims<[_, query]>>
func.func @conv_with_a_symbolic_kernel(%x: tensor<2x4x8xbf16>, %w: !w) {
  // expected-error @+1 {{'transformer.short_conv' op has query for dimension 1}}
  %y = transformer.short_conv %x, %w : tensor<2x4x8xbf16>, !w
  return
}

// -----

func.func @conv_of_other_channels(%x: tensor<2x4x8xbf16>, %w: tensor<9x4xbf16>) {
  // expected-error @+1 {{'transformer.short_conv' op dimension 0 of operand #1 is 9, but dimension 2 of operand #0 is 8}}
  %y = transformer.short_conv %x, %w : tensor<2x4x8xbf16>, tensor<9x4xbf16>
  return
}

// -----

func.func @conv_without_channels(%x: tensor<2x4xbf16>, %w: tensor<4xbf16>) {
  // expected-error @+1 {{'transformer.short_conv' op cannot work on operands of rank 2, 1 with a result of rank 2}}
  %y = transformer.short_conv %x, %w : tensor<2x4xbf16>, tensor<4xbf16>
  return
}

// -----

parallel.mesh(cp = 2)
!x = tensor<2x4x8xbf16, #parallel.sharding<[_, _ by cp, _]>>
func.func @conv_of_split_tokens(%x: !x, %w: tensor<8x4xbf16>) {
  // expected-error @+1 {{'transformer.short_conv' op needs dimension 1 of operand #0 whole, but it is split over [cp]}}
  %y = transformer.short_conv %x, %w : !x, tensor<8x4xbf16>
  return
}

// -----

parallel.mesh(tp = 2)
!x = tensor<2x4x8xbf16, #parallel.sharding<[_, _, _] partial [tp]>>
func.func @conv_of_a_partial_sum(%x: !x, %w: tensor<8x4xbf16>) {
  // expected-error @+1 {{'transformer.short_conv' op is not linear in operand #0 alone, which is a partial sum over [tp]: reduce it first}}
  %y = transformer.short_conv %x, %w : !x, tensor<8x4xbf16>
  return
}

// -----

!x = tensor<2x4x8x16xbf16>
!dt = tensor<2x4x8xbf16>
!g = tensor<2x4x3x32xbf16>
!a = tensor<8xf32>
!s = !transformer.state<2x8x16x32xf32>
func.func @groups_that_do_not_divide(%x: !x, %dt: !dt, %g: !g, %a: !a, %s: !s) {
  // expected-error @+1 {{'transformer.state_space' op has 8 heads, which 3 groups do not divide}}
  %y = transformer.state_space %x, %dt, %g, %g, %a state(%s) : !x, !dt, !g, !a, !s
  return
}

// -----

!x = tensor<2x4x8x16xbf16>
!dt = tensor<2x4x4xbf16>
!g = tensor<2x4x2x32xbf16>
!a = tensor<8xf32>
!s = !transformer.state<2x8x16x32xf32>
func.func @steps_of_fewer_heads(%x: !x, %dt: !dt, %g: !g, %a: !a, %s: !s) {
  // expected-error @+1 {{'transformer.state_space' op has 8 heads in x, but 4 in dt}}
  %y = transformer.state_space %x, %dt, %g, %g, %a state(%s) : !x, !dt, !g, !a, !s
  return
}

// -----

!x = tensor<2x4x8x16xbf16>
!dt = tensor<2x4x8xbf16>
!g = tensor<2x4x2x32xbf16>
!a = tensor<8xf32>
!s = !transformer.state<2x8x32x16xf32>
func.func @state_turned_round(%x: !x, %dt: !dt, %g: !g, %a: !a, %s: !s) {
  // expected-error @+1 {{'transformer.state_space' op dimension 2 of operand #5 is 32, but dimension 3 of operand #0 is 16}}
  %y = transformer.state_space %x, %dt, %g, %g, %a state(%s) : !x, !dt, !g, !a, !s
  return
}

// -----

!x = tensor<2x4x8x16xbf16>
!dt = tensor<2x4x8xbf16>
!g = tensor<2x4x2x32xbf16>
!a = tensor<8x32x1xf32>
!s = !transformer.state<2x8x16x32xf32>
func.func @a_of_rank_3(%x: !x, %dt: !dt, %g: !g, %a: !a, %s: !s) {
  // expected-error @+1 {{'transformer.state_space' op cannot work on operands of rank 4, 3, 4, 4, 3, 4 with a result of rank 4}}
  %y = transformer.state_space %x, %dt, %g, %g, %a state(%s) : !x, !dt, !g, !a, !s
  return
}

// -----

!x = tensor<2x4x?x16xbf16, #transformer.dims<[_, _, query, _]>>
!dt = tensor<2x4x8xbf16>
!g = tensor<2x4x2x32xbf16>
!a = tensor<8xf32>
!s = !transformer.state<2x8x16x32xf32>
func.func @symbolic_heads(%x: !x, %dt: !dt, %g: !g, %a: !a, %s: !s) {
  // expected-error @+1 {{'transformer.state_space' op has query for dimension 2}}
  %y = transformer.state_space %x, %dt, %g, %g, %a state(%s) : !x, !dt, !g, !a, !s
  return
}

// -----

!x = tensor<2x4x8x16xbf16>
!dt = tensor<2x4x?xbf16, #transformer.dims<[_, _, query]>>
!g = tensor<2x4x2x32xbf16>
!a = tensor<8xf32>
!s = !transformer.state<2x8x16x32xf32>
func.func @symbolic_steps(%x: !x, %dt: !dt, %g: !g, %a: !a, %s: !s) {
  // expected-error @+1 {{'transformer.state_space' op has 8 heads in x, but query in dt}}
  %y = transformer.state_space %x, %dt, %g, %g, %a state(%s) : !x, !dt, !g, !a, !s
  return
}

// -----

!k = tensor<2x4x3x16xbf16>
!v = tensor<2x4x8x32xbf16>
!g = tensor<2x4x8xbf16>
!h = tensor<8xf32>
!s = !transformer.state<2x8x16x32xf32>
func.func @key_heads_that_do_not_divide(%k: !k, %v: !v, %g: !g, %h: !h, %s: !s) {
  // expected-error @+1 {{'transformer.gated_delta_rule' op has 8 value heads, which 3 key heads do not divide}}
  %y = transformer.gated_delta_rule %k, %k, %v, %g, %g, %h, %h state(%s) : !k, !v, !g, !g, !h, !h, !s
  return
}

// -----

!k = tensor<2x4x2x16xbf16>
!v = tensor<2x4x8x32xbf16>
!g = tensor<2x4x8xbf16>
!h = tensor<8xf32>
!s = !transformer.state<2x2x16x32xf32>
func.func @state_of_key_heads(%k: !k, %v: !v, %g: !g, %h: !h, %s: !s) {
  // expected-error @+1 {{'transformer.gated_delta_rule' op has 8 heads in the values, but 2 in the state}}
  %y = transformer.gated_delta_rule %k, %k, %v, %g, %g, %h, %h state(%s) : !k, !v, !g, !g, !h, !h, !s
  return
}

// -----

!k = tensor<2x4x16xbf16>
!v = tensor<2x4x8x32xbf16>
!g = tensor<2x4x8xbf16>
!h = tensor<8xf32>
!s = !transformer.state<2x8x16x32xf32>
func.func @keys_without_heads(%k: !k, %v: !v, %g: !g, %h: !h, %s: !s) {
  // expected-error @+1 {{'transformer.gated_delta_rule' op operand #0 has rank 3, expected 4}}
  %y = transformer.gated_delta_rule %k, %k, %v, %g, %g, %h, %h state(%s) : !k, !v, !g, !g, !h, !h, !s
  return
}

// -----

!k = tensor<2x4x8x16xbf16>
!g = tensor<2x4x8xbf16>
!h = tensor<8xf32>
!s = !transformer.state<2x8x16x16xf32>
func.func @bias_of_heads_for_channels(%k: !k, %g: !g, %h: !h, %s: !s) {
  // expected-error @+1 {{'transformer.gated_delta_rule' op operand #6 has rank 1, expected 2}}
  %y = transformer.gated_delta_rule %k, %k, %k, %g, %k, %h, %h state(%s) : !k, !k, !g, !k, !h, !h, !s
  return
}

// -----

!k = tensor<2x4x8x16xbf16>
!d = tensor<2x4x8x8xbf16>
!g = tensor<2x4x8xbf16>
!h = tensor<8xf32>
!b = tensor<8x16xf32>
!s = !transformer.state<2x8x16x16xf32>
func.func @decay_of_other_channels(%k: !k, %d: !d, %g: !g, %h: !h, %b: !b, %s: !s) {
  // expected-error @+1 {{'transformer.gated_delta_rule' op dimension 3 of operand #4 is 8, but dimension 3 of operand #0 is 16}}
  %y = transformer.gated_delta_rule %k, %k, %k, %g, %d, %h, %b state(%s) : !k, !k, !g, !d, !h, !b, !s
  return
}

// -----

!k = tensor<2x4x8x16xbf16>
!d = tensor<2x4x4x16xbf16>
!g = tensor<2x4x8xbf16>
!h = tensor<8xf32>
!b = tensor<8x16xf32>
!s = !transformer.state<2x8x16x16xf32>
func.func @decay_of_other_heads(%k: !k, %d: !d, %g: !g, %h: !h, %b: !b, %s: !s) {
  // expected-error @+1 {{'transformer.gated_delta_rule' op has 8 heads in the values, but 4 in decay}}
  %y = transformer.gated_delta_rule %k, %k, %k, %g, %d, %h, %b state(%s) : !k, !k, !g, !d, !h, !b, !s
  return
}

// -----

!x = tensor<2x4x8x16xbf16>
!s = !transformer.state<2x8x16x16xf32>
func.func @no_layers(%x: !x, %s: !s) {
  // expected-error @+1 {{'transformer.linear_attention' op attribute 'layers' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = transformer.linear_attention %x, %x, %x state(%s) layers(0) : !x, !s
  return
}

// -----

!x = tensor<2x4x8x16xbf16>
!s = !transformer.state<2x8x16x32xf32>
func.func @state_that_is_not_square(%x: !x, %s: !s) {
  // expected-error @+1 {{'transformer.linear_attention' op dimension 3 of operand #3 is 32, but dimension 3 of operand #0 is 16}}
  %y = transformer.linear_attention %x, %x, %x state(%s) : !x, !s
  return
}

// -----

parallel.mesh(tp = 2)
!x = tensor<2x4x8x16xbf16, #parallel.sharding<[_, _, _ by tp, _]>>
!s = !transformer.state<2x8x16x16xf32>
func.func @state_that_is_not_split(%x: !x, %s: !s) {
  // expected-error @+1 {{'transformer.linear_attention' op dimension 1 of operand #3 is split over [], but dimension 2 of operand #0 over [tp]}}
  %y = transformer.linear_attention %x, %x, %x state(%s) : !x, !s
  return
}
