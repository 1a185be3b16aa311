//===- Tensors.h - The checkpoint tensors of a module -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_TENSORS_H
#define AUTOPAR_IMPORT_TENSORS_H

#include "autopar/Dialect/Transformer/Transformer.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace autopar::importer {

/// Calls `visit` with the full name and the storage of every checkpoint tensor
/// of `module`, in model order: layers by number, tensors in the order of the
/// layer, the tensors of a quantised weight in the order of its format; last
/// come tensors of functions that no step runs. Fails with a diagnostic if the
/// module has no public function, or more tensors than
/// `limits::maxListedTensors`.
mlir::LogicalResult
forEachTensor(mlir::ModuleOp module,
              llvm::function_ref<void(llvm::StringRef name,
                                      const transformer::StoredTensor &tensor)>
                  visit);

/// Writes one line per checkpoint tensor to `os`: name, shape, dtype and bytes,
/// separated by tabs.
mlir::LogicalResult listTensors(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_TENSORS_H
