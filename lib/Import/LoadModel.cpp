//===- LoadModel.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/LoadModel.h"

#include "HubFolder.h"
#include "autopar/Import/DraftModel.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::hub;
using namespace autopar::importer;
using namespace autopar::model;
using namespace mlir;

void autopar::importer::showProgress(const std::string &line) {
  static bool shown = false;
  if (!llvm::errs().is_displayed() || (line.empty() && !shown))
    return;
  shown = !line.empty();
  llvm::errs() << "\r\x1b[K" << line;
}

/// Splits "name:format" into model and weight format. An existing path is not
/// split.
static Result<ModelRequest> withFormat(ModelRequest request) {
  size_t colon = request.argument.rfind(':');
  std::string format =
      colon == std::string::npos ? "" : request.argument.substr(colon + 1);
  if (format.empty() || format.find('/') != std::string::npos ||
      llvm::sys::fs::exists(request.argument))
    return request;
  request.argument.resize(colon);
  if (!request.weightFormat.empty() && request.weightFormat != format)
    return Error{"",
                 "the model's name says ':" + shorten(format) +
                     "', and --weight-format " + request.weightFormat,
                 "give one of them"};
  request.weightFormat = std::move(format);
  return request;
}

/// Reads the headers of the checkpoint in the directory of the config or, for a
/// model on the hub, of the checkpoint there. Returns nothing if there is none.
static Result<std::optional<CheckpointIndex>>
findCheckpoint(const ModelFiles &files, const ModelRequest &request) {
  std::string folder = llvm::sys::path::parent_path(files.configPath).str();
  if (files.configPath == "-" || files.provenance == "bundled")
    return std::optional<CheckpointIndex>();
  for (const char *file : {"model.safetensors", "model.safetensors.index.json",
                           "pytorch_model.bin.index.json"})
    if (fileExists(folder + "/" + file)) {
      Result<CheckpointIndex> index = readCheckpoint(*openFolder(folder));
      return index ? Result<std::optional<CheckpointIndex>>(std::move(*index))
                   : index.error();
    }
  bool isLocal = llvm::sys::fs::exists(request.argument);
  if (isLocal || request.hub.offline)
    return std::optional<CheckpointIndex>();
  Result<CheckpointIndex> index =
      readCheckpoint(*openHubFolder(request.argument, request.hub));
  return index ? Result<std::optional<CheckpointIndex>>(std::move(*index))
               : index.error();
}

/// Drafts a family for a model type that has none. Without a checkpoint, it
/// returns nothing and adds to `hint` which families read most of the config.
static Result<std::optional<Family>> makeDraft(const ModelFiles &files,
                                               const ModelRequest &request,
                                               const JsonDocument &config,
                                               std::string &hint) {
  Result<std::optional<CheckpointIndex>> checkpoint =
      findCheckpoint(files, request);
  if (!checkpoint || !*checkpoint) {
    std::vector<std::string> near = familiesThatRead(config, /*count=*/3);
    if (!near.empty())
      hint += "; read most of this config: " + join(near, ", ");
    hint += checkpoint
                ? "; with a checkpoint or its headers beside the config, "
                  "a draft is made of its tensors"
                : "; no draft from its checkpoint: " + checkpoint.error().str();
    return std::optional<Family>();
  }
  std::string modelType = config.reader().string("model_type");
  Result<ModelDraft> draft = draftModel(modelType, config, **checkpoint);
  if (!draft) {
    hint += "; no draft from its checkpoint: " + draft.error().str();
    return std::optional<Family>();
  }
  Result<Family> family = parseFamily(modelType, draft->family.text);
  return family ? Result<std::optional<Family>>(std::move(*family))
                : family.error();
}

static Result<Model> readNamed(const ModelRequest &given) {
  Result<ModelRequest> request = withFormat(given);
  if (!request)
    return request.error();
  Result<ModelFiles> files = locateModel(request->argument, request->hub);
  if (!files)
    return files.error();
  auto make = [&](const JsonDocument &config, std::string &hint) {
    return makeDraft(*files, *request, config, hint);
  };
  return readModel(*files, request->assumptions, request->weightFormat, make);
}

static Result<Model> readGiven(const ModelRequest &request) {
  Result<JsonDocument> config =
      JsonDocument::parse(request.config, request.argument);
  if (!config)
    return config.error();
  return readModel(std::move(*config), request.argument, request.assumptions,
                   request.weightFormat);
}

Result<Model> autopar::importer::findModel(const ModelRequest &request) {
  Result<Model> model =
      request.config.empty() ? readNamed(request) : readGiven(request);
  if (model && request.asServed && model->dtype == ElementType::f32) {
    model->storedDtype = model->dtype;
    model->dtype = ElementType::bf16;
    model->notes->defaults.push_back(
        {"dtype", "bf16",
         "a float32 checkpoint, which engines load in 16 bits (vLLM: --dtype "
         "auto)"});
  }
  return model;
}

Result<OwningOpRef<ModuleOp>>
autopar::importer::buildModel(MLIRContext *context, const Model &model) {
  Result<OwningOpRef<ModuleOp>> module = importModel(context, model);
  if (module && failed(verify(**module)))
    return Error();
  return module;
}

Result<OwningOpRef<ModuleOp>>
autopar::importer::loadModel(MLIRContext *context,
                             const ModelRequest &request) {
  Result<Model> model = findModel(request);
  if (!model)
    return model.error();
  return buildModel(context, *model);
}
