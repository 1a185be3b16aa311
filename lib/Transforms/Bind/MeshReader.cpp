//===- MeshReader.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeshReader.h"

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::transforms;
using namespace mlir;

Plan autopar::transforms::readMesh(parallel::MeshOp mesh) {
  Plan plan;
  for (auto [axis, size] : llvm::zip(mesh.getAxes(), mesh.getSizes()))
    plan.setAxis(cast<StringAttr>(axis).str(),
                 size ? std::optional<int64_t>(size) : std::nullopt);
  for (NamedAttribute degree : mesh.getDegrees()) {
    std::vector<std::string> axes;
    for (Attribute axis : cast<ArrayAttr>(degree.getValue()))
      axes.push_back(cast<StringAttr>(axis).str());
    plan.setDegree(degree.getName().str(), std::move(axes));
  }
  return plan;
}
