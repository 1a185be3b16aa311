//===- ConvertFormats.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "CacheFormat.h"
#include "CacheRows.h"
#include "Strategy.h"

#include "autopar/Transforms/Bind/Target.h"

#include "autopar/Interfaces/BlockType.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_CONVERTFORMATSPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::transformer;
using namespace mlir;

/// Returns `type` with elements of another format if they are rounded numbers;
/// other types are returned unchanged.
static Type withFormat(Type type, Type format) {
  RankedTensorType tensor = tensorOf(type);
  if (!tensor || !format || !isRounded(tensor.getElementType()))
    return type;
  // Rows of caches that are of this format already.
  std::optional<ElementType> own = toElementType(tensor.getElementType());
  if (own && plainFormat(*own) != *own &&
      plainFormat(*own) == toElementType(format))
    return type;
  return withTensor(type, tensor.clone(format));
}

/// Records the format of `weight` in the checkpoint, before the format of its
/// value is changed.
static void pinStorage(WeightOp weight, Type format) {
  Type type = TensorView(weight.getResult()).getType().getElementType();
  if (weight.getStoredFormat() || type == format)
    return;
  weight.setStorageAttr(StorageAttr::get(
      weight.getContext(), getStorageGroups(weight), TypeAttr::get(type)));
}

/// Whether any matmul multiplies quantised values.
static bool hasQuantizedWeights(ModuleOp module) {
  auto isQuantized = [](WeightOp weight) {
    auto format = dyn_cast_or_null<FormatAttr>(weight.getStoredFormat());
    return format && format.getCompute() ? WalkResult::interrupt()
                                         : WalkResult::advance();
  };
  return module.walk(isQuantized).wasInterrupted();
}

namespace {

struct ConvertFormatsPass
    : autopar::transforms::impl::ConvertFormatsPassBase<ConvertFormatsPass> {
  using Base::Base;

  void runOnModule() override {
    if (kvCache == "auto" && failed(askRuntime()))
      return signalPassFailure();
    FailureOr<Type> computeType = parse(compute, "compute");
    FailureOr<Type> cacheType = parse(kvCache, "kv-cache");
    if (failed(computeType) || failed(cacheType))
      return signalPassFailure();
    if (*computeType || *cacheType)
      convert(*computeType, *cacheType);
    if (!rows)
      return;
    const auto &target = getAnalysis<TargetAnalysis>();
    if (!target.isValid())
      return signalPassFailure();
    keepRowsOf(getOperation(), target.getRuntime());
  }

  void convert(Type computeType, Type cacheType) {
    getOperation().walk([&](Operation *op) {
      auto weight = dyn_cast<WeightOp>(op);
      if (weight && computeType)
        pinStorage(weight, computeType);
      auto cache = dyn_cast<KVCacheOp>(op);
      Type format = cache ? cacheType : computeType;
      // A recurrent state keeps its format, because the recurrence needs its
      // precision.
      if (isa<StateOp>(op) || (cache && keepsFormat(cache)))
        return;
      for (Value result : op->getResults())
        result.setType(withFormat(result.getType(), format));
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          argument.setType(withFormat(argument.getType(), computeType));
      if (auto function = dyn_cast<FunctionOpInterface>(op))
        convertSignature(function, computeType);
    });
    note(computeType, cacheType);
    if (cacheType)
      recordCacheFormat(getOperation(), *toElementType(cacheType), byRule);
  }

  /// Replaces the option `auto` by the KV-cache format that the runtime chooses
  /// for such a model; does nothing if the runtime's rule follows the
  /// checkpoint.
  LogicalResult askRuntime() {
    const auto &target = getAnalysis<TargetAnalysis>();
    kvCache = "";
    for (auto strategy : getOperation().getOps<parallel::StrategyOp>())
      if (strategy.getKvDtype())
        return success();
    if (!target.isValid())
      return failure();
    const Runtime &runtime = target.getRuntime();
    if (runtime.kvCacheRule == KVCacheRule::model)
      return success();
    FailureOr<Machine> machine = target.readMachine();
    if (failed(machine))
      return failure();
    if (runtime.keepsCacheInFp8(hasQuantizedWeights(getOperation()),
                                machine->pools.front().chip))
      chooseByRule(runtime);
    return success();
  }

  void chooseByRule(const Runtime &runtime) {
    kvCache = std::string(nameOf(ElementType::fp8_e4m3));
    byRule = "rule of the runtime: " + cacheRuleText(runtime) +
             "; set with --kv-format";
  }

  void note(Type computeType, Type cacheType) {
    if (!computeType && !cacheType)
      return;
    parallel::StrategyOp strategy = getStrategy(getOperation());
    if (computeType)
      strategy.setDtypeAttr(TypeAttr::get(computeType));
    if (cacheType)
      strategy.setKvDtypeAttr(TypeAttr::get(cacheType));
  }

  /// Parses the name of a format; returns null if the name is "".
  FailureOr<Type> parse(const std::string &name, StringRef option) {
    if (name.empty())
      return Type();
    bool isCache = option == "kv-cache";
    std::optional<ElementType> format =
        isCache ? parseCacheFormat(name) : parseElementType(name);
    if (!format)
      return getOperation().emitError()
             << option << ": unknown format '" << name << "', expected one of "
             << StringRef(isCache ? cacheFormatChoices()
                                  : elementTypeChoices());
    return fromElementType(&getContext(), *format);
  }

  /// The runtime's rule that chose the KV-cache format, as text; "" if the user
  /// chose it.
  std::string byRule;

  static void convertSignature(FunctionOpInterface function, Type format) {
    auto convert = [&](Type type) { return withFormat(type, format); };
    function.setType(FunctionType::get(
        function.getContext(),
        llvm::map_to_vector(function.getArgumentTypes(), convert),
        llvm::map_to_vector(function.getResultTypes(), convert)));
  }
};

} // namespace
