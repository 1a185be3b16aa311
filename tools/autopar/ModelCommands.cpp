//===- ModelCommands.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelCommands.h"

#include "Table.h"
#include "autopar/Analysis/ExpertLayers.h"
#include "autopar/Checkpoint/DraftFamily.h"
#include "autopar/Import/LoadModel.h"
#include "autopar/Import/ShrinkModel.h"
#include "autopar/InitAll.h"
#include "autopar/Pipelines/DescribeModel.h"
#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

using namespace autopar;
using namespace mlir;

/// An error without a message has been printed already.
static int fail(const Error &error) {
  if (!error.message.empty())
    llvm::errs() << "error: " << error.str() << "\n";
  return 1;
}

static LogicalResult print(Diagnostic &diagnostic) {
  llvm::errs() << (diagnostic.getSeverity() == DiagnosticSeverity::Error
                       ? "error: "
                       : "warning: ")
               << diagnostic << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    llvm::errs() << "note: " << note << "\n";
  return success();
}

namespace {
/// A context whose diagnostics are lines for people: there is no IR that they
/// could point into.
struct Session {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  ScopedDiagnosticHandler handler{&context, print};

  Session() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.printOpOnDiagnostic(false);
  }
};
} // namespace

static Result<ModelRequest> requestOf(const ModelArgument &model,
                                      const std::string &name) {
  ModelRequest request;
  request.argument = name;
  request.hub = {model.offline, model.revision, showProgress};
  for (const std::string &text : model.assumptions) {
    Result<ConfigAssumption> assumption = parseAssumption(text);
    if (!assumption)
      return assumption.error();
    request.assumptions.push_back(std::move(*assumption));
  }
  return request;
}

//===----------------------------------------------------------------------===//
// estimate
//===----------------------------------------------------------------------===//

int autopar::estimate(const ModelArgument &model, PlanFlags &flags,
                      const PlanValues &values) {
  // Pipelines in options of passes are parsed.
  registerAllPasses();
  Session session;
  PassManager pm(&session.context);
  auto refuse = [](const Twine &message) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  };
  if (!setFlags(flags, values) ||
      failed(addPlanPipeline(pm, flags.options(), refuse)))
    return 1;
  Result<ModelRequest> request = requestOf(model, model.name);
  if (!request)
    return fail(request.error());
  Result<OwningOpRef<ModuleOp>> module = loadModel(&session.context, *request);
  if (!module)
    return fail(module.error());
  return failed(pm.run(**module));
}

//===----------------------------------------------------------------------===//
// placement
//===----------------------------------------------------------------------===//

/// What an expert of `layers` takes in one of them.
static Result<Checked> findExpertBytes(ModuleOp module,
                                       const ExpertLayers &layers) {
  Result<ModelReport> report = describeModel(module, {"bf16"});
  if (!report)
    return report.error();
  Checked bytes = 0;
  for (const ModelReport::Part &part : report->parts)
    if (part.name == "experts")
      bytes = part.bytes;
  auto count = static_cast<int64_t>(layers.all.size());
  return ceilDiv(bytes, Checked(count) * layers.all.front().experts);
}

std::optional<ModelExperts> autopar::findExperts(const ModelArgument &argument,
                                                 bool withBytes) {
  Session session;
  Result<ModelRequest> request = requestOf(argument, argument.name);
  if (!request)
    return fail(request.error()), std::nullopt;
  Result<OwningOpRef<ModuleOp>> module = loadModel(&session.context, *request);
  if (!module)
    return fail(module.error()), std::nullopt;
  FailureOr<ExpertLayers> layers = findExpertLayers(**module);
  if (failed(layers))
    return std::nullopt;
  if (layers->all.empty())
    return fail({"", argument.name + " has no routed experts", ""}),
           std::nullopt;
  Result<Checked> bytes =
      withBytes ? findExpertBytes(**module, *layers) : Checked(0);
  if (!bytes)
    return fail(bytes.error()), std::nullopt;
  return ModelExperts{layers->shape(), layers->all.front().groups,
                      layers->stackLayers, *bytes};
}

