//===- Session.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionState.h"

#include "DescribeModel.h"
#include "autopar/Analysis/ExpertLayers.h"
#include "autopar/Explain/Differences.h"
#include "autopar/Import/ShrinkModel.h"
#include "autopar/Support/SourceText.h"
#include "autopar/Transforms/Price/Estimate.h"

#include "mlir/Parser/Parser.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::cost;
using namespace autopar::estimation;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::session;
using namespace autopar::transforms;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Importing models
//===----------------------------------------------------------------------===//

/// Returns a key that identifies the request for a model.
static std::string keyOf(const ModelRequest &model) {
  std::string key = model.argument + "@" + model.hub.revision + ":" +
                    model.weightFormat + (model.asServed ? "!" : "") +
                    model.config;
  for (const ConfigAssumption &assumption : model.assumptions)
    key += " " + assumption.key + "=" + assumption.value;
  return key;
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

Result<const KnownModel *> Session::State::find(const ModelRequest &request) {
  if (auto it = added.find(request.argument); it != added.end())
    return &it->second;
  std::string key = keyOf(request);
  auto it = models.find(key);
  if (it != models.end())
    return &it->second;
  Result<Model> model = findModel(request);
  if (!model)
    return model.error();
  Result<OwningOpRef<ModuleOp>> module = buildModel(&context, *model);
  if (!module)
    return diagnostics.orElse(module.error());
  return &(models[key] = {std::move(*module), contextOf(*model).value_or(0),
                          fieldsOf(*model)});
}

std::optional<Error> Session::State::run(ModuleOp module, AddPasses add) {
  PassManager pm(&context);
  if (failed(add(pm)) || failed(pm.run(module)))
    return diagnostics.takeError();
  return std::nullopt;
}

Result<OwningOpRef<ModuleOp>>
Session::State::shard(const ModelRequest &model, const PlanRequest &request) {
  Result<ModuleOp> module = import(model);
  if (!module)
    return module.error();
  OwningOpRef<ModuleOp> copy(module->clone());
  if (std::optional<Error> error = run(*copy, [&](PassManager &pm) {
        addPlanPasses(pm, request);
        return success();
      }))
    return *error;
  return std::move(copy);
}

Result<std::shared_ptr<const PlanOutcome>>
Session::State::outcome(const ModelRequest &model, const PlanRequest &request,
                        std::string name) {
  Result<OwningOpRef<ModuleOp>> module = shard(model, request);
  if (!module)
    return module.error();
  FailureOr<PlanOutcome> outcome =
      priceOutcome(**module, TargetAnalysis(**module));
  if (failed(outcome))
    return diagnostics.takeError();
  outcome->name = std::move(name);
  return std::make_shared<const PlanOutcome>(std::move(*outcome));
}

std::optional<Error> Session::addModel(const std::string &name,
                                       const std::string &text) {
  if (std::optional<Error> error = checkSourceText(text, name))
    return error;
  Diagnostics located(&state->context, state->warn, /*withPlaces=*/true);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, &state->context, name);
  if (!module)
    return located.takeError();
  state->added[name] = {std::move(module)};
  return std::nullopt;
}

Result<std::string> Session::import(const ModelRequest &model) {
  Result<const KnownModel *> known = state->find(model);
  if (!known)
    return known.error();
  return textOf(*(*known)->module);
}

Session::Session(Warn warn) : state(std::make_unique<State>(std::move(warn))) {}
Session::~Session() = default;

Session::Warn Session::exchangeWarn(Warn warn) {
  return std::exchange(state->warn, std::move(warn));
}

std::optional<Error> Session::run(const ModelRequest &model, AddPasses add) {
  Result<ModuleOp> module = state->import(model);
  if (!module)
    return module.error();
  OwningOpRef<ModuleOp> copy(module->clone());
  return state->run(*copy, add);
}

//===----------------------------------------------------------------------===//
// Estimating plans
//===----------------------------------------------------------------------===//

Result<Report> Session::estimate(const ModelRequest &model,
                                 const PlanRequest &request,
                                 const ReportDetail &detail,
                                 std::string *program) {
  Result<OwningOpRef<ModuleOp>> module = state->shard(model, request);
  if (!module)
    return module.error();
  if (program)
    *program = textOf(**module);
  ModuleAnalysisManager analyses(**module, /*passInstrumentor=*/nullptr);
  FailureOr<AnyReport> report =
      autopar::transforms::estimate(**module, analyses, detail);
  if (failed(report))
    return state->diagnostics.takeError();
  return std::get<Report>(std::move(*report));
}

Result<Comparison> Session::compare(const ModelRequest &model,
                                    const PlanRequest &first,
                                    const PlanRequest &second) {
  auto a = state->outcome(model, first, "first");
  if (!a)
    return a.error();
  auto b = state->outcome(model, second, "second");
  if (!b)
    return b.error();
  return Comparison{*a, *b, autopar::explanation::compare(**a, **b)};
}

Result<std::string> Session::shard(const ModelRequest &model,
                                   const PlanRequest &request) {
  Result<OwningOpRef<ModuleOp>> module = state->shard(model, request);
  if (!module)
    return module.error();
  return textOf(**module);
}

//===----------------------------------------------------------------------===//
// Facts about models
//===----------------------------------------------------------------------===//

Result<ModelReport>
Session::describe(const ModelRequest &request,
                  const std::vector<std::string> &kvFormats) {
  Result<const KnownModel *> model = state->find(request);
  if (!model)
    return model.error();
  Result<ModelReport> report = describeModel(*(*model)->module, kvFormats);
  if (!report)
    return report;
  report->contextLength = (*model)->contextLength;
  report->fields = (*model)->fields;
  return report;
}

static Result<Checked> countBytes(ModuleOp module, const ExpertLayers &layers) {
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

Result<ModelExperts> Session::experts(const ModelRequest &model,
                                      bool withBytes) {
  Result<ModuleOp> module = state->import(model);
  if (!module)
    return module.error();
  FailureOr<ExpertLayers> layers = findExpertLayers(*module);
  if (failed(layers))
    return state->diagnostics.takeError();
  if (layers->all.empty())
    return Error{"", model.argument + " has no routed experts", ""};
  Result<Checked> bytes = withBytes ? countBytes(*module, *layers) : Checked(0);
  if (!bytes)
    return bytes.error();
  return ModelExperts{layers->shape(), layers->all.front().groups,
                      layers->stackLayers, *bytes};
}

Result<std::string> Session::place(const ModelRequest &model,
                                   PlacementRequest request) {
  Result<ModelExperts> found = experts(model, request.budgetBytes > 0);
  if (!found)
    return found.error();
  request.model = std::move(*found);
  return runPlacement(request);
}

Result<std::string> Session::shrink(const ModelRequest &request,
                                    const SmallSizes &sizes) {
  Result<Model> model = findModel(request);
  if (!model)
    return model.error();
  return shrinkModel(&state->context, *model, sizes);
}
