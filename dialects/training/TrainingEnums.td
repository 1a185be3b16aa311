//===- TrainingEnums.td - Words of attributes --------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_ENUMS_TD
#define AUTOPAR_TRAINING_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def TRN_OptimizerAttr : I32EnumAttr<"OptimizerKind", "an optimizer", [
    I32EnumAttrCase<"adamw", 0>, I32EnumAttrCase<"sgd", 1>,
    I32EnumAttrCase<"adafactor", 2>]> {
  let cppNamespace = "::autopar::training";
}

def TRN_ProductRoleAttr : I32EnumAttr<"ProductRole", "a factor of a product", [
    I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"states", 1>,
    I32EnumAttrCase<"weight", 2>]> {
  let cppNamespace = "::autopar::training";
}

#endif // AUTOPAR_TRAINING_ENUMS_TD
