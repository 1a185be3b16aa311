//===- Bodies.h - Bodies of requests ----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_BODIES_H
#define AUTOPAR_LIB_SERVER_BODIES_H

#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Server/Api.h"
#include "autopar/Session/Session.h"

namespace autopar::server {

/// Returns the model that `body` names or contains in "model", "config" or
/// "module". A module becomes a model of the session.
Result<importer::ModelRequest> readModel(session::Session &session,
                                         const JsonReader &body);

/// Returns whether this flag of plans is forbidden in bodies, because it reads
/// or writes a file or changes text.
bool isOfFiles(const std::string &flag);
/// Return whether a body may have this flag of plans, or of searches.
bool isOfPlans(const std::string &flag);
bool isOfSearches(const std::string &flag);

/// The flags that an object may have, and what they mean for plans.
struct FlagNames {
  /// Returns whether the object may have this flag of plans.
  bool (*hasFlag)(const std::string &name) = nullptr;
  /// The names of further members, whose texts are read too.
  std::vector<std::string_view> others = {};
  /// Whether values may be lists.
  bool haveLists = false;
};

/// The flags that an object has.
struct GivenFlags {
  pipelines::PlanValues values;
  /// The values of the members `FlagNames::others`, by name.
  std::map<std::string, std::string> others;
  /// The names of the flags: first further members, then flags of plans in the
  /// order of `PlanFlags::all`.
  std::vector<std::string> order;
  /// The JSON pointer of the object.
  std::string pointer;

  std::string other(const std::string &name) const {
    auto it = others.find(name);
    return it == others.end() ? "" : it->second;
  }
};
Result<GivenFlags> readFlagObject(const JsonReader &body, std::string_view key,
                                  const pipelines::PlanFlags &flags,
                                  const FlagNames &names = {});

/// Returns `error` with a location: the flag in `given` that the error names
/// or, if it names none, the object of the flags.
Error atFlag(Error error, const GivenFlags &given);

/// Returns the plan, machine and step that the flags under `key` in `body`
/// give.
Result<pipelines::PlanRequest> readPlan(const JsonReader &body,
                                        std::string_view key);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_BODIES_H
