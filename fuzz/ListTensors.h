//===- ListTensors.h - Lists of a bounded length ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_FUZZ_LISTTENSORS_H
#define AUTOPAR_FUZZ_LISTTENSORS_H

#include "autopar/Import/Tensors.h"
#include "autopar/Support/Checked.h"

namespace autopar::fuzz {

/// Lists the tensors of a verified module whose lists are short for sure: many
/// layers take long, which is no finding.
inline void listFewTensors(mlir::ModuleOp module) {
  Checked copies = 0, repeats = 1;
  module.walk([&](transformer::WeightOp weight) {
    for (const transformer::StoredTensor &tensor :
         transformer::getStoredTensors(weight))
      copies += tensor.copies;
  });
  module.walk([&](transformer::RepeatOp repeat) {
    repeats *= Checked(repeat.getCount());
  });
  Checked tensors = copies * repeats;
  if (!tensors.valid() || tensors > 100'000)
    return;
  (void)importer::listTensors(module, llvm::nulls());
}

} // namespace autopar::fuzz

#endif // AUTOPAR_FUZZ_LISTTENSORS_H
