//===- Passes.td - Passes that price a module -------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_PRICE_PASSES_TD
#define AUTOPAR_TRANSFORMS_PRICE_PASSES_TD

include "autopar/Transforms/PassClasses.td"

def PrintCostProgramPass
    : Pass<"autopar-print-cost-program", "::mlir::ModuleOp"> {
  let summary = "prints what the module costs, with neither sizes nor seconds";
  let description = [{
    Writes the cost program as JSON (`autopar.program/1`) to standard error. It
    does not depend on the sizes of axes, nor on the workload; an axis of one
    device is as none.
  }];
}

def EstimatePass : ReportPass<"autopar-estimate"> {
  let summary = "reports memory, FLOPs, communication and latency of a step";
  let description = [{
    Reads the cost program off the IR, evaluates it on the module's
    `parallel.target`, and writes the report, which depends on nothing else. The
    module is not changed. With `transformer.requests` it says what the service
    does; the step is that of the steady state where nobody has chosen one. Of a deployment it reports every module, and what a
    request moves over each `parallel.link`.

    What its warnings advise are remarks too, of the category `autopar-advice`,
    on the op that they are about: a cache, a collective, the mesh. They are
    silent without `--remarks-filter=autopar.*`.

    Requires sizes for all mesh axes, a workload, and no `parallel.reshard`.
  }];
  let options = !listconcat(reportOptions, [
    Option<"explain", "explain", "bool", "false",
           "Show the derivation of every figure">,
    Option<"impact", "impact", "bool", "false",
           "Rank the figures by the effect of 1 % more of each on time and "
           "memory">,
    Option<"verbose", "verbose", "bool", "false",
           "List defaults among the assumptions of a text report">,
    Option<"brief", "brief", "bool", "false",
           "Write only the first ten lines of a text report">,
    Option<"trace", "trace", "std::string", "\"\"",
           "File for the timeline of a pipeline, or of simulated requests, in "
           "Chrome's trace format">,
    Option<"simulate", "simulate", "int64_t", "0",
           "Number of the module's requests to simulate">,
    Option<"seed", "seed", "uint64_t", "1", "Seed of the random numbers of "
                                            "the simulation">,
    Option<"requests", "requests", "std::string", "\"\"",
           "File of requests to simulate instead: a table of arrivals, tokens "
           "of prompts and of output">,
    Option<"requestsOutput", "requests-output", "std::string", "\"\"",
           "File for the times of each simulated request, as JSON lines">,
  ]);
}

#endif // AUTOPAR_TRANSFORMS_PRICE_PASSES_TD
