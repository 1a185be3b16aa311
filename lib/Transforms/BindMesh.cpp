//===- BindMesh.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "autopar/Plan/Plan.h"

namespace autopar {
#define GEN_PASS_DEF_BINDMESHPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

namespace {

struct BindMeshPass : autopar::impl::BindMeshPassBase<BindMeshPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    Result<std::vector<PlanAxis>> parsed = parseMesh(axes);
    if (!parsed) {
      module.emitError() << parsed.error().str();
      return signalPassFailure();
    }
    auto meshes = module.getOps<MeshOp>();
    MeshOp mesh = meshes.empty() ? createMesh(module) : *meshes.begin();
    SmallVector<Attribute> names(mesh.getAxisNames());
    SmallVector<int64_t> sizes(mesh.getSizes());
    for (const PlanAxis &axis : *parsed) {
      auto name = StringAttr::get(&getContext(), axis.name);
      auto it = llvm::find(names, name);
      if (it == names.end()) {
        it = names.insert(it, name);
        sizes.push_back(0);
      }
      sizes[it - names.begin()] = axis.size.value_or(0);
    }
    mesh.setAxesAttr(ArrayAttr::get(&getContext(), names));
    mesh.setSizes(sizes);
    addDegrees(mesh);
  }

  /// Products may name axes that do not exist: the op's verifier says so.
  void addDegrees(MeshOp mesh) {
    NamedAttrList all(mesh.getDegrees());
    for (StringRef text : degrees) {
      auto [name, product] = text.split('=');
      SmallVector<StringRef> factors;
      product.split(factors, '*');
      all.set(name, Builder(&getContext()).getStrArrayAttr(factors));
    }
    mesh.setDegreesAttr(all.getDictionary(&getContext()));
  }

  static MeshOp createMesh(ModuleOp module) {
    OpBuilder builder(module.getContext());
    Block *body = module.getBody();
    Block::iterator position = body->begin();
    while (position != body->end() && isa<SymbolBindingOpInterface>(*position))
      ++position;
    builder.setInsertionPoint(body, position);
    return MeshOp::create(
        builder, module.getLoc(), "mesh", builder.getArrayAttr({}),
        builder.getDenseI64ArrayAttr({}), builder.getDictionaryAttr({}));
  }
};

} // namespace
