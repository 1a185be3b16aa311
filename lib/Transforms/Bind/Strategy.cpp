//===- Strategy.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strategy.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

OpBuilder autopar::transforms::builderOfFacts(ModuleOp module) {
  Block *body = module.getBody();
  Block::iterator position = body->begin();
  while (position != body->end() &&
         isa<SymbolBindingOpInterface, DeviceMeshOpInterface, TargetOp,
             StrategyOp>(*position))
    ++position;
  return OpBuilder(body, position);
}

StrategyOp autopar::transforms::getStrategy(ModuleOp module) {
  for (StrategyOp op : module.getOps<StrategyOp>())
    return op;
  OpBuilder builder = builderOfFacts(module);
  return StrategyOp::create(builder, module.getLoc(), UnitAttr(), UnitAttr(),
                            ContextKindAttr(), IntegerAttr(), TypeAttr(),
                            TypeAttr(), DictionaryAttr());
}

void autopar::transforms::stateKnob(ModuleOp module, StringRef name,
                                    Attribute value) {
  StrategyOp strategy = getStrategy(module);
  NamedAttrList knobs(strategy.getKnobsAttr());
  knobs.set(name, value);
  strategy.setKnobsAttr(knobs.getDictionary(module.getContext()));
}
