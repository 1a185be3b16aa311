!bet4_16_bf = tensor<?x?x16xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>>
!bet4_64_bf = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>>
!bet_64_bf = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!bq2_32_bf = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>
!bq2_64_bf = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
!bq_2_16_bf = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!bq_2_32_bf = tensor<?x?x2x32xbf16, #transformer.dims<[batch, query, _, _]>>
!bq_2_bf = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!bq_32_bf = tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
!bq_4_int = tensor<?x?x4xi32, #transformer.dims<[batch, query, _]>>
!bq_64_bf = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!bq_8_128_bf = tensor<?x?x8x128xbf16, #transformer.dims<[batch, query, _, _]>>
!bq_8_16_bf = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!bq_8_192_bf = tensor<?x?x8x192xbf16, #transformer.dims<[batch, query, _, _]>>
!bq_8_24_bf = tensor<?x?x8x24xbf16, #transformer.dims<[batch, query, _, _]>>
!bq_8_bf = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!bq_8_float = tensor<?x?x8xf32, #transformer.dims<[batch, query, _]>>
!bq_bf = tensor<?x?xbf16, #transformer.dims<[batch, query]>>
module {
  module {
    func.func @model(%arg0: tensor<4x64xbf16>) {
      return
    }
    func.func private @model_backward(%arg0: tensor<4x64xbf16>) attributes {training.part_of = @model} {
      return
    }
    func.func private @model_update() attributes {training.part_of = @model} {
      return
    }
    training.iteration backward(@model_backward) update(@model_update) recompute(norms + mlp) tried [none] missing [1024] products(f8E4M3FN) capacity(1.25) padded
    module {
      func.func @model() {
        return
      }
      func.func private @nothing() {
        return
      }
      training.iteration backward(@nothing) update(@nothing)
    }
    func.func private @layer(%arg0: tensor<4x64xbf16>) {
      training.save %arg0 "x" : tensor<4x64xbf16>
      return
    }
    func.func private @layer_backward(%arg0: tensor<64x32xf32>) attributes {training.part_of = @layer} {
      %x = training.saved "x" : tensor<4x64xbf16>
      %fc = transformer.weight "fc.weight" : tensor<64x32xbf16>
      training.accumulate %arg0 of %fc : tensor<64x32xf32>, tensor<64x32xbf16>
      return
    }
    func.func private @layer_update() attributes {training.part_of = @layer} {
      %fc = transformer.weight "fc.weight" : tensor<64x32xbf16>
      %gradient = training.gradient %fc : tensor<64x32xbf16> -> tensor<64x32xf32>
      %updated = training.update %fc, %gradient adamw master states [f32, f32, f32] : tensor<64x32xbf16>, tensor<64x32xf32>
      %updated_0 = training.update %fc, %gradient adamw states [bf16, bf16] : tensor<64x32xbf16>, tensor<64x32xf32>
      %updated_1 = training.update %fc, %gradient sgd states [] : tensor<64x32xbf16>, tensor<64x32xf32>
      %mean = training.mean %gradient of %fc over [1, 2] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64xf32>
      %mean_2 = training.mean %gradient of %fc over [0, 0] squared : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64x32xf32>
      %moving = training.moving_mean %mean state bf16 : tensor<64xf32>
      %moving_3 = training.moving_mean %mean_2 state f32 : tensor<64x32xf32>
      %mean_4 = training.mean %gradient over [0, 1] : tensor<64x32xf32> -> tensor<32xf32>
      %mean_5 = training.mean %moving over [0, 1] : tensor<64xf32> -> tensor<f32>
      %step = training.precondition %gradient by %moving, %mean_4, %mean_5 rows [0, 1] : tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<f32>
      %step_6 = training.precondition %gradient by %moving_3 : tensor<64x32xf32>, tensor<64x32xf32>
      %updated_7 = training.update %fc, %step adafactor mean_square(%mean_5 : tensor<f32>) master states [f32] : tensor<64x32xbf16>, tensor<64x32xf32>
      %updated_8 = training.update %fc, %gradient adamw states [i8, i8] : tensor<64x32xbf16>, tensor<64x32xf32>
      %momentum = training.momentum %fc, %gradient state f32 : tensor<64x32xbf16>, tensor<64x32xf32>
      %orthogonal = training.orthogonalize %momentum rows [0, 1] steps 5 : tensor<64x32xbf16>
      training.assign %updated to %fc : tensor<64x32xbf16>
      return
    }
    func.func private @down() {
      transformer.repeat 3 layers "layers" from 2 reversed {
        func.call @layer_update() : () -> ()
        transformer.yield
      }
      return
    }
    func.func private @sum() -> tensor<4x64xbf16> {
      %zeros = training.zeros : tensor<4x64xbf16>
      return %zeros : tensor<4x64xbf16>
    }
  }
  module {
    func.func @cross_entropy(%arg0: tensor<4x16x1000xf32>, %arg1: tensor<4x16xi32>) {
      %loss = training.cross_entropy %arg0, %arg1 : tensor<4x16x1000xf32>, tensor<4x16xi32> -> tensor<4x16xf32>
      %d_logits = training.cross_entropy_backward %arg0, %arg1 : tensor<4x16x1000xf32>, tensor<4x16xi32>
      %loss_0 = training.cross_entropy %arg0, %arg1 {chunks = 8 : i64, form = "in-place"} : tensor<4x16x1000xf32>, tensor<4x16xi32> -> tensor<4x16xf32>
      %d_logits_1 = training.cross_entropy_backward %arg0, %arg1 {form = "eager"} : tensor<4x16x1000xf32>, tensor<4x16xi32>
      return
    }
    func.func @cast(%arg0: tensor<4x16x64xbf16>) {
      %cast = transformer.cast %arg0 : tensor<4x16x64xbf16> -> tensor<4x16x64xf32>
      return
    }
    func.func @linear_backward(%arg0: tensor<4x16x8x16xbf16>, %arg1: tensor<64x8x16xbf16>, %arg2: tensor<64x32xbf16>, %arg3: tensor<4x16x32xbf16>) {
      %dx = training.product_gradient input %arg0, %arg1 : tensor<4x16x8x16xbf16>, tensor<64x8x16xbf16> -> tensor<4x16x64xbf16>
      %dx_0 = training.product_gradient input %arg3, %arg2 : tensor<4x16x32xbf16>, tensor<64x32xbf16> -> tensor<4x16x64xbf16>
      return
    }
    func.func @logits_backward(%arg0: tensor<4x16x1000xf32>, %arg1: tensor<1000x64xbf16>) {
      %dx = training.product_gradient states %arg0, %arg1 : tensor<4x16x1000xf32>, tensor<1000x64xbf16> -> tensor<4x16x64xbf16>
      return
    }
    func.func @product_gradient(%arg0: tensor<4x16x64xbf16>, %arg1: tensor<4x16x8x16xbf16>, %arg2: tensor<64x8x16xbf16>) {
      %dw = training.product_gradient weight %arg0, %arg1 of %arg2 : tensor<4x16x64xbf16>, tensor<4x16x8x16xbf16>, tensor<64x8x16xbf16> -> tensor<64x8x16xf32>
      return
    }
    func.func @sum_tokens(%arg0: tensor<4x16x8x16xbf16>, %arg1: tensor<8x16xbf16>) {
      %db = training.sum_tokens %arg0 of %arg1 : tensor<4x16x8x16xbf16>, tensor<8x16xbf16> -> tensor<8x16xf32>
      return
    }
    func.func @factor_gradient(%arg0: tensor<4x16x64xbf16>, %arg1: tensor<4x16x64xbf16>, %arg2: tensor<64xbf16>, %arg3: tensor<1xbf16>) {
      %df = training.factor_gradient %arg0, %arg1 of %arg2 : tensor<4x16x64xbf16>, tensor<64xbf16> -> tensor<64xf32>
      %df_0 = training.factor_gradient %arg0, %arg1 of %arg3 : tensor<4x16x64xbf16>, tensor<1xbf16> -> tensor<1xf32>
      return
    }
    func.func @tables(%arg0: tensor<4x16xi32>, %arg1: tensor<4x16x64xbf16>, %arg2: tensor<1000x64xbf16>) {
      %dt = training.embedding_gradient %arg0, %arg1 of %arg2 : tensor<4x16xi32>, tensor<4x16x64xbf16>, tensor<1000x64xbf16> -> tensor<1000x64xf32>
      %dt_0 = training.position_gradient %arg1 of %arg2 first(2) : tensor<4x16x64xbf16>, tensor<1000x64xbf16> -> tensor<1000x64xf32>
      %pairs = transformer.weight "pairs" : tensor<500x128xbf16>
      %dt_1 = training.position_gradient %arg1 of %pairs : tensor<4x16x64xbf16>, tensor<500x128xbf16> -> tensor<500x128xf32>
      %dt_2 = training.position_gradient %arg1 of %arg2 same : tensor<4x16x64xbf16>, tensor<1000x64xbf16> -> tensor<1000x64xf32>
      return
    }
    func.func @norms(%arg0: tensor<4x16x8x16xbf16>, %arg1: tensor<4x16x8x16xbf16>, %arg2: tensor<16xbf16>, %arg3: tensor<8x16xbf16>) {
      %dx = training.norm_backward %arg0, %arg1, %arg2 eps(1.0e-05) unit_offset : tensor<4x16x8x16xbf16>
      %dx_0 = training.norm_backward %arg0, %arg1, %arg3 centered over(2) eps(1.0e-05) groups(4) : tensor<4x16x8x16xbf16>, tensor<8x16xbf16>
      %dx_1 = training.norm_backward %arg0, %arg1 eps(1.0e-05) : tensor<4x16x8x16xbf16>
      %dw = training.norm_gradient %arg0, %arg1 of %arg2 eps(1.0e-05) : tensor<4x16x8x16xbf16>, tensor<16xbf16> -> tensor<16xf32>
      %dw_2 = training.norm_gradient %arg0, %arg1 of %arg3 centered over(2) eps(1.0e-05) groups(4) : tensor<4x16x8x16xbf16>, tensor<8x16xbf16> -> tensor<8x16xf32>
      return
    }
    func.func @elementwise(%arg0: tensor<4x16x64xbf16>, %arg1: tensor<4x16x64xbf16>, %arg2: tensor<4x16x64xbf16>) {
      %dx = training.activation_backward %arg0, %arg1 gelu : tensor<4x16x64xbf16>
      %d_gate, %d_up = training.gated_backward %arg0, %arg1, %arg2 silu : tensor<4x16x64xbf16>
      %d_gate_0, %d_up_1 = training.gated_backward %arg0, %arg1, %arg2 gelu unit_offset limit(7.0) : tensor<4x16x64xbf16>
      %dx_2 = training.softcap_backward %arg0, %arg1 at(30.0) : tensor<4x16x64xbf16>
      return
    }
    func.func @dropout(%arg0: tensor<4x16x64xbf16>) {
      %mask = training.dropout_mask %arg0 probability(0.1) seed(3) : tensor<4x16x64xbf16> -> tensor<4x16x64xi8>
      %dropped = training.dropout %arg0, %mask probability(0.1) : tensor<4x16x64xbf16>, tensor<4x16x64xi8>
      return
    }
    func.func @rope_backward(%arg0: tensor<4x16x8x16xbf16>) {
      %dx = training.rope_backward %arg0 theta(500000.0) : tensor<4x16x8x16xbf16>
      %dx_0 = training.rope_backward %arg0 theta(500000.0) scaling(yarn) width(8) last interleaved : tensor<4x16x8x16xbf16>
      return
    }
    func.func @attention(%arg0: tensor<4x16x8x16xbf16>, %arg1: tensor<4x16x8x16xbf16>, %arg2: tensor<4x16x2x16xbf16>, %arg3: tensor<4x16x2x16xbf16>) {
      %normaliser = training.attention_normaliser %arg1, %arg2 causal window(4) scale(0.5) : tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16> -> tensor<4x16x8xf32>
      %normaliser_0 = training.attention_normaliser %arg1, %arg2 chunk(8) : tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16> -> tensor<4x16x8xf32>
      %dq, %dk, %dv = training.attention_backward %arg0, %arg1, %arg2, %arg3, %arg0, %normaliser causal window(4) scale(0.5) : tensor<4x16x8x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x8xf32> -> tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x2x16xbf16>
      %dq_1, %dk_2, %dv_3 = training.attention_backward %arg0, %arg1, %arg2, %arg3, %arg0, %normaliser_0 chunk(8) : tensor<4x16x8x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x8xf32> -> tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>, tensor<4x16x2x16xbf16>
      return
    }
    func.func @written(%arg0: tensor<4x16x8x16xbf16>, %arg1: tensor<4x16x8x16xbf16>, %arg2: tensor<4x16x2x16xbf16>, %arg3: tensor<4x16x2x16xbf16>) {
      %probabilities = training.attention_probabilities %arg1, %arg2 causal window(4) scale(0.5) : tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16> -> tensor<4x8x16x16xbf16>
      %attn = training.attend %probabilities, %arg3 : tensor<4x8x16x16xbf16>, tensor<4x16x2x16xbf16> -> tensor<4x16x8x16xbf16>
      %dp, %dv = training.attend_backward %arg0, %probabilities, %arg3 : tensor<4x16x8x16xbf16>, tensor<4x8x16x16xbf16>, tensor<4x16x2x16xbf16>
      %dq, %dk = training.attention_probabilities_backward %dp, %probabilities, %arg1, %arg2 scale(0.5) : tensor<4x8x16x16xbf16>, tensor<4x16x8x16xbf16>, tensor<4x16x2x16xbf16>
      return
    }
  }
  module {
    func.func @routing(%arg0: !bq_64_bf, %arg1: tensor<64x8xbf16>, %arg2: tensor<8xbf16>, %arg3: !bq_2_bf) {
      %scores = training.router_scores %arg0, %arg1 bias(%arg2 : tensor<8xbf16>) sigmoid : !bq_64_bf, tensor<64x8xbf16> -> !bq_8_bf
      %scores_0 = training.router_scores %arg0, %arg1 : !bq_64_bf, tensor<64x8xbf16> -> !bq_8_bf
      %dl = training.router_backward %arg3, %scores, %arg3 sigmoid normalized scaled(2.5) : !bq_2_bf, !bq_8_bf
      %dl_1 = training.router_backward %arg3, %scores_0, %arg3 : !bq_2_bf, !bq_8_bf
      return
    }
    func.func @tokens(%arg0: !bq_64_bf, %arg1: !bq2_64_bf, %arg2: !bq_2_bf) {
      %dr = training.routing_gradient %arg0, %arg1, %arg2 : !bq_64_bf, !bq2_64_bf, !bq_2_bf -> !bq_2_bf
      %dx = training.combine_backward %arg0, %arg2 : !bq_64_bf, !bq_2_bf -> !bq2_64_bf
      %dx_0 = training.dispatch_backward %arg1, %arg2 : !bq2_64_bf, !bq_2_bf -> !bq_64_bf
      return
    }
    func.func @weigh_gradient(%arg0: !bq_64_bf, %arg1: !bq_64_bf, %arg2: !bq_bf) {
      %dw = training.weigh_gradient %arg0, %arg1, %arg2 sigmoid : !bq_64_bf, !bq_64_bf, !bq_bf -> !bq_bf
      return
    }
    func.func @products(%arg0: !bq2_64_bf, %arg1: !bq2_32_bf, %arg2: tensor<8x64x32xbf16>, %arg3: tensor<8x32xbf16>) {
      %dx = training.experts_backward %arg1, %arg2 top_k(2) : !bq2_32_bf, tensor<8x64x32xbf16> -> !bq2_64_bf
      %dw = training.experts_gradient %arg0, %arg1 of %arg2 : !bq2_64_bf, !bq2_32_bf, tensor<8x64x32xbf16> -> tensor<8x64x32xf32>
      %db = training.sum_experts %arg1 of %arg3 : !bq2_32_bf, tensor<8x32xbf16> -> tensor<8x32xf32>
      return
    }
    func.func @sink_gradient(%arg0: tensor<4x16x8x64xbf16>, %arg1: tensor<4x16x2x64xbf16>, %arg2: tensor<8xbf16>) {
      %normaliser = training.attention_normaliser %arg0, %arg1 sinks(%arg2 : tensor<8xbf16>) causal softcap(30.0) : tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16> -> tensor<4x16x8xf32>
      %ds = training.sink_gradient %arg0, %arg0, %normaliser, %arg2 : tensor<4x16x8x64xbf16>, tensor<4x16x8xf32>, tensor<8xbf16> -> tensor<8xf32>
      %dq, %dk, %dv = training.attention_backward %arg0, %arg0, %arg1, %arg1, %arg0, %normaliser causal softcap(30.0) : tensor<4x16x8x64xbf16>, tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x8x64xbf16>, tensor<4x16x8xf32> -> tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16>, tensor<4x16x2x64xbf16>
      return
    }
  }
  module {
    func.func @concat_shared(%arg0: !bq_8_128_bf, %arg1: !bq_64_bf) {
      %key = training.concat_shared %arg0, %arg1 : !bq_8_128_bf, !bq_64_bf -> !bq_8_192_bf
      return
    }
    func.func @concat_shared_backward(%arg0: !bq_8_192_bf) {
      %dx, %d_shared = training.concat_shared_backward %arg0 : !bq_8_192_bf -> !bq_8_128_bf, !bq_64_bf
      return
    }
    func.func @latent_normaliser(%arg0: !bq_8_24_bf, %arg1: !bq_32_bf, %arg2: !bq_8_bf, %arg3: tensor<32x8x16xbf16>, %arg4: !bq_4_int) {
      %normaliser = training.latent_normaliser %arg0, %arg1, %arg2, %arg3 selected(%arg4 : !bq_4_int) causal : !bq_8_24_bf, !bq_32_bf, !bq_8_bf, tensor<32x8x16xbf16> -> !bq_8_float
      %normaliser_0 = training.latent_normaliser %arg0, %arg1, %arg2, %arg3 at_most(4) : !bq_8_24_bf, !bq_32_bf, !bq_8_bf, tensor<32x8x16xbf16> -> !bq_8_float
      return
    }
    func.func @latent_attention_backward(%arg0: !bq_8_16_bf, %arg1: !bq_8_24_bf, %arg2: !bq_32_bf, %arg3: !bq_8_bf, %arg4: tensor<32x8x16xbf16>, %arg5: !bq_8_float, %arg6: !bq_4_int) {
      %dq, %d_latent, %d_rope, %d_key_weight, %d_value_weight = training.latent_attention_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg4, %arg0, %arg5 selected(%arg6 : !bq_4_int) causal : !bq_8_16_bf, !bq_8_24_bf, !bq_32_bf, !bq_8_bf, tensor<32x8x16xbf16>, tensor<32x8x16xbf16>, !bq_8_float -> !bq_32_bf, !bq_8_bf, tensor<32x8x16xf32>, tensor<32x8x16xf32>
      %dq_0, %d_latent_1, %d_rope_2, %d_key_weight_3, %d_value_weight_4 = training.latent_attention_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg4, %arg0, %arg5 at_most(4) : !bq_8_16_bf, !bq_8_24_bf, !bq_32_bf, !bq_8_bf, tensor<32x8x16xbf16>, tensor<32x8x16xbf16>, !bq_8_float -> !bq_32_bf, !bq_8_bf, tensor<32x8x16xf32>, tensor<32x8x16xf32>
      return
    }
  }
  module {
    func.func @short_conv(%arg0: !bq_64_bf, %arg1: !bq_64_bf, %arg2: tensor<64x4xbf16>, %arg3: tensor<64xbf16>) {
      %dx, %dw, %db = training.short_conv_backward %arg0, %arg1, %arg2 bias(%arg3 : tensor<64xbf16>) silu : !bq_64_bf, tensor<64x4xbf16> -> tensor<64x4xf32>, tensor<64xf32>
      %dx_0, %dw_1 = training.short_conv_backward %arg0, %arg1, %arg2 : !bq_64_bf, tensor<64x4xbf16> -> tensor<64x4xf32>
      return
    }
    func.func @state_space(%arg0: !bq_8_16_bf, %arg1: !bq_8_16_bf, %arg2: !bq_8_bf, %arg3: !bq_2_32_bf, %arg4: !bq_2_32_bf, %arg5: tensor<8xf32>) {
      %dx, %d_dt, %d_input, %d_output, %da, %dd = training.state_space_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 d(%arg5 : tensor<8xf32>) dt_bias(%arg5 : tensor<8xf32>) : !bq_8_16_bf, !bq_8_bf, !bq_2_32_bf, tensor<8xf32> -> !bq_2_32_bf, tensor<8xf32>, tensor<8xf32>
      %dx_0, %d_dt_1, %d_input_2, %d_output_3, %da_4 = training.state_space_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 : !bq_8_16_bf, !bq_8_bf, !bq_2_32_bf, tensor<8xf32> -> !bq_2_32_bf, tensor<8xf32>
      %ssm = transformer.state_space %arg1, %arg2, %arg3, %arg4, %arg5 : !bq_8_16_bf, !bq_8_bf, !bq_2_32_bf, tensor<8xf32>
      return
    }
    func.func @gated_delta_rule(%arg0: !bq_8_16_bf, %arg1: !bq_2_16_bf, %arg2: !bq_2_16_bf, %arg3: !bq_8_16_bf, %arg4: !bq_8_bf, %arg5: !bq_8_bf, %arg6: tensor<8xf32>) {
      %dq, %dk, %dv, %d_beta, %d_decay, %da = training.gated_delta_rule_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg6 : !bq_2_16_bf, !bq_8_16_bf, !bq_8_bf, !bq_8_bf, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
      %delta = transformer.gated_delta_rule %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg6 : !bq_2_16_bf, !bq_8_16_bf, !bq_8_bf, !bq_8_bf, tensor<8xf32>, tensor<8xf32>
      return
    }
    func.func @gated_delta_rule_of_channels(%arg0: !bq_8_16_bf, %arg1: !bq_8_16_bf, %arg2: !bq_8_bf, %arg3: !bq_8_16_bf, %arg4: tensor<8xf32>, %arg5: tensor<8x16xf32>) {
      %dq, %dk, %dv, %d_beta, %d_decay, %da = training.gated_delta_rule_backward %arg0, %arg1, %arg1, %arg1, %arg2, %arg3, %arg4, %arg5 : !bq_8_16_bf, !bq_8_16_bf, !bq_8_bf, !bq_8_16_bf, tensor<8xf32>, tensor<8x16xf32> -> tensor<8xf32>
      return
    }
    func.func @linear_attention(%arg0: !bq_8_16_bf, %arg1: !bq_8_16_bf, %arg2: !bq_8_16_bf, %arg3: !bq_8_16_bf) {
      %dq, %dk, %dv = training.linear_attention_backward %arg0, %arg1, %arg2, %arg3 layers(80) : !bq_8_16_bf
      %linear_attn = transformer.linear_attention %arg1, %arg2, %arg3 layers(80) : !bq_8_16_bf
      return
    }
  }
  module {
    func.func @insert_backward(%arg0: !bq_64_bf) {
      %dx, %d_inserted = training.insert_backward %arg0 : !bq_64_bf -> !bet_64_bf
      return
    }
    func.func @merge_tokens_backward(%arg0: !bet_64_bf) {
      %dx = training.merge_tokens_backward %arg0 : !bet_64_bf -> !bet4_16_bf
      %dx_0 = training.merge_tokens_backward %arg0 mean : !bet_64_bf -> !bet4_64_bf
      return
    }
  }
  module {
    transformer.requests(rate = 20.0, prompt = lognormal(2000, 0.8), output = 300) cached(0.5) acceptance([0.85, 0.7]) sla(ttft_us = 500000.0, tpot_us = 30000.0)
  }
  module {
    transformer.requests(concurrency = 64, prompt = uniform(100, 500), output = histogram(128 : 3.0, 4096 : 1.0))
  }
  module {
    parallel.mesh(dp = 2, tp = 4)
    training.microbatches(4) schedule(one_f_one_b) assumed [schedule]
  }
  module {
    parallel.mesh(pp = 2)
    parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(gpipe) microbatches(8) assumed [microbatches]
  }
  module {
    transformer.workload(phase = decode, batch = 8, query = 1, context = 128)
    training.microbatches(2) schedule(inference)
  }
}

