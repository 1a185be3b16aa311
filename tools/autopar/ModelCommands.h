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
#include <utility>
#include <vector>

namespace autopar::importer {
struct ModelRequest;
} // namespace autopar::importer

namespace autopar::session {
class Session;
} // namespace autopar::session

namespace autopar {

/// A model on the command line.
struct ModelArgument {
  std::string name, second, revision;
  bool offline = false, refresh = false;
  std::vector<std::string> assumptions;
  std::string weightFormat;
};

// The commands return the exit code, and print errors themselves.

/// Prints the report of a step; where `bundle` names a file, writes that, too.
int estimate(const ModelArgument &model, pipelines::PlanFlags &flags,
             const pipelines::PlanValues &values,
             const std::string &bundle = "");

/// Prints in what two plans differ, or a table of all models, machines and
/// plans that are named.
int compare(const ModelArgument &model, pipelines::PlanFlags &flags,
            const pipelines::PlanValues &values);

/// What `name` asks for, with what `model` says of how to find it.
Result<importer::ModelRequest> requestOf(const ModelArgument &model,
                                         const std::string &name);

/// Makes `name` a model of the session where it is a file of a module.
std::optional<Error> addModule(session::Session &session,
                               const ModelArgument &model,
                               const std::string &name);

/// What `search` goes through beside the flags of plans, and how it is printed.
struct SearchArgument : session::SearchChoices {
  ModelArgument model;
  std::string format;
  /// Where the plans of the frontier go, a file each.
  std::string plansOutput;
};

/// Prints the best plans of a model, and what became of all others.
int searchPlans(const SearchArgument &search, pipelines::PlanFlags &flags,
                const pipelines::PlanValues &values);

/// Prints the device groups of axis or degree `name`.
int printGroups(const std::string &name, pipelines::PlanFlags &flags,
                const pipelines::PlanValues &values);

/// Which rank should hold which of the model's experts.
Result<std::string> placeExperts(const ModelArgument &model,
                                 const placement::PlacementRequest &request);

/// Prints a table of the bundled models.
int listModels();
/// Prints the model types that can be imported.
int listFamilies();
/// Prints what follows from a model alone; `kvFormat`: one, or "" for the
/// usual.
int showModel(const ModelArgument &model, const std::string &kvFormat,
              bool json);
/// Prints in what `model.name` and `model.second` differ.
int diffModels(const ModelArgument &model, const std::string &kvFormat);

/// Writes the draft of a family for `type` to `output`, or standard output
/// where that is "-"; what it guessed and what is left to standard error.
int newFamily(const std::string &type, const std::string &config,
              const std::string &weights, const std::string &output);

/// Writes the config of a small model of the same structure to `output`, or
/// standard output where that is "-".
int shrinkModel(const ModelArgument &model, const model::SmallSizes &sizes,
                const std::string &output);

} // namespace autopar

namespace CLI {
class App;
} // namespace CLI

namespace autopar {
/// Adds the flags that name a model, which may be left out.
void addModel(CLI::App *command, ModelArgument &model);
} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_MODELCOMMANDS_H
