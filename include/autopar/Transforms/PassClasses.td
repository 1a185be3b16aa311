//===- PassClasses.td - Kinds of passes -------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_PASSCLASSES_TD
#define AUTOPAR_TRANSFORMS_PASSCLASSES_TD

include "mlir/Pass/PassBase.td"

/// A pass that works on each module of a deployment.
class ModulePass<string argument>
    : PassBase<argument, "::autopar::transforms::ModulePass">;

/// One that splits tensors.
class ShardPass<string name> : ModulePass<name> {
  let dependentDialects = ["::autopar::parallel::ParallelDialect",
                           "::autopar::transformer::TransformerDialect"];
}

/// A pass that writes a report of a module.
class ReportPass<string argument>
    : PassBase<argument, "::autopar::transforms::ReportPass">;
/// Options of all such passes.
defvar reportOptions = [
  Option<"format", "format", "std::string", "\"text\"", "text, json or html; of estimates also xlsx">,
  Option<"output", "output", "std::string", "\"-\"",
         "Where the report goes (-: standard output)">,
];

#endif // AUTOPAR_TRANSFORMS_PASSCLASSES_TD
