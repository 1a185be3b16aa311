//===- LaunchCommands.h - What commands on launches share -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_LAUNCHCOMMANDS_H
#define AUTOPAR_TOOLS_AUTOPAR_LAUNCHCOMMANDS_H

#include "PlanArguments.h"

#include "autopar/Launch/Launch.h"

namespace autopar {

/// Returns what is known of a model. Nothing is fetched: of a model that is not
/// bundled and in no cache nothing is known.
launch::ModelFacts findModel(const std::string &name);

/// Sets what the flags leave open: the model, the plan and the runtime of
/// `launch`. Returns an error for an engine without a table.
std::optional<Error> takeLaunch(const launch::Launch &launch,
                                ModelArgument &model, PlanArguments &arguments);

/// Sets what a search leaves open from the first launch in the file `from`:
/// the model, the runtime, the number of devices, choices of all plans, and the
/// launch's own plan as the one to explain (`--why`).
std::optional<Error> takeLaunch(const std::string &from, SearchArgument &search,
                                PlanArguments &arguments);

/// Whether a flag says how something is split or where it runs.
bool isOfPlans(const pipelines::PlanFlags &flags, const std::string &name);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_LAUNCHCOMMANDS_H
