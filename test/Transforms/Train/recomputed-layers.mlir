// Layers that are made again have functions of their own, and are repeated
// apart from those that save all. Their numbers, and so their weights, stay.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full:1})' | autopar-opt | FileCheck %s
// CHECK-LABEL: func.func private @decoder(
// CHECK-COUNT-10: training.save
// CHECK-LABEL: func.func private @decoder_recomputed(
// CHECK-COUNT-1: training.save
// CHECK-NOT: training.save
// CHECK-LABEL: func.func private @decoder_recomputed_backward(
// CHECK-SAME: training.part_of = @decoder_recomputed
// CHECK-LABEL: func.func @model(
// CHECK: %[[X:.*]] = transformer.repeat 1 layers "layers" from 0
// CHECK-NEXT: func.call @decoder_recomputed(
// CHECK: transformer.repeat 2 layers "layers" from 1 (%{{.*}} = %[[X]])
// CHECK-NEXT: func.call @decoder(
// CHECK-LABEL: func.func private @model_backward(
// CHECK: transformer.repeat 2 layers "layers" from 1 reversed
// CHECK-NEXT: func.call @decoder_backward
// CHECK: transformer.repeat 1 layers "layers" from 0 reversed
// CHECK-NEXT: func.call @decoder_recomputed_backward
// CHECK: recompute(full first 1)

// Patterns are repeated as such: of eight layers every second one, or the first
// of each of two stages of four.

// RUN: sed 's/repeat 3 layers/repeat 8 layers/' %S/../Inputs/trained.mlir > %t.mlir
// RUN: autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full/2})' | FileCheck %s --check-prefix=SECOND
// SECOND-LABEL: func.func @model(
// SECOND: transformer.repeat 4 layers "layers" from 0
// SECOND-NEXT: %[[Y:.*]] = func.call @decoder(
// SECOND-NEXT: func.call @decoder_recomputed(%[[Y]])
// SECOND-NEXT: transformer.yield
// RUN: autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full:1 stage-count=2})' | FileCheck %s --check-prefix=STAGES
// STAGES-LABEL: func.func @model(
// STAGES: transformer.repeat 2 layers "layers" from 0
// STAGES-NEXT: func.call @decoder_recomputed(
// STAGES-NEXT: transformer.repeat 3 (
// STAGES-NEXT: func.call @decoder(
// RUN: autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full:2 stages=0-5,6-7})' | FileCheck %s --check-prefix=UNEVEN
// UNEVEN-LABEL: func.func @model(
// UNEVEN: transformer.repeat 2 layers "layers" from 0
// UNEVEN-NEXT: func.call @decoder_recomputed(
// UNEVEN: transformer.repeat 4 layers "layers" from 2
// UNEVEN-NEXT: func.call @decoder(
// UNEVEN: transformer.repeat 2 layers "layers" from 6
// UNEVEN-NEXT: func.call @decoder_recomputed(

// Where all are, none is left.

// RUN: autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full:8})' | FileCheck %s --check-prefix=ALL
// ALL-NOT: @decoder(
// ALL: transformer.repeat 8 layers "layers" from 0
// ALL-NEXT: func.call @decoder_recomputed(

// Stages have equal numbers of layers, for which the backward was written.

// RUN: autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-bind-mesh{axes=pp=3},autopar-prepare-training,autopar-build-backward{recompute=full:1 stage-count=3},autopar-stage-pipeline)' | FileCheck %s --check-prefix=LAID
// LAID: parallel.stages over [pp] layers [0 to 2, 3 to 5, 6 to 7]

// RUN: not autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full:1 stage-count=9})' 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: has 8 layers, fewer than 9 stages
// RUN: not autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full:1 stages=0-3,4-8})' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: has 8 layers, not the 9 of the stages
// RUN: not autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full:1 stages=3-0})' 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: stage 0 begins with layer 3, expected 0
// RUN: not autopar-opt %t.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=auto})' 2>&1 | FileCheck %s --check-prefix=AUTO
// AUTO: error: recompute = auto is for autopar-fit-recomputation, which tries others

// Layers that hand on other values than they are given.

// RUN: sed 's/transformer.yield %%y : !x/transformer.yield %%x : !x/' %t.mlir | not autopar-opt --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=full/2})' 2>&1 | FileCheck %s --check-prefix=YIELD
// YIELD: error: 'transformer.repeat' op hands on other values than its layers: recomputation cannot differ between them
