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

/// The model that `body` names or has: "model", "config" or "module". Modules
/// become models of the session.
Result<importer::ModelRequest> readModel(session::Session &session,
                                         const JsonReader &body);

/// Whether the flag of plans is forbidden in bodies, because it reads or writes
/// a file, or is about text.
bool isOfFiles(const std::string &flag);
/// Whether a body may have the flag of plans, or of searches.
bool isOfPlans(const std::string &flag);
bool isOfSearches(const std::string &flag);

/// The flags that an object may have, with their meaning for plans.
struct FlagNames {
  /// Whether a flag of plans is one of them.
  bool (*hasFlag)(const std::string &name) = nullptr;
  /// Others, whose texts are read, too.
  std::vector<std::string_view> others = {};
  /// Whether values may be lists.
  bool haveLists = false;
};

/// The flags of an object.
struct GivenFlags {
  pipelines::PlanValues values;
  /// Values of `FlagNames::others`, by name.
  std::map<std::string, std::string> others;
  /// Names in the order of `PlanFlags::all`, behind others.
  std::vector<std::string> order;
  /// The pointer of the object.
  std::string pointer;

  std::string other(const std::string &name) const {
    auto it = others.find(name);
    return it == others.end() ? "" : it->second;
  }
};
Result<GivenFlags> readFlagObject(const JsonReader &body, std::string_view key,
                                  const pipelines::PlanFlags &flags,
                                  const FlagNames &names = {});

/// `error` at the flag of `given` that it names, or at all of them.
Error atFlag(Error error, const GivenFlags &given);

/// The plan, machine and step that `body`'s flags say under `key`.
Result<pipelines::PlanRequest> readPlan(const JsonReader &body,
                                        std::string_view key);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_BODIES_H
