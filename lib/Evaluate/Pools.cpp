//===- Pools.cpp - Modules that serve requests together -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServedProgram.h"

#include "autopar/Evaluate/Links.h"
#include "autopar/Program/ProgramFacts.h"
#include "autopar/Program/Stages.h"
#include "autopar/Serving/Disaggregation.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::serving;

namespace {

class PoolsReader {
public:
  PoolsReader(const PoolSide &from, const PoolSide &to,
              const PlanInputs &prefillInputs, const PlanInputs &decodeInputs,
              const Requests &requests)
      : from(from), to(to), prefill(prefillInputs), decode(decodeInputs) {
    report.prefill = from.name;
    report.decode = to.name;
    report.requests = requests;
    report.replicas = decode.replicas;
    report.devices = prefill.layout.devices + decode.layout.devices;
    report.steady.load = decode.loadOf(requests);
    // The prefill pool also runs the encoder; both pools hold the encoder's
    // output.
    prefill.encode(
        {from.workload.encoderTokens, crossTokens(), requests.prompt.mean()});
    decode.encode({0, crossTokens(), requests.prompt.mean()});
  }

  Result<PoolsReport> run(bool byLayer, const SimulationChoice *choice);

private:
  int64_t crossTokens() const {
    return crossTokensOf(from.program, from.workload);
  }
  std::optional<Error> simulate(const SimulationChoice &choice);
  std::optional<Error> readLink(bool byLayer);
  std::optional<Error> serve();

  const PoolSide &from, &to;
  ServedProgram prefill, decode;
  Disaggregation pools;
  double sendUs = 0;
  PoolsReport report;
};

} // namespace

/// Returns the part of a transfer that is exposed if each of `layers` layers
/// sends its caches while later layers are computed. At least the transfer of
/// the last layer is exposed.
static double leftOf(double transferUs, double promptUs, double layers) {
  return std::max(transferUs / layers,
                  transferUs - promptUs * (layers - 1) / layers);
}

/// Sets the transfer times of a prompt of mean length.
std::optional<Error> PoolsReader::readLink(bool byLayer) {
  Workload prompt;
  prompt.query = prompt.context = std::llround(report.steady.load.promptTokens);
  prompt.crossTokens = crossTokens();
  Result<LinkReport> link = evaluateLink(
      {from.name, from.program, from.plan, from.machine, prompt,
       from.ownMachine},
      {to.name, to.program, to.plan, to.machine, prompt, to.ownMachine},
      from.runtime.ideal);
  if (!link)
    return link.error();
  pools.transferUs = link->timeUs;
  sendUs = link->timeUs;
  // Each replica has links of its own.
  report.linksPerS =
      1e6 * std::min(static_cast<double>(prefill.replicas) / link->sendUs,
                     static_cast<double>(decode.replicas) / link->receiveUs);
  pools.linksPerS = std::isfinite(report.linksPerS) ? report.linksPerS : 0;
  Result<std::vector<uint32_t>> layers = layersInOrder(from.program);
  PromptPace pace;
  if (byLayer && layers && !layers->empty()) {
    if (prefill.server.paceOf(report.steady.load, pace))
      return prefill.explain(report.requests);
    pools.transferUs = leftOf(pools.transferUs, pace.oneUs,
                              static_cast<double>(layers->size()));
  }
  report.transferUs = pools.transferUs;
  return std::nullopt;
}

std::optional<Error> PoolsReader::serve() {
  LoadPoint &steady = report.steady;
  DisaggregatedState served;
  auto refusal = serveDisaggregated(prefill.server, decode.server, pools,
                                    steady.load, served);
  steady.state = served.state;
  report.capacityTokens = static_cast<int64_t>(steady.state.capacityTokens);
  if (refusal.kind == ServingRefusal::Kind::capacity)
    return std::nullopt;
  report.prefillMostPerS = served.prefillMostPerS;
  report.decodeMostPerS = served.decodeMostPerS;
  report.reading = served.prefilling;
  SteadyState room;
  if (!refusal)
    refusal = decode.server.roomOf(steady.load, room);
  LoadedService service;
  service.serve = [this](const ServedLoad &load, SteadyState &state) {
    DisaggregatedState point;
    auto error =
        serveDisaggregated(prefill.server, decode.server, pools, load, point);
    state = point.state;
    return error;
  };
  service.mostAtOnce = room.running * decode.server.replicaCount();
  if (!refusal)
    refusal = findLoadCurve(service, steady, report.curve);
  if (refusal)
    return decode.explain(report.requests);
  report.isServed = true;
  return std::nullopt;
}

std::optional<Error> PoolsReader::simulate(const SimulationChoice &choice) {
  if (report.requests.concurrency != 0)
    return Error{"", "a closed loop of a deployment is not simulated",
                 "give a --rate, or leave out the simulation"};
  StepPrices reading = prefill.prices(), decoding = decode.prices();
  SteadyState room;
  if (prefill.server.roomOf(report.steady.load, room))
    return Error{"",
                 "the KV cache of a replica of @" + from.name +
                     " does not hold one request",
                 ""};
  SimulatedPool first = prefill.simulated(reading, room.capacityTokens),
                second = decode.simulated(decoding,
                                          report.steady.state.capacityTokens);
  return addSimulation(report, choice, [&](const SimulatedLoad &load) {
    return simulatePools(first, second, {pools.transferUs, sendUs}, load);
  });
}

Result<PoolsReport> PoolsReader::run(bool byLayer,
                                     const SimulationChoice *choice) {
  if (auto error = readLink(byLayer))
    return *error;
  if (auto error = serve())
    return *error;
  if (report.isServed)
    addCosts(report, {&prefill, &decode});
  if (choice && report.isServed)
    if (auto error = simulate(*choice))
      return *error;
  return std::move(report);
}

Result<PoolsReport> autopar::evaluation::evaluatePools(
    const PoolSide &prefill, const PoolSide &decode, bool byLayer,
    const Requests &requests, const SimulationChoice *choice) {
  auto inputsOf = [](const PoolSide &side) {
    return PlanInputs{side.program, side.plan, side.machine, side.runtime,
                      side.workload};
  };
  PlanInputs read = inputsOf(prefill), decoded = inputsOf(decode);
  for (const PlanInputs *inputs : {&read, &decoded})
    if (auto error = ServedProgram::check(*inputs))
      return *error;
  if (auto error = ServedProgram::checkLengths(read, requests))
    return *error;
  return PoolsReader(prefill, decode, read, decoded, requests)
      .run(byLayer, choice);
}
