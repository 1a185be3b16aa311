//===- RequestPrices.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RequestPrices.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::search;
using namespace autopar::serving;

RequestPrices::RequestPrices(const SearchProblem &problem,
                             const SearchTarget &target,
                             CompiledProgram &program)
    : problem(problem), step(program.step(), target.machine, target.runtime,
                             target.memoryUtilization),
      server(program, target.machine, target.runtime,
             target.memoryUtilization) {}

void RequestPrices::lay(const Layout &layout, int64_t replicas) {
  server.lay(layout, replicas);
}

/// Returns the bytes of a device that holds one request.
double RequestPrices::bytesOf(const ServedLoad &load) {
  double outputs[stepOutputCount];
  GroupValues one = {1, 1, load.promptTokens + load.answerTokens, 0, 0};
  if (step.price(one, outputs))
    return 0;
  return outputs[static_cast<size_t>(StepOutput::total_bytes)];
}

BatchPrice RequestPrices::price(int64_t concurrency) {
  LoadPoint point;
  auto &[load, state] = point;
  load.concurrency = concurrency;
  const auto &asked = std::get<FollowingRequests>(problem.question);
  load.promptTokens = static_cast<double>(asked.prompt);
  load.answerTokens = static_cast<double>(asked.answer);
  ServingRefusal refusal = server.timesOf(load, state);
  BatchPrice price;
  price.isLegal = refusal.kind != ServingRefusal::Kind::step;
  price.fits = !refusal;
  if (refusal) {
    price.totalBytes = price.isLegal ? bytesOf(load) : 0;
    return price;
  }
  price.ttftUs = state.ttftUs;
  price.tpotUs = state.tpotUs;
  price.timeUs = point.requestUs();
  price.tokensPerS = state.outputTokensPerSecond;
  return price;
}
