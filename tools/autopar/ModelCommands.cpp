//===- ModelCommands.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelCommands.h"

#include "autopar/Bundle/BundlePass.h"
#include "autopar/Model/Family.h"
#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Plan/DeviceOrder.h"
#include "autopar/Session/Checkpoints.h"
#include "autopar/Session/Session.h"
#include "autopar/Support/File.h"
#include "autopar/Support/SourceText.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextStyle.h"
#include "autopar/Write/Json.h"
#include "autopar/Write/Text.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>

using namespace autopar;
using namespace autopar::bundle;
using namespace autopar::checkpoint;
using namespace autopar::hub;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::report;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::writing;
using namespace mlir;

/// Prints `error`, unless it has no message: such an error has been printed
/// already. Returns the exit code.
static int fail(const Error &error) {
  if (!error.message.empty())
    llvm::errs() << "error: " << error.str() << "\n";
  return 1;
}

/// Prints to `stdout`, the stream that `main` flushes, because `main` reports
/// if output was lost.
static void print(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

static void warn(const std::string &line) {
  llvm::errs() << "warning: " << line << "\n";
}

static bool isModule(const std::string &name) {
  return llvm::StringRef(name).ends_with(".mlir") && fileExists(name);
}

/// If `name` is a file of IR, makes it a model of `session`.
std::optional<Error> autopar::addModule(Session &session,
                                        const ModelArgument &model,
                                        const std::string &name) {
  if (!isModule(name))
    return std::nullopt;
  if (!model.assumptions.empty() || !model.revision.empty() ||
      !model.weightFormat.empty())
    return Error{name, "is a module, which has no config to change",
                 "leave out --assume, --revision and --weight-format"};
  Result<SourceText> source = readSourceText(name);
  return source ? session.addModel(name, source->text) : source.error();
}

Result<ModelRequest> autopar::requestOf(const ModelArgument &model,
                                        const std::string &name) {
  ModelRequest request;
  request.argument = name;
  request.hub = {model.offline, model.revision, showProgress, model.refresh};
  request.weightFormat = model.weightFormat;
  for (const std::string &text : model.assumptions) {
    Result<ConfigAssumption> assumption = parseAssumption(text);
    if (!assumption)
      return assumption.error();
    request.assumptions.push_back(std::move(*assumption));
  }
  return request;
}

//===----------------------------------------------------------------------===//
// Commands about plans
//===----------------------------------------------------------------------===//

static LogicalResult refuse(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return failure();
}

/// Returns what the command line said, the model first.
static std::vector<std::string> asGiven(const ModelArgument &model,
                                        const PlanFlags &flags,
                                        const PlanValues &values) {
  std::vector<std::string> all = {model.name};
  for (size_t i = 0; i < values.size(); ++i)
    for (const std::string &value : values[i])
      all.push_back("--" + flags.all()[i].name +
                    (value.empty() ? "" : "=" + value));
  return all;
}

int autopar::estimate(const ModelArgument &model, PlanFlags &flags,
                      const PlanValues &values, const std::string &bundle) {
  Result<ModelRequest> request = requestOf(model, model.name);
  if (!request)
    return fail(request.error());
  if (std::optional<Error> error = flags.setAll(values, "autopar"))
    return fail(*error);
  Session session(warn);
  std::optional<Error> error = addModule(session, model, model.name);
  if (!error)
    error = session.run(*request, [&](PassManager &pm) -> LogicalResult {
      if (failed(addPlanPipeline(pm, flags.options(), refuse)))
        return failure();
      return bundle.empty() ? success()
                            : addBundle(pm, flags.options(), bundle,
                                        asGiven(model, flags, values), refuse);
    });
  return error ? fail(*error) : 0;
}

int autopar::printGroups(const std::string &name, PlanFlags &flags,
                         const PlanValues &values) {
  if (std::optional<Error> error = flags.setAll(values, "autopar"))
    return fail(*error);
  FailureOr<Plan> plan = readPlanOptions(flags.options(), refuse);
  if (failed(plan))
    return 1;
  Result<std::vector<std::vector<int64_t>>> groups = listGroups(*plan, name);
  if (!groups)
    return fail(groups.error());
  for (const std::vector<int64_t> &group : *groups)
    print(
        join(llvm::map_to_vector(
                 group, [](int64_t device) { return std::to_string(device); }),
             " ") +
        "\n");
  return 0;
}

//===----------------------------------------------------------------------===//
// Placing experts
//===----------------------------------------------------------------------===//

Result<std::string> autopar::placeExperts(const ModelArgument &argument,
                                          const PlacementRequest &placement) {
  Result<ModelRequest> request = requestOf(argument, argument.name);
  if (!request)
    return request.error();
  Session session(warn);
  if (auto error = addModule(session, argument, argument.name))
    return *error;
  return session.place(*request, placement);
}

//===----------------------------------------------------------------------===//
// Commands about models
//===----------------------------------------------------------------------===//

static Result<ModelReport> describe(const ModelArgument &argument,
                                    const std::string &name,
                                    const std::vector<std::string> &formats) {
  Result<ModelRequest> request = requestOf(argument, name);
  if (!request)
    return request.error();
  Session session(warn);
  if (std::optional<Error> error = addModule(session, argument, name))
    return *error;
  return session.describe(*request, formats);
}

static std::vector<std::string> formatsOf(const std::string &kvFormat) {
  if (kvFormat.empty())
    return {"bf16", "fp8"};
  return {kvFormat};
}

int autopar::listModels() {
  std::vector<std::pair<std::string, ModelReport>> models;
  int code = 0;
  for (const std::string &name : bundledModels()) {
    Result<ModelReport> model = describe({}, name, {"bf16"});
    if (!model) {
      code = fail(model.error());
      continue;
    }
    models.emplace_back(name, std::move(*model));
  }
  print(writeList(models));
  return code;
}

int autopar::listFamilies() {
  for (const std::string &name : familyNames())
    print(name + "\n");
  return 0;
}

int autopar::showModel(const ModelArgument &argument,
                       const std::string &kvFormat, bool json) {
  Result<ModelReport> model =
      describe(argument, argument.name, formatsOf(kvFormat));
  if (!model)
    return fail(model.error());
  print(json ? writeJson(*model) : writeText(*model, outputStyle()));
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
  TextStyleScope scope(outputStyle());
  print(writeDifferences(*first, *second));
  return 0;
}

int autopar::newFamily(const std::string &type, const std::string &config,
                       const std::string &weights, const std::string &output) {
  Result<ModelDraft> draft = draftNewFamily(type, config, weights);
  if (!draft)
    return fail(draft.error());
  const DraftedFamily &family = draft->family;
  if (Result<bool> written = writeOutput(output, family.text); !written)
    return fail(written.error());
  llvm::errs() << "draft: " << family.summary() << "\n";
  for (const std::string &text : family.guesses)
    llvm::errs() << "guessed: " << text << "\n";
  for (const std::string &name : family.left)
    llvm::errs() << "left: " << name << "\n";
  if (!draft->nearest.empty() && !draft->nearest.front().isEqual)
    llvm::errs() << "base: " << draft->nearest.front().family
                 << " has most tensors in common; a file on top of it may be "
                    "shorter\n";
  llvm::errs() << "next: as " << userFamiliesFolder() << "/" << type
               << ".json, autopar-translate --import-hf " << config
               << " --verify-weights " << weights << " says what is left\n";
  return 0;
}

int autopar::shrinkModel(const ModelArgument &argument, const SmallSizes &sizes,
                         const std::string &output) {
  Result<ModelRequest> request = requestOf(argument, argument.name);
  if (!request)
    return fail(request.error());
  Result<std::string> config = Session(warn).shrink(*request, sizes);
  if (!config)
    return fail(config.error());
  Result<bool> written = writeOutput(output, *config);
  return written ? 0 : fail(written.error());
}
