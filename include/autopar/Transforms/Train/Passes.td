//===- Passes.td - Passes that make a forward an iteration -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_TRAIN_PASSES_TD
#define AUTOPAR_TRANSFORMS_TRAIN_PASSES_TD

include "autopar/Transforms/PassClasses.td"

def PrepareTrainingPass : ModulePass<"autopar-prepare-training"> {
  let summary = "makes a step of inference the forward of training";
  let description = [{
    Drops caches and states, scores all tokens instead of the last, and compares
    them with labels, which become the last argument of the public function and
    are what it is judged by. Latent attention becomes the projections of its
    latents to keys and values of each head, and an attention to these; where
    tokens are selected, it stays in the space of latents. Where the workload
    encodes no tokens, encoders of what would be put into the stream
    (`transformer.insert`) go. With `dropout`, each sum of a residual and what
    linear maps made, and each embedding, drops elements of the latter; with
    `flash=false`, attention writes its probabilities out, and drops of them,
    too; one with a cap, sinks, chunks or learned biases stays as it is. Both are
    noted in `parallel.strategy`.

    With `mtp-layers`, the layers that the checkpoint has for it
    (`transformer.stored`) predict further tokens behind the last one
    (arXiv:2412.19437, section 2.2): each takes what the one before it gives and
    the embeddings of the labels of that one, and has labels of its own, which
    follow the last argument, and a loss, which follows the last result.
    Embedding and head are the model's. Losses add up, each with weight 1.

    `loss` and `loss-chunks` are attributes of `training.cross_entropy`; with
    `compiled` and `fused` it reads the scores as they are, without a cast.

    Requires `transformer.workload(phase = train, ..)`, else does nothing, and an
    unsharded module. Guarantees that a module that was prepared stays as it is.

    ```mlir
    func.func @model(%ids: tensor<4x16xi32>, %labels: tensor<4x16xi32>, %x: tensor<4x16x64xbf16>,
                     %t: tensor<1000x64xbf16>) -> tensor<4x16xf32> {
      %logits = transformer.logits %x, %t
          : tensor<4x16x64xbf16>, tensor<1000x64xbf16> -> tensor<4x16x1000xbf16>
      %cast = transformer.cast %logits : tensor<4x16x1000xbf16> -> tensor<4x16x1000xf32>
      %loss = training.cross_entropy %cast, %labels
          : tensor<4x16x1000xf32>, tensor<4x16xi32> -> tensor<4x16xf32>
      return %loss : tensor<4x16xf32>
    }
    ```
  }];
  let options = [
    Option<"dropout", "dropout", "double", "0",
           "Probability that an element is dropped, 0 to below 1">,
    Option<"flash", "flash", "bool", "true",
           "Attention keeps its probabilities to itself">,
    Option<"mtpLayers", "mtp-layers", "int64_t", "0",
           "Layers that predict further tokens, each with a loss of its own">,
    Option<"loss", "loss", "std::string", "\"\"",
           "How the loss is computed: eager, in-place, compiled or fused">,
    Option<"lossChunks", "loss-chunks", "int64_t", "1",
           "Equal parts of the tokens that are scored one after the other">,
  ];
  let dependentDialects = ["::autopar::training::TrainingDialect",
                           "::autopar::parallel::ParallelDialect"];
}

