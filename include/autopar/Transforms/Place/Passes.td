//===- Passes.td - Passes that place experts --------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_PLACE_PASSES_TD
#define AUTOPAR_TRANSFORMS_PLACE_PASSES_TD

include "autopar/Transforms/PassClasses.td"

def PlaceExpertsPass : ShardPass<"autopar-place-experts"> {
  let summary = "says which devices hold which experts";
  let description = [{
    Writes `parallel.expert_placement`, in place of one that is there. The layers
    are those of the step that have experts, by the numbers of their repeats; the
    slots are what the split of their weights makes room for. With loads (a file of
    `autopar.load/1` or CSV, or a word such as `zipf:1.0`) or a routing trace,
    experts are assigned to slots: the hottest rank decides, then sends between
    nodes, by the trace. Without, only the policy is written.

    Requires experts that are split over the axes and, with loads, sizes for
    them. Guarantees that nothing else changes.

    ```mlir
    parallel.mesh @pod(ep = 2)
    // autopar-place-experts{policy=block}
    parallel.expert_placement over [ep] policy block
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string",
               "The mesh axes, major first (default: ep)">,
    Option<"policy", "policy", "std::string", "\"block\"",
           "block, round_robin or balanced">,
    Option<"load", "load", "std::string", "\"\"",
           "Tokens per expert: a file, or a word such as zipf:1.0">,
    Option<"trace", "trace", "std::string", "\"\"",
           "Experts that each token was routed to: a file">,
    Option<"groupsInNode", "groups-in-node", "bool", "false",
           "Keep each group of experts that routers select from within one "
           "node">,
    Option<"tolerance", "tolerance", "double", "0.02",
           "Share by which the most loaded rank may exceed the best balance, "
           "to save sends">,
  ];
}

#endif // AUTOPAR_TRANSFORMS_PLACE_PASSES_TD
