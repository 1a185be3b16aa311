// Copies of the scores that a loss holds (`LossForm`), of which chunks hold a
// part.

// RUN: autopar-opt %S/../Transforms/Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{loss=eager loss-chunks=8},autopar-build-backward,autopar-print-cost-program)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EAGER

// Scores, the gradient of nll_loss, that of log_softmax, and its cast.

// EAGER-LABEL: "activations"
// EAGER: "name": "logits"
// EAGER: "chunks": 8
// EAGER: "name": "d_logits"
// EAGER: "type": "fp32"
// EAGER: "chunks": 8
// EAGER: "name": "d_logits"
// EAGER: "type": "fp32"
// EAGER: "chunks": 8
// EAGER: "name": "cast"
// EAGER: "type": "bf16"
// EAGER: "chunks": 8
// EAGER-LABEL: "saved"
// EAGER: "name": "cast"
// EAGER: "type": "fp32"
// EAGER-NEXT: "chunks": 8

// The gradient is where the scores were: nothing but its cast is new.

// RUN: autopar-opt %S/../Transforms/Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{loss=in-place},autopar-build-backward,autopar-print-cost-program)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE-LABEL: "activations"
// PLACE-NOT: "name": "d_logits"
// PLACE-NOT: "chunks"
// PLACE-LABEL: "saved"
// PLACE: "name": "cast"
// PLACE-NEXT: "layer": "model"
// PLACE-NEXT: "count": 1
// PLACE: "type": "fp32"

// Scores are saved as they are; their gradient lies beside them, or in their
// place.

// RUN: autopar-opt %S/../Transforms/Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{loss=compiled},autopar-build-backward,autopar-print-cost-program)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=COMPILED
// COMPILED-LABEL: "activations"
// COMPILED-NOT: "name": "cast"
// COMPILED: "name": "d_logits"
// COMPILED: "type": "bf16"
// COMPILED-LABEL: "saved"
// COMPILED: "name": "logits"
// COMPILED: "type": "bf16"
// RUN: autopar-opt %S/../Transforms/Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{loss=fused},autopar-build-backward,autopar-print-cost-program)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUSED
// FUSED-LABEL: "activations"
// FUSED-NOT: "name": "d_logits"
// FUSED-LABEL: "saved"
// FUSED: "name": "logits"
