//===- AdviceRemarks.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdviceRemarks.h"

#include "autopar/Interfaces/Interfaces.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::report;
using namespace autopar::transforms;
using namespace mlir;

static Operation *subjectOf(ModuleOp module, const ProgramOps &ops,
                            const Warning &warning) {
  Operation *op = nullptr;
  switch (warning.subject) {
  case Warning::Subject::step:
    break;
  case Warning::Subject::mesh:
    if (DeviceMeshOpInterface mesh = findMesh(module))
      op = mesh;
    break;
  case Warning::Subject::resident:
    op = ops.residents[warning.record];
    break;
  case Warning::Subject::collective:
    op = ops.collectives[warning.record];
    break;
  }
  return op ? op : module;
}

void autopar::transforms::emitAdvice(ModuleOp module, const ProgramOps &ops,
                                     const std::vector<Warning> &warnings) {
  for (const Warning &warning : warnings) {
    if (warning.kind.empty())
      continue;
    Operation *op = subjectOf(module, ops, warning);
    auto function = op->getParentOfType<FunctionOpInterface>();
    auto options = remark::RemarkOpts::name(warning.kind)
                       .category("autopar-advice")
                       .function(function ? function.getName() : "");
    remark::analysis(op->getLoc(), options) << StringRef(warning.text);
  }
}
