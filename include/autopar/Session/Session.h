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

/// Two plans of a model, and their differences.
struct Comparison {
  std::shared_ptr<const report::PlanOutcome> first, second;
  report::PlanDifferences differences;
};

/// The alternatives of a search besides plans: formats, runtimes, machines.
struct SearchVariant {
  /// Formats, runtime, machine, figures and the step, whose batch is searched.
  pipelines::PlanRequest base;
  /// Replaces the model's own format, if given.
  std::string weightFormat = "";
  /// Flags that give this variant, for readers.
  std::vector<search::GivenFlag> flags = {};
};

/// The request of a search for plans of a model.
struct SearchRequest {
  std::vector<SearchVariant> variants;
  /// Numbers of devices to try on each machine; empty: all devices of it.
  std::vector<int64_t> devices = {};
  search::SearchSpace space = {};
  std::vector<int64_t> batches = {};
  search::Goal goal = search::Goal::throughput;
  program::ServiceLimits limits = {};
  /// The tokens of `search::FollowingRequests`; absent for other questions.
  std::optional<search::RequestTokens> requests = std::nullopt;
  bool verify = false;
  /// Folder that keeps the programs of strategies; "": none.
  std::string cacheDirectory = "";
};

/// A search result with its problem, whose targets its points refer to.
struct SearchOutcome {
  search::SearchProblem problem;
  search::SearchResult result;
  /// Index of the variant, by target.
  std::vector<size_t> variants = {};
};

/// The functions of the command line: models, plans and machines in, reports
/// out. A session owns everything that they need and keeps its models, so that
/// a model is imported once. Errors are values. Not thread-safe, but any number
/// of sessions may coexist.
class Session {
public:
  /// Called with each warning, a line without its newline. Null: warnings are
  /// dropped.
  using Warn = std::function<void(const std::string &)>;

  explicit Session(Warn warn = nullptr);
  ~Session();
  /// Sets the function for warnings; returns the previous one.
  Warn exchangeWarn(Warn warn);

  /// Adds the model in `text` under `name`, for requests with that argument.
  /// Errors: those of the parser, and text that it would not survive.
  std::optional<Error> addModel(const std::string &name,
                                const std::string &text);
  /// Returns the module of a model, as text.
  Result<std::string> import(const importer::ModelRequest &model);

  /// Estimates a step: memory, FLOPs, communication and latency. Writes the
  /// text of the parallel program to `program`, unless null.
  Result<report::Report> estimate(const importer::ModelRequest &model,
                                  const pipelines::PlanRequest &request,
                                  const estimation::ReportDetail &detail = {},
                                  std::string *program = nullptr);
  /// Compares two plans of a model: collectives, layouts and numbers.
  Result<Comparison> compare(const importer::ModelRequest &model,
                             const pipelines::PlanRequest &first,
                             const pipelines::PlanRequest &second);
  /// Searches the best plans of a model, with a proof that accounts for all
  /// others.
  Result<SearchOutcome> search(const importer::ModelRequest &model,
                               const SearchRequest &request,
                               const search::SearchControl &control = {});
  /// Returns the parallel program of a plan, as text.
  Result<std::string> shard(const importer::ModelRequest &model,
                            const pipelines::PlanRequest &request);

  /// Describes a model: parameters, sizes, FLOPs, and caches in `kvFormats`.
  Result<report::ModelReport>
  describe(const importer::ModelRequest &model,
           const std::vector<std::string> &kvFormats = {"bf16"});
  /// Returns facts about the experts of a model; with `withBytes` their bytes,
  /// which take time to count. Errors: a model without experts.
  Result<placement::ModelExperts> experts(const importer::ModelRequest &model,
                                          bool withBytes = false);
  /// Places experts, and copies of them, on ranks; returns a text.
  Result<std::string> place(const importer::ModelRequest &model,
                            placement::PlacementRequest request);
  /// Returns the config of a model of the same structure with small sizes.
  Result<std::string> shrink(const importer::ModelRequest &model,
                             const model::SmallSizes &sizes);

  /// Runs the passes that `add` adds on a clone of the model. Returns the error
  /// of a pass, or of `add`.
  using AddPasses =
      llvm::function_ref<mlir::LogicalResult(mlir::PassManager &)>;
  std::optional<Error> run(const importer::ModelRequest &model, AddPasses add);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SESSION_H
