//===- ParallelDialect.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/BytecodeVersion.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

#include "autopar/Dialect/Parallel/ParallelDialect.cpp.inc"

namespace {

/// Gives tensor types with a sharding a short name (an alias) in printed IR.
struct ParallelAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Type type, raw_ostream &os) const override {
    RankedTensorType tensor = tensorOf(type);
    if (!tensor || !isa_and_nonnull<ShardingAttr>(tensor.getEncoding()))
      return AliasResult::NoAlias;
    os << aliasOf(tensor);
    return AliasResult::OverridableAlias;
  }
};

struct ParallelInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
};

} // namespace

LogicalResult ParallelDialect::verifyOperationAttribute(Operation *op,
                                                        NamedAttribute attr) {
  return op->emitError() << "'" << attr.getName().getValue()
                         << "' is no attribute of the parallel dialect";
}

void ParallelDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "autopar/Dialect/Parallel/ParallelOps.cpp.inc"
      >();
  addInterfaces<ParallelAsmInterface, ParallelInlinerInterface,
                VersionedBytecode>();
}
