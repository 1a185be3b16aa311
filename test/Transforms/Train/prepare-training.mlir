// All tokens are scored and compared with labels; there are no caches.

// RUN: %roundtrip %S/../Inputs/trained.mlir --autopar-prepare-training | FileCheck %s
// CHECK-LABEL: func.func private @decoder
// CHECK-NOT: kv_cache
// CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} causal :
// CHECK-LABEL: func.func @model(%arg0: !bq_int, %arg1: !bq_int) -> !bq_float
// CHECK-NOT: last_token
// CHECK: %[[LOGITS:.*]] = transformer.logits %{{.*}}, %{{.*}} : !bq_64_bf, tensor<1000x64xbf16> -> !bq_1000_bf
// CHECK-NEXT: %[[WIDE:.*]] = transformer.cast %[[LOGITS]] : !bq_1000_bf -> !bq_1000_float
// CHECK-NEXT: %[[LOSS:.*]] = training.cross_entropy %[[WIDE]], %arg1
// CHECK-NEXT: return %[[LOSS]]

// Once is enough.

// RUN: autopar-opt %S/../Inputs/trained.mlir --autopar-prepare-training -o %t.once
// RUN: autopar-opt %t.once --autopar-prepare-training | diff - %t.once

// Elements are dropped of embeddings, of what linear maps add to residuals, and
// of probabilities where those are written.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{dropout=0.1 flash=false})' | FileCheck %s --check-prefix=DROP
// DROP: parallel.strategy knobs {dropout = 1.000000e-01 : f64, "unfused-attention"}
// DROP: %[[P:.*]] = training.attention_probabilities %{{.*}}, %{{.*}} causal
// DROP-NEXT: %[[M:.*]] = training.dropout_mask %[[P]] probability(0.1) seed(0)
// DROP-NEXT: %[[D:.*]] = training.dropout %[[P]], %[[M]]
// DROP-NEXT: training.attend %[[D]]
// DROP-COUNT-2: training.dropout_mask %{{.*}} probability(0.1) seed({{[12]}}) : !bq_64_bf
// DROP: transformer.embedding
// DROP-NEXT: training.dropout_mask {{.*}} seed(3)

// RUN: not autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{dropout=1})' 2>&1 | FileCheck %s --check-prefix=SHARE
// SHARE: error: dropout = {{.*}}, expected 0 to below 1

// Losses that fuse read the scores as they are; chunks are an attribute.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{loss=fused loss-chunks=4})' | FileCheck %s --check-prefix=FUSED
// FUSED: %[[LOGITS:.*]] = transformer.logits
// FUSED-NEXT: training.cross_entropy %[[LOGITS]], %arg1 {chunks = 4 : i64, form = "fused"} : !bq_1000_bf, !bq_int -> !bq_float
// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{loss=eager})' | FileCheck %s --check-prefix=EAGER
// EAGER: %[[WIDE:.*]] = transformer.cast
// EAGER-NEXT: training.cross_entropy %[[WIDE]], %arg1 {form = "eager"}

// RUN: not autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{loss=lazy})' 2>&1 | FileCheck %s --check-prefix=LAZY
// LAZY: error: unknown loss 'lazy', expected eager, in-place, compiled or fused
// RUN: not autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{loss-chunks=0})' 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: error: loss-chunks = 0, expected 1 or more

// A step of inference stays one.

// RUN: sed 's/phase = train/phase = prefill/' %S/../Inputs/trained.mlir | autopar-opt --autopar-prepare-training | FileCheck %s --check-prefix=PREFILL
// PREFILL: kv_cache
// PREFILL: last_token
