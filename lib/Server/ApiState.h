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
  session::Session session;
};

/// The text of an answer, which is JSON.
using Answer = Result<std::string>;

Answer listModels(session::Session &session, const Call &call);
Answer showModel(session::Session &session, const Call &call);
Answer listLayers(session::Session &session, const Call &call);
Answer importModel(session::Session &session, const Call &call);
Answer listHardware(session::Session &session, const Call &call);
Answer showHardware(session::Session &session, const Call &call);
Answer listRuntimes(session::Session &session, const Call &call);
Answer listFormats(session::Session &session, const Call &call);
Answer estimate(session::Session &session, const Call &call);
Answer measureLayers(session::Session &session, const Call &call);
Answer measureSystem(session::Session &session, const Call &call);
Answer compare(session::Session &session, const Call &call);
Answer search(session::Session &session, const Call &call);
Answer sweep(session::Session &session, const Call &call);
Answer place(session::Session &session, const Call &call);

/// Returns `text` as a JSON string.
std::string jsonString(const std::string &text);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_APISTATE_H
