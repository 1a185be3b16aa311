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

/// Two plans of a model, and in what they differ.
struct Comparison {
  std::shared_ptr<const report::PlanOutcome> first, second;
  report::PlanDifferences differences;
};

/// What a search chooses between beside plans: formats, runtimes, machines.
struct SearchVariant {
  /// Formats, runtime, machine, figures and the step, whose batch is searched
  /// for.
  pipelines::PlanRequest base;
  /// In place of the model's own, where it is given.
  std::string weightFormat = "";
  /// That say so, for readers.
  std::vector<search::GivenFlag> flags = {};
};

/// What to search the plans of a model for.
struct SearchRequest {
  std::vector<SearchVariant> variants;
  /// Of each machine; none: a node.
  std::vector<int64_t> devices = {};
  search::SearchSpace space = {};
  std::vector<int64_t> batches = {};
  search::Goal goal = search::Goal::throughput;
  program::ServiceLimits limits = {};
  /// `SearchProblem::requests`.
  std::optional<search::RequestTokens> requests = std::nullopt;
  bool verify = false;
  /// Where the programs of strategies are kept; "": nowhere.
  std::string cacheDirectory = "";
};

/// A search and what was searched, by whose targets points are told apart.
struct SearchOutcome {
  search::SearchProblem problem;
  search::SearchResult result;
  /// By target, which variant it is.
  std::vector<size_t> variants = {};
};

/// What the command line does, as functions: models, plans and machines in,
/// reports out. Owns all that they need and keeps the models that were asked
/// for: a model is imported once. Errors are values. Not for several threads at
/// once; any number of sessions may live beside each other.
class Session {
public:
  /// Called with each warning, as a line without its newline. None: warnings
  /// are dropped.
  using Warn = std::function<void(const std::string &)>;

  explicit Session(Warn warn = nullptr);
  ~Session();
  /// Calls `warn` from now on; returns what it called.
  Warn exchangeWarn(Warn warn);

  /// Makes the module that `text` is the model called `name`, for requests of
  /// that argument. Errors: what the parser says, and text that it would not
  /// survive.
  std::optional<Error> addModel(const std::string &name,
                                const std::string &text);
  /// The module of a model, as text.
  Result<std::string> import(const importer::ModelRequest &model);

  /// What a step costs: memory, FLOPs, communication and latency. The text of
  /// the parallel program goes to `program`, where that is given.
  Result<report::Report> estimate(const importer::ModelRequest &model,
                                  const pipelines::PlanRequest &request,
                                  const estimation::ReportDetail &detail = {},
                                  std::string *program = nullptr);
  /// In what two plans of a model differ: collectives, layouts and numbers.
  Result<Comparison> compare(const importer::ModelRequest &model,
                             const pipelines::PlanRequest &first,
                             const pipelines::PlanRequest &second);
  /// The best plans of a model, and what became of all others.
  Result<SearchOutcome> search(const importer::ModelRequest &model,
                               const SearchRequest &request,
                               const search::SearchControl &control = {});
  /// The parallel program of a plan, as text.
  Result<std::string> shard(const importer::ModelRequest &model,
                            const pipelines::PlanRequest &request);

  /// Parameters, sizes, caches and FLOPs of a model, with caches of
  /// `kvFormats`.
  Result<report::ModelReport>
  describe(const importer::ModelRequest &model,
           const std::vector<std::string> &kvFormats = {"bf16"});
  /// The experts of a model; their bytes, which take a while to count, where
  /// asked for. Errors: a model without.
  Result<placement::ModelExperts> experts(const importer::ModelRequest &model,
                                          bool withBytes = false);
  /// Which rank should hold which experts, and copies, of the model; as text.
  Result<std::string> place(const importer::ModelRequest &model,
                            placement::PlacementRequest request);
  /// The config of a model of the same structure, with small sizes.
  Result<std::string> shrink(const importer::ModelRequest &model,
                             const model::SmallSizes &sizes);

  /// Runs passes that `add` adds on a copy of the model, as they say; the error
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
