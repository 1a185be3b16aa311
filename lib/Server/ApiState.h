//===- ApiState.h - Handlers and what they share ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_APISTATE_H
#define AUTOPAR_LIB_SERVER_APISTATE_H

#include "Bodies.h"

#include "autopar/Server/Api.h"
#include "autopar/Session/Session.h"

namespace autopar::server {

struct Api::State {
  explicit State(const ServerLimits &limits) : limits(limits) {}

  const ServerLimits &limits;
  Session session;
};

/// The text of an answer: JSON.
using Answer = Result<std::string>;

Answer listModels(Session &session, const Call &call);
Answer showModel(Session &session, const Call &call);
Answer listLayers(Session &session, const Call &call);
Answer importModel(Session &session, const Call &call);
Answer listHardware(Session &session, const Call &call);
Answer showHardware(Session &session, const Call &call);
Answer listRuntimes(Session &session, const Call &call);
Answer listFormats(Session &session, const Call &call);
Answer estimate(Session &session, const Call &call);
Answer measureLayers(Session &session, const Call &call);
Answer measureSystem(Session &session, const Call &call);
Answer compare(Session &session, const Call &call);
Answer search(Session &session, const Call &call);
Answer sweep(Session &session, const Call &call);
Answer place(Session &session, const Call &call);

/// `text` as a string of JSON.
std::string jsonString(const std::string &text);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_APISTATE_H
