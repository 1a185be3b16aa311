// RUN: %roundtrip %s | FileCheck %s

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!last = tensor<?x64xbf16, #transformer.dims<[batch, _]>>
!heads = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!kv = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
!routing = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!routed = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
!wide = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>

// CHECK: transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)
transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)

// CHECK-LABEL: module @decode_module
module @decode_module {
  // CHECK-NEXT: transformer.workload(phase = decode, batch = 8, query = 1, context = 4096)
  transformer.workload(phase = decode, batch = 8, query = 1, context = 4096)
}

// What is 0 is not printed.
// CHECK-LABEL: module @image_module
module @image_module {
  // CHECK-NEXT: transformer.workload(phase = prefill, batch = 1, query = 640, context = 640, encoder_tokens = 576)
  transformer.workload(phase = prefill, batch = 1, query = 640, context = 640, encoder_tokens = 576, cross_tokens = 0)
  // CHECK-NEXT: func.func private @encoder(!bet_64_bf)
  func.func private @encoder(tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>)
}

// CHECK-LABEL: module @served
module @served {
  module {
    // CHECK: transformer.requests(rate = 20.0, prompt = lognormal(2000, 0.8), output = 300) cached(0.5) sla(ttft_us = 500000.0, tpot_us = 30000.0) {note = "x"}
    transformer.requests(rate = 20, prompt = lognormal(2000, 0.8), output = 300) cached(0.5) sla(ttft_us = 500000.0, tpot_us = 30000.0) {note = "x"}
  }
  module {
    // CHECK: transformer.requests(concurrency = 64, prompt = histogram(128 : 3.0, 4096 : 1.0), output = uniform(1, 9)) acceptance([0.85, 1.0]) draft_cost(0.02)
    transformer.requests(concurrency = 64, prompt = histogram(128 : 3.0, 4096 : 1.0), output = uniform(1, 9)) acceptance([0.85, 1]) draft_cost(0.02)
  }
}

// CHECK-LABEL: module @audio_modules
module @audio_modules {
  module {
    // CHECK: transformer.workload(phase = prefill, batch = 1, query = 4, context = 4, encoder_tokens = 1500, cross_tokens = 1500)
    transformer.workload(phase = prefill, batch = 1, query = 4, context = 4, encoder_tokens = 1500, cross_tokens = 1500)
  }
  module {
    // CHECK: transformer.workload(phase = decode, batch = 1, query = 1, context = 5, cross_tokens = 1500)
    transformer.workload(phase = decode, batch = 1, query = 1, context = 5, encoder_tokens = 0, cross_tokens = 1500)
  }
}

// CHECK-LABEL: func private @mtp
func.func private @mtp() {
  return
}
// CHECK: transformer.stored @mtp
transformer.stored @mtp

// CHECK-LABEL: func @weight
func.func @weight() {
  // CHECK: transformer.weight "norm.weight" : tensor<64xbf16>
  %g = transformer.weight "norm.weight" : tensor<64xbf16>
  return
}

// CHECK-LABEL: func @weight_stored
func.func @weight_stored() {
  // CHECK: transformer.weight "q_proj.weight" stored [1*2, 0] : tensor<64x8x16xbf16>
  %q = transformer.weight "q_proj.weight" stored [1*2, 0] : tensor<64x8x16xbf16>
  // CHECK: transformer.weight "k_proj.weight" stored [1*2, 0] as f8E4M3FN : tensor<64x8x16xbf16>
  %k = transformer.weight "k_proj.weight" stored [1*2, 0] as f8E4M3FN : tensor<64x8x16xbf16>
  return
}

