// Where nothing is encoded, the encoder goes, with its functions, weights and
// input.

// RUN: %roundtrip %S/../Inputs/latent.mlir --autopar-prepare-training | FileCheck %s
// CHECK: module @latent attributes {transformer.defaults = [#transformer.default<"encoders" = "left out, text does not train them" from "workload: encoder_tokens = 0; set with --encoder-tokens">]}
// CHECK-NOT: encoder(
// CHECK-LABEL: func.func @model(%arg0: !bq_int, %arg1: !bq_int)
// CHECK-NEXT: %embed = transformer.weight
// CHECK-NEXT: %embedding = transformer.embedding %arg0, %embed
// CHECK-NEXT: transformer.repeat 3 layers "layers" from 0 (%{{.*}} = %embedding)

// Else it has gradients: those of the tokens that it put in. The tokens that
// they replaced have none.

// RUN: sed 's/context = 6)/context = 6, encoder_tokens = 2)/' %S/../Inputs/latent.mlir > %t.images
// RUN: autopar-opt %t.images --autopar-prepare-training --autopar-build-backward -o %t.trained
// RUN: FileCheck %s --check-prefix=IMAGES --input-file=%t.trained
// RUN: autopar-run %t.trained --gradients=3 | FileCheck %s --check-prefix=RIGHT
// IMAGES-NOT: transformer.defaults
// IMAGES-LABEL: func.func private @model_backward
// IMAGES: %[[DX:.*]], %[[DY:.*]] = training.insert_backward %{{.*}} : !bq_64_bf -> !bet_64_bf
// IMAGES: training.embedding_gradient %{{.*}}, %[[DX]]
// IMAGES: training.activation_backward %[[DY]]
// IMAGES: %[[DM:.*]] = training.product_gradient input %{{.*}}, %projector
// IMAGES: training.merge_tokens_backward %[[DM]] : !bet_48_bf -> !bet4_12_bf
// IMAGES: transformer.repeat 2 layers "vision" from 0 reversed
// RIGHT: gradients of {{[0-9]+}} elements are those of the loss: largest difference {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}

// Split over tokens, what was put in is a sum of what devices have of it.

// RUN: autopar-opt %t.images --autopar-prepare-training --autopar-build-backward --autopar-shard-context=axes=tp --autopar-insert-collectives -o %t.split
// RUN: FileCheck %s --check-prefix=SPLIT --input-file=%t.split
// RUN: autopar-run %t.split --gradients=3 | FileCheck %s --check-prefix=RIGHT
// SPLIT: training.insert_backward %{{.*}} : !bqtp_64_bf -> !bet_64_sum_tp
