//===- Passes.td - Passes that keep what was estimated ----*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_BUNDLE_PASSES_TD
#define AUTOPAR_BUNDLE_PASSES_TD

include "mlir/Pass/PassBase.td"

def BundlePass : Pass<"autopar-bundle", "::mlir::ModuleOp"> {
  let summary = "writes what a report rests on, and the report, to one file";
  let description = [{
    Estimates the module's text again, and keeps what that reads: a zip
    (`autopar.bundle/1`) with the module, files of hardware and runtimes, the
    reports, and a hash of each. `autopar replay` does the estimate of a bundle
    again, wherever it is, and says whether it gives the same bytes. The module
    is not changed.

    Requires what `autopar-estimate` does.
  }];
  let options = [
    Option<"output", "output", "std::string", "", "The file">,
    ListOption<"flags", "flags", "std::string",
               "Flags of the command line, shown to readers of the bundle">,
    Option<"explain", "explain", "bool", "false", "Same as that of "
                                                  "autopar-estimate">,
    Option<"impact", "impact", "bool", "false", "Likewise">,
    Option<"verbose", "verbose", "bool", "false", "Likewise">,
    Option<"simulate", "simulate", "int64_t", "0", "Likewise">,
    Option<"seed", "seed", "uint64_t", "1", "Likewise">,
    Option<"requests", "requests", "std::string", "\"\"", "Likewise">,
  ];
}

#endif // AUTOPAR_BUNDLE_PASSES_TD
