//===- Session.h - autopar as functions -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_SESSION_H
#define AUTOPAR_SESSION_SESSION_H

#include "autopar/Estimate/Estimate.h"
#include "autopar/Import/LoadModel.h"
#include "autopar/Model/Shrink.h"
#include "autopar/Pipelines/PlanPasses.h"
#include "autopar/Placement/PlacementRequest.h"
#include "autopar/Report/ModelReport.h"
#include "autopar/Report/PlanDifferences.h"
#include "autopar/Search/Search.h"

#include <functional>
#include <memory>

namespace autopar::session {

/// The outcomes of two plans of a model, and their differences.
struct Comparison {
  std::shared_ptr<const report::PlanOutcome> first, second;
  report::PlanDifferences differences;
};

/// One combination of what a search tries besides plans: number format,
/// runtime, machine.
struct SearchVariant {
  /// Formats, runtime, machine, overrides and the step of the variant; the
  /// batch of the step is searched.
  pipelines::PlanRequest base;
  /// A weight format that replaces the model's own; "" if not given.
  std::string weightFormat = "";
  /// The flags that yield this variant, to be shown to users.
  std::vector<search::GivenFlag> flags = {};
};

/// A search for plans of a model, as a user asks for it.
struct SearchRequest {
  std::vector<SearchVariant> variants;
  /// Numbers of devices to try on each machine; empty: all devices of the
  /// machine.
  std::vector<int64_t> devices = {};
  search::SearchSpace space = {};
  std::vector<int64_t> batches = {};
  search::Goal goal = search::Goal::throughput;
  program::ServiceLimits limits = {};
  /// Tokens of the requests, for a search over a closed loop of requests
  /// (`search::FollowingRequests`); absent for other questions.
  std::optional<search::RequestTokens> requests = std::nullopt;
  bool verify = false;
  /// Directory that caches compiled programs; "": none.
  std::string cacheDirectory = "";
};

/// A search result, together with its problem, to whose targets the points of
/// the result refer.
struct SearchOutcome {
  search::SearchProblem problem;
  search::SearchResult result;
  /// For each target, the index of its variant.
  std::vector<size_t> variants = {};
};

/// The functions of the command line as an API: it takes models, plans and
/// machines, and returns reports. A session owns everything that they need and
/// keeps its models, so that a model is imported once. Errors are returned as
/// values. Not thread-safe, but any number of sessions may exist at once.
class Session {
public:
  /// A function that is called with each warning, a line without its newline;
  /// null: warnings are dropped.
  using Warn = std::function<void(const std::string &)>;

  explicit Session(Warn warn = nullptr);
  ~Session();
  /// Sets the function for warnings, and returns the previous one.
  Warn exchangeWarn(Warn warn);

  /// Adds the model in the IR text `text` under `name`, for requests with that
  /// argument. Errors: those of the parser, and text that is nested too deep
  /// for the parser.
  std::optional<Error> addModel(const std::string &name,
                                const std::string &text);
  /// Returns the module of a model as IR text.
  Result<std::string> import(const importer::ModelRequest &model);

  /// Estimates a step: memory, FLOPs, communication and latency. Writes the IR
  /// text of the parallel program to `program`, unless that is null.
  Result<report::Report> estimate(const importer::ModelRequest &model,
                                  const pipelines::PlanRequest &request,
                                  const estimation::ReportDetail &detail = {},
                                  std::string *program = nullptr);
  /// Compares two plans of a model: collectives, layouts and numbers of
  /// reports.
  Result<Comparison> compare(const importer::ModelRequest &model,
                             const pipelines::PlanRequest &first,
                             const pipelines::PlanRequest &second);
  /// Searches the best plans of a model, with a proof that accounts for all
  /// others.
  Result<SearchOutcome> search(const importer::ModelRequest &model,
                               const SearchRequest &request,
                               const search::SearchControl &control = {});
  /// Returns the parallel program of a plan as IR text.
  Result<std::string> shard(const importer::ModelRequest &model,
                            const pipelines::PlanRequest &request);

  /// Describes a model: parameters, sizes, FLOPs, and its KV caches in the
  /// number formats `kvFormats`.
  Result<report::ModelReport>
  describe(const importer::ModelRequest &model,
           const std::vector<std::string> &kvFormats = {"bf16"});
  /// Returns facts about the experts of a model; with `withBytes` also their
  /// bytes, which take time to count. Error: a model without experts.
  Result<placement::ModelExperts> experts(const importer::ModelRequest &model,
                                          bool withBytes = false);
  /// Places experts, and copies of them, on ranks; returns the text that
  /// `autopar place-experts` prints.
  Result<std::string> place(const importer::ModelRequest &model,
                            placement::PlacementRequest request);
  /// Returns the config of a small model with the same structure as `model`.
  Result<std::string> shrink(const importer::ModelRequest &model,
                             const model::SmallSizes &sizes);

  /// Runs the passes that `add` adds on a copy of the model. Returns the error
  /// of a pass, or of `add`; nothing if all succeed.
  using AddPasses =
      llvm::function_ref<mlir::LogicalResult(mlir::PassManager &)>;
  std::optional<Error> run(const importer::ModelRequest &model, AddPasses add);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SESSION_H
