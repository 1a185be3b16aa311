//===- EarlierOps.cpp - What older files call ops of training -------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Up to version 7 the ops of this dialect were `transformer` ops. A reader of
// bytecode needs an op of the name that a file has, whose properties it can
// read. Such ops are registered when an older file says its version, and
// replaced as soon as the file is read: no module that passes see has one. Up
// to version 9 gradients of products were three ops, which had no attributes:
// such ops are read as they are, of no registered name.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/BytecodeVersion.h"

using namespace autopar;
using namespace autopar::training;
using namespace mlir;

namespace autopar::training {

/// The first bytecode versions in which this dialect exists, and in which
/// gradients of matmuls and microbatches without a pipeline have their present
/// ops.
static constexpr uint64_t firstOwnDialect = 8, firstRevised = 12;

static constexpr llvm::StringLiteral earlierPartOf = "transformer.part_of";

/// Returns the name that an op of this dialect had when it belonged to
/// `transformer`.
static std::string earlierNameOf(StringRef name) {
  if (name == IterationOp::getOperationName())
    return "transformer.training";
  return ("transformer." + name.split('.').second).str();
}

/// The op `Op` under its earlier name: it has the properties of `Op`, but is
/// not a valid op.
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

/// Replaces `op` by an op called `name` with the same operands, results and
/// attributes.
Operation *rename(Operation *op, OperationName name) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), name, op->getOperands(),
                       op->getResultTypes());
  Operation *renamed = builder.create(state);
  if (op->isRegistered())
    renamed->copyProperties(op->getPropertiesStorage());
  renamed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(renamed);
  op->erase();
  return renamed;
}

std::optional<ProductRole> earlierRoleOf(StringRef name) {
  return llvm::StringSwitch<std::optional<ProductRole>>(name)
      .Case("transformer.linear_backward", ProductRole::input)
      .Case("transformer.logits_backward", ProductRole::states)
      .Case("training.linear_backward", ProductRole::input)
      .Case("training.logits_backward", ProductRole::states)
      .Default(std::nullopt);
}

/// Replaces the earlier ops for gradients of matmuls by `ProductGradientOp`.
/// One that states no role is the gradient of a weight.
void mergeProducts(Operation *top) {
  OperationName name(ProductGradientOp::getOperationName(), top->getContext());
  top->walk([&](Operation *op) {
    auto role = earlierRoleOf(op->getName().getStringRef());
    auto product = dyn_cast<ProductGradientOp>(role ? rename(op, name) : op);
    if (product && !product.getRoleAttr())
      product.setRole(role.value_or(ProductRole::weight));
  });
}

/// Replaces `parallel.stages` over no axis, which stood for a single stage, by
/// the present op for microbatches.
void replaceStages(Operation *top) {
  top->getContext()->getOrLoadDialect<TrainingDialect>();
  top->walk([](parallel::StagesOp stages) {
    if (!stages.getAxes().empty() || stages.getEnds().size() != 1)
      return;
    OpBuilder builder(stages);
    auto made = MicrobatchesOp::create(
        builder, stages.getLoc(), stages.getMicrobatches(),
        stages.getSchedule(), stages.getAssumed());
    made->setDiscardableAttrs(stages->getDiscardableAttrDictionary());
    stages.erase();
  });
}

struct EarlierTrainingOps : EarlierOps {
  using EarlierOps::EarlierOps;

  void registerOps(Dialect &dialect, uint64_t version) const override {
    MLIRContext *context = dialect.getContext();
    if (version >= firstOwnDialect ||
        !isa<transformer::TransformerDialect>(dialect) ||
        OperationName("transformer.save", context).isRegistered())
      return;
    context->getOrLoadDialect<TrainingDialect>();
    registerAll<
#define GET_OP_LIST
#include "autopar/Dialect/Training/TrainingOps.cpp.inc"
        >(dialect);
  }

  void upgrade(Operation *top, uint64_t version) const override {
    if (version < firstOwnDialect)
      renameAll(top);
    if (version >= firstRevised)
      return;
    mergeProducts(top);
    replaceStages(top);
  }

private:
  static void renameAll(Operation *top) {
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

template <typename Dialect>
static void addEarlierOps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, Dialect *dialect) {
    dialect->template addInterfaces<EarlierTrainingOps>();
  });
}

void training::registerEarlierOps(DialectRegistry &registry) {
  addEarlierOps<transformer::TransformerDialect>(registry);
  addEarlierOps<parallel::ParallelDialect>(registry);
  addEarlierOps<TrainingDialect>(registry);
}
