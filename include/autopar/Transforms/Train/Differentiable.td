//===- Differentiable.td - What a backward asks of an op ---*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_TRAIN_DIFFERENTIABLE_TD
#define AUTOPAR_TRANSFORMS_TRAIN_DIFFERENTIABLE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    An op through which gradients pass from its results to its operands.
  }];
  let methods = [
    InterfaceMethod<"Writes what follows from the gradients of its results, of "
                    "which at least one is known. Errors are emitted.",
                    "::mlir::LogicalResult", "buildBackward",
                    (ins "::autopar::transforms::BackwardBuilder &":$backward)>,
    InterfaceMethod<"What it is in a layer, by which parts are found that "
                    "recomputation makes again.",
                    "::autopar::transforms::LayerRole", "getRole", (ins), "",
                    "return ::autopar::transforms::LayerRole::other;">,
  ];
}

#endif // AUTOPAR_TRANSFORMS_TRAIN_DIFFERENTIABLE_TD