// CHECK-LABEL: func @weight_parts
func.func @weight_parts() {
  // CHECK: "qkv.weight" stored [1*2 at 0 of 256, 0]
  %q = transformer.weight "qkv.weight" stored [1*2 at 0 of 256, 0] : tensor<64x8x16xbf16>
  // CHECK: "qkv.weight" stored [1*2 at 128 of 256, 0]
  %k = transformer.weight "qkv.weight" stored [1*2 at 128 of 256, 0] : tensor<64x8x16xbf16>
  // CHECK: "neox.weight" stored [1*0/3*2, 0]
  %n = transformer.weight "neox.weight" stored [1 * 0/3 * 2, 0] : tensor<64x8x16xbf16>
  // CHECK: "gate_up_proj" stored [0, 1, 2*1/2]
  %u = transformer.weight "gate_up_proj" stored [0, 1, 2*1/2] : tensor<4x64x32xbf16>
  // CHECK: "wqkv.weight" stored [1 by 2 at 0 of 6 * 2, 0]
  %w = transformer.weight "wqkv.weight" stored [1 by 2 at 0 of 6 * 2, 0] : tensor<64x8x16xbf16>
  // CHECK: "wqkv.weight2" stored [1 by 2 at 4 of 6 * 2, 0] as(#{{.*}}) : tensor<64x2x16xbf16>
  %v = transformer.weight "wqkv.weight2" stored [1 by 2 at 4 of 6 * 2, 0]
      as(#transformer.format<"bnb-nf4" {weight : ui8 [all/2, 1], weight.absmax : ui8 [all/64], weight.scale : f32 []}>)
      : tensor<64x2x16xbf16>
  return
}

// CHECK-LABEL: func @weight_of_experts
func.func @weight_of_experts() {
  // CHECK: transformer.weight "experts.*.w1.weight" stored [2, 1] : tensor<4x64x32xbf16>
  %w = transformer.weight "experts.*.w1.weight" stored [2, 1] : tensor<4x64x32xbf16>
  return
}

// CHECK-LABEL: func @kv_cache
func.func @kv_cache() {
  // CHECK: transformer.kv_cache : !bc_2_32_bf
  %all = transformer.kv_cache : !cache
  // CHECK: transformer.kv_cache window(4096) : !bc_2_32_bf
  %window = transformer.kv_cache window(4096) : !cache
  return
}

// CHECK-LABEL: func @repeat_layers
func.func @repeat_layers(%x0: !x) -> !x {
  // CHECK: transformer.repeat 80 layers "model.layers" from 3 (%[[X:.*]] = %arg0) : !bq_64_bf {
  // CHECK-NEXT: transformer.yield %[[X]] : !bq_64_bf
  %x1 = transformer.repeat 80 layers "model.layers" from 3 (%x = %x0) : !x {
    transformer.yield %x : !x
  }
  return %x1 : !x
}

// CHECK-LABEL: func @repeat_nested
func.func @repeat_nested(%x0: !x) -> !x {
  // CHECK: transformer.repeat 2 (%[[OUTER:.*]] = %arg0) : !bq_64_bf {
  // CHECK-NEXT: transformer.repeat 5 (%{{.*}} = %[[OUTER]]) : !bq_64_bf {
  %x1 = transformer.repeat 2 (%x = %x0) : !x {
    %x2 = transformer.repeat 5 (%y = %x) : !x {
      transformer.yield %y : !x
    }
    transformer.yield %x2 : !x
  }
  return %x1 : !x
}

// CHECK-LABEL: func @repeat_carries_two_values
func.func @repeat_carries_two_values(%x0: !x, %t0: !last) {
  // CHECK: transformer.repeat 2 (%[[X:.*]] = %arg0, %[[T:.*]] = %arg1) : !bq_64_bf, !b_64_bf attributes {note = "two"} {
  // CHECK-NEXT: transformer.yield %[[X]], %[[T]] : !bq_64_bf, !b_64_bf
  %x1, %t1 = transformer.repeat 2 (%x = %x0, %t = %t0) : !x, !last attributes {note = "two"} {
    transformer.yield %x, %t : !x, !last
  }
  return
}

// CHECK-LABEL: func @embedding
func.func @embedding(%ids: !ids, %table: tensor<1000x64xbf16>) {
  // CHECK: transformer.embedding %arg0, %arg1 : !bq_int, tensor<1000x64xbf16> -> !bq_64_bf
  %x = transformer.embedding %ids, %table : !ids, tensor<1000x64xbf16> -> !x
  return
}

// CHECK-LABEL: func @last_token
func.func @last_token(%x: !x) {
  // CHECK: transformer.last_token %arg0 : !bq_64_bf -> !b_64_bf
  %last = transformer.last_token %x : !x -> !last
  return
}

// CHECK-LABEL: func @logits
func.func @logits(%x: !last, %table: tensor<1000x64xbf16>) {
  // CHECK: transformer.logits %arg0, %arg1 : !b_64_bf, tensor<1000x64xbf16> -> !b_1000_bf
  %y = transformer.logits %x, %table : !last, tensor<1000x64xbf16>
      -> tensor<?x1000xbf16, #transformer.dims<[batch, _]>>
  return
}

// CHECK-LABEL: func @linear
func.func @linear(%x: !x, %w: tensor<64x64xbf16>) {
  // CHECK: transformer.linear %arg0, %arg1 : !bq_64_bf, tensor<64x64xbf16> -> !bq_64_bf
  %y = transformer.linear %x, %w : !x, tensor<64x64xbf16> -> !x
  return
}

// CHECK-LABEL: func @linear_to_heads_with_bias
func.func @linear_to_heads_with_bias(%x: !x, %w: tensor<64x8x16xbf16>, %b: tensor<8x16xbf16>) {
  // CHECK: transformer.linear %arg0, %arg1 bias(%arg2 : tensor<8x16xbf16>) : !bq_64_bf, tensor<64x8x16xbf16> -> !bq_8_16_bf
  %y = transformer.linear %x, %w bias(%b : tensor<8x16xbf16>)
      : !x, tensor<64x8x16xbf16> -> !heads
  return
}

// CHECK-LABEL: func @linear_from_heads
func.func @linear_from_heads(%x: !heads, %w: tensor<8x16x64xbf16>) {
  // CHECK: transformer.linear %arg0, %arg1 : !bq_8_16_bf, tensor<8x16x64xbf16> -> !bq_64_bf
  %y = transformer.linear %x, %w : !heads, tensor<8x16x64xbf16> -> !x
  return
}

// CHECK-LABEL: func @add_bias
func.func @add_bias(%x: !heads, %b: tensor<8x16xbf16>) {
  // CHECK: transformer.add_bias %arg0, %arg1 : !bq_8_16_bf, tensor<8x16xbf16>
  %y = transformer.add_bias %x, %b : !heads, tensor<8x16xbf16>
  return
}

// CHECK-LABEL: func @rms_norm
func.func @rms_norm(%x: !x, %g: tensor<64xbf16>) {
  // CHECK: transformer.rms_norm %arg0, %arg1 eps(1.0e-05) : !bq_64_bf
  %y = transformer.rms_norm %x, %g eps(0.00001) : !x
  return
}

// CHECK-LABEL: func @layer_norm
func.func @layer_norm(%x: !x, %g: tensor<64xbf16>, %b: tensor<64xbf16>) {
  // CHECK: transformer.layer_norm %arg0, %arg1 eps(0.0) : !bq_64_bf
  %y = transformer.layer_norm %x, %g eps(0.0) : !x
  // CHECK: transformer.layer_norm %arg0, %arg1 bias(%arg2 : tensor<64xbf16>) eps(1.0e-05) : !bq_64_bf
  %z = transformer.layer_norm %x, %g bias(%b : tensor<64xbf16>) eps(1.0e-5) : !x
  return
}

// CHECK-LABEL: func @rope
func.func @rope(%x: !heads) {
  // CHECK: transformer.rope %arg0 theta(500000.0) : !bq_8_16_bf
  %y = transformer.rope %x theta(5.0e5) : !heads
  // CHECK: transformer.rope %arg0 theta(10000.0) scaling(yarn) : !bq_8_16_bf
  %z = transformer.rope %x theta(10000.0) scaling(yarn) : !heads
  return
}

// CHECK-LABEL: func @attention
func.func @attention(%q: !heads, %k: !kv, %v: !kv, %cache: !cache) {
  // CHECK: transformer.attention %arg0, %arg1, %arg2 cache(%arg3) : !bq_8_16_bf, !bq_2_16_bf{{$}}
  %all = transformer.attention %q, %k, %v cache(%cache) : !heads, !kv, !kv in !cache -> !heads
  // CHECK: transformer.attention %arg0, %arg1, %arg2 cache(%arg3) causal window(128)
  %causal = transformer.attention %q, %k, %v cache(%cache) causal window(128) : !heads, !kv, !kv in !cache -> !heads
  return
}

// CHECK-LABEL: func @add
func.func @add(%a: !x, %b: !x) {
  // CHECK: transformer.add %arg0, %arg1 : !bq_64_bf
  %y = transformer.add %a, %b : !x
  return
}

// CHECK-LABEL: func @activation
func.func @activation(%x: !x) {
  // CHECK: transformer.activation %arg0 silu : !bq_64_bf
  %silu = transformer.activation %x silu : !x
  // CHECK: transformer.activation %arg0 gelu : !bq_64_bf
  %gelu = transformer.activation %x gelu : !x
  // CHECK: transformer.activation %arg0 gelu_tanh : !bq_64_bf
  %gelu_tanh = transformer.activation %x gelu_tanh : !x
  // CHECK: transformer.activation %arg0 relu : !bq_64_bf
  %relu = transformer.activation %x relu : !x
  // CHECK: transformer.activation %arg0 relu2 : !bq_64_bf
  %relu2 = transformer.activation %x relu2 : !x
  return
}

// CHECK-LABEL: func @gated
func.func @gated(%gate: !x, %up: !x) {
  // CHECK: transformer.gated %arg0, %arg1 silu : !bq_64_bf
  %y = transformer.gated %gate, %up silu : !x
  return
}

// CHECK-LABEL: func @router
func.func @router(%x: !x, %w: tensor<64x4xbf16>) {
  // CHECK: transformer.router %arg0, %arg1 top_k(2) : !bq_64_bf, tensor<64x4xbf16> -> !bq_2_bf
  %r = transformer.router %x, %w top_k(2) : !x, tensor<64x4xbf16> -> !routing
  return
}

// CHECK-LABEL: func @dispatch
func.func @dispatch(%x: !x, %r: !routing) {
  // CHECK: transformer.dispatch %arg0, %arg1 : !bq_64_bf, !bq_2_bf -> !bq2_64_bf
  %t = transformer.dispatch %x, %r : !x, !routing -> !routed
  return
}

// CHECK-LABEL: func @experts
func.func @experts(%t: !routed, %w: tensor<4x64x32xbf16>) {
  // CHECK: transformer.experts %arg0, %arg1 top_k(2) : !bq2_64_bf, tensor<4x64x32xbf16> -> !bq2_32_bf
  %y = transformer.experts %t, %w top_k(2) : !routed, tensor<4x64x32xbf16> -> !wide
  return
}

// CHECK-LABEL: func @combine
func.func @combine(%t: !routed, %r: !routing) {
  // CHECK: transformer.combine %arg0, %arg1 : !bq2_64_bf, !bq_2_bf -> !bq_64_bf
  %x = transformer.combine %t, %r : !routed, !routing -> !x
  return
}

// Results are called after what they are, products after their weight.
// CHECK-LABEL: func @names_of_results
func.func @names_of_results(%ids: !ids) {
  // CHECK: %embed_tokens = transformer.weight
  %0 = transformer.weight "model.embed_tokens.weight" : tensor<1000x64xbf16>
  // CHECK: %q_proj = transformer.weight
  %1 = transformer.weight "self_attn.q_proj.weight" stored [1*2, 0] : tensor<64x8x16xbf16>
  // CHECK: %q_proj_bias = transformer.weight
  %2 = transformer.weight "self_attn.q_proj.bias" stored [0*1] : tensor<8x16xbf16>
  // CHECK: %embedding = transformer.embedding
  %3 = transformer.embedding %ids, %0 : !ids, tensor<1000x64xbf16> -> !x
  // CHECK: %q = transformer.linear
  %4 = transformer.linear %3, %1 bias(%2 : tensor<8x16xbf16>) : !x, tensor<64x8x16xbf16> -> !heads
  // CHECK: %rope = transformer.rope
  %5 = transformer.rope %4 theta(1.0e4) : !heads
  return
}
