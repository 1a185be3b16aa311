//===- Seeds.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seeds.h"

#include "../Bind/MeshReader.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

FailureOr<SmallVector<StringAttr>>
autopar::transforms::findAxes(ModuleOp module, ArrayRef<std::string> names,
                              StringRef flag) {
  DeviceMeshOpInterface mesh = findMesh(module);
  SmallVector<StringAttr> axes;
  for (const std::string &name : names) {
    axes.push_back(StringAttr::get(module.getContext(), name));
    if (mesh && mesh.getAxisSize(name))
      continue;
    InFlightDiagnostic diag = module.emitError()
                              << "the module has no mesh axis '" << name
                              << "' to split over";
    diag.attachNote() << "declare it: parallel.mesh(" << name
                      << " = ?), or give " << flag << "=N";
    return diag;
  }
  return axes;
}

ArrayRef<std::string>
autopar::transforms::orElse(ArrayRef<std::string> names,
                            ArrayRef<std::string> others) {
  return names.empty() ? others : names;
}

ArrayRef<std::string>
autopar::transforms::orNone(ArrayRef<std::string> names,
                            ArrayRef<std::string> others) {
  ArrayRef<std::string> listed = orElse(names, others);
  bool none = listed.size() == 1 && listed.front() == "none";
  return none ? ArrayRef<std::string>() : listed;
}

void Seeds::splitSource(Value value, unsigned dim, SplitRule rule,
                        int64_t multiple) {
  setType(value, split(value.getType(), dim, rule, multiple));
}

void Seeds::splitSourceInside(Value value, unsigned dim, SplitRule rule) {
  setType(value, split(value.getType(), dim, rule, /*multiple=*/1,
                       /*inOrder=*/false));
}

void Seeds::splitSources(StringRef symbol,
                         llvm::function_ref<bool(Value)> isKept) {
  module.walk([&](HeldOpInterface op) {
    for (OpResult result : op->getResults())
      if (!isKept || !isKept(result))
        setType(result, split(result.getType(), symbol));
  });
}

void Seeds::splitBoundaries(StringRef symbol, bool inside) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (inside && !findWhole(function).isPrivate())
      continue;
    SmallVector<Type> arguments, results;
    for (Type type : function.getArgumentTypes())
      arguments.push_back(split(type, symbol));
    for (Type type : function.getResultTypes())
      results.push_back(split(type, symbol));
    function.setType(function.cloneTypeWith(arguments, results));
    if (!function.isDeclaration())
      for (auto [argument, type] :
           llvm::zip_equal(function.getArguments(), arguments))
        setType(argument, type);
  }
  module.walk([&](LoopLikeOpInterface loop) {
    for (BlockArgument argument : loop.getRegionIterArgs())
      setType(argument, split(argument.getType(), symbol));
  });
}

/// A dimension may have several tokens per `symbol`: patches that an encoder
/// merges later.
Type Seeds::split(Type type, StringRef symbol) {
  if (!tensorOf(type))
    return type;
  for (unsigned dim = 0; dim < TensorView(type).rank(); ++dim)
    if (TensorView(type).dim(dim).extent.counts(symbol))
      type = split(type, dim, SplitRule::any, 1);
  return type;
}

/// Returns the order of axes in splits, outermost first: axes of a user's own
/// in the order of the mesh; then data, context and tensor parallelism, each in
/// its listed order.
std::vector<std::string> Seeds::orderOfAxes(ModuleOp module) {
  std::vector<std::string> known, order;
  auto meshes = module.getOps<parallel::MeshOp>();
  if (meshes.empty())
    return order;
  Plan plan = readMesh(*meshes.begin());
  for (Degree degree : {Degree::dp, Degree::cp, Degree::tp})
    llvm::append_range(known, plan.axesOf(degree));
  for (const PlanAxis &axis : plan.axes)
    if (!llvm::is_contained(known, axis.name))
      order.push_back(axis.name);
  llvm::append_range(order, known);
  return order;
}

/// Splits dimension `dim` of `type` over those axes of the mesh that the type
/// does not use yet.
Type Seeds::split(Type type, unsigned dim, SplitRule rule, int64_t multiple,
                  bool inOrder) {
  Layout layout = Layout::of(tensorOf(type));
  SmallVector<StringAttr> all(layout.dims[dim].getAxes());
  for (StringAttr axis : axes)
    if (!layout.uses(axis))
      all.push_back(axis);
  if (all.size() == layout.dims[dim].getAxes().size())
    return type;
  if (inOrder)
    llvm::sort(all, [&](StringAttr a, StringAttr b) {
      return llvm::find(order, a.getValue()) < llvm::find(order, b.getValue());
    });
  layout.dims[dim] = layout.dims[dim].withAxes(all).withRule(rule, multiple);
  return withLayout(type, layout);
}

void Seeds::setType(Value value, Type type) {
  anyChanged |= value.getType() != type;
  value.setType(type);
}
