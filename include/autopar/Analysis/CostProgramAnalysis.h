//===- CostProgramAnalysis.h - Reads the cost program off the IR *- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_ANALYSIS_COSTPROGRAMANALYSIS_H
#define AUTOPAR_ANALYSIS_COSTPROGRAMANALYSIS_H

#include "autopar/Program/CostProgram.h"

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

namespace autopar::analysis {

/// The MLIR ops that the records of a cost program come from: one per record of
/// `CostProgram::collectives` and `CostProgram::residents`, in their order. The
/// op is null for a resident that is only stored in the checkpoint.
struct ProgramOps {
  llvm::SmallVector<mlir::Operation *, 0> collectives, residents;
};

/// The cost program of a module, extracted from its ops through
/// `WorkloadOpInterface`. Each function is read once, however often it is
/// called. An invalid analysis has emitted a diagnostic: no public function to
/// start from, recursion, an op without a cost, a reshard without collectives.
class CostProgramAnalysis {
public:
  /// `loads` gives the expert loads for a module that places experts but does
  /// not state their loads.
  explicit CostProgramAnalysis(
      mlir::Operation *module,
      std::shared_ptr<placement::ExpertPlacer> loads = nullptr);

  bool isValid() const { return valid; }
  const program::CostProgram &getProgram() const { return program; }
  program::CostProgram takeProgram() { return std::move(program); }
  const ProgramOps &getOps() const { return ops; }

private:
  program::CostProgram program;
  ProgramOps ops;
  bool valid;
};

} // namespace autopar::analysis

#endif // AUTOPAR_ANALYSIS_COSTPROGRAMANALYSIS_H
