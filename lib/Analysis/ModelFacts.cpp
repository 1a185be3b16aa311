//===- ModelFacts.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelFacts.h"

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/TensorView.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Terminal.h"
#include "autopar/Support/Text.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

/// Whether `op` looks up positions of the step's tokens, and not those of an
/// encoder.
static bool isOfTokens(PositionEmbeddingOp op) {
  NamedExtent tokens = TensorView(op.getX()).extent(1);
  return !op.getSame() &&
         tokens == NamedExtent::symbol(op.getContext(), "query");
}

static int64_t rowsOf(PositionEmbeddingOp op) {
  int64_t width = TensorView(op.getX()).getType().getShape().back();
  auto table = cast<RankedTensorType>(op.getTable().getType());
  return table.getNumElements() / std::max<int64_t>(1, width);
}

std::optional<ElementType> autopar::analysis::castOf(ModuleOp module) {
  auto type = module->getAttrOfType<TypeAttr>(castFromAttribute);
  return type ? toElementType(type.getValue()) : std::nullopt;
}

Positions autopar::analysis::positionsOf(ModuleOp module) {
  Positions positions;
  if (auto longest =
          module->getAttrOfType<IntegerAttr>(longestContextAttribute))
    positions.longest = static_cast<int64_t>(
        longest.getValue().getLimitedValue(limits::maxTokens));
  module.walk([&](Operation *op) {
    if (auto rope = dyn_cast<RopeOp>(op); rope && rope.getScaling())
      positions.scaling = stringifyRopeScaling(*rope.getScaling()).str();
    auto table = dyn_cast<PositionEmbeddingOp>(op);
    if (!table || !isOfTokens(table))
      return;
    // A single row is used by all tokens and does not limit the positions; of
    // several tables, the one with the fewest rows does.
    int64_t rows = rowsOf(table);
    if (rows == 1)
      return;
    positions.longest =
        positions.longest == 0 ? rows : std::min(positions.longest, rows);
    positions.areLearned = true;
  });
  return positions;
}

/// Returns a printable name: control characters become visible, and if it is
/// not UTF-8, bytes beyond ASCII become "?".
static std::string readable(std::string name) {
  if (isUtf8(name))
    return visible(name);
  for (char &c : name)
    c = llvm::isPrint(c) ? c : '?';
  return name;
}

std::string autopar::analysis::nameOfModel(ModuleOp module) {
  std::string name = "model";
  for (; module; module = module->getParentOfType<ModuleOp>())
    if (module.getName())
      name = module.getName()->str();
  return readable(std::move(name));
}
