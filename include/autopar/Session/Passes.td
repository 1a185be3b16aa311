//===- Passes.td - Passes that choose a plan --------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_PASSES_TD
#define AUTOPAR_SESSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def SearchPass : Pass<"autopar-search", "::mlir::ModuleOp"> {
  let summary = "splits a model by the best plan of a space";
  let description = [{
    Prices every plan of `space` for the module's workload, batch included, on
    its `parallel.target`, and runs the passes of the best one: what `autopar
    search` finds for that batch. Programs of strategies are kept in
    `AUTOPAR_CACHE`; what is found does not depend on them.

    The best plan, its time and where all other plans went are a remark of the
    category `autopar-search` on the module, beside the advice of
    `autopar-estimate` on that plan. They are silent without
    `--remarks-filter=autopar.*`.

    Requires a model with a workload that is not split. Guarantees that
    `autopar-estimate` says the time that the search found, to the last digit.
    Where no plan fits, or none is fast enough, an error says what is missing.

    ```mlir
    transformer.workload(phase = decode, batch = 64, query = 1, context = 4096)
    parallel.target hardware("h200-sxm-8")
    // autopar-search{space=pp=1 goal=latency}
    parallel.mesh(tp = 8)
    ```
  }];
  let options = [
    Option<"space", "space", "std::string", "\"\"",
           "Limits of plans, as in tp=1..8,pp=1 (empty: all)">,
    Option<"goal", "goal", "std::string", "\"throughput\"",
           "Quantity to optimise: throughput, throughput-per-device, latency, "
           "cost or devices">,
    Option<"sla", "sla", "std::string", "\"\"",
           "Latency limit of a step: tpot:30ms in decode, ttft:500ms in "
           "prefill (empty: none)">,
    Option<"devices", "devices", "int64_t", "0",
           "Devices of a plan, on as many nodes as they need where the target "
           "names none (0: all of the target)">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect",
                           "::autopar::training::TrainingDialect"];
}

#endif // AUTOPAR_SESSION_PASSES_TD
