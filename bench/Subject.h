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
#include "autopar/InitAll.h"
#include "autopar/Report/PlanLayout.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"

#include <optional>

namespace autopar {

/// The program of a module that passes have split: the output of autopar-opt
/// with flags and without --estimate.
class Subject {
public:
  /// Nothing where the module is not good; diagnostics have said why.
  static std::unique_ptr<Subject>
  load(const std::string &file, const std::string &hardware, int64_t nodes) {
    auto subject = std::unique_ptr<Subject>(new Subject);
    subject->module =
        mlir::parseSourceFile<mlir::ModuleOp>(file, &subject->context);
    if (!subject->module)
      return nullptr;
    mlir::ModuleOp module = *subject->module;
    subject->analysis.emplace(module);
    EstimateSettings settings;
    settings.hardware = hardware;
    settings.nodes = nodes;
    subject->estimator.emplace(module, settings);
    if (!subject->analysis->isValid() || failed(subject->estimator->prepare()))
      return nullptr;
    auto inputs = subject->estimator->inputsOf(module, subject->program());
    if (failed(inputs))
      return nullptr;
    subject->inputs.emplace(std::move(*inputs));
    return subject;
  }

  const CostProgram &program() const { return analysis->getProgram(); }
  const Machine &machine() const { return inputs->machine; }
  const Workload &workload() const { return inputs->workload; }
  const Runtime &runtime() const { return inputs->runtime; }

  Strategy compile(Counting counting) const {
    return autopar::compile(program(), launchingOf(runtime()), counting);
  }
  Layout layout() const {
    return layoutOf(program().axes, inputs->plan);
  }

private:
  Subject() : context(makeRegistry()) {}
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<CostProgramAnalysis> analysis;
  std::optional<Estimator> estimator;
  std::optional<EstimateInputs> inputs;
};

} // namespace autopar

#endif // AUTOPAR_BENCH_SUBJECT_H
