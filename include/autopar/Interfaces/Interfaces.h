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

/// The mesh and the workload op of the module around `op`, null where there is
/// none.
DeviceMeshOpInterface findMesh(mlir::Operation *op);
SymbolBindingOpInterface findWorkload(mlir::Operation *op);
/// Axes that split tokens where functions begin, and which tokens: `query`, or
/// `encoder_tokens*4` of an encoder.
using TokenAxes =
    llvm::MapVector<mlir::StringAttr, llvm::SmallVector<NamedExtent, 1>>;
TokenAxes findTokenAxes(mlir::ModuleOp module);
/// The name of a product of axes: "tp", "dp = ep", "cp*tp".
std::string productText(DeviceMeshOpInterface mesh,
                        llvm::ArrayRef<mlir::StringAttr> axes);

/// The functions that ops of `module` say are stored, in their order: parts of
/// the checkpoint that a step does not run, such as multi-token prediction.
llvm::SmallVector<mlir::FunctionOpInterface>
findStoredFunctions(mlir::ModuleOp module);

/// On a function of a backward or an update: the function whose layers,
/// weights, gradients and saved values are its own, too.
inline constexpr llvm::StringLiteral partOfAttribute = "training.part_of";
/// The function that `function` is a part of; itself where it is of none.
mlir::FunctionOpInterface findWhole(mlir::FunctionOpInterface function);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_INTERFACES_H
