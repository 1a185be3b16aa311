// The ops of a layer in reverse; what they need of the forward is saved there,
// each value once.

// RUN: %roundtrip %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward | FileCheck %s
// CHECK-LABEL: func.func private @decoder(
// CHECK-COUNT-10: training.save
// CHECK-NOT: training.save
// CHECK-LABEL: func.func private @decoder_backward(%arg0: !bq_64_bf) -> !bq_64_bf attributes {training.part_of = @decoder}
// CHECK: %[[DOWN:.*]] = transformer.weight "down_proj.weight"
// CHECK: %[[G:.*]] = training.saved "activation"
// CHECK: %[[DW:.*]] = training.product_gradient weight %[[G]], %arg0 of %[[DOWN]]
// CHECK-NEXT: training.accumulate %[[DW]] of %[[DOWN]] : tensor<256x64xf32>, tensor<256x64xbf16>
// CHECK-NEXT: %[[DG:.*]] = training.product_gradient input %arg0, %[[DOWN]]
// CHECK-NEXT: training.activation_backward %[[DG]]
// CHECK: training.attention_backward
// CHECK: %[[DX:.*]] = training.norm_backward
// CHECK-NEXT: %[[SUM:.*]] = transformer.add %{{.*}}, %[[DX]]
// CHECK-NEXT: return %[[SUM]]
// CHECK-LABEL: func.func private @decoder_update() attributes {training.part_of = @decoder}
// CHECK: %[[W:.*]] = transformer.weight "norm.weight"
// CHECK-NEXT: %[[GRAD:.*]] = training.gradient %[[W]]
// CHECK-NEXT: %[[NEW:.*]] = training.update %[[W]], %[[GRAD]] adamw master states [f32, f32, f32]
// CHECK-NEXT: training.assign %[[NEW]] to %[[W]]

// Layers are numbered down. A table that is read twice adds up twice, and is
// updated once.

// CHECK-LABEL: func.func private @model_backward(%arg0: !bq_int, %arg1: !bq_int) attributes {training.part_of = @model}
// CHECK: training.cross_entropy_backward
// CHECK: training.accumulate
// CHECK: transformer.repeat 3 layers "layers" from 0 reversed
// CHECK-NEXT: func.call @decoder_backward
// CHECK: training.embedding_gradient
// CHECK-NEXT: training.accumulate
// CHECK-LABEL: func.func private @model_update()
// CHECK-COUNT-1: training.update
// CHECK: transformer.repeat 3 layers "layers" from 0 {
// CHECK-NEXT: func.call @decoder_update() : () -> ()
// CHECK-NOT: training.update
// CHECK: training.iteration backward(@model_backward) update(@model_update) recompute(none)

// All but the arguments of layers is made again.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full optimizer=sgd master=none gradient-format=bf16})' | FileCheck %s --check-prefix=FULL
// FULL-LABEL: func.func private @decoder(
// FULL-COUNT-1: training.save
// FULL-NOT: training.save
// FULL-LABEL: func.func private @decoder_backward
// FULL: transformer.attention %
// FULL: training.update %{{.*}}, %{{.*}} sgd states [f32] : tensor<64xbf16>, tensor<64xbf16>

// Selective: what lies between queries, keys, values and what attention gives.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{dropout=0.1 flash=false},autopar-build-backward{recompute=selective})' | FileCheck %s --check-prefix=CORE
// CORE-LABEL: func.func private @decoder(
// CORE-NOT: training.save {{.*}}"probabilities"
// CORE-LABEL: func.func private @decoder_backward
// CORE-DAG: training.attention_probabilities %
// CORE-DAG: training.dropout_mask

// Of matrices Muon keeps a momentum, and what it makes of that is a plain step;
// the table of tokens, which is the head, too, and norms have AdamW.

