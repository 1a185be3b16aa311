//===- ModelCommands.h - autopar estimate, autopar models -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_MODELCOMMANDS_H
#define AUTOPAR_TOOLS_AUTOPAR_MODELCOMMANDS_H

#include "autopar/Model/Shrink.h"
#include "autopar/Pipelines/PlanFlags.h"
#include "autopar/Placement/PlacementRequest.h"
#include "autopar/Session/SearchChoices.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar::importer {
struct ModelRequest;
} // namespace autopar::importer

namespace autopar::session {
class Session;
} // namespace autopar::session

namespace autopar {

/// A model, as the command line names it.
struct ModelArgument {
  std::string name, second, revision;
  bool offline = false, refresh = false;
  std::vector<std::string> assumptions;
  std::string weightFormat;
};

// These commands print their errors and return the exit code.

/// Prints the report of a step, and writes it to `bundle` if this path is not
/// empty.
int estimate(const ModelArgument &model, pipelines::PlanFlags &flags,
             const pipelines::PlanValues &values,
             const std::string &bundle = "");

/// Prints the differences of two plans, or a table of all models, machines and
/// plans that were named.
int compare(const ModelArgument &model, pipelines::PlanFlags &flags,
            const pipelines::PlanValues &values);

/// Returns the request for the model `name`, with the options of `model`.
Result<importer::ModelRequest> requestOf(const ModelArgument &model,
                                         const std::string &name);

/// Adds `name` to the session's models if it is a file with a module.
std::optional<Error> addModule(session::Session &session,
                               const ModelArgument &model,
                               const std::string &name);

/// The choices of `search` besides the flags of plans, and where its output
/// goes.
struct SearchArgument : session::SearchChoices {
  ModelArgument model;
  std::string format;
  /// The folder for the plans of the frontier, one file for each.
  std::string plansOutput;
};

/// Prints the best plans of a model, with a proof that accounts for all other
/// plans.
int searchPlans(const SearchArgument &search, pipelines::PlanFlags &flags,
                const pipelines::PlanValues &values);

/// Prints the groups of devices along the axis or degree `name`.
int printGroups(const std::string &name, pipelines::PlanFlags &flags,
                const pipelines::PlanValues &values);

/// Places the model's experts on ranks. Returns the report.
Result<std::string> placeExperts(const ModelArgument &model,
                                 const placement::PlacementRequest &request);

/// Prints a table of the bundled models.
int listModels();
/// Prints the types of models that can be imported.
int listFamilies();
/// Prints facts about a model. `kvFormat` is one format of KV caches, or "" for
/// the usual ones.
int showModel(const ModelArgument &model, const std::string &kvFormat,
              bool json);
/// Prints the differences between the models `model.name` and `model.second`.
int diffModels(const ModelArgument &model, const std::string &kvFormat);

/// Writes the draft of a family for `type` to `output`; to standard output if
/// that is "-". Prints its guesses and open points to standard error.
int newFamily(const std::string &type, const std::string &config,
              const std::string &weights, const std::string &output);

/// Writes the config of a small model of the same structure to `output`; to
/// standard output if that is "-".
int shrinkModel(const ModelArgument &model, const model::SmallSizes &sizes,
                const std::string &output);

} // namespace autopar

namespace CLI {
class App;
} // namespace CLI

namespace autopar {
/// Adds the flags that name an optional model.
void addModel(CLI::App *command, ModelArgument &model);
} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_MODELCOMMANDS_H
