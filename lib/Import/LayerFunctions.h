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
#include "autopar/Support/Json.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>
#include <vector>

namespace autopar::importer {

/// A weight that the checkpoint may have in a format of its own.
struct QuantizableWeight {
  transformer::WeightOp op;
  model::WeightRole role;
};

/// The functions of a stack's layers.
struct LayerFunctions {
  /// Layers whose variables are equal.
  struct Kind {
    std::map<std::string, model::JsonValue> variables;
    /// Of its last function: what the formats of its layers depend on.
    llvm::SmallVector<QuantizableWeight> weights;
  };
  /// A function of a kind of layers and of the formats of their weights.
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
