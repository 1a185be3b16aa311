//===- DispatchTokens.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/TensorView.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_DISPATCHTOKENSPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

/// Number of values of a row that share a scale in fp8: tiles of 1x128,
/// DeepSeek-V3 (arXiv:2412.19437), section 3.3.2.
static constexpr int64_t scaleBlock = 128;

/// Returns the first op of type `OpTy` from which `value` is computed, through
/// operands that `follows` accepts; null if there is none.
template <typename OpTy>
static OpTy findSource(Value value, function_ref<bool(Value)> follows) {
  SmallVector<Value> open = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto found = dyn_cast<OpTy>(op))
      return found;
    llvm::copy_if(op->getOperands(), std::back_inserter(open), follows);
  }
  return {};
}

/// Returns the router of the tokens that `rows` copy; null if it is not found.
static transformer::RouterOp routerOf(Value rows) {
  auto dispatch = findSource<transformer::DispatchOp>(
      rows, [](Value operand) { return TensorView(operand).isSet(); });
  if (!dispatch)
    return {};
  return findSource<transformer::RouterOp>(
      dispatch.getRouting(), [](Value operand) {
        Operation *op = operand.getDefiningOp();
        return op && (isa<ParallelDialect>(op->getDialect()) ||
                      isa<transformer::RouterOp>(op));
      });
}

/// Returns a router of `module` if all of them route alike, else null. It
/// stands for the router of a backward's rows, whose routing the forward saved.
static transformer::RouterOp onlyRouter(ModuleOp module) {
  transformer::RouterOp only;
  WalkResult walked = module.walk([&](transformer::RouterOp router) {
    bool isAlike = !only || (router.getTopK() == only.getTopK() &&
                             router.getGroups() == only.getGroups() &&
                             router.getKeep() == only.getKeep());
    only = router;
    return isAlike ? WalkResult::advance() : WalkResult::interrupt();
  });
  return walked.wasInterrupted() ? transformer::RouterOp() : only;
}

namespace {

struct DispatchTokensPass
    : autopar::transforms::impl::DispatchTokensPassBase<DispatchTokensPass> {
  using Base::Base;

  void runOnModule() override {
    if (!format.empty()) {
      sent = parseElementType(format);
      if (!sent || !isa<FloatType>(fromElementType(&getContext(), *sent))) {
        getOperation().emitError()
            << "format: unknown format '" << format << "', expected "
            << StringRef(elementTypeChoices());
        return signalPassFailure();
      }
    }
    only = onlyRouter(getOperation());
    WalkResult walked = getOperation().walk([&](AllToAllOp op) {
      return !op.movesRoutedTokens() || succeeded(write(op))
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult write(AllToAllOp op) {
    if (sent && op.sendsToExperts())
      setFormat(op);
    if (!byNode)
      return success();
    transformer::RouterOp router = routerOf(op.getInput());
    if (!router)
      router = only;
    if (!router)
      return op.emitOpError("moves tokens of no router that could be found, "
                            "whose choices say to how many nodes they go");
    op.setTopK(router.getTopK());
    std::optional<uint64_t> groups = router.getGroups();
    if (groups && router.getKeep() != groups) {
      op.setGroups(groups);
      op.setKeep(router.getKeep());
    }
    return success();
  }

  /// Sets the format in which `op` sends; tokens that are sent unchanged need
  /// no attribute.
  void setFormat(AllToAllOp op) {
    Type type = fromElementType(&getContext(), *sent);
    op.removeFormatAttr();
    op.removeBlocksAttr();
    if (TensorView(op.getInput()).getType().getElementType() == type)
      return;
    op.setFormat(type);
    if (bitsOf(*sent) == 8)
      op.setBlocks(scaleBlock);
  }

  std::optional<ElementType> sent;
  transformer::RouterOp only;
};

} // namespace
