//===- Links.h - Transfers of requests between modules ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_LINKS_H
#define AUTOPAR_EVALUATE_LINKS_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Plan/Plan.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Program/Workload.h"
#include "autopar/Report/Deployment.h"
#include "autopar/Runtime/Runtime.h"

namespace autopar::evaluation {

/// One module (one pool of devices) of a deployment. Its plan has sizes for all
/// axes.
struct LinkSide {
  std::string name;
  const program::CostProgram &program;
  const plan::Plan &plan;
  const hardware::Machine &machine;
  const program::Workload &workload;
  /// Whether the module has a machine of its own; if not, it shares the machine
  /// of the deployment.
  bool ownMachine = false;
};

/// Prices the transfer of the KV caches and states of one request, with the
/// context of `from`, after its prefill. Each device sends or receives its
/// part; the slower side decides. If both sides share a machine, the transfer
/// uses the tier that joins the devices of both, else the widest tier of each
/// side. Errors: sides with different bytes, more devices than a shared machine
/// has, machines without a tier between nodes.
Result<report::LinkReport> evaluateLink(const LinkSide &from,
                                        const LinkSide &to, bool ideal);

/// A module of a deployment that serves requests, with the runtime on its
/// machine.
struct PoolSide : LinkSide {
  const runtime::Runtime &runtime;
};

/// Evaluates the pools `prefill` and `decode` for the load `requests`. With
/// `byLayer`, the KV caches of a layer are sent while later layers are
/// computed. Errors: those of `evaluateService` and of `evaluateLink`.
Result<report::PoolsReport>
evaluatePools(const PoolSide &prefill, const PoolSide &decode, bool byLayer,
              const program::Requests &requests,
              const report::SimulationChoice *choice = nullptr);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_LINKS_H
