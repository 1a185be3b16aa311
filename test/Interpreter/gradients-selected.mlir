// Attention to selected tokens: its gradients are those of differences of the
// loss, whole and with heads, sequences and tokens of queries split. What is
// selected is held as it is, so that weights of the indexer have no gradient.

// RUN: autopar-opt %s --autopar-prepare-training --autopar-build-backward -o %t.mlir
// RUN: FileCheck %s --check-prefix=IR --input-file=%t.mlir
// RUN: autopar-run %t.mlir --gradients=4 | FileCheck %s
// RUN: autopar-opt %s --shard-dp=2 --shard-tp=4 --phase=train --batch=2 --prompt=6 -o %t.split.mlir
// RUN: autopar-run %t.split.mlir --directional-derivative | FileCheck %s
// RUN: autopar-opt %s --shard-tp=2 --shard-sp --phase=train --batch=2 --prompt=6 -o %t.sp.mlir
// RUN: autopar-run %t.sp.mlir --directional-derivative | FileCheck %s
// RUN: autopar-opt %s --shard-cp=2 --phase=train --batch=2 --prompt=6 -o %t.cp.mlir
// RUN: autopar-run %t.cp.mlir --directional-derivative | FileCheck %s
// RUN: autopar-opt %s --recompute=full --phase=train --batch=2 --prompt=6 -o %t.again.mlir
// RUN: autopar-run %t.again.mlir --directional-derivative | FileCheck %s
// CHECK: are those of the loss: {{(largest )?}}difference {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}

// IR-LABEL: func.func private @decoder(
// IR-NOT: kv_cache
// IR: %[[SELECTED:.*]] = transformer.indexer %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} top_k(3)
// IR: transformer.latent_attention {{.*}} selected(%[[SELECTED]] : {{.*}}) causal absorbed
// IR: training.latent_normaliser {{.*}} selected(%[[SELECTED]] : {{.*}}) causal
// IR-LABEL: func.func private @decoder_backward(
// IR: %dq, %d_latent, %d_rope, %d_key_weight, %d_value_weight = training.latent_attention_backward {{.*}} selected({{.*}}) causal
// IR-DAG: training.accumulate %d_key_weight of %k_b_proj
// IR-DAG: training.accumulate %d_value_weight of %v_b_proj
// IR-NOT: index_q

// Gradients of all tokens are others.
// RUN: sed '/latent_attention_backward/ s/ selected([^)]*)//' %t.mlir | not autopar-run --gradients=8 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: the gradient of {{.*}} is not that of the loss

// RUN: sed -e 's/) causal$/) sinks(%%sinks : tensor<4xbf16>) causal/' -e 's/^ *%%wq = /  %%sinks = transformer.weight "sinks" : tensor<4xbf16>\n&/' %s \
// RUN:   | not autopar-opt --autopar-prepare-training --autopar-build-backward 2>&1 | FileCheck %s --check-prefix=SINKS
// SINKS: error: 'transformer.latent_attention' op with sinks has no backward yet

// Of 2 sequences of 6 tokens, three of which each sees: 6*3 - 3 pairs. The
// indexer's 2 * 21 * 2 * 4 FLOPs, the forward's 2 * 15 * 4 * (2 * 6 + 2), the
// backward's 2 * 15 * 4 * (3 * 8 + 3 * 6), for 2 sequences.
// RUN: autopar-opt %s --phase=train --batch=2 --prompt=6 --estimate=json -o /dev/null | FileCheck %s --check-prefix=FLOPS
// FLOPS: "attention": 14112,
// FLOPS: the loss of indexers

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x4x6xbf16, #transformer.dims<[batch, query, _, _]>>
!l = tensor<?x?x6xbf16, #transformer.dims<[batch, query, _]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x4x5xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x8xbf16, #transformer.dims<[batch, context, _]>>
!iq = tensor<?x?x2x4xbf16, #transformer.dims<[batch, query, _, _]>>
!ik = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!iw = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!ic = !transformer.cache<?x?x4xbf16, #transformer.dims<[batch, context, _]>>
!s = tensor<?x?x3xi32, #transformer.dims<[batch, query, _]>>
!scores = tensor<?x?x11xbf16, #transformer.dims<[batch, query, _]>>
transformer.workload(phase = train, batch = 2, query = 6, context = 6)
func.func private @decoder(%x: !x) -> !x {
  %wq = transformer.weight "q_proj" : tensor<8x4x6xbf16>
  %wl = transformer.weight "kv_a_proj" : tensor<8x6xbf16>
  %wr = transformer.weight "k_rope_proj" : tensor<8x2xbf16>
  %wk = transformer.weight "k_b_proj" : tensor<6x4x4xbf16>
  %wv = transformer.weight "v_b_proj" : tensor<6x4x5xbf16>
  %wo = transformer.weight "o_proj" : tensor<4x5x8xbf16>
  %wiq = transformer.weight "index_q" : tensor<8x2x4xbf16>
  %wik = transformer.weight "index_k" : tensor<8x4xbf16>
  %wiw = transformer.weight "index_w" : tensor<8x2xbf16>
  %q = transformer.linear %x, %wq : !x, tensor<8x4x6xbf16> -> !q
  %l = transformer.linear %x, %wl : !x, tensor<8x6xbf16> -> !l
  %r = transformer.linear %x, %wr : !x, tensor<8x2xbf16> -> !r
  %iq = transformer.linear %x, %wiq : !x, tensor<8x2x4xbf16> -> !iq
  %ik = transformer.linear %x, %wik : !x, tensor<8x4xbf16> -> !ik
  %iw = transformer.linear %x, %wiw : !x, tensor<8x2xbf16> -> !iw
  %ic = transformer.kv_cache : !ic
  %s = transformer.indexer %iq, %ik, %iw cache(%ic : !ic) top_k(3) : !iq, !ik, !iw -> !s
  %c = transformer.kv_cache : !c
  %a = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) selected(%s : !s) causal
      : !q, !l, !r, tensor<6x4x4xbf16>, tensor<6x4x5xbf16> -> !y
  %o = transformer.linear %a, %wo : !y, tensor<4x5x8xbf16> -> !x
  %sum = transformer.add %x, %o : !x
  return %sum : !x
}
func.func @model(%ids: !ids) -> !scores {
  %t = transformer.weight "embed" : tensor<11x8xbf16>
  %x = transformer.embedding %ids, %t : !ids, tensor<11x8xbf16> -> !x
  %y = transformer.repeat 1 layers "layers" from 0 (%z = %x) : !x {
    %h = func.call @decoder(%z) : (!x) -> !x
    transformer.yield %h : !x
  }
  %scores = transformer.logits %y, %t : !x, tensor<11x8xbf16> -> !scores
  return %scores : !scores
}
