//===- Checkpoints.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/Checkpoints.h"

#include "autopar/Import/Tensors.h"
#include "autopar/Model/Family.h"
#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::session;
using namespace mlir;

Result<Verification> autopar::session::verifyModule(ModuleOp module,
                                                    const std::string &path,
                                                    bool strict) {
  Result<CheckpointIndex> checkpoint = readCheckpoint(path);
  if (!checkpoint)
    return checkpoint.error();
  if (checkpoint->format == CheckpointFormat::gguf)
    return Error{path,
                 "is GGUF, whose tensors have other names and layouts than "
                 "the model's",
                 "give the checkpoint that it was made from; "
                 "--describe-weights shows what this one holds"};
  std::vector<ModelTensor> tensors;
  size_t count = 0;
  auto visit = [&](StringRef name, const transformer::StoredTensor &tensor) {
    if (count++ < limits::maxComparedTensors)
      tensors.push_back({name.str(),
                         {tensor.shape.begin(), tensor.shape.end()},
                         tensor.type});
  };
  if (failed(forEachTensor(module, visit)))
    return Error();
  if (count > limits::maxComparedTensors)
    return Error{
        "",
        "the model has " + std::to_string(count) + " tensors, more than the " +
            std::to_string(limits::maxComparedTensors) + " that are compared",
        ""};
  return verifyWeights(tensors, *checkpoint, strict);
}

Result<ModelDraft>
autopar::session::draftNewFamily(const std::string &type,
                                 const std::string &config,
                                 const std::string &weights) {
  if (hasFamily(type))
    return Error{"", "there is a family for \"" + type + "\"",
                 "autopar models list --families has all"};
  Result<JsonDocument> document =
      JsonDocument::readFile(config, JsonDocument::Dialect::python);
  if (!document)
    return document.error();
  Result<CheckpointIndex> checkpoint = readCheckpoint(weights);
  return checkpoint ? draftModel(type, *document, *checkpoint)
                    : Result<ModelDraft>(checkpoint.error());
}
