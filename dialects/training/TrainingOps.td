//===- TrainingOps.td - Losses, what is saved, updates -----*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_TRAININGOPS_TD
#define AUTOPAR_TRAINING_TRAININGOPS_TD

include "training/AttentionGradientOps.td"
include "training/ExpertGradientOps.td"
include "training/GradientOps.td"
include "training/LatentGradientOps.td"
include "training/RecurrentGradientOps.td"
include "training/OptimizerOps.td"
include "training/TokenGradientOps.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// The parts of an iteration
//===----------------------------------------------------------------------===//

def TRN_IterationOp : TRN_Op<"iteration", [
    HasParent<"::mlir::ModuleOp">, MemoryEffects<[MemWrite<TF_WeightMemory>]>,
    DeclareOpInterfaceMethods<StepSectionsOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what an iteration runs after its forward";
  let description = [{
    One iteration of training: for each microbatch the module's public function,
    which is the forward, then `backward`; once for all of them `update`:

        for each microbatch: forward(inputs); backward(inputs)
        update()

    The backward has the inputs of the forward. Functions of a backward or an
    update say with `training.part_of` whose layers theirs are: weights,
    gradients and saved values are those of the function that they name, in the
    layer of the same number. `recompute` says what backwards make again of what
    they need instead of having it saved (`#training.recomputation`); the
    functions have what came of it.

    Where that was chosen to fit the devices, `tried` has what was tried before,
    and `missing` how many bytes each lacked on the fullest device.

    `products` is the format that products with weights multiply in, forward and
    backward, where that is not their operands': these are cast on the way, and
    sums are those of the formula.

    With `capacity`, an expert takes at most so many times its even part of what
    a rank routes in a microbatch, and drops the rest; `padded`, it always works
    on as many rows (Switch Transformers, arXiv:2101.03961, section 2.2):

        rows of an expert <= ceil(capacity * tokens of a rank * top_k / experts)

    The functions are those of a step that drops nothing: what is dropped is left
    out of all sets of routed tokens.

    **Constraints:** one per module; `backward` is a private function with the
    arguments of the public one, `update` a private function without any; both
    return nothing; as many numbers as forms were tried. `capacity` is from
    0.000001 to 1000, and only with it something is `padded`.

    **Example:**
    ```mlir
    func.func @model(%x: tensor<4x64xbf16>) {
      return
    }
    func.func private @model_backward(%x: tensor<4x64xbf16>) attributes {training.part_of = @model} {
      return
    }
    func.func private @model_update() attributes {training.part_of = @model} {
      return
    }
    training.iteration backward(@model_backward) update(@model_update) recompute(full first 8) tried [none] missing [1024]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$backward, FlatSymbolRefAttr:$update,
                       OptionalAttr<TRN_RecomputationOfIteration>:$recompute,
                       OptionalAttr<TypedArrayAttrBase<TRN_RecomputationOfIteration,
                                    "recomputations">>:$tried,
                       OptionalAttr<DenseI64ArrayAttr>:$missing,
                       OptionalAttr<TypeAttr>:$products,
                       OptionalAttr<F64Attr>:$capacity, UnitAttr:$padded);
  let assemblyFormat = [{
    `backward` `(` $backward `)` `update` `(` $update `)`
    (`recompute` `(` custom<Recomputation>($recompute)^ `)`)?
    (`tried` custom<Recomputations>($tried)^ `missing` $missing)?
    (`products` `(` $products^ `)`)?
    (`capacity` `(` custom<Number>($capacity)^ `)`)? (`padded` $padded^)?
    attr-dict
  }];
  let extraClassDeclaration = [{
    /// Makes attributes of the texts that versions before 8 had.
    void readTexts();
  }];
  let hasVerifier = 1;
}

def TRN_MicrobatchesOp : TRN_Op<"microbatches", [MicrobatchesOpInterface]> {
  let summary = "divides the batch of an iteration on one stage";
  let description = [{
    `batch` is divided into equal parts, as by `parallel.stages`, which says it
    where layers lie on several stages. Each part goes through the forward and
    the backward, in the order of `schedule`: whether a forward waits for the
    backward of the part before says what is saved at once. `assumed` names
    those of `schedule` and `microbatches` that nobody has chosen.

    **Constraints:** one per module, without `parallel.stages`; a schedule of one
    stage, which is not `interleaved`.

    **Example:**
    ```mlir
    training.microbatches(4) schedule(one_f_one_b) assumed [schedule]
    ```
  }];
  let arguments = (ins I64Attr:$microbatches, PAR_ScheduleAttr:$schedule,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$assumed);
  let assemblyFormat = [{
    `(` $microbatches `)` `schedule` `(` custom<Word>($schedule) `)`
    (`assumed` custom<Words>($assumed)^)? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// From forwards to backwards
//===----------------------------------------------------------------------===//

def TRN_SaveOp : TRN_Op<"save", [
    EncodingsMatchModule, MemoryEffects<[MemWrite<TRN_SavedMemory>]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "keeps a value for the backward";
  let description = [{
    The value of this layer and microbatch is kept under `name` until the
    backward of the same layer and microbatch has read it
    (`training.saved`). It is kept as it lies, partial sums too, and takes no
    time of its own.

    **Constraints:** one of its name in a function.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>) {
      training.save %x "norm" : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, StrAttr:$name);
  let assemblyFormat = "$value $name attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def TRN_SavedOp : TRN_Op<"saved", [
    EncodingsMatchModule, MemoryEffects<[MemRead<TRN_SavedMemory>]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "a value that the forward has kept";
  let description = [{
    What `training.save` of this name has kept, in the function that this
    one's `training.part_of` names, of the layer of the same number and the
    same microbatch.

    **Constraints:** that function saves a value of this name and type.

    **Example:**
    ```mlir
    func.func private @layer(%x: tensor<4x64xbf16>) {
      training.save %x "x" : tensor<4x64xbf16>
      return
    }
    func.func private @layer_backward() attributes {training.part_of = @layer} {
      %x = training.saved "x" : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def TRN_AccumulateOp : TRN_Op<"accumulate", [
    EncodingsMatchModule, MemoryEffects<[MemRead<TRN_GradientMemory>, MemWrite<TRN_GradientMemory>]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "adds to the gradient of a weight";
  let description = [{
    Adds `gradient` to what is kept of `weight` since the last update
    (`training.gradient`), which begins with 0. Microbatches add up:
    partial sums may, and are kept as such, so that they are reduced once for
    all of them. It is kept as it lies, and in the format that it has: of a part
    of the weight (`parallel.all_slice`), as that part lies.

    **Constraints:** `weight` is a `transformer.weight`, or what a collective
    has made of one; the gradient has its shape.

    **Example:**
    ```mlir
    func.func private @example(%g: tensor<64x32xf32>) {
      %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
      training.accumulate %g of %w : tensor<64x32xf32>, tensor<64x32xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$weight);
  let assemblyFormat = [{
    $gradient `of` $weight attr-dict `:` type($gradient) `,` type($weight)
  }];
  let hasVerifier = 1;
}

def TRN_GradientOp : TRN_Op<"gradient", [
    EncodingsMatchModule, HeldOpInterface,
    MemoryEffects<[MemRead<TRN_GradientMemory>]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "the gradient of a weight, of all microbatches";
  let description = [{
    What `training.accumulate` has added up for the weight since the last
    update, as it lies:

        y[i..] = sum of what was accumulated of weight[i..]

    **Constraints:** as those of `training.accumulate`.

    **Example:**
    ```mlir
    func.func private @example() {
      %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
      %g = training.gradient %w : tensor<64x32xbf16> -> tensor<64x32xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def TRN_ZerosOp : TRN_Op<"zeros", [
    Pure, EncodingsMatchModule,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "a gradient that nothing has been added to yet";
  let description = [{
    What a loop of a backward begins with, whose layers add to the gradient of a
    value that all of them have read, or of one that the loss does not depend on:

        y[i..] = 0

    It is laid out as the loop carries it, and written once.

    **Constraints:** none beside those of its type.

    **Example:**
    ```mlir
    func.func private @example() {
      %z = training.zeros : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif // AUTOPAR_TRAINING_TRAININGOPS_TD
