//===- Interfaces.h - Op interfaces of autopar ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_INTERFACES_H
#define AUTOPAR_INTERFACES_INTERFACES_H

#include "autopar/Interfaces/Sharding.h"
#include "autopar/Program/CostProgram.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace autopar {
class WorkloadBuilder;
} // namespace autopar

#include "autopar/Interfaces/Interfaces.h.inc"

namespace autopar {

/// Return the mesh op and the workload op of the module around `op`; null if it
/// has none.
DeviceMeshOpInterface findMesh(mlir::Operation *op);
SymbolBindingOpInterface findWorkload(mlir::Operation *op);
/// For each axis that splits tokens at the beginning of functions, the extents
/// that it splits: `query`, or `encoder_tokens*4` of an encoder.
using TokenAxes =
    llvm::MapVector<mlir::StringAttr, llvm::SmallVector<NamedExtent, 1>>;
TokenAxes findTokenAxes(mlir::ModuleOp module);
/// Returns the name of a product of axes: "tp", "dp = ep", "cp*tp".
std::string productText(DeviceMeshOpInterface mesh,
                        llvm::ArrayRef<mlir::StringAttr> axes);

/// Returns the functions that ops of `module` declare as stored only, in their
/// order: parts of the checkpoint that a step does not run, such as multi-token
/// prediction.
llvm::SmallVector<mlir::FunctionOpInterface>
findStoredFunctions(mlir::ModuleOp module);

/// Attribute of a function of a backward or an update: the name of the forward
/// function with the layers, weights, gradients and saved values that it uses.
inline constexpr llvm::StringLiteral partOfAttribute = "training.part_of";
/// Returns the function to which `function` belongs by `partOfAttribute`;
/// `function` itself if it has no such attribute.
mlir::FunctionOpInterface findWhole(mlir::FunctionOpInterface function);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_INTERFACES_H
