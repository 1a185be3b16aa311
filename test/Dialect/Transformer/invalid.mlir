// RUN: autopar-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

//===----------------------------------------------------------------------===//
// #transformer.dims
//===----------------------------------------------------------------------===//

// expected-error @+1 {{names no dimension: leave the encoding out}}
func.func private @dims_without_names(tensor<4x8xbf16, #transformer.dims<[_, _]>>)

// -----

// expected-error @+1 {{encoding describes 1 dimensions, the tensor has 2}}
func.func private @dims_of_another_rank(tensor<?x64xbf16, #transformer.dims<[batch]>>)

// -----

// expected-error @+1 {{dimension 1 is '?' but its encoding names no symbol}}
func.func private @dims_of_unnamed_extent(tensor<?x?xbf16, #transformer.dims<[batch, _]>>)

// -----

// expected-error @+1 {{dimension 0 is named 'batch' and must print as '?', found 4}}
func.func private @dims_of_named_number(tensor<4x64xbf16, #transformer.dims<[batch, _]>>)

// -----

// expected-error @+1 {{expected an extent up to 1099511627776}}
func.func private @dims_of_huge_extent(tensor<?xbf16, #transformer.dims<[batch*9999999999999]>>)

// -----

// expected-error @+1 {{expected a positive number}}
func.func private @dims_of_zero(tensor<?xbf16, #transformer.dims<[batch*0]>>)

// -----

// expected-error @+1 {{unbalanced '{' character in pretty dialect name}}
func.func private @dims_of_unclosed_set(tensor<?xbf16, #transformer.dims<[{batch*query]>>)

// -----

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected 'concurrency', or 'rate'}}
transformer.requests(prompt = 1, output = 1)

// -----

// expected-error @+1 {{expected a number}}
transformer.requests(rate = "20", prompt = 1, output = 1)

// -----

// expected-error @+1 {{'transformer.requests' op has rate = 0: expected a number from 1e-6 to 1e9}}
"transformer.requests"() {prompt = #transformer.lengths<1>, output = #transformer.lengths<1>} : () -> ()

// -----

// expected-error @+1 {{'transformer.requests' op has rate = -1: expected a number from 1e-6 to 1e9}}
transformer.requests(rate = -1, prompt = 1, output = 1)

// -----

// expected-error @+2 {{'transformer.requests' op has both a rate and a concurrency}}
// expected-note @+1 {{a rate is an open loop, a concurrency a closed loop}}
"transformer.requests"() {rate = 1.0, concurrency = 2, prompt = #transformer.lengths<1>, output = #transformer.lengths<1>} : () -> ()

// -----

// expected-error @+1 {{'transformer.requests' op has concurrency = 0: expected a number above 0}}
"transformer.requests"() {rate = 1.0, concurrency = 0, prompt = #transformer.lengths<1>, output = #transformer.lengths<1>} : () -> ()

// -----

// expected-error @+1 {{expected a number}}
transformer.requests(rate = 4 : ui64, prompt = 1, output = 1)

// -----

// expected-error @+1 {{'transformer.requests' op has concurrency = -1: expected a number above 0}}
transformer.requests(concurrency = -1, prompt = 1, output = 1)

// -----

// expected-error @+1 {{expected one of [fixed, uniform, lognormal, histogram]}}
transformer.requests(rate = 1, prompt = many, output = 1)

// -----

// expected-error @+2 {{uniform:9..1: expected tokens}}
// expected-note @+1 {{one of 2000, uniform:100..500}}
transformer.requests(rate = 1, prompt = 1, output = uniform(9, 1))

// -----

// expected-error @+1 {{'transformer.requests' op has cached = 1: expected a number from 0 to below 1}}
transformer.requests(rate = 1, prompt = 1, output = 1) cached(1)

// -----

// expected-error @+1 {{'transformer.requests' op has acceptance = 1.5: expected a number from 0 to 1}}
transformer.requests(rate = 1, prompt = 1, output = 1) acceptance([0.5, 1.5])

// -----

// expected-error @+1 {{expected a number}}
transformer.requests(rate = 1, prompt = 1, output = 1) acceptance([0.5, "x"])

// -----

// expected-error @+2 {{'transformer.requests' op has a draft_cost without drafts}}
// expected-note @+1 {{say how many are accepted: acceptance}}
transformer.requests(rate = 1, prompt = 1, output = 1) draft_cost(0.5)

// -----

// expected-error @+1 {{expected ttft_us or tpot_us, once each}}
transformer.requests(rate = 1, prompt = 1, output = 1) sla(ttft = 5.0)

// -----

// expected-error @+1 {{expected microseconds above 0}}
transformer.requests(rate = 1, prompt = 1, output = 1) sla(tpot_us = 0.0)

// -----

// expected-error @+1 {{has 2 counts of tokens and 0 other numbers, not those of fixed}}
transformer.requests(rate = 1, prompt = 1, output = fixed(1, 2))

// -----

// expected-error @+1 {{failed to satisfy constraint: lengths, as in lognormal(2000, 0.8)}}
"transformer.requests"() {rate = 1.0, prompt = "1", output = #transformer.lengths<1>} : () -> ()

// -----

// expected-note @+1 {{the first is here}}
transformer.requests(rate = 1, prompt = 1, output = 1)
// expected-error @+1 {{'transformer.requests' op is a second load of requests of its module}}
transformer.requests(rate = 2, prompt = 1, output = 1)

// -----

func.func @inside() {
  // expected-error @+1 {{'transformer.requests' op must be directly inside a module}}
  transformer.requests(rate = 1, prompt = 1, output = 1)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Encodings against the module's workload
//===----------------------------------------------------------------------===//

!x = tensor<?x64xbf16, #transformer.dims<[tokens, _]>>
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
func.func @symbol_without_value(%x: !x) {
  // expected-error @+1 {{'transformer.add' op uses the symbol 'tokens', to which the module's workload gives no value}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

!x = tensor<?x64xbf16, #transformer.dims<[{batch*tokens}, _]>>
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
func.func @symbol_of_a_product_without_value(%x: !x) {
  // expected-error @+1 {{'transformer.add' op uses the symbol 'tokens', to which the module's workload gives no value}}
  %y = transformer.add %x, %x : !x
  return
}

// -----

func.func @unknown_format(%x: tensor<4xf64>) {
  // expected-error @+1 {{'transformer.add' op has elements of type 'f64', expected one of f32, bf16, f16, f8E4M3FN, f8E5M2, i32, i8}}
  %y = transformer.add %x, %x : tensor<4xf64>
  return
}

// -----

func.func @extent_without_name(%x: tensor<?xbf16>) {
  // expected-error @+1 {{'transformer.add' op has a tensor dimension of ?, expected 1 to 1099511627776 or a symbol}}
  %y = transformer.add %x, %x : tensor<?xbf16>
  return
}

// -----

func.func @extent_of_zero(%x: tensor<0xbf16>) {
  // expected-error @+1 {{'transformer.add' op has a tensor dimension of 0, expected 1 to 1099511627776 or a symbol}}
  %y = transformer.add %x, %x : tensor<0xbf16>
  return
}

// -----

func.func @extent_too_large(%x: tensor<1099511627777xbf16>) {
  // expected-error @+1 {{'transformer.add' op has a tensor dimension of 1099511627777, expected 1 to 1099511627776 or a symbol}}
  %y = transformer.add %x, %x : tensor<1099511627777xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.workload
//===----------------------------------------------------------------------===//

// expected-error @+1 {{'transformer.workload' op has batch = 0, expected 1 to 1099511627776}}
transformer.workload(phase = prefill, batch = 0, query = 8, context = 8)

// -----

// expected-error @+1 {{'transformer.workload' op has query = -1, expected 1 to 1099511627776}}
transformer.workload(phase = prefill, batch = 1, query = -1, context = 8)

// -----

// expected-error @+1 {{'transformer.workload' op has context = 1099511627777, expected 1 to 1099511627776}}
transformer.workload(phase = prefill, batch = 1, query = 8, context = 1099511627777)

// -----

// expected-error @+1 {{'transformer.workload' op has query = 8 above context = 7: context counts the new tokens too}}
transformer.workload(phase = prefill, batch = 1, query = 8, context = 7)

// -----

// expected-error @+1 {{'transformer.workload' op has encoder_tokens = -1, expected 0 to 1099511627776}}
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8, encoder_tokens = -1)

// -----

// expected-error @+1 {{'transformer.workload' op has cross_tokens = 1099511627777, expected 0 to 1099511627776}}
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8, cross_tokens = 1099511627777)

// -----

// expected-error @+1 {{expected 'cross_tokens'}}
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8, memories = 8)

// -----

// expected-error @+1 {{expected ')'}}
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8, cross_tokens = 8, source = 8)

// -----

// expected-error @+1 {{custom op 'transformer.workload' expected string or keyword containing one of the following enum values for attribute 'phase' [prefill, decode, train]}}
transformer.workload(phase = training, batch = 1, query = 8, context = 8)

// -----

// expected-note @+1 {{the first is here}}
transformer.workload @first(phase = prefill, batch = 1, query = 8, context = 8)
// expected-error @+1 {{'transformer.workload' op is a second workload of its module}}
transformer.workload @second(phase = decode, batch = 1, query = 1, context = 8)

// -----

func.func @workload_in_a_function() {
  // expected-error @+1 {{'transformer.workload' op must be directly inside a module}}
  transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.weight, #transformer.storage
//===----------------------------------------------------------------------===//

func.func @weight_without_name() {
  // expected-error @+1 {{'transformer.weight' op has no name}}
  %w = transformer.weight "" : tensor<64xbf16>
  return
}

// -----

func.func @weight_of_symbolic_shape() {
  // expected-error @+1 {{'transformer.weight' op has a symbolic shape, expected numbers}}
  %w = transformer.weight "w" : tensor<?x64xbf16, #transformer.dims<[batch, _]>>
  return
}

// -----

parallel.mesh(tp = 8)
func.func @weight_that_is_partial() {
  // expected-error @+1 {{'transformer.weight' op is a partial sum}}
  %w = transformer.weight "w" : tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>
  return
}

// -----

func.func @weight_of_too_many_elements() {
  // expected-error @+1 {{'transformer.weight' op has more elements than 63 bits count}}
  %w = transformer.weight "w" : tensor<1099511627776x1099511627776xbf16>
  return
}

// -----

func.func @weight_with_star_and_no_storage() {
  // expected-error @+1 {{'transformer.weight' op has a '*' in its name and no storage}}
  %w = transformer.weight "experts.*.w1" : tensor<8x64xbf16>
  return
}

// -----

func.func @storage_of_a_dimension_too_many() {
  // expected-error @+1 {{'transformer.weight' op stores dimension 2 of a value of rank 2}}
  %w = transformer.weight "w" stored [2, 1, 0] : tensor<4x8xbf16>
  return
}

// -----

func.func @storage_of_a_negative_dimension() {
  // expected-error @+1 {{'transformer.weight' op stores dimension -1 of a value of rank 2}}
  %w = transformer.weight "w" stored [-1, 0] : tensor<4x8xbf16>
  return
}

// -----

func.func @storage_twice() {
  // expected-error @+1 {{'transformer.weight' op stores dimension 0 twice}}
  %w = transformer.weight "w" stored [0, 1*0] : tensor<4x8xbf16>
  return
}

// -----

func.func @storage_leaves_one_out() {
  // expected-error @+1 {{'transformer.weight' op leaves 1 dimensions out of its storage and has 0 '*' in its name, expected one of each or none}}
  %w = transformer.weight "w" stored [0] : tensor<4x8xbf16>
  return
}

// -----

func.func @storage_leaves_none_for_the_star() {
  // expected-error @+1 {{'transformer.weight' op leaves 0 dimensions out of its storage and has 1 '*' in its name, expected one of each or none}}
  %w = transformer.weight "experts.*.w1" stored [1, 0] : tensor<4x8xbf16>
  return
}

// -----

func.func @storage_leaves_two_out() {
  // expected-error @+1 {{'transformer.weight' op leaves 2 dimensions out of its storage and has 2 '*' in its name, expected one of each or none}}
  %w = transformer.weight "groups.*.experts.*.w1" stored [2] : tensor<2x4x8xbf16>
  return
}

// -----

func.func @storage_of_unknown_format() {
  // expected-error @+1 {{'transformer.weight' op is stored as the unknown format 'f64'}}
  %w = transformer.weight "w" stored [0] as f64 : tensor<64xbf16>
  return
}

// -----

func.func @weight_with_index_outside() {
  // expected-error @+1 {{'transformer.weight' op is stored at 2 to 3 of an extent of 2}}
  %w = transformer.weight "w" stored [2/2*0] : tensor<64xbf16>
  return
}

// -----

func.func @weight_with_negative_index() {
  // expected-error @+1 {{'transformer.weight' op is stored at -1 to 0 of an extent of 2}}
  %w = transformer.weight "w" stored [-1/2*0] : tensor<64xbf16>
  return
}

// -----

func.func @weight_with_empty_extent() {
  // expected-error @+1 {{expected an extent from 1 to 1099511627776}}
  %w = transformer.weight "w" stored [0/0*0] : tensor<64xbf16>
  return
}

// -----

func.func @weight_with_range_outside() {
  // expected-error @+1 {{'transformer.weight' op is stored at 32 to 96 of an extent of 64}}
  %w = transformer.weight "w" stored [0 at 32 of 64] : tensor<64xbf16>
  return
}

// -----

func.func @weight_with_negative_range() {
  // expected-error @+1 {{'transformer.weight' op is stored at -32 to 32 of an extent of 64}}
  %w = transformer.weight "w" stored [0 at -32 of 64] : tensor<64xbf16>
  return
}

// -----

func.func @weight_with_range_of_nothing() {
  // expected-error @+1 {{expected an extent from 1 to 1099511627776}}
  %w = transformer.weight "w" stored [0 at 0 of 0] : tensor<64xbf16>
  return
}

// -----

func.func @weight_in_parts_that_do_not_divide() {
  // expected-error @+1 {{'transformer.weight' op stores dimension 0 of 64 elements in 7 parts, which do not divide it}}
  %w = transformer.weight "w" stored [0 by 7 at 0 of 16] : tensor<64xbf16>
  return
}

// -----

func.func @weight_with_part_outside() {
  // expected-error @+1 {{'transformer.weight' op is stored at 5 to 9 of an extent of 6}}
  %w = transformer.weight "w" stored [0 by 16 at 5 of 6] : tensor<64xbf16>
  return
}

// -----

func.func @weight_in_no_parts() {
  // expected-error @+1 {{expected a number of parts from 1 to 1099511627776}}
  %w = transformer.weight "w" stored [0 by 0 at 0 of 6] : tensor<64xbf16>
  return
}

// -----

func.func @weight_by_without_range() {
  // expected-error @+1 {{expected 'at'}}
  %w = transformer.weight "w" stored [0 by 8] : tensor<64xbf16>
  return
}

// -----

func.func @weight_of_too_large_tensor() {
  // expected-error @+1 {{'transformer.weight' op has a checkpoint tensor of more elements than 63 bits count}}
  %w = transformer.weight "w" stored [0 at 0 of 1099511627776, 1 at 0 of 1099511627776] : tensor<4x8xbf16>
  return
}

// -----

func.func @parts_of_tensors_of_two_shapes() {
  // expected-note @+1 {{the other is here}}
  %q = transformer.weight "qkv" stored [0 at 0 of 96] : tensor<64xbf16>
  // expected-error @+1 {{'transformer.weight' op is of a tensor [128], another weight of its name of one of [96]}}
  %k = transformer.weight "qkv" stored [0 at 64 of 128] : tensor<32xbf16>
  return
}

// -----

func.func @parts_of_two_formats() {
  // expected-note @+1 {{the other is here}}
  %q = transformer.weight "qkv" stored [0 at 0 of 96] as f32 : tensor<64xbf16>
  // expected-error @+1 {{'transformer.weight' op has another format than another weight of its name}}
  %k = transformer.weight "qkv" stored [0 at 64 of 96] : tensor<32xbf16>
  return
}

// -----

func.func @weights_of_one_name_and_two_shapes() {
  // expected-note @+1 {{the other is here}}
  %a = transformer.weight "w" : tensor<4x8xbf16>
  // expected-error @+1 {{'transformer.weight' op is of a tensor [8, 4], another weight of its name of one of [4, 8]}}
  %b = transformer.weight "w" : tensor<8x4xbf16>
  return
}

// -----

func.func @weights_of_one_name_and_two_values() {
  // expected-note @+1 {{the other is here}}
  %a = transformer.weight "w" : tensor<4x8xbf16>
  // expected-error @+1 {{'transformer.weight' op is another value of the tensor that another weight of its name is}}
  %b = transformer.weight "w" stored [1, 0] : tensor<8x4xbf16>
  return
}

//===----------------------------------------------------------------------===//
// transformer.stored
//===----------------------------------------------------------------------===//

// -----

// expected-error @+1 {{'transformer.stored' op names @mtp, which is no function of its module}}
transformer.stored @mtp

// -----

func.func @mtp() {
  return
}
// expected-error @+1 {{'transformer.stored' op names @mtp, expected a private function with a body}}
transformer.stored @mtp

// -----

func.func private @mtp()
// expected-error @+1 {{'transformer.stored' op names @mtp, expected a private function with a body}}
transformer.stored @mtp

// -----

func.func private @mtp() {
  return
}
// expected-note @+1 {{the first is here}}
transformer.stored @mtp
// expected-error @+1 {{'transformer.stored' op names @mtp a second time}}
transformer.stored @mtp

// -----

func.func private @mtp() {
  return
}
// expected-error @+1 {{'transformer.stored' op names @mtp, which is called: what runs is loaded}}
transformer.stored @mtp
func.func @model() {
  // expected-note @+1 {{called here}}
  func.call @mtp() : () -> ()
  return
}

// -----

func.func private @mtp() {
  // expected-error @+1 {{'transformer.stored' op expects parent op 'builtin.module'}}
  transformer.stored @mtp
  return
}

//===----------------------------------------------------------------------===//
// #transformer.format
//===----------------------------------------------------------------------===//

// -----

// expected-error @+1 {{a format has a name and at least one tensor}}
#f = #transformer.format<"" {weight : i8}>

// -----

// expected-error @+1 {{a format has a name and at least one tensor}}
#f = #transformer.format<"f" {}>

// -----

// expected-error @+1 {{suffix 'weight' is empty, has a '*' or occurs twice}}
#f = #transformer.format<"f" {weight : i8, weight : f32 []}>

// -----

// expected-error @+1 {{computes in the unknown format 'f64'}}
#f = #transformer.format<"f" compute f64 {weight : i8}>

// -----

// expected-error @+1 {{'weight' has the unknown format 'f64'}}
#f = #transformer.format<"f" {weight : f64}>

// -----

// expected-error @+1 {{'weight' has the number 0 in its shape, expected 1 to 1099511627776}}
#f = #transformer.format<"f" {weight : i8 [o/0]}>

// -----

// expected-error @+1 {{expected a number, o, i or all}}
#f = #transformer.format<"f" {weight : i8 [rows]}>

// -----

#f = #transformer.format<"f" {weight : i8 [o, i]}>
func.func @vector_in_a_format_of_matrices() {
  // expected-error @+1 {{'transformer.weight' op has a format of matrices, but 1 dimensions in the checkpoint}}
  %w = transformer.weight "w" stored [0] as(#f) : tensor<64xbf16>
  return
}

// -----

#f = #transformer.format<"f" {weight : i8 [o*1099511627776, i]}>
func.func @format_of_too_many_elements() {
  // expected-error @+1 {{'transformer.weight' op has a tensor 'weight' of more elements than 63 bits count}}
  %w = transformer.weight "w" stored [1, 0] as(#f) : tensor<4096x4096xbf16>
  return
}

// -----

func.func @format_that_is_none() {
  // expected-error @+1 {{'transformer.weight' op is stored as the unknown format '64 : i64'}}
  %w = transformer.weight "w" stored [0] as(64) : tensor<64xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.kv_cache
//===----------------------------------------------------------------------===//

func.func @cache_of_rank_5() {
  // expected-error @+1 {{'transformer.kv_cache' op expected a tensor [batch, context, kv heads, width] or [batch, context, width], or one of cross_tokens}}
  %c = transformer.kv_cache : !transformer.cache<2x?x?x8x128xbf16, #transformer.dims<[_, batch, context, _, _]>>
  return
}

// -----

func.func @cache_without_sequences() {
  // expected-error @+1 {{'transformer.kv_cache' op expected a tensor [batch, context, kv heads, width] or [batch, context, width], or one of cross_tokens}}
  %c = transformer.kv_cache : !transformer.cache<3x?x8x128xbf16, #transformer.dims<[_, context, _, _]>>
  return
}

// -----

func.func @cache_of_new_tokens() {
  // expected-error @+1 {{'transformer.kv_cache' op expected a tensor [batch, context, kv heads, width] or [batch, context, width], or one of cross_tokens}}
  %c = transformer.kv_cache : !transformer.cache<?x?x8x128xbf16, #transformer.dims<[batch, query, _, _]>>
  return
}

// -----

func.func @cache_of_symbolic_width() {
  // expected-error @+1 {{'transformer.kv_cache' op expected a tensor [batch, context, kv heads, width] or [batch, context, width], or one of cross_tokens}}
  %c = transformer.kv_cache : !transformer.cache<?x?x?xbf16, #transformer.dims<[batch, context, query]>>
  return
}

// -----

parallel.mesh(tp = 8)
func.func @cache_that_is_partial() {
  // expected-error @+1 {{'transformer.kv_cache' op is a partial sum}}
  %c = transformer.kv_cache
      : !transformer.cache<?x?x8x256xbf16, #parallel.sharding<[batch, context, _, _] partial [tp]>>
  return
}

// -----

func.func @cache_of_empty_window() {
  // expected-error @+1 {{'transformer.kv_cache' op has a window of 0 tokens, expected at least 1}}
  %c = transformer.kv_cache window(0)
      : !transformer.cache<?x?x8x256xbf16, #transformer.dims<[batch, context, _, _]>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.repeat, transformer.yield
//===----------------------------------------------------------------------===//

func.func @repeat_never(%x: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.repeat' op repeats 0 times, expected 1 to 1000000}}
  %y = transformer.repeat 0 (%a = %x) : tensor<8xbf16> {
    transformer.yield %a : tensor<8xbf16>
  }
  return
}

// -----

func.func @repeat_too_often(%x: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.repeat' op repeats 1000001 times, expected 1 to 1000000}}
  %y = transformer.repeat 1000001 (%a = %x) : tensor<8xbf16> {
    transformer.yield %a : tensor<8xbf16>
  }
  return
}

// -----

func.func @repeat_from_negative_layer(%x: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.repeat' op starts at layer -1, expected 0 to 1000000}}
  %y = transformer.repeat 2 layers "layers" from -1 (%a = %x) : tensor<8xbf16> {
    transformer.yield %a : tensor<8xbf16>
  }
  return
}

// -----

func.func @layers_inside_layers(%x: tensor<8xbf16>) {
  %y = transformer.repeat 2 layers "blocks" from 0 (%a = %x) : tensor<8xbf16> {
    // expected-error @+1 {{'transformer.repeat' op names layers "layers" inside layers "blocks"}}
    %b = transformer.repeat 2 layers "layers" from 0 (%c = %a) : tensor<8xbf16> {
      transformer.yield %c : tensor<8xbf16>
    }
    transformer.yield %b : tensor<8xbf16>
  }
  return
}

// -----

func.func @repeat_with_fewer_types_than_values(%x: tensor<8xbf16>) {
  // expected-error @+1 {{carries 2 values of 1 types}}
  %y = transformer.repeat 2 (%a = %x, %b = %x) : tensor<8xbf16> {
    transformer.yield %a : tensor<8xbf16>
  }
  return
}

// -----

func.func @repeat_yields_another_type(%x: tensor<8xbf16>, %z: tensor<4xbf16>) {
  // expected-error @+1 {{'transformer.repeat' op 0-th region iter_arg and 0-th yielded value have different type: 'tensor<8xbf16>' != 'tensor<4xbf16>'}}
  %y = transformer.repeat 2 (%a = %x) : tensor<8xbf16> {
    transformer.yield %z : tensor<4xbf16>
  }
  return
}

// -----

func.func @repeat_yields_nothing(%x: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.repeat' op carries values of other types than it yields}}
  %y = transformer.repeat 2 (%a = %x) : tensor<8xbf16> {
    // expected-note @+1 {{yielded here}}
    transformer.yield
  }
  return
}

// -----

func.func @repeat_without_yield(%x: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.repeat' op expected its body to end in transformer.yield}}
  %y = "transformer.repeat"(%x) <{count = 2}> ({
  ^body(%a: tensor<8xbf16>):
    "test.end"(%a) : (tensor<8xbf16>) -> ()
  }) : (tensor<8xbf16>) -> tensor<8xbf16>
  return
}

// -----

func.func @repeat_with_a_result_of_another_type(%x: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.repeat' op carries values of other types than its results}}
  %y = "transformer.repeat"(%x) <{count = 2}> ({
  ^body(%a: tensor<8xbf16>):
    transformer.yield %a : tensor<8xbf16>
  }) : (tensor<8xbf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @repeat_with_a_body_of_other_arguments(%x: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.repeat' op different number of inits and region iter_args: 1 != 0}}
  %y = "transformer.repeat"(%x) <{count = 2}> ({
    transformer.yield %x : tensor<8xbf16>
  }) : (tensor<8xbf16>) -> tensor<8xbf16>
  return
}

// -----

func.func @yield_outside_repeat(%x: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.yield' op expects parent op 'transformer.repeat'}}
  transformer.yield %x : tensor<8xbf16>
}

// -----

//===----------------------------------------------------------------------===//
// transformer.embedding
//===----------------------------------------------------------------------===//

func.func @embedding_of_floats(%ids: tensor<4xbf16>, %t: tensor<100x64xbf16>) {
  // expected-error @+1 {{'transformer.embedding' op looks up with tokens that are not integers}}
  %x = transformer.embedding %ids, %t : tensor<4xbf16>, tensor<100x64xbf16> -> tensor<4x64xbf16>
  return
}

// -----

func.func @embedding_in_a_table_of_rank_3(%ids: tensor<4xi32>, %t: tensor<10x10x64xbf16>) {
  // expected-error @+1 {{'transformer.embedding' op cannot work on operands of rank 1, 3 with a result of rank 2}}
  %x = transformer.embedding %ids, %t : tensor<4xi32>, tensor<10x10x64xbf16> -> tensor<4x64xbf16>
  return
}

// -----

func.func @embedding_loses_a_dimension(%ids: tensor<4x16xi32>, %t: tensor<100x64xbf16>) {
  // expected-error @+1 {{'transformer.embedding' op the result has rank 2, expected 3}}
  %x = transformer.embedding %ids, %t : tensor<4x16xi32>, tensor<100x64xbf16> -> tensor<4x64xbf16>
  return
}

// -----

func.func @embedding_of_another_width(%ids: tensor<4xi32>, %t: tensor<100x64xbf16>) {
  // expected-error @+1 {{'transformer.embedding' op dimension 1 of the result is 32, but dimension 1 of operand #1 is 64}}
  %x = transformer.embedding %ids, %t : tensor<4xi32>, tensor<100x64xbf16> -> tensor<4x32xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.last_token
//===----------------------------------------------------------------------===//

func.func @last_token_keeps_all(%x: tensor<4x16x64xbf16>) {
  // expected-error @+1 {{'transformer.last_token' op the result has rank 3, expected 2}}
  %y = transformer.last_token %x : tensor<4x16x64xbf16> -> tensor<4x16x64xbf16>
  return
}

// -----

func.func @last_token_of_one_dimension(%x: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.last_token' op cannot work on operands of rank 1 with a result of rank 1}}
  %y = transformer.last_token %x : tensor<64xbf16> -> tensor<64xbf16>
  return
}

// -----

func.func @last_token_drops_the_batch(%x: tensor<4x16x64xbf16>) {
  // expected-error @+1 {{'transformer.last_token' op dimension 0 of the result is 16, but dimension 0 of operand #0 is 4}}
  %y = transformer.last_token %x : tensor<4x16x64xbf16> -> tensor<16x64xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.logits
//===----------------------------------------------------------------------===//

func.func @logits_of_a_transposed_table(%x: tensor<4x64xbf16>, %t: tensor<64x100xbf16>) {
  // expected-error @+1 {{'transformer.logits' op dimension 1 of operand #1 is 100, but dimension 1 of operand #0 is 64}}
  %y = transformer.logits %x, %t : tensor<4x64xbf16>, tensor<64x100xbf16> -> tensor<4x100xbf16>
  return
}

// -----

func.func @logits_of_another_vocabulary(%x: tensor<4x64xbf16>, %t: tensor<100x64xbf16>) {
  // expected-error @+1 {{'transformer.logits' op dimension 1 of the result is 200, but dimension 0 of operand #1 is 100}}
  %y = transformer.logits %x, %t : tensor<4x64xbf16>, tensor<100x64xbf16> -> tensor<4x200xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.linear, transformer.add_bias
//===----------------------------------------------------------------------===//

func.func @linear_of_another_width(%x: tensor<4x64xbf16>, %w: tensor<32x16xbf16>) {
  // expected-error @+1 {{'transformer.linear' op dimension 0 of operand #1 is 32, but dimension 1 of operand #0 is 64}}
  %y = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<32x16xbf16> -> tensor<4x16xbf16>
  return
}

// -----

func.func @linear_to_another_width(%x: tensor<4x64xbf16>, %w: tensor<64x16xbf16>) {
  // expected-error @+1 {{'transformer.linear' op dimension 1 of the result is 8, but dimension 1 of operand #1 is 16}}
  %y = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x16xbf16> -> tensor<4x8xbf16>
  return
}

// -----

func.func @linear_contracts_nothing(%x: tensor<4xbf16>, %w: tensor<16xbf16>) {
  // expected-error @+1 {{'transformer.linear' op cannot work on operands of rank 1, 1 with a result of rank 2}}
  %y = transformer.linear %x, %w : tensor<4xbf16>, tensor<16xbf16> -> tensor<4x16xbf16>
  return
}

// -----

func.func @linear_of_odd_ranks(%x: tensor<4x64xbf16>, %w: tensor<64x16xbf16>) {
  // expected-error @+1 {{'transformer.linear' op cannot work on operands of rank 2, 2 with a result of rank 1}}
  %y = transformer.linear %x, %w : tensor<4x64xbf16>, tensor<64x16xbf16> -> tensor<16xbf16>
  return
}

// -----

func.func @linear_with_bias_of_another_rank(%x: tensor<4x64xbf16>, %w: tensor<64x2x8xbf16>, %b: tensor<16xbf16>) {
  // expected-error @+1 {{'transformer.linear' op operand #2 has rank 1, expected 2}}
  %y = transformer.linear %x, %w bias(%b : tensor<16xbf16>)
      : tensor<4x64xbf16>, tensor<64x2x8xbf16> -> tensor<4x2x8xbf16>
  return
}

// -----

func.func @linear_with_bias_of_another_width(%x: tensor<4x64xbf16>, %w: tensor<64x16xbf16>, %b: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.linear' op dimension 0 of operand #2 is 8, but dimension 1 of operand #1 is 16}}
  %y = transformer.linear %x, %w bias(%b : tensor<8xbf16>)
      : tensor<4x64xbf16>, tensor<64x16xbf16> -> tensor<4x16xbf16>
  return
}

// -----

func.func @add_bias_of_another_width(%x: tensor<4x64xbf16>, %b: tensor<32xbf16>) {
  // expected-error @+1 {{'transformer.add_bias' op dimension 0 of operand #1 is 32, but dimension 1 of operand #0 is 64}}
  %y = transformer.add_bias %x, %b : tensor<4x64xbf16>, tensor<32xbf16>
  return
}

// -----

func.func @add_bias_of_higher_rank(%x: tensor<64xbf16>, %b: tensor<4x64xbf16>) {
  // expected-error @+1 {{'transformer.add_bias' op cannot work on operands of rank 1, 2 with a result of rank 1}}
  %y = transformer.add_bias %x, %b : tensor<64xbf16>, tensor<4x64xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.rms_norm, transformer.layer_norm
//===----------------------------------------------------------------------===//

// expected-note @+1 {{prior use here}}
func.func @norm_of_another_width(%x: tensor<4x64xbf16>, %g: tensor<32xbf16>) {
  // expected-error @+1 {{use of value '%g' expects different type than prior uses: 'tensor<64xbf16>' vs 'tensor<32xbf16>'}}
  %y = transformer.rms_norm %x, %g eps(1.0e-5) : tensor<4x64xbf16>
  return
}

// -----

func.func @norm_with_negative_eps(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.rms_norm' op has an eps that is not a positive number}}
  %y = transformer.rms_norm %x, %g eps(-1.0e-5) : tensor<4x64xbf16>
  return
}

// -----

func.func @layer_norm_with_infinite_eps(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.layer_norm' op has an eps that is not a positive number}}
  %y = "transformer.layer_norm"(%x, %g) <{eps = 0x7FF0000000000000 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}>
      : (tensor<4x64xbf16>, tensor<64xbf16>) -> tensor<4x64xbf16>
  return
}

// -----

func.func @layer_norm_with_bias_of_another_type(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>, %b: tensor<64xf32>) {
  // expected-error @+1 {{'transformer.layer_norm' op has a bias of another type than its weight}}
  %y = transformer.layer_norm %x, %g bias(%b : tensor<64xf32>) eps(1.0e-5) : tensor<4x64xbf16>
  return
}

// -----

func.func @layer_norm_with_bias_of_another_width(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>, %b: tensor<32xbf16>) {
  // expected-error @+1 {{'transformer.layer_norm' op dimension 0 of operand #2 is 32, but dimension 1 of operand #0 is 64}}
  %y = transformer.layer_norm %x, %g bias(%b : tensor<32xbf16>) eps(1.0e-5) : tensor<4x64xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.rope
//===----------------------------------------------------------------------===//

func.func @rope_of_odd_width(%x: tensor<4x8x127xbf16>) {
  // expected-error @+1 {{'transformer.rope' op turns pairs, but the last dimension is 127}}
  %y = transformer.rope %x theta(1.0e4) : tensor<4x8x127xbf16>
  return
}

// -----

func.func @rope_of_symbolic_width(%x: tensor<?xbf16, #transformer.dims<[batch]>>) {
  // expected-error @+1 {{'transformer.rope' op turns pairs, but the last dimension is batch}}
  %y = transformer.rope %x theta(1.0e4) : tensor<?xbf16, #transformer.dims<[batch]>>
  return
}

// -----

func.func @rope_without_theta(%x: tensor<4x8x128xbf16>) {
  // expected-error @+1 {{'transformer.rope' op has a theta that is not a positive number}}
  %y = transformer.rope %x theta(0.0) : tensor<4x8x128xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.attention
//===----------------------------------------------------------------------===//

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x3x64xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x3x128xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @attention_of_uneven_groups(%q: !q, %k: !k, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op has 8 query heads, which 3 key-value heads do not divide}}
  %y = transformer.attention %q, %k, %k cache(%c) causal : !q, !k, !k in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x8x128xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @attention_with_empty_window(%q: !q, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op has a window of 0 tokens, expected at least 1}}
  %y = transformer.attention %q, %q, %q cache(%c) causal window(0) : !q, !q, !q in !c -> !q
  return
}

// -----

!q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x8x64xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @attention_to_a_narrower_cache(%q: !q, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op caches 64 elements per head, expected 128: a key and a value}}
  %y = transformer.attention %q, %q, %q cache(%c) causal : !q, !q, !q in !c -> !q
  return
}

// -----

!q = tensor<?x?x512xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x8x128xbf16, #transformer.dims<[batch, context, _, _]>>
func.func @attention_without_heads(%q: !q, %c: !c) {
  // expected-error @+1 {{'transformer.attention' op cannot work on operands of rank 3, 3, 3, 4 with a result of rank 3}}
  %y = transformer.attention %q, %q, %q cache(%c) causal : !q, !q, !q in !c -> !q
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.add, transformer.activation, transformer.gated
//===----------------------------------------------------------------------===//

func.func @add_of_two_types(%a: tensor<4xbf16>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'transformer.add' op failed to verify that all of {lhs, rhs, result} have same type}}
  %y = "transformer.add"(%a, %b) : (tensor<4xbf16>, tensor<4xf32>) -> tensor<4xbf16>
  return
}

// -----

func.func @activation_by_another_function(%x: tensor<4xbf16>) {
  // expected-error @+1 {{custom op 'transformer.activation' expected string or keyword containing one of the following enum values for attribute 'function' [silu, gelu, gelu_tanh, relu, relu2, sigmoid, tanh, quick_gelu, softplus, exp, relu6, leaky_relu, hardswish, mish, identity]}}
  %y = transformer.activation %x sine : tensor<4xbf16>
  return
}

// -----

func.func @activation_changes_the_type(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'transformer.activation' op failed to verify that all of {x, result} have same type}}
  %y = "transformer.activation"(%x) <{function = 0 : i32}> : (tensor<4xbf16>) -> tensor<4xf32>
  return
}

// -----

func.func @gated_by_another_shape(%g: tensor<4xbf16>, %u: tensor<8xbf16>) {
  // expected-error @+1 {{'transformer.gated' op failed to verify that all of {gate, up, result} have same type}}
  %y = "transformer.gated"(%g, %u) <{function = 0 : i32}> : (tensor<4xbf16>, tensor<8xbf16>) -> tensor<4xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transformer.router, transformer.dispatch, transformer.experts,
// transformer.combine
//===----------------------------------------------------------------------===//

func.func @router_keeps_none(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op keeps 0 experts, but the result has 2}}
  %r = transformer.router %x, %w top_k(0) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
  return
}

// -----

func.func @router_keeps_more_than_there_are(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
  // expected-error @+1 {{'transformer.router' op has top_k(9) of 8 experts}}
  %r = transformer.router %x, %w top_k(9) : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x9xbf16>
  return
}

// -----

func.func @router_with_a_vector(%x: tensor<4x64xbf16>, %w: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.router' op cannot work on operands of rank 2, 1 with a result of rank 2}}
  %r = transformer.router %x, %w top_k(2) : tensor<4x64xbf16>, tensor<64xbf16> -> tensor<4x2xbf16>
  return
}

// -----

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x2xbf16, #transformer.dims<[batch, _]>>
!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func @dispatch_by_routing_of_another_rank(%x: !x, %r: !r) {
  // expected-error @+1 {{'transformer.dispatch' op cannot work on operands of rank 3, 2 with a result of rank 2}}
  %t = transformer.dispatch %x, %r : !x, !r -> !t
  return
}

// -----

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!t = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func @dispatch_changes_the_width(%x: !x, %r: !r) {
  // expected-error @+1 {{'transformer.dispatch' op dimension 1 of the result is 32, but dimension 2 of operand #0 is 64}}
  %t = transformer.dispatch %x, %r : !x, !r -> !t
  return
}

// -----

!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func @experts_more_than_there_are(%t: !t, %w: tensor<1x64x64xbf16>) {
  // expected-error @+1 {{'transformer.experts' op has top_k(2) of 1 experts}}
  %y = transformer.experts %t, %w top_k(2) : !t, tensor<1x64x64xbf16> -> !t
  return
}

// -----

!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func @experts_of_another_width(%t: !t, %w: tensor<8x32x64xbf16>) {
  // expected-error @+1 {{'transformer.experts' op dimension 1 of operand #1 is 32, but dimension 1 of operand #0 is 64}}
  %y = transformer.experts %t, %w top_k(2) : !t, tensor<8x32x64xbf16> -> !t
  return
}

// -----

!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func @experts_with_one_matrix(%t: !t, %w: tensor<64x64xbf16>) {
  // expected-error @+1 {{'transformer.experts' op cannot work on operands of rank 2, 2 with a result of rank 2}}
  %y = transformer.experts %t, %w top_k(2) : !t, tensor<64x64xbf16> -> !t
  return
}

// -----

!x = tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func @combine_changes_the_width(%t: !t, %r: !r) {
  // expected-error @+1 {{'transformer.combine' op dimension 2 of the result is 32, but dimension 1 of operand #0 is 64}}
  %x = transformer.combine %t, %r : !t, !r -> !x
  return
}

// -----

!x = tensor<?x64xbf16, #transformer.dims<[batch, _]>>
!r = tensor<?x2xbf16, #transformer.dims<[query, _]>>
!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func @combine_for_other_tokens(%t: !t, %r: !r) {
  // expected-error @+1 {{'transformer.combine' op dimension 0 of the result is batch, but dimension 0 of operand #1 is query}}
  %x = transformer.combine %t, %r : !t, !r -> !x
  return
}

// -----

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!t = tensor<?x64xbf16, #transformer.dims<[{batch*query*3}, _]>>
func.func @dispatch_to_more_experts_than_the_routing_keeps(%x: !x, %r: !r) {
  // expected-error @+1 {{'transformer.dispatch' op routes a set of {batch*query*3}, expected batch*query*2}}
  %t = transformer.dispatch %x, %r : !x, !r -> !t
  return
}

// -----

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!t = tensor<?x64xbf16, #transformer.dims<[{batch*2}, _]>>
func.func @combine_of_fewer_tokens(%t: !t, %r: !r) {
  // expected-error @+1 {{'transformer.combine' op routes a set of {batch*2}, expected batch*query*2}}
  %x = transformer.combine %t, %r : !t, !r -> !x
  return
}

// -----

!x = tensor<1099511627776x1099511627776x64xbf16>
!r = tensor<1099511627776x1099511627776x2xbf16>
!t = tensor<2x64xbf16>
func.func @dispatch_of_too_many_tokens(%x: !x, %r: !r) {
  // expected-error @+1 {{'transformer.dispatch' op has more routed tokens than 63 bits count}}
  %t = transformer.dispatch %x, %r : !x, !r -> !t
  return
}

// -----

parallel.mesh(tp = 8)
func.func @bias_on_a_row_product(%x: tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>,
                                 %w: tensor<64x64xbf16, #parallel.sharding<[_ by tp, _]>>,
                                 %b: tensor<64xbf16>) {
  // expected-error @+1 {{'transformer.linear' op sums over [tp] and adds a bias, which every device would add: add it after the reduction}}
  %y = transformer.linear %x, %w bias(%b : tensor<64xbf16>)
      : tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>, tensor<64x64xbf16, #parallel.sharding<[_ by tp, _]>>
      -> tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
  return
}

// -----

func.func @rope_of_a_scalar(%x: tensor<bf16>) {
  // expected-error @+1 {{'transformer.rope' op cannot work on operands of rank 0 with a result of rank 0}}
  %y = transformer.rope %x theta(1.0) : tensor<bf16>
  return
}

// -----

func.func @foreign_encoding() {
  // expected-error @+1 {{'transformer.weight' op has a tensor with the foreign encoding "foo", expected #transformer.dims or #parallel.sharding}}
  %w = transformer.weight "w" : tensor<64x64xbf16, "foo">
  return
}
