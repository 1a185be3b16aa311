//===- EarlierOps.cpp - Files that knew no training dialect ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Up to version 7 the ops of this dialect were `transformer` ops. A reader of
// bytecode needs an op of the name that a file has, whose properties it can
// read. Such ops are registered when an older file says its version, and
// replaced as soon as the file is read: no module that passes see has one.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/BytecodeVersion.h"

using namespace autopar;
using namespace autopar::training;
using namespace mlir;

namespace autopar::training {

/// The first version that has this dialect.
static constexpr uint64_t firstOwnDialect = 8;

static constexpr llvm::StringLiteral earlierPartOf = "transformer.part_of";

/// What `transformer` called an op of this dialect.
static std::string earlierNameOf(StringRef name) {
  if (name == IterationOp::getOperationName())
    return "transformer.training";
  return ("transformer." + name.split('.').second).str();
}

/// `Op` by its earlier name: it has the properties of `Op`, and is not valid.
template <typename Op>
struct EarlierOp : Op {
  using Op::Op;

  static StringRef getOperationName() {
    static const std::string name = earlierNameOf(Op::getOperationName());
    return name;
  }
  static bool classof(Operation *op) {
    return op->getName().getStringRef() == getOperationName();
  }
  static OperationName::VerifyInvariantsFn getVerifyInvariantsFn() {
    return [](Operation *op) -> LogicalResult {
      return op->emitOpError() << "is '" << Op::getOperationName() << "' since "
                               << "version " << firstOwnDialect;
    };
  }
};

} // namespace autopar::training

namespace {

using Replacements = llvm::StringMap<OperationName>;

template <typename... Ops>
void registerAll(Dialect &dialect) {
  (RegisteredOperationName::insert<EarlierOp<Ops>>(dialect), ...);
}

template <typename... Ops>
Replacements namesOf(MLIRContext *context) {
  Replacements names;
  (names.try_emplace(EarlierOp<Ops>::getOperationName(),
                     OperationName(Ops::getOperationName(), context)),
   ...);
  return names;
}

/// Puts an op called `name` in the place of `op`, with all that it has.
void rename(Operation *op, OperationName name) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), name, op->getOperands(),
                       op->getResultTypes());
  Operation *renamed = builder.create(state);
  renamed->copyProperties(op->getPropertiesStorage());
  renamed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(renamed);
  op->erase();
}

struct EarlierTrainingOps : EarlierOps {
  using EarlierOps::EarlierOps;

  void registerOps(Dialect &dialect, uint64_t version) const override {
    MLIRContext *context = dialect.getContext();
    if (version >= firstOwnDialect ||
        OperationName("transformer.save", context).isRegistered())
      return;
    context->getOrLoadDialect<TrainingDialect>();
    registerAll<
#define GET_OP_LIST
#include "autopar/Dialect/Training/TrainingOps.cpp.inc"
        >(dialect);
  }

  void upgrade(Operation *top, uint64_t version) const override {
    if (version >= firstOwnDialect)
      return;
    Replacements names = namesOf<
#define GET_OP_LIST
#include "autopar/Dialect/Training/TrainingOps.cpp.inc"
        >(top->getContext());
    top->walk([&](Operation *op) {
      if (Attribute whole = op->removeDiscardableAttr(earlierPartOf))
        op->setDiscardableAttr(partOfAttribute, whole);
      auto found = names.find(op->getName().getStringRef());
      if (found != names.end())
        rename(op, found->second);
    });
    top->walk([](IterationOp op) { op.readTexts(); });
  }
};

} // namespace

void training::registerEarlierOps(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, transformer::TransformerDialect *dialect) {
        dialect->addInterfaces<EarlierTrainingOps>();
      });
}
