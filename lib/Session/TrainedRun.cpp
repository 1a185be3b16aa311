//===- TrainedRun.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainedRun.h"

#include "autopar/Hardware/Hardware.h"
#include "autopar/Import/LoadModel.h"
#include "autopar/Validation/TrainedModel.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::hub;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::session;
using namespace autopar::validation;

//===----------------------------------------------------------------------===//
// Finding the model of a row
//===----------------------------------------------------------------------===//

/// Returns whether the config of the model `argument` has the sizes that the
/// row states.
static Result<bool> agrees(const std::string &argument,
                           const TrainingRow &row) {
  if (!row.architecture)
    return true;
  Result<ModelFiles> files = locateModel(argument, {});
  if (!files)
    return files.error();
  Result<JsonDocument> config = JsonDocument::readFile(files->configPath);
  if (!config)
    return config.error();
  return hasSizes(*config, *row.architecture);
}

Result<Model> autopar::session::trainedModelOf(
    const TrainingRow &row, const ModelNames &names, const std::string &configs,
    std::vector<std::string> &assumed) {
  if (ResolvedName name = names.find(row.model)) {
    ModelRequest request;
    request.argument = name.isFolder ? configs + "/" + name.name : name.name;
    request.weightFormat = "bf16";
    Result<bool> isIt = agrees(request.argument, row);
    if (!isIt)
      return isIt.error();
    if (*isIt)
      return findModel(request);
  }
  Result<TrainedConfig> made = trainedConfigOf(row);
  if (!made)
    return made.error();
  assumed.insert(assumed.end(), made->assumed.begin(), made->assumed.end());
  Result<JsonDocument> config = JsonDocument::parse(made->json, row.model);
  if (!config)
    return config.error();
  return readModel(std::move(*config), row.model);
}

//===----------------------------------------------------------------------===//
// Finding the machine of a row
//===----------------------------------------------------------------------===//

Result<TrainedSystem>
autopar::session::trainedSystemOf(const std::string &system, int64_t devices) {
  HardwareLibrary library;
  auto perNode = [&](const std::string &name) -> Result<int64_t> {
    Result<Machine> machine = library.machine(name);
    if (!machine)
      return machine.error();
    return machine->pools.front().devicesPerNode;
  };
  Result<int64_t> own = perNode(system);
  if (!own)
    return own.error();
  TrainedSystem whole{system, (devices + *own - 1) / *own};
  if (devices <= *own || devices % *own == 0)
    return whole;
  for (const std::string &name : library.systemNames()) {
    size_t stem = name.rfind('-');
    if (name.substr(0, stem) != system)
      continue;
    Result<int64_t> part = perNode(name);
    if (part && devices % *part == 0)
      return TrainedSystem{name, devices / *part};
  }
  return whole;
}
