//===- LayerFunctions.h - The functions of a stack --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_IMPORT_LAYERFUNCTIONS_H
#define AUTOPAR_LIB_IMPORT_LAYERFUNCTIONS_H

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Model/Quantization.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>
#include <vector>

namespace autopar::importer {

/// A weight that the checkpoint may store in a quantisation format.
struct QuantizableWeight {
  transformer::WeightOp op;
  model::WeightRole role;
};

/// The functions that were built for a stack's layers.
struct LayerFunctions {
  /// A kind of layer: layers whose variables are equal.
  struct Kind {
    std::map<std::string, model::JsonValue> variables;
    /// The weights of the kind's last built function, whose formats may differ
    /// between its layers.
    llvm::SmallVector<QuantizableWeight> weights;
  };
  /// One function: for a kind of layer and certain formats of its weights.
  struct Variant {
    uint32_t kind;
    mlir::func::FuncOp function;
    llvm::SmallVector<const model::Format *> formats;
  };
  std::vector<Kind> kinds;
  std::vector<Variant> variants;
};

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_LAYERFUNCTIONS_H
