//===- Subject.h - A split module and what it is priced with ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_BENCH_SUBJECT_H
#define AUTOPAR_BENCH_SUBJECT_H

#include "Price/Estimator.h"

#include "autopar/Cost/Pricer.h"
#include "autopar/Evaluate/PlanLayout.h"
#include "autopar/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"

#include <optional>

namespace autopar {

/// The program of a module that passes have split, on the target that it names:
/// the output of autopar-opt with flags and without --estimate.
class Subject {
public:
  /// Nothing where the module is not good; diagnostics have said why.
  static std::unique_ptr<Subject> load(const std::string &file) {
    auto subject = std::unique_ptr<Subject>(new Subject);
    subject->module =
        mlir::parseSourceFile<mlir::ModuleOp>(file, &subject->context);
    if (!subject->module)
      return nullptr;
    mlir::ModuleOp module = *subject->module;
    subject->analysis.emplace(module);
    if (!subject->analysis->isValid())
      return nullptr;
    auto inputs = transforms::inputsOf(module, transforms::TargetAnalysis(module));
    if (failed(inputs))
      return nullptr;
    subject->inputs.emplace(std::move(*inputs));
    return subject;
  }

  const program::CostProgram &program() const { return analysis->getProgram(); }
  const hardware::Machine &machine() const { return inputs->machine; }
  const program::Workload &workload() const { return inputs->workload; }
  const runtime::Runtime &runtime() const { return inputs->runtime; }

  cost::Strategy compile(cost::Counting counting) const {
    return autopar::cost::compile(program(), cost::launchingOf(runtime()), counting);
  }
  cost::Layout layout() const { return report::layoutOf(program().axes, inputs->plan); }

private:
  Subject() : context(makeRegistry()) {}
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<analysis::CostProgramAnalysis> analysis;
  std::optional<transforms::EstimateInputs> inputs;
};

} // namespace autopar

#endif // AUTOPAR_BENCH_SUBJECT_H
