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

/// A weight that may have a format of its own in the checkpoint.
struct QuantizableWeight {
  transformer::WeightOp op;
  model::WeightRole role;
};

/// The functions of a stack's layers.
struct LayerFunctions {
  /// Layers whose variables are equal.
  struct Kind {
    std::map<std::string, model::JsonValue> variables;
    /// Weights of its last function, on which the formats of its layers depend.
    llvm::SmallVector<QuantizableWeight> weights;
  };
  /// A function for a kind of layers and the formats of their weights.
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
