//===- SectionKinds.h - Backwards and updates of stages ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_SECTIONKINDS_H
#define AUTOPAR_LIB_ANALYSIS_SECTIONKINDS_H

#include "autopar/Interfaces/Interfaces.h"

#include "llvm/ADT/DenseMap.h"

namespace autopar::analysis {

/// Adds backwards and updates to the layers of a program's stack: the stage
/// that has a layer also runs the layer's backward and update.
class SectionKinds {
public:
  /// `kinds` has the layer kind of each function; more are added to it later.
  SectionKinds(program::CostProgram &program,
               const llvm::DenseMap<mlir::Operation *, uint32_t> &kinds,
               mlir::FunctionOpInterface entry)
      : program(program), kinds(kinds), entry(entry) {}

  /// Adds the layer kinds that a section's own function runs before and after
  /// its layers. A backward begins where the forward ends.
  void addEnds(program::Section section, uint32_t before, uint32_t after);
  /// Completes the stack; call it once all sections are extracted.
  void finish();

private:
  void addParts(std::vector<program::KindCount> &layer) const;

  program::CostProgram &program;
  const llvm::DenseMap<mlir::Operation *, uint32_t> &kinds;
  mlir::FunctionOpInterface entry;
  std::vector<program::KindCount> before, after;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_SECTIONKINDS_H