// RUN: %roundtrip %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{optimizer=muon})' | FileCheck %s --check-prefix=MUON
// MUON-LABEL: func.func private @decoder_update
// MUON: transformer.weight "norm.weight"
// MUON: training.update %{{.*}} adamw master states [f32, f32, f32]
// MUON: %[[W:.*]] = transformer.weight "q_proj.weight"
// MUON-NEXT: %[[G:.*]] = training.gradient %[[W]]
// MUON-NEXT: %[[M:.*]] = training.momentum %[[W]], %[[G]] state f32
// MUON-NEXT: %[[O:.*]] = training.orthogonalize %[[M]] rows [0, 1] steps 5
// MUON-NEXT: %[[U:.*]] = training.update %[[W]], %[[O]] sgd master states [f32]
// MUON-NEXT: training.assign %[[U]] to %[[W]]
// MUON: transformer.weight "o_proj.weight"
// MUON: training.orthogonalize %{{.*}} rows [0, 2] steps 5
// MUON-LABEL: func.func private @model_update
// MUON-NOT: training.momentum
// MUON: training.update %{{.*}} adamw
// MUON: repeat

// Adafactor keeps numbers of rows and columns, of tables, too; one of bf16
// updates weights themselves.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{optimizer=adafactor master=none moments=bf16})' --mlir-print-local-scope | FileCheck %s --check-prefix=MEANS
// MEANS-LABEL: func.func private @decoder_update
// MEANS: %[[W:.*]] = transformer.weight "norm.weight"
// MEANS-NEXT: %[[G:.*]] = training.gradient %[[W]]
// MEANS-NEXT: %[[S:.*]] = training.mean %[[G]] of %[[W]] over [0, 0] squared
// MEANS-NEXT: %[[V:.*]] = training.moving_mean %[[S]] state bf16
// MEANS-NEXT: %[[STEP:.*]] = training.precondition %[[G]] by %[[V]]
// MEANS-NEXT: %[[Q:.*]] = training.mean %[[STEP]] over [0, 1] squared
// MEANS-NEXT: training.update %[[W]], %[[STEP]] adafactor mean_square(%[[Q]] : tensor<f32>) states []
// MEANS: %[[W:.*]] = transformer.weight "o_proj.weight"
// MEANS-NEXT: %[[G:.*]] = training.gradient %[[W]]
// MEANS-NEXT: %[[ROWS:.*]] = training.mean %[[G]] of %[[W]] over [2, 3] squared
// MEANS-NEXT: %[[COLUMNS:.*]] = training.mean %[[G]] of %[[W]] over [0, 2] squared
// MEANS-NEXT: %[[R:.*]] = training.moving_mean %[[ROWS]] state bf16 : tensor<8x16xf32>
// MEANS-NEXT: %[[C:.*]] = training.moving_mean %[[COLUMNS]] state bf16 : tensor<64xf32>
// MEANS-NEXT: %[[M:.*]] = training.mean %[[R]] over [0, 2] :
// MEANS-NEXT: %[[STEP:.*]] = training.precondition %[[G]] by %[[R]], %[[C]], %[[M]] rows [0, 2]
// MEANS-NEXT: %[[Q:.*]] = training.mean %[[STEP]] over [0, 3] squared
// MEANS-NEXT: %[[NEW:.*]] = training.update %[[W]], %[[STEP]] adafactor mean_square(%[[Q]] : tensor<f32>) states []
// MEANS-NEXT: training.assign %[[NEW]] to %[[W]]
// MEANS-LABEL: func.func private @model_update
// MEANS: training.precondition {{.*}} rows [0, 1]

// Tensors of 4,096 elements have states of 8 bits; a copy in the format of the
// weight is none.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{optimizer=adamw-8bit master=bf16})' | FileCheck %s --check-prefix=BYTES
// BYTES-LABEL: func.func private @decoder_update
// BYTES: training.update %{{.*}} adamw states [f32, f32] : tensor<64xbf16>
// BYTES: training.update %{{.*}} adamw states [i8, i8] : tensor<64x8x16xbf16>


// RUN: not autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=some})' 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: unknown recomputation 'some', expected none, selective, full, full:N (layers of each stage)
// RUN: not autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{optimizer=lion})' 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: unknown optimizer 'lion', expected adamw, adamw-8bit, adafactor, muon, sgd or sgd-without-momentum

// An op without a backward is named.

// RUN: sed 's/%%g = transformer.activation %%up gelu : !wide/%%g = transformer.softmax %%up : !wide/' %S/../Inputs/trained.mlir | not autopar-opt --autopar-prepare-training --autopar-build-backward 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'transformer.softmax' op has no backward yet: no gradient passes through it
