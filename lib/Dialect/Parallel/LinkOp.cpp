//===- LinkOp.cpp - Modules of one deployment -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"

#include "autopar/Interfaces/WorkloadBuilder.h"

#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::parallel;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The op LinkOp
//===----------------------------------------------------------------------===//

namespace {
/// A KV cache or state, with a text that describes it except for its layout.
/// Equal texts on both sides of a link mean the same tensor.
struct Cache {
  Operation *op;
  std::string text;
};
} // namespace

static std::string textOf(FunctionOpInterface function, Operation *op,
                          const Resident &resident) {
  TensorView view(op->getResult(0));
  std::string text = function.getName().str() + "/" + resident.name + " [";
  for (unsigned i = 0; i < view.rank(); ++i)
    text += (i ? ", " : "") + view.extentText(i);
  text += "] ";
  text += nameOf(resident.type);
  llvm::raw_string_ostream os(text);
  for (NamedAttribute attr : op->getAttrDictionary())
    os << ", " << attr.getName().getValue() << " = " << attr.getValue();
  return text;
}

/// Returns the KV caches and states of `module`, in its order.
static SmallVector<Cache> findCaches(ModuleOp module) {
  SmallVector<Cache> caches;
  for (auto function : module.getOps<FunctionOpInterface>())
    function.walk([&](WorkloadOpInterface op) {
      if (op->getNumOperands() != 0 || op->getNumResults() != 1)
        return;
      CostProgram program;
      WorkloadBuilder builder(program);
      op.buildWorkload(builder);
      for (const Resident &resident : program.residents)
        if (resident.kind != Resident::Kind::weight)
          caches.push_back({op, textOf(function, op, resident)});
    });
  return caches;
}

static LogicalResult verifyCaches(LinkOp link, ModuleOp from, ModuleOp to) {
  SmallVector<Cache> sent = findCaches(from), kept = findCaches(to);
  auto refuse = [&](const Cache *a, const Cache *b) {
    InFlightDiagnostic diag = link.emitOpError()
                              << "hands " << (a ? a->text : "nothing more")
                              << " to " << link.getToAttr() << ", which keeps "
                              << (b ? b->text : "no such cache");
    if (a)
      diag.attachNote(a->op->getLoc()) << "in " << link.getFromAttr();
    if (b)
      diag.attachNote(b->op->getLoc()) << "in " << link.getToAttr();
    return diag;
  };
  for (size_t i = 0; i < std::max(sent.size(), kept.size()); ++i) {
    const Cache *a = i < sent.size() ? &sent[i] : nullptr;
    const Cache *b = i < kept.size() ? &kept[i] : nullptr;
    if (!a || !b || a->text != b->text)
      return refuse(a, b);
  }
  return success();
}

LogicalResult LinkOp::verifySymbolUses(SymbolTableCollection &symbols) {
  ModuleOp modules[2];
  FlatSymbolRefAttr names[] = {getFromAttr(), getToAttr()};
  for (int i = 0; i < 2; ++i) {
    modules[i] = symbols.lookupNearestSymbolFrom<ModuleOp>(*this, names[i]);
    if (!modules[i])
      return emitOpError() << "names " << names[i]
                           << ", which is no module beside it";
    if (!findWorkload(modules[i])) {
      InFlightDiagnostic diag = emitOpError() << "names " << names[i]
                                              << ", which has no workload";
      diag.attachNote(modules[i].getLoc()) << "this module";
      return diag;
    }
  }
  if (names[0] == names[1])
    return emitOpError() << "ties " << names[0] << " to itself";
  return verifyCaches(*this, modules[0], modules[1]);
}
