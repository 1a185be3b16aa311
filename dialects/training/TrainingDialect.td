//===- TrainingDialect.td - What training adds -------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_DIALECT_TD
#define AUTOPAR_TRAINING_DIALECT_TD

include "mlir/IR/OpBase.td"

def TrainingDialect : Dialect {
  let name = "training";
  let cppNamespace = "::autopar::training";
  let summary = "what an iteration of training computes beside its forward";
  let description = [{
    Losses, dropout, what a forward keeps for its backward, gradients and
    updates. The ops stand beside those of `transformer`, with its types,
    weights and formulas; a module that is only served has none of them.

    A function of a backward or an update says by `training.part_of` whose
    layers its own are: its weights, gradients and saved values are those of
    the function that it names.

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
  let dependentDialects = ["::autopar::parallel::ParallelDialect",
                           "::autopar::transformer::TransformerDialect"];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

#endif // AUTOPAR_TRAINING_DIALECT_TD
