//===- Passes.td - Passes about modules -------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_TOOLS_PASSES_TD
#define AUTOPAR_TRANSFORMS_TOOLS_PASSES_TD

include "autopar/Transforms/PassClasses.td"

def ListTensorsPass : Pass<"autopar-list-tensors", "::mlir::ModuleOp"> {
  let summary = "prints the tensors of the checkpoint";
  let description = [{
    Writes one line per tensor to standard error: name, shape, type and bytes,
    separated by tabs, in the order of the model.
  }];
}

def CloneModulePass : Pass<"autopar-clone-module", "::mlir::ModuleOp"> {
  let summary = "puts copies of a module into modules inside it";
  let description = [{
    The module keeps its name and gets one module inside for each of `names`,
    with what it held: two plans of one model, or the two sides of a deployment.

    Requires distinct names. Guarantees that the module holds nothing else, but
    for a `parallel.link` from each copy to the next where `link` is given.

    ```mlir
    // autopar-clone-module{names=prefill,decode link=true}
    module @model {
      module @prefill {
        transformer.workload @w(phase = prefill, batch = 1, query = 2048, context = 2048)
      }
      module @decode {
        transformer.workload @w(phase = prefill, batch = 1, query = 2048, context = 2048)
      }
      parallel.link @prefill to @decode
    }
    ```
  }];
  let options = [
    ListOption<"names", "names", "std::string", "Names of the copies">,
    Option<"link", "link", "bool", "false",
           "Tie them as the modules of one deployment">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect"];
}

def RunOnModulePass : Pass<"autopar-run-on-module", "::mlir::ModuleOp"> {
  let summary = "runs a pipeline on one of the modules inside";
  let description = [{
    `builtin.module(builtin.module(...))` runs passes on all modules inside;
    this runs them on the one called `module`. Errors name it.

    Requires such a module. Guarantees what the pipeline does.

    ```mlir
    // autopar-run-on-module{module=decode pipeline=builtin.module(autopar-bind-workload{batch=8})}
    module @decode {
      transformer.workload @w(phase = decode, batch = 8, query = 1, context = 4096)
    }
    ```
  }];
  let options = [
    Option<"module", "module", "std::string", "\"\"", "Name of the module">,
    Option<"pipeline", "pipeline", "std::string", "\"builtin.module()\"",
           "As --pass-pipeline takes it">,
  ];
}

def DiffModulesPass : ReportPass<"autopar-diff-modules"> {
  let summary = "reports in what two plans of a model differ";
  let description = [{
    Compares the two modules inside: the collectives of a step, the layouts and
    formats of weights, caches and states, and the numbers of the two reports.
    The module is not changed.

    Requires two modules inside, of which each has what `autopar-estimate`
    requires.
  }];
  let options = reportOptions;
}

#endif // AUTOPAR_TRANSFORMS_TOOLS_PASSES_TD