def BuildBackwardPass : ModulePass<"autopar-build-backward"> {
  let summary = "writes the backward and the update of a forward";
  let description = [{
    Adds for each function that a step runs one that goes through its ops in
    reverse (`DifferentiableOpInterface`), and one that updates its weights. What
    a backward needs of its forward is saved there (`training.save`), or, as
    `recompute` says, made again from what is saved:

        none           nothing
        a list of      parts of layers
          attention_core   between queries, keys, values and an attention's
                           result (`selective`; arXiv:2205.05198, section 5)
          norms            what norms give
          mlp_activation   what activation functions give, also in experts
          mlp              dense feed-forward networks up to their last product
          experts          from routers to the last products of routed experts
          shared_experts   the networks beside them
          mla_up           from latents to queries, keys, values
        save_products  all of a layer but what products with weights and
                       attention give; save_products/2: and every second
                       product of it; grouped products of experts are made
                       again
        full           all of a layer but its arguments

    `full:8` makes the first 8 layers of each stage again, `full/2` every second
    layer, and the others save all: layers that are made again have functions of
    their own, called `.._recomputed`. Stages are those of `stages`, or
    `stage-count` of equal numbers of layers. What lies around the layers is
    never made again.

    Gradients of weights are in `gradient-format` and add up over microbatches
    (`training.accumulate`); the update keeps what `optimizer`, `master` and
    `moments` say of each parameter, and no copy of a weight that has the format
    of the copy. States of `adamw-8bit` have 8 bits where a tensor has 4,096
    elements or more; `muon` is for matrices, others have AdamW, as embeddings
    and heads do; `adafactor` takes means of squares, of rows and columns of
    matrices (`training.mean`), before it keeps them.

    `capacity` is how many times its even part of the tokens of a rank an expert
    takes (`training.iteration`): what is over it is dropped, and with
    `pad-experts` all experts work on as many rows.

    Requires a module that `autopar-prepare-training` has prepared, else does
    nothing; each op that a gradient passes through must be differentiable.
    Guarantees that the forward computes what it did.
  }];
  let options = [
    Option<"recompute", "recompute", "std::string", "\"none\"",
           "What is made again: none, selective, full, full:8, full/2, "
           "save_products, save_products/2, or a list of parts">,
    Option<"stages", "stages", "std::string", "\"\"",
           "Layers of each virtual stage, 0-19,20-40,.. (empty: equal "
           "numbers)">,
    Option<"stageCount", "stage-count", "int64_t", "1",
           "Virtual stages where `stages` is empty">,
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"",
           "adamw, adamw-8bit, adafactor, muon, sgd or sgd-without-momentum">,
    Option<"gradientFormat", "gradient-format", "std::string", "\"fp32\"",
           "Format in which gradients add up">,
    Option<"master", "master", "std::string", "\"fp32\"",
           "Format of a master copy of each weight (none: there is none)">,
    Option<"products", "products", "std::string", "\"\"",
           "Format that products with weights multiply in (empty: that of their "
           "operands)">,
    Option<"capacity", "capacity", "double", "0",
           "What an expert takes, in its even part of all tokens (0: any)">,
    Option<"padExperts", "pad-experts", "bool", "false",
           "Experts work on as many rows as their capacity">,
    Option<"moments", "moments", "std::string", "\"fp32\"",
           "Format of what the optimizer keeps of each parameter">,
  ];
  let dependentDialects = ["::autopar::training::TrainingDialect",
                           "::mlir::func::FuncDialect"];
}

def FitRecomputationPass : ModulePass<"autopar-fit-recomputation"> {
  let summary = "makes as little again as fits the devices";
  let description = [{
    Runs `pipeline`, in which each `recompute=auto` stands for what is tried, on
    copies of the module, prices what comes of it, and then runs it for that
    which fits and takes the least time:

    1. `none`, which is taken where it fits;
    2. lists of parts: each part alone first, for the bytes that it saves and the
       time that it takes; then longer and longer lists of them, that which saves
       most bytes a second first, until one fits;
    3. `save_products`, `save_products/2`;
    4. the fewest layers of each stage that fit, `full:N`;
    5. `full`, which is taken, too, where nothing fits.

    What did not fit is in `training.iteration` (`tried`, `missing`).

    Requires a module that `autopar-prepare-training` has prepared, and a
    pipeline that builds its backward and leaves what can be priced.

    ```mlir
    // autopar-fit-recomputation{pipeline=builtin.module(
    //     autopar-build-backward{recompute=auto},autopar-stage-pipeline)}
    training.iteration backward(@model_backward) update(@model_update)
        recompute(norms + mlp_activation) tried [none] missing [3221225472]
    ```
  }];
  let options = [
    Option<"pipeline", "pipeline", "std::string", "\"builtin.module()\"",
           "Passes that make a program, with recompute=auto">,
  ];
  let dependentDialects = ["::autopar::training::TrainingDialect"];
}

#endif // AUTOPAR_TRANSFORMS_TRAIN_PASSES_TD
