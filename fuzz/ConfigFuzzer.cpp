//===- ConfigFuzzer.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is the config.json of a model; words before its first "{" are
// assumptions, key=value.

#include "ListTensors.h"
#include "MemoryFile.h"

#include "autopar/Import/ImportModel.h"

#include "mlir/IR/Verifier.h"

#include <sstream>

using namespace autopar;
using namespace autopar::hub;
using namespace autopar::importer;
using namespace autopar::model;
using namespace mlir;

static std::vector<ConfigAssumption> readAssumptions(const std::string &text) {
  std::istringstream words(text);
  std::vector<ConfigAssumption> assumptions;
  for (std::string word; words >> word;)
    if (size_t equals = word.find('='); equals && equals != word.npos)
      assumptions.push_back({word.substr(0, equals), word.substr(equals + 1)});
  return assumptions;
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string input(data, size);
  size_t begin = std::min(input.find('{'), size);
  ModelFiles files;
  files.name = "model";
  files.configPath = fuzz::memoryFile(input.substr(begin));
  Result<Model> model =
      readModel(files, readAssumptions(input.substr(0, begin)));
  if (!model)
    return 0;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
  Result<OwningOpRef<ModuleOp>> module = importModel(&context, *model);
  if (module && succeeded(verify(**module)))
    fuzz::listFewTensors(**module);
  return 0;
}