//===----------------------------------------------------------------------===//
// models
//===----------------------------------------------------------------------===//

static Result<ModelReport> describe(const ModelArgument &argument,
                                    const std::string &name,
                                    const std::vector<std::string> &formats) {
  Result<ModelRequest> request = requestOf(argument, name);
  if (!request)
    return request.error();
  Result<Model> model = findModel(*request);
  if (!model)
    return model.error();
  Session session;
  Result<OwningOpRef<ModuleOp>> module = buildModel(&session.context, *model);
  if (!module)
    return module.error();
  Result<ModelReport> report = describeModel(**module, formats);
  if (!report)
    return report;
  report->contextLength = contextOf(*model).value_or(0);
  report->fields = fieldsOf(*model);
  return report;
}

static std::vector<std::string> formatsOf(const std::string &kvFormat) {
  if (kvFormat.empty())
    return {"bf16", "fp8"};
  return {kvFormat};
}

int autopar::listModels() {
  Table table({"model", "parameters", "active", "checkpoint", "context"},
              {1, 2, 3, 4});
  int code = 0;
  for (const std::string &name : bundledModels()) {
    Result<ModelReport> model = describe({}, name, {"bf16"});
    if (!model) {
      code = fail(model.error());
      continue;
    }
    int64_t context = model->contextLength;
    table.add({name, formatInteger(model->parameters),
               formatInteger(model->activeParameters),
               formatBytes(model->checkpointBytes),
               context ? formatInteger(context) : "-"});
  }
  llvm::outs() << table.str();
  return code;
}

int autopar::listFamilies() {
  for (const std::string &name : familyNames())
    llvm::outs() << name << "\n";
  return 0;
}

int autopar::showModel(const ModelArgument &argument,
                       const std::string &kvFormat, bool json) {
  Result<ModelReport> model =
      describe(argument, argument.name, formatsOf(kvFormat));
  if (!model)
    return fail(model.error());
  llvm::outs() << (json ? writeJson(*model) : writeText(*model));
  return 0;
}

int autopar::diffModels(const ModelArgument &argument,
                        const std::string &kvFormat) {
  std::vector<std::string> formats = formatsOf(kvFormat);
  Result<ModelReport> first = describe(argument, argument.name, formats);
  if (!first)
    return fail(first.error());
  Result<ModelReport> second = describe(argument, argument.second, formats);
  if (!second)
    return fail(second.error());
  llvm::outs() << writeDifferences(*first, *second);
  return 0;
}

int autopar::newFamily(const std::string &type, const std::string &config,
                       const std::string &weights, const std::string &output) {
  if (hasFamily(type))
    return fail({"", "there is a family for \"" + type + "\"",
                 "autopar models list --families has all"});
  Result<JsonDocument> document =
      JsonDocument::readFile(config, JsonDocument::Dialect::python);
  if (!document)
    return fail(document.error());
  Result<CheckpointIndex> checkpoint = readCheckpoint(weights);
  if (!checkpoint)
    return fail(checkpoint.error());
  Result<DraftedFamily> family = draftFamily(*document, *checkpoint);
  if (!family)
    return fail(family.error());
  if (Result<bool> written = writeOutput(output, family->text); !written)
    return fail(written.error());
  for (const std::string &text : family->guesses)
    llvm::errs() << "guessed: " << text << "\n";
  for (const std::string &name : family->left)
    llvm::errs() << "left: " << name << "\n";
  llvm::errs() << "next: as models/families/" << type
               << ".json, autopar-translate --import-hf " << config
               << " --verify-weights " << weights << " says what is left\n";
  return 0;
}

int autopar::shrinkModel(const ModelArgument &argument, const SmallSizes &sizes,
                         const std::string &output) {
  Result<ModelRequest> request = requestOf(argument, argument.name);
  if (!request)
    return fail(request.error());
  Result<Model> model = findModel(*request);
  if (!model)
    return fail(model.error());
  Session session;
  Result<std::string> config = shrinkModel(&session.context, *model, sizes);
  if (!config)
    return fail(config.error());
  Result<bool> written = writeOutput(output, *config);
  return written ? 0 : fail(written.error());
}
