!bdpi_256_bf = tensor<?x256xbf16, #parallel.sharding<[batch by dpi, _]>>
!bdpi_256tp_pad64_bf = tensor<?x256xbf16, #parallel.sharding<[batch by dpi, _ by tp pad 64]>>
!bdpi_48_bf = tensor<?x48xbf16, #parallel.sharding<[batch by dpi, _]>>
!bdpi_48_sum_tp = tensor<?x48xbf16, #parallel.sharding<[batch by dpi, _] partial [tp]>>
!bdpi_c_24_fp8e = !transformer.cache<?x?x24xf8E4M3FN, #parallel.sharding<[batch by dpi, context, _]>>
!bdpi_q_20_bf = tensor<?x?x20xbf16, #parallel.sharding<[batch by dpi, query, _]>>
!bdpi_q_24_bf = tensor<?x?x24xbf16, #parallel.sharding<[batch by dpi, query, _]>>
!bdpi_q_32tp_bf = tensor<?x?x32xbf16, #parallel.sharding<[batch by dpi, query, _ by tp]>>
!bdpi_q_48_bf = tensor<?x?x48xbf16, #parallel.sharding<[batch by dpi, query, _]>>
!bdpi_q_48_sum_tp = tensor<?x?x48xbf16, #parallel.sharding<[batch by dpi, query, _] partial [tp]>>
!bdpi_q_4_bf = tensor<?x?x4xbf16, #parallel.sharding<[batch by dpi, query, _]>>
!bdpi_q_64tp_bf = tensor<?x?x64xbf16, #parallel.sharding<[batch by dpi, query, _ by tp]>>
!bdpi_q_8tp_10_bf = tensor<?x?x8x10xbf16, #parallel.sharding<[batch by dpi, query, _ by tp, _]>>
!bdpi_q_int = tensor<?x?xi32, #parallel.sharding<[batch by dpi, query]>>
!bdpi_qtp_20_bf = tensor<?x?x20xbf16, #parallel.sharding<[batch by dpi, query by tp, _]>>
!bdpi_qtp_24_bf = tensor<?x?x24xbf16, #parallel.sharding<[batch by dpi, query by tp, _]>>
!bdpi_qtp_3_bf = tensor<?x?x3xbf16, #parallel.sharding<[batch by dpi, query by tp, _]>>
!bdpi_qtp_48_bf = tensor<?x?x48xbf16, #parallel.sharding<[batch by dpi, query by tp, _]>>
!bdpi_qtp_4_bf = tensor<?x?x4xbf16, #parallel.sharding<[batch by dpi, query by tp, _]>>
!bdpi_qtp_int = tensor<?x?xi32, #parallel.sharding<[batch by dpi, query by tp]>>
!bq3_to_dpi_tp_32_bf = tensor<?x32xbf16, #parallel.sharding<[{batch*query*3} grouped [8 by dpi*tp], _]>>
!bq3_to_dpi_tp_48_bf = tensor<?x48xbf16, #parallel.sharding<[{batch*query*3} grouped [8 by dpi*tp], _]>>
!bq3dpitp_48_bf = tensor<?x48xbf16, #parallel.sharding<[{batch*query*3} by [batch by dpi, query by tp], _]>>
!w20_8tp_10_bf = tensor<20x8x10xbf16, #parallel.sharding<[_, _ by tp, _]>>
!w20_8tp_6_bf = tensor<20x8x6xbf16, #parallel.sharding<[_, _ by tp, _]>>
!w24_8tp_10_bf = tensor<24x8x10xbf16, #parallel.sharding<[_, _ by tp, _]>>
!w256tp_pad64_48_bf = tensor<256x48xbf16, #parallel.sharding<[_ by tp pad 64, _]>>
!w32tp_48_bf = tensor<32x48xbf16, #parallel.sharding<[_ by tp, _]>>
!w48_32tp_bf = tensor<48x32xbf16, #parallel.sharding<[_, _ by tp]>>
!w48_64tp_bf = tensor<48x64xbf16, #parallel.sharding<[_, _ by tp]>>
!w64tp_48_bf = tensor<64x48xbf16, #parallel.sharding<[_ by tp, _]>>
!w8dpitp_32_48_bf = tensor<8x32x48xbf16, #parallel.sharding<[_ by dpi*tp, _, _]>>
!w8dpitp_48_32_bf = tensor<8x48x32xbf16, #parallel.sharding<[_ by dpi*tp, _, _]>>
!w8tp_10_48_bf = tensor<8x10x48xbf16, #parallel.sharding<[_ by tp, _, _]>>
#fp8_block = #transformer.format<"fp8-block" compute f8E4M3FN {weight : f8E4M3FN, weight_scale_inv : f32 [o/128, i/128]}>
module @tmp.OBo6451j8G {
  transformer.workload(phase = decode, batch = 8, query = 1, context = 64)
  parallel.mesh(pp = 2, dpi = 2, tp = 2) {dp = dpi, ep = dpi*tp}
  parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(2) assumed [microbatches, schedule]
  parallel.expert_placement over [dpi, tp] policy balanced layers [3] slots dense_resource<expert_slots> : tensor<1x8xi32> loads dense_resource<expert_loads> : tensor<1x8xf64> {loads_from = "zipf:1.0"}
  parallel.target hardware("h200-sxm-8") nodes(2)
  parallel.strategy sequence_parallel kv_dtype(f8E4M3FN)
  func.func private @dense_decoder(%arg0: !bdpi_qtp_48_bf) -> !bdpi_qtp_48_bf attributes {no_inline} {
    %input_layernorm = transformer.weight "input_layernorm.weight" : tensor<48xbf16>
    %q_a_proj = transformer.weight "self_attn.q_a_proj.weight" stored [1, 0] as(#fp8_block) : tensor<48x24xbf16>
    %q_a_layernorm = transformer.weight "self_attn.q_a_layernorm.weight" : tensor<24xbf16>
    %q_b_proj = transformer.weight "self_attn.q_b_proj.weight" stored [1*2, 0] as(#fp8_block) : !w24_8tp_10_bf
    %kv_a_proj_with_mqa = transformer.weight "self_attn.kv_a_proj_with_mqa.weight" stored [1 at 0 of 24, 0] as(#fp8_block) : tensor<48x20xbf16>
    %kv_a_proj_with_mqa_0 = transformer.weight "self_attn.kv_a_proj_with_mqa.weight" stored [1 at 20 of 24, 0] as(#fp8_block) : tensor<48x4xbf16>
    %kv_a_layernorm = transformer.weight "self_attn.kv_a_layernorm.weight" : tensor<20xbf16>
    %kv_b_proj = transformer.weight "self_attn.kv_b_proj.weight" stored [1 * 2 by 1 at 0 of 16, 0] as(#fp8_block) : !w20_8tp_6_bf
    %kv_b_proj_1 = transformer.weight "self_attn.kv_b_proj.weight" stored [1 * 2 by 1 at 6 of 16, 0] as(#fp8_block) : !w20_8tp_10_bf
    %o_proj = transformer.weight "self_attn.o_proj.weight" stored [2, 0*1] as(#fp8_block) : !w8tp_10_48_bf
    %post_attention_layernorm = transformer.weight "post_attention_layernorm.weight" : tensor<48xbf16>
    %gate_proj = transformer.weight "mlp.gate_proj.weight" stored [1, 0] as(#fp8_block) : !w48_64tp_bf
    %up_proj = transformer.weight "mlp.up_proj.weight" stored [1, 0] as(#fp8_block) : !w48_64tp_bf
    %down_proj = transformer.weight "mlp.down_proj.weight" stored [1, 0] as(#fp8_block) : !w64tp_48_bf
    %norm = transformer.rms_norm %arg0, %input_layernorm eps(1.0e-06) : !bdpi_qtp_48_bf
    %q_a = transformer.linear %norm, %q_a_proj : !bdpi_qtp_48_bf, tensor<48x24xbf16> -> !bdpi_qtp_24_bf
    %norm_2 = transformer.rms_norm %q_a, %q_a_layernorm eps(1.0e-06) : !bdpi_qtp_24_bf
    %gathered = parallel.all_gather %norm_2 dim 1 over [tp] : !bdpi_qtp_24_bf -> !bdpi_q_24_bf
    %q_b = transformer.linear %gathered, %q_b_proj : !bdpi_q_24_bf, !w24_8tp_10_bf -> !bdpi_q_8tp_10_bf
    %rope = transformer.rope %q_b theta(10000.0) scaling(yarn) width(4) last interleaved : !bdpi_q_8tp_10_bf
    %kv_a_proj_with_mqa_out = transformer.linear %norm, %kv_a_proj_with_mqa : !bdpi_qtp_48_bf, tensor<48x20xbf16> -> !bdpi_qtp_20_bf
    %kv_a_proj_with_mqa_out_3 = transformer.linear %norm, %kv_a_proj_with_mqa_0 : !bdpi_qtp_48_bf, tensor<48x4xbf16> -> !bdpi_qtp_4_bf
    %norm_4 = transformer.rms_norm %kv_a_proj_with_mqa_out, %kv_a_layernorm eps(1.0e-06) : !bdpi_qtp_20_bf
    %rope_5 = transformer.rope %kv_a_proj_with_mqa_out_3 theta(10000.0) scaling(yarn) interleaved : !bdpi_qtp_4_bf
    %cache = transformer.kv_cache : !bdpi_c_24_fp8e
    %gathered_6 = parallel.all_gather %norm_4 dim 1 over [tp] : !bdpi_qtp_20_bf -> !bdpi_q_20_bf
    %gathered_7 = parallel.all_gather %rope_5 dim 1 over [tp] : !bdpi_qtp_4_bf -> !bdpi_q_4_bf
    %attn = transformer.latent_attention %rope, %gathered_6, %gathered_7, %kv_b_proj, %kv_b_proj_1 cache(%cache : !bdpi_c_24_fp8e) causal absorbed : !bdpi_q_8tp_10_bf, !bdpi_q_20_bf, !bdpi_q_4_bf, !w20_8tp_6_bf, !w20_8tp_10_bf -> !bdpi_q_8tp_10_bf
    %o = transformer.linear %attn, %o_proj : !bdpi_q_8tp_10_bf, !w8tp_10_48_bf -> !bdpi_q_48_sum_tp
    %part = parallel.reduce_scatter %o dim 1 over [tp] : !bdpi_q_48_sum_tp -> !bdpi_qtp_48_bf
    %add = transformer.add %arg0, %part : !bdpi_qtp_48_bf
    %norm_8 = transformer.rms_norm %add, %post_attention_layernorm eps(1.0e-06) : !bdpi_qtp_48_bf
    %gathered_9 = parallel.all_gather %norm_8 dim 1 over [tp] : !bdpi_qtp_48_bf -> !bdpi_q_48_bf
    %gate = transformer.linear %gathered_9, %gate_proj : !bdpi_q_48_bf, !w48_64tp_bf -> !bdpi_q_64tp_bf
    %up = transformer.linear %gathered_9, %up_proj : !bdpi_q_48_bf, !w48_64tp_bf -> !bdpi_q_64tp_bf
    %gated = transformer.gated %gate, %up silu : !bdpi_q_64tp_bf
    %down = transformer.linear %gated, %down_proj : !bdpi_q_64tp_bf, !w64tp_48_bf -> !bdpi_q_48_sum_tp
    %part_10 = parallel.reduce_scatter %down dim 1 over [tp] : !bdpi_q_48_sum_tp -> !bdpi_qtp_48_bf
    %add_11 = transformer.add %add, %part_10 : !bdpi_qtp_48_bf
    return %add_11 : !bdpi_qtp_48_bf
  }
  func.func private @moe_decoder(%arg0: !bdpi_qtp_48_bf) -> !bdpi_qtp_48_bf attributes {no_inline} {
    %input_layernorm = transformer.weight "input_layernorm.weight" : tensor<48xbf16>
    %q_a_proj = transformer.weight "self_attn.q_a_proj.weight" stored [1, 0] as(#fp8_block) : tensor<48x24xbf16>
    %q_a_layernorm = transformer.weight "self_attn.q_a_layernorm.weight" : tensor<24xbf16>
    %q_b_proj = transformer.weight "self_attn.q_b_proj.weight" stored [1*2, 0] as(#fp8_block) : !w24_8tp_10_bf
    %kv_a_proj_with_mqa = transformer.weight "self_attn.kv_a_proj_with_mqa.weight" stored [1 at 0 of 24, 0] as(#fp8_block) : tensor<48x20xbf16>
    %kv_a_proj_with_mqa_0 = transformer.weight "self_attn.kv_a_proj_with_mqa.weight" stored [1 at 20 of 24, 0] as(#fp8_block) : tensor<48x4xbf16>
    %kv_a_layernorm = transformer.weight "self_attn.kv_a_layernorm.weight" : tensor<20xbf16>
    %kv_b_proj = transformer.weight "self_attn.kv_b_proj.weight" stored [1 * 2 by 1 at 0 of 16, 0] as(#fp8_block) : !w20_8tp_6_bf
    %kv_b_proj_1 = transformer.weight "self_attn.kv_b_proj.weight" stored [1 * 2 by 1 at 6 of 16, 0] as(#fp8_block) : !w20_8tp_10_bf
    %o_proj = transformer.weight "self_attn.o_proj.weight" stored [2, 0*1] as(#fp8_block) : !w8tp_10_48_bf
    %post_attention_layernorm = transformer.weight "post_attention_layernorm.weight" : tensor<48xbf16>
    %gate = transformer.weight "mlp.gate.weight" stored [1, 0] : tensor<48x8xbf16>
    %e_score_correction_bias = transformer.weight "mlp.gate.e_score_correction_bias" : tensor<8xf32>
    %gate_proj = transformer.weight "mlp.experts.*.gate_proj.weight" stored [2, 1] as(#fp8_block) : !w8dpitp_48_32_bf
    %up_proj = transformer.weight "mlp.experts.*.up_proj.weight" stored [2, 1] as(#fp8_block) : !w8dpitp_48_32_bf
    %down_proj = transformer.weight "mlp.experts.*.down_proj.weight" stored [2, 1] as(#fp8_block) : !w8dpitp_32_48_bf
    %gate_proj_2 = transformer.weight "mlp.shared_experts.gate_proj.weight" stored [1, 0] as(#fp8_block) : !w48_32tp_bf
    %up_proj_3 = transformer.weight "mlp.shared_experts.up_proj.weight" stored [1, 0] as(#fp8_block) : !w48_32tp_bf
    %down_proj_4 = transformer.weight "mlp.shared_experts.down_proj.weight" stored [1, 0] as(#fp8_block) : !w32tp_48_bf
    %norm = transformer.rms_norm %arg0, %input_layernorm eps(1.0e-06) : !bdpi_qtp_48_bf
    %q_a = transformer.linear %norm, %q_a_proj : !bdpi_qtp_48_bf, tensor<48x24xbf16> -> !bdpi_qtp_24_bf
    %norm_5 = transformer.rms_norm %q_a, %q_a_layernorm eps(1.0e-06) : !bdpi_qtp_24_bf
    %gathered = parallel.all_gather %norm_5 dim 1 over [tp] : !bdpi_qtp_24_bf -> !bdpi_q_24_bf
    %q_b = transformer.linear %gathered, %q_b_proj : !bdpi_q_24_bf, !w24_8tp_10_bf -> !bdpi_q_8tp_10_bf
    %rope = transformer.rope %q_b theta(10000.0) scaling(yarn) width(4) last interleaved : !bdpi_q_8tp_10_bf
    %kv_a_proj_with_mqa_out = transformer.linear %norm, %kv_a_proj_with_mqa : !bdpi_qtp_48_bf, tensor<48x20xbf16> -> !bdpi_qtp_20_bf
    %kv_a_proj_with_mqa_out_6 = transformer.linear %norm, %kv_a_proj_with_mqa_0 : !bdpi_qtp_48_bf, tensor<48x4xbf16> -> !bdpi_qtp_4_bf
    %norm_7 = transformer.rms_norm %kv_a_proj_with_mqa_out, %kv_a_layernorm eps(1.0e-06) : !bdpi_qtp_20_bf
    %rope_8 = transformer.rope %kv_a_proj_with_mqa_out_6 theta(10000.0) scaling(yarn) interleaved : !bdpi_qtp_4_bf
    %cache = transformer.kv_cache : !bdpi_c_24_fp8e
    %gathered_9 = parallel.all_gather %norm_7 dim 1 over [tp] : !bdpi_qtp_20_bf -> !bdpi_q_20_bf
    %gathered_10 = parallel.all_gather %rope_8 dim 1 over [tp] : !bdpi_qtp_4_bf -> !bdpi_q_4_bf
    %attn = transformer.latent_attention %rope, %gathered_9, %gathered_10, %kv_b_proj, %kv_b_proj_1 cache(%cache : !bdpi_c_24_fp8e) causal absorbed : !bdpi_q_8tp_10_bf, !bdpi_q_20_bf, !bdpi_q_4_bf, !w20_8tp_6_bf, !w20_8tp_10_bf -> !bdpi_q_8tp_10_bf
    %o = transformer.linear %attn, %o_proj : !bdpi_q_8tp_10_bf, !w8tp_10_48_bf -> !bdpi_q_48_sum_tp
    %part = parallel.reduce_scatter %o dim 1 over [tp] : !bdpi_q_48_sum_tp -> !bdpi_qtp_48_bf
    %add = transformer.add %arg0, %part : !bdpi_qtp_48_bf
    %norm_11 = transformer.rms_norm %add, %post_attention_layernorm eps(1.0e-06) : !bdpi_qtp_48_bf
    %router = transformer.router %norm_11, %gate correction(%e_score_correction_bias : tensor<8xf32>) top_k(3) sigmoid groups(4) keep(2) normalized scaled(2.5) : !bdpi_qtp_48_bf, tensor<48x8xbf16> -> !bdpi_qtp_3_bf
    %dispatch = transformer.dispatch %norm_11, %router : !bdpi_qtp_48_bf, !bdpi_qtp_3_bf -> !bq3dpitp_48_bf
    %exchanged = parallel.all_to_all %dispatch dim 0 to experts over [dpi, tp] : !bq3dpitp_48_bf -> !bq3_to_dpi_tp_48_bf
    %gate_12 = transformer.experts %exchanged, %gate_proj top_k(3) : !bq3_to_dpi_tp_48_bf, !w8dpitp_48_32_bf -> !bq3_to_dpi_tp_32_bf
    %up = transformer.experts %exchanged, %up_proj top_k(3) : !bq3_to_dpi_tp_48_bf, !w8dpitp_48_32_bf -> !bq3_to_dpi_tp_32_bf
    %gated = transformer.gated %gate_12, %up silu : !bq3_to_dpi_tp_32_bf
    %down = transformer.experts %gated, %down_proj top_k(3) : !bq3_to_dpi_tp_32_bf, !w8dpitp_32_48_bf -> !bq3_to_dpi_tp_48_bf
    %exchanged_13 = parallel.all_to_all %down dim experts to 0 over [dpi, tp] : !bq3_to_dpi_tp_48_bf -> !bq3dpitp_48_bf
    %combine = transformer.combine %exchanged_13, %router : !bq3dpitp_48_bf, !bdpi_qtp_3_bf -> !bdpi_qtp_48_bf
    %gathered_14 = parallel.all_gather %norm_11 dim 1 over [tp] : !bdpi_qtp_48_bf -> !bdpi_q_48_bf
    %gate_15 = transformer.linear %gathered_14, %gate_proj_2 : !bdpi_q_48_bf, !w48_32tp_bf -> !bdpi_q_32tp_bf
    %up_16 = transformer.linear %gathered_14, %up_proj_3 : !bdpi_q_48_bf, !w48_32tp_bf -> !bdpi_q_32tp_bf
    %gated_17 = transformer.gated %gate_15, %up_16 silu : !bdpi_q_32tp_bf
    %down_18 = transformer.linear %gated_17, %down_proj_4 : !bdpi_q_32tp_bf, !w32tp_48_bf -> !bdpi_q_48_sum_tp
    %part_19 = parallel.reduce_scatter %down_18 dim 1 over [tp] : !bdpi_q_48_sum_tp -> !bdpi_qtp_48_bf
    %add_20 = transformer.add %combine, %part_19 : !bdpi_qtp_48_bf
    %add_21 = transformer.add %add, %add_20 : !bdpi_qtp_48_bf
    return %add_21 : !bdpi_qtp_48_bf
  }
  func.func private @mtp(%arg0: !bdpi_qtp_48_bf, %arg1: !bdpi_qtp_int) -> !bdpi_256_bf attributes {no_inline} {
    %embed_tokens = transformer.weight "model.layers.4.embed_tokens.weight" : !w256tp_pad64_48_bf
    %head = transformer.weight "model.layers.4.shared_head.head.weight" : !w256tp_pad64_48_bf
    %gathered = parallel.all_gather %arg1 dim 1 over [tp] : !bdpi_qtp_int -> !bdpi_q_int
    %embedding = transformer.embedding %gathered, %embed_tokens : !bdpi_q_int, !w256tp_pad64_48_bf -> !bdpi_q_48_sum_tp
    %layers = transformer.repeat 1 layers "model.layers" from 4 (%arg2 = %arg0) : !bdpi_qtp_48_bf {
      %part = parallel.reduce_scatter %embedding dim 1 over [tp] : !bdpi_q_48_sum_tp -> !bdpi_qtp_48_bf
      %0 = func.call @prediction_layer(%arg2, %part) : (!bdpi_qtp_48_bf, !bdpi_qtp_48_bf) -> !bdpi_qtp_48_bf
      transformer.yield %0 : !bdpi_qtp_48_bf
    }
    %last = transformer.last_token %layers : !bdpi_qtp_48_bf -> !bdpi_48_sum_tp
    %sum = parallel.all_reduce %last over [tp] : !bdpi_48_sum_tp -> !bdpi_48_bf
    %logits = transformer.logits %sum, %head : !bdpi_48_bf, !w256tp_pad64_48_bf -> !bdpi_256tp_pad64_bf
    %gathered_0 = parallel.all_gather %logits dim 1 over [tp] : !bdpi_256tp_pad64_bf -> !bdpi_256_bf
    return %gathered_0 : !bdpi_256_bf
  }
  func.func private @prediction_layer(%arg0: !bdpi_qtp_48_bf, %arg1: !bdpi_qtp_48_bf) -> !bdpi_qtp_48_bf attributes {no_inline} {
    %enorm = transformer.weight "enorm.weight" : tensor<48xbf16>
    %eh_proj = transformer.weight "eh_proj.weight" stored [1, 0 at 0 of 96] : tensor<48x48xbf16>
    %hnorm = transformer.weight "hnorm.weight" : tensor<48xbf16>
    %eh_proj_0 = transformer.weight "eh_proj.weight" stored [1, 0 at 48 of 96] : tensor<48x48xbf16>
    %norm = transformer.rms_norm %arg1, %enorm eps(1.0e-06) : !bdpi_qtp_48_bf
    %eh = transformer.linear %norm, %eh_proj : !bdpi_qtp_48_bf, tensor<48x48xbf16> -> !bdpi_qtp_48_bf
    %norm_1 = transformer.rms_norm %arg0, %hnorm eps(1.0e-06) : !bdpi_qtp_48_bf
    %eh_2 = transformer.linear %norm_1, %eh_proj_0 : !bdpi_qtp_48_bf, tensor<48x48xbf16> -> !bdpi_qtp_48_bf
    %add = transformer.add %eh, %eh_2 : !bdpi_qtp_48_bf
    %0 = call @moe_decoder(%add) : (!bdpi_qtp_48_bf) -> !bdpi_qtp_48_bf
    %norm_3 = transformer.weight "shared_head.norm.weight" : tensor<48xbf16>
    %norm_4 = transformer.rms_norm %0, %norm_3 eps(1.0e-06) : !bdpi_qtp_48_bf
    return %norm_4 : !bdpi_qtp_48_bf
  }
  transformer.stored @mtp
  func.func @model(%arg0: !bdpi_q_int) -> !bdpi_256_bf {
    %embed_tokens = transformer.weight "model.embed_tokens.weight" : !w256tp_pad64_48_bf
    %embedding = transformer.embedding %arg0, %embed_tokens : !bdpi_q_int, !w256tp_pad64_48_bf -> !bdpi_q_48_sum_tp
    %part = parallel.reduce_scatter %embedding dim 1 over [tp] : !bdpi_q_48_sum_tp -> !bdpi_qtp_48_bf
    %layers = transformer.repeat 3 layers "model.layers" from 0 (%arg1 = %part) : !bdpi_qtp_48_bf {
      %0 = func.call @dense_decoder(%arg1) : (!bdpi_qtp_48_bf) -> !bdpi_qtp_48_bf
      transformer.yield %0 : !bdpi_qtp_48_bf
    }
    %layers_0 = transformer.repeat 1 layers "model.layers" from 3 (%arg1 = %layers) : !bdpi_qtp_48_bf {
      %0 = func.call @moe_decoder(%arg1) : (!bdpi_qtp_48_bf) -> !bdpi_qtp_48_bf
      transformer.yield %0 : !bdpi_qtp_48_bf
    }
    %norm = transformer.weight "model.norm.weight" : tensor<48xbf16>
    %norm_1 = transformer.rms_norm %layers_0, %norm eps(1.0e-06) : !bdpi_qtp_48_bf
    %last = transformer.last_token %norm_1 : !bdpi_qtp_48_bf -> !bdpi_48_sum_tp
    %lm_head = transformer.weight "lm_head.weight" : !w256tp_pad64_48_bf
    %sum = parallel.all_reduce %last over [tp] : !bdpi_48_sum_tp -> !bdpi_48_bf
    %logits = transformer.logits %sum, %lm_head : !bdpi_48_bf, !w256tp_pad64_48_bf -> !bdpi_256tp_pad64_bf
    %gathered = parallel.all_gather %logits dim 1 over [tp] : !bdpi_256tp_pad64_bf -> !bdpi_256_bf
    return %gathered : !bdpi_256_bf
  }
}

{-#
  dialect_resources: {
    builtin: {
      expert_slots: "0x040000000500000007000000000000000200000001000000030000000400000006000000",
      expert_loads: "0x0800000082801251478CC73F57AB186CB465BF3F02DC821376E9AA3F57AB186CB465AF3F35CD0E749FD6B23F82801251478CD73F82801251478CB73F82801251478CA73F"
    }
  }
#-}

