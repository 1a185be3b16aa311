//===- Workbook.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workbook.h"

#include "Estimator.h"
#include "autopar/Evaluate/StepFormulas.h"
#include "autopar/Spreadsheet/Spreadsheet.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::evaluation;
using namespace autopar::spreadsheet;
using namespace autopar::transforms;
using namespace mlir;

FailureOr<std::string>
autopar::transforms::writeModuleWorkbook(ModuleOp module,
                                         const CostProgramAnalysis &analysis,
                                         const TargetAnalysis &target) {
  FailureOr<ModuleEstimate> estimate =
      priceModule(module, analysis, target, ReportDetail());
  if (failed(estimate) || failed(target.verifyOverrides()))
    return failure();
  Result<std::unique_ptr<StepFormulas>> formulas =
      StepFormulas::price(analysis.getProgram(), estimate->plan,
                          estimate->machine, estimate->runtime, estimate->step);
  if (!formulas)
    return emitError(module, formulas.error().behind("no spreadsheet: "));
  Result<std::string> bytes =
      writeWorkbook((*formulas)->step, estimate->report);
  if (!bytes)
    return emitError(module, bytes.error());
  return std::move(*bytes);
}
