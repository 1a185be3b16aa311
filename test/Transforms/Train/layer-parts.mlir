// Parts of a layer are known by what ops do: what is made again of each is not
// saved, and runs in the backward.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=norms,mlp_activation})' | FileCheck %s --check-prefix=CHEAP
// CHEAP-LABEL: func.func private @decoder(
// CHEAP-NOT: training.save {{.*}}"norm"
// CHEAP-NOT: training.save {{.*}}"activation"
// CHEAP: training.save {{.*}}"up"
// CHEAP-LABEL: func.func private @decoder_backward(
// CHEAP: %[[G:.*]] = transformer.activation %{{.*}} gelu
// CHEAP-NEXT: training.product_gradient weight %[[G]]
// CHEAP: transformer.rms_norm

// What lies around the layers is not made again: its norm, its scores.

// CHEAP-LABEL: func.func private @model_backward(
// CHEAP-NOT: transformer.rms_norm
// CHEAP: training.iteration {{.*}} recompute(norms + mlp_activation)

// A network up to its last product.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=mlp})' | FileCheck %s --check-prefix=MLP
// MLP-LABEL: func.func private @decoder_backward(
// MLP-NOT: training.saved "up"
// MLP: %[[UP:.*]] = transformer.linear %{{.*}}, %up_proj
// MLP-NEXT: transformer.activation %[[UP]] gelu
// MLP-NOT: = transformer.linear %
// MLP-LABEL: func.func private @decoder_update

// A kernel of attention that keeps its probabilities to itself runs again for
// its own backward; what it gave is saved for the product behind it.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=selective})' | FileCheck %s --check-prefix=CORE
// CORE-LABEL: func.func private @decoder(
// CORE-NOT: training.save {{.*}}"normaliser"
// CORE: training.save %attn "attn"
// CORE-LABEL: func.func private @decoder_backward(
// CORE: %[[SAVED:.*]] = training.saved "attn"
// CORE: training.product_gradient weight %[[SAVED]]
// CORE: %[[AGAIN:.*]] = transformer.attention %
// CORE: %[[Z:.*]] = training.attention_normaliser
// CORE-NEXT: training.attention_backward {{.*}}, %[[AGAIN]], %[[Z]] causal
// CORE: training.iteration {{.*}} recompute(attention_core)

// Products are saved, of q, k, v, o, up and down every second one: q, v, up.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=save_products})' | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS-LABEL: func.func private @decoder_backward(
// PRODUCTS-DAG: training.saved "q"
// PRODUCTS-DAG: training.saved "k"
// PRODUCTS-DAG: training.saved "up"
// PRODUCTS-DAG: training.saved "attn"
// PRODUCTS-DAG: training.saved "normaliser"
// PRODUCTS-NOT: = transformer.linear %
// PRODUCTS: transformer.rms_norm
// PRODUCTS-LABEL: func.func private @decoder_update
// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-build-backward{recompute=save_products/2})' | FileCheck %s --check-prefix=SECOND
// SECOND-LABEL: func.func private @decoder_backward(
// SECOND-DAG: training.saved "q"
// SECOND-DAG: training.saved "v"
// SECOND-DAG: training.saved "up"
// SECOND-DAG: transformer.linear %{{.*}}, %k_proj
// SECOND-DAG: transformer.linear %{{.*}}, %o_proj
// SECOND-LABEL: func.func private @decoder_update

// Grouped products of experts are made again whatever share of the products is
// saved.

// RUN: autopar-translate --import-hf qwen3-30b-a3b | autopar-opt --phase=train --batch=8 --context=64 --recompute=save_products -o %t.grouped
// RUN: FileCheck %s --check-prefix=GROUPED --input-file=%t.grouped
// GROUPED-LABEL: func.func private @moe_decoder_backward(
// GROUPED-DAG: training.saved "q"
// GROUPED-DAG: training.saved "attn"
// GROUPED-NOT: training.saved "up"
// GROUPED: transformer.experts %
// GROUPED: transformer.experts %
// GROUPED-LABEL: func.func private @moe_decoder_update
