//===- ModulePlan.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModulePlan.h"

#include "FactorSplits.h"
#include "MeshReader.h"
#include "autopar/Interfaces/TensorView.h"
#include "autopar/Plan/Degrees.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

using Names = std::vector<std::string>;

/// Whether `ids` has an axis of `names`.
static bool splitsOver(const CostProgram &program,
                       const std::vector<AxisId> &ids, const Names &names) {
  return llvm::any_of(ids, [&](AxisId axis) {
    return llvm::is_contained(names, program.axes[axis]);
  });
}

/// Whether layers take tokens that are split over `tp`: sequence parallelism.
static bool splitsTokensBetweenLayers(ModuleOp module, const Names &tp) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isPublic())
      continue;
    for (Type type : function.getArgumentTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      for (unsigned i = 0; tensor && i < TensorView(tensor).rank(); ++i) {
        DimRef dim = TensorView(tensor).dim(i);
        if (dim.extent == "query" &&
            llvm::any_of(dim.axes, [&](StringAttr axis) {
              return llvm::is_contained(tp, axis.getValue());
            }))
          return true;
      }
    }
  }
  return false;
}

/// Whether weights are gathered before they are used: FSDP. Caches have
/// dimensions that are symbols.
static bool gathersParameters(ModuleOp module) {
  WalkResult found = module.walk([](AllGatherOp gather) {
    TensorView view(gather.getInput());
    bool symbolic = false;
    for (unsigned i = 0; i < view.rank(); ++i)
      symbolic |= view.isSymbolic(i);
    return isSource(gather.getInput()) && !symbolic ? WalkResult::interrupt()
                                                    : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// How context parallelism over `cp` works; nothing where no cache shows it.
static std::optional<ContextKind> contextKindOf(const CostProgram &program,
                                                const Names &cp) {
  for (const Collective &collective : program.collectives)
    if (collective.kind == CollectiveKind::ring)
      return ContextKind::ring;
  for (const Resident &cache : program.residents)
    if (cache.kind == Resident::Kind::kv_cache)
      for (const Dim &dim : cache.shape)
        if (splitsOver(program, dim.axes, cp))
          return ContextKind::all_to_all;
  return std::nullopt;
}

/// The one format of `all`; nothing where there are several.
static std::optional<ElementType> onlyOf(ArrayRef<ElementType> all) {
  if (all.empty() || !llvm::all_equal(all))
    return std::nullopt;
  return all.front();
}

/// Formats that all values have: those that a flag would give them. Recurrences
/// keep theirs.
static void addFormats(const CostProgram &program, Plan &plan) {
  SmallVector<ElementType> computed, cached;
  for (const Kernel &kernel : program.kernels)
    if (kernel.kind != KernelKind::scan && kernel.kind != KernelKind::gather)
      computed.push_back(kernel.compute);
  for (const Resident &resident : program.residents)
    if (resident.kind == Resident::Kind::kv_cache)
      cached.push_back(resident.type);
  plan.dtype = onlyOf(computed);
  plan.kvDtype = onlyOf(cached);
}

Result<Plan> autopar::planOf(ModuleOp module, const CostProgram &program) {
  Plan plan;
  for (MeshOp mesh : module.getOps<MeshOp>())
    plan = readMesh(mesh);
  if (std::optional<Error> error = completeDegrees(plan))
    return *error;
  addFormats(program, plan);
  plan.sequenceParallel = splitsTokensBetweenLayers(module, plan.axesOf("tp"));
  plan.fsdp = gathersParameters(module);
  if (plan.has("cp"))
    plan.contextKind = contextKindOf(program, plan.axesOf("cp"));
  return plan;
}
