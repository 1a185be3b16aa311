// Latents become keys and values of each head. These are saved, and nothing
// that they are made of but the latents.

// RUN: %roundtrip %S/../Inputs/latent.mlir --autopar-prepare-training --autopar-build-backward | FileCheck %s
// CHECK-LABEL: func.func private @decoder(
// CHECK-NOT: kv_cache
// CHECK: %[[LATENT:.*]] = transformer.linear %{{.*}}, %kv_a_proj
// CHECK-NEXT: training.save %[[LATENT]]
// CHECK: %[[ROPE:.*]] = transformer.rope %k_rope
// CHECK: %[[OWN:.*]] = transformer.linear %[[LATENT]], %k_b_proj : !bq_40_bf, tensor<40x8x16xbf16> -> !bq_8_16_bf
// CHECK-NEXT: %[[VALUE:.*]] = transformer.linear %[[LATENT]], %v_b_proj : !bq_40_bf, tensor<40x8x32xbf16> -> !bq_8_32_bf
// CHECK-NEXT: training.save %[[VALUE]]
// CHECK-NEXT: %[[KEY:.*]] = training.concat_shared %[[OWN]], %[[ROPE]] : !bq_8_16_bf, !bq_8_bf -> !bq_8_24_bf
// CHECK-NEXT: training.save %[[KEY]]
// CHECK-NEXT: transformer.attention %{{.*}}, %[[KEY]], %[[VALUE]] causal : !bq_8_24_bf, !bq_8_24_bf, !bq_8_32_bf -> !bq_8_32_bf
// CHECK-LABEL: func.func private @decoder_backward
// CHECK: %dq, %dk, %dv = training.attention_backward {{.*}} causal
// CHECK: %[[DOWN:.*]], %[[DR:.*]] = training.concat_shared_backward %dk : !bq_8_24_bf -> !bq_8_16_bf, !bq_8_bf
// CHECK: training.product_gradient weight %{{.*}}, %dv of %v_b_proj
// CHECK: training.product_gradient input %dv, %v_b_proj
// CHECK: training.product_gradient weight %{{.*}}, %[[DOWN]] of %k_b_proj
// CHECK: training.product_gradient input %[[DOWN]], %k_b_proj
// CHECK: training.rope_backward %[[DR]] theta(100.0)

// Once is enough.

// RUN: autopar-opt %S/../Inputs/latent.mlir --autopar-prepare-training -o %t.once
// RUN: autopar-opt %t.once --autopar-prepare-training | diff - %t.once

// Gradients are derivatives, on one device and on two. Heads are split, and what
// they share is a sum over them.

// RUN: autopar-opt %S/../Inputs/latent.mlir --autopar-prepare-training --autopar-build-backward | autopar-run --gradients=3 | FileCheck %s --check-prefix=RIGHT
// RUN: autopar-opt %S/../Inputs/latent.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-tensor --autopar-shard-sequence --autopar-insert-collectives -o %t.split
// RUN: autopar-run %t.split --gradients=3 | FileCheck %s --check-prefix=RIGHT
// RIGHT: gradients of {{[0-9]+}} elements are those of the loss: largest difference {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}
// RUN: FileCheck %s --check-prefix=SPLIT --input-file=%t.split
// SPLIT-LABEL: func.func private @decoder(
// SPLIT: %[[ALL:.*]] = parallel.all_gather %rope{{.*}} dim 1 over [tp]
// SPLIT: training.concat_shared %{{.*}}, %[[ALL]] : !bq_8tp_cap_16_bf, !bq_8_bf -> !bq_8tp_cap_24_bf
// SPLIT-LABEL: func.func private @decoder_backward
// SPLIT: training.concat_shared_backward %dk : !bq_8tp_cap_24_bf{{.*}} -> !bq_8tp_cap_16_bf{{.*}}, !bq_8_sum_tp

// Sinks are those of the attention, and so are their gradients.

// RUN: sed -e 's/ causal$/ sinks(%%sinks : tensor<8xbf16>) causal/' -e 's/^ *%%wq = /    %%sinks = transformer.weight "sinks" : tensor<8xbf16>\n&/' %S/../Inputs/latent.mlir > %t.sinks
// RUN: autopar-opt %t.sinks --autopar-prepare-training --autopar-build-backward -o %t.sunk
// RUN: FileCheck %s --check-prefix=SINKS --input-file=%t.sunk
// SINKS: transformer.attention %{{.*}} sinks(%sinks
// SINKS: training.sink_gradient
// RUN: autopar-run %t.sunk --gradients=3 | FileCheck %s --check-prefix=RIGHT

// A gradient that is something else.

// RUN: autopar-opt %S/../Inputs/latent.mlir --autopar-prepare-training --autopar-build-backward | sed 's/rope_backward %d_shared theta(100.0)/rope_backward %d_shared theta(3.0)/' | not autopar-run --gradients=8 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: the gradient of {{.*}} is not that of the loss

// 4 sequences of 6 tokens have 84 pairs, 8 heads, 3 layers: with keys of 24 and
// values of 32, 2 * 84 * 8 * 3 * (24 + 32) FLOPs forward and
// 2 * 84 * 8 * 3 * (3 * 24 + 2 * 32) back.

// RUN: autopar-opt %S/../Inputs/latent.mlir --phase=train --batch=4 --context=6 --estimate=json -o /dev/null | FileCheck %s --check-prefix=FLOPS
// FLOPS: "attention": 774144,

// Where tokens are selected, attention stays in the space of latents, without a
// cache (test/Interpreter/gradients-selected.mlir).

// RUN: sed 's/causal$/at_most(5) causal/' %S/../Inputs/latent.mlir | autopar-opt --autopar-prepare-training | FileCheck %s --check-prefix=SELECTS
// SELECTS-NOT: kv_cache
// SELECTS: transformer.latent_attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %k_b_proj, %v_b_proj at_most(5) causal absorbed
