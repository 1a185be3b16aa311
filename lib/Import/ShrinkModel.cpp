//===- ShrinkModel.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/ShrinkModel.h"

#include "autopar/Import/LoadModel.h"
#include "autopar/Support/Text.h"

#include "mlir/IR/Diagnostics.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace mlir;

/// Returns the names of a module's functions: kinds of layers, and other parts.
static std::set<std::string> functionsOf(ModuleOp module) {
  std::set<std::string> names;
  for (auto function : module.getOps<SymbolOpInterface>())
    names.insert(function.getName().str());
  return names;
}

/// Returns an error that names the functions which the model of `config` does
/// not have; nothing if it has all of `wanted`.
static std::optional<Error> findLoss(MLIRContext *context,
                                     const std::string &config,
                                     const std::string &name,
                                     const std::set<std::string> &wanted) {
  std::string said;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (said.empty())
      said = diagnostic.str();
    return success();
  });
  Result<JsonDocument> document =
      JsonDocument::parse(config, name + " (small)");
  if (!document)
    return document.error();
  Result<Model> model = readModel(std::move(*document), name);
  if (!model)
    return model.error();
  Result<OwningOpRef<ModuleOp>> module = buildModel(context, *model);
  if (!module)
    return module.error().message.empty() ? Error{name + " (small)", said, ""}
                                          : module.error();
  std::set<std::string> found = functionsOf(**module);
  std::vector<std::string> lost;
  std::set_difference(wanted.begin(), wanted.end(), found.begin(), found.end(),
                      std::back_inserter(lost));
  if (lost.empty())
    return std::nullopt;
  return Error{name, "cannot become small: it would lose " + join(lost, ", "),
               ""};
}

/// Returns a config with small sizes that can be imported. It tries wider heads
/// if only a part of a head is rotated.
static Result<std::string> findSmall(MLIRContext *context, const Model &model,
                                     const SmallSizes &sizes) {
  Result<OwningOpRef<ModuleOp>> module = buildModel(context, model);
  if (!module)
    return module.error();
  std::set<std::string> wanted = functionsOf(**module);
  std::optional<Error> why;
  for (int64_t factor : {1, 2, 4, 8}) {
    SmallSizes wider = sizes;
    wider.headDim *= factor;
    std::string config = shrinkConfig(model, wider).dump(2) + "\n";
    std::optional<Error> loss = findLoss(context, config, model.name, wanted);
    if (!loss)
      return config;
    if (!why)
      why = loss;
  }
  return *why;
}

Result<std::string> autopar::importer::shrinkModel(MLIRContext *context,
                                                   const Model &model,
                                                   const SmallSizes &sizes) {
  Result<std::string> small = findSmall(context, model, sizes);
  if (small || model.quantization.isNone())
    return small;
  // Quantisation in blocks, or of some layers only, may not fit small models,
  // so that it is dropped on failure.
  Result<JsonDocument> config =
      JsonDocument::parse(plainConfig(model).dump(), model.name);
  if (!config)
    return config.error();
  Result<Model> plain = readModel(std::move(*config), model.name);
  return plain ? findSmall(context, *plain, sizes) : plain.error();
}
