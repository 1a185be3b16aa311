//===- BindMesh.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "MeshReader.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_BINDMESHPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

namespace {

struct BindMeshPass
    : autopar::transforms::impl::BindMeshPassBase<BindMeshPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    Result<MeshPlan> parsed = parseMesh(axes);
    if (!parsed) {
      module.emitError() << parsed.error().str();
      return signalPassFailure();
    }
    auto meshes = module.getOps<MeshOp>();
    MeshOp mesh = meshes.empty() ? MeshOp() : *meshes.begin();
    Plan plan = mesh ? readMesh(mesh) : Plan();
    leaveOutNeutral(plan, *parsed);
    if (!mesh && parsed->axes.empty())
      return;
    if (!mesh)
      mesh = createMesh(module);
    setAxes(*parsed, plan);
    for (PlanDegree &degree : parsed->degrees)
      plan.setDegree(degree.name, std::move(degree.axes));
    setMesh(plan, mesh);
  }

  /// Leaves out axes that change nothing, unless something is split over them.
  void leaveOutNeutral(const Plan &plan, MeshPlan &parsed) {
    auto isLeftOut = [&](const std::string &name) {
      return llvm::is_contained(neutral, name) && !plan.axis(name);
    };
    llvm::erase_if(parsed.axes,
                   [&](const PlanAxis &axis) { return isLeftOut(axis.name); });
    for (PlanDegree &degree : parsed.degrees)
      llvm::erase_if(degree.axes, isLeftOut);
    llvm::erase_if(parsed.degrees, [](const PlanDegree &degree) {
      return degree.axes.empty();
    });
  }

  /// Sets the sizes of axes; if the text names all axes of the mesh, it also
  /// sets their order.
  static void setAxes(const MeshPlan &parsed, Plan &plan) {
    bool all = llvm::all_of(plan.axes, [&](const PlanAxis &axis) {
      return llvm::any_of(parsed.axes, [&](const PlanAxis &other) {
        return axis.name == other.name;
      });
    });
    if (all)
      plan.axes.clear();
    for (const PlanAxis &axis : parsed.axes)
      plan.setAxis(axis.name, axis.size);
  }

  /// Writes the plan's axes and degrees into the mesh op. Degrees may name
  /// missing axes, which the op's verifier reports.
  static void setMesh(const Plan &plan, MeshOp mesh) {
    Builder builder(mesh.getContext());
    SmallVector<StringRef> names;
    SmallVector<int64_t> sizes;
    for (const PlanAxis &axis : plan.axes) {
      names.push_back(axis.name);
      sizes.push_back(axis.size.value_or(0));
    }
    NamedAttrList degrees;
    for (const PlanDegree &degree : plan.degrees)
      degrees.set(degree.name, builder.getStrArrayAttr(
                                   llvm::to_vector_of<StringRef>(degree.axes)));
    mesh.setAxesAttr(builder.getStrArrayAttr(names));
    mesh.setSizes(sizes);
    mesh.setDegreesAttr(degrees.getDictionary(mesh.getContext()));
  }

  static MeshOp createMesh(ModuleOp module) {
    OpBuilder builder(module.getContext());
    Block *body = module.getBody();
    Block::iterator position = body->begin();
    while (position != body->end() && isa<SymbolBindingOpInterface>(*position))
      ++position;
    builder.setInsertionPoint(body, position);
    return MeshOp::create(
        builder, module.getLoc(), StringAttr(), builder.getArrayAttr({}),
        builder.getDenseI64ArrayAttr({}), builder.getDictionaryAttr({}));
  }
};

} // namespace
