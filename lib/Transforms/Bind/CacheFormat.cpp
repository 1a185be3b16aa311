//===- CacheFormat.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheFormat.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/BlockType.h"
#include "autopar/Interfaces/TensorView.h"
#include "autopar/Model/Quantization.h"

using namespace autopar;
using namespace autopar::model;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::transformer;
using namespace mlir;

bool autopar::transforms::isCacheFormat(StringRef nameOfDefault) {
  return nameOfDefault == StringRef(Quantization::cacheFormatDefault);
}

static ArrayAttr defaultsOf(ModuleOp module) {
  return module->getAttrOfType<ArrayAttr>(DefaultAttr::moduleAttribute);
}

void autopar::transforms::recordCacheFormat(ModuleOp module, ElementType format,
                                            StringRef source) {
  SmallVector<Attribute> kept;
  if (ArrayAttr defaults = defaultsOf(module))
    llvm::copy_if(defaults, std::back_inserter(kept), [](Attribute one) {
      return !isCacheFormat(cast<DefaultAttr>(one).getName());
    });
  MLIRContext *context = module.getContext();
  if (!source.empty())
    kept.push_back(
        DefaultAttr::get(context, StringRef(Quantization::cacheFormatDefault),
                         StringAttr::get(context, StringRef(nameOf(format))),
                         StringAttr::get(context, source)));
  if (kept.empty())
    module->removeAttr(DefaultAttr::moduleAttribute);
  else
    module->setAttr(DefaultAttr::moduleAttribute,
                    ArrayAttr::get(context, kept));
}

std::string autopar::transforms::cacheRuleText(const Runtime &runtime) {
  bool anyChip = runtime.kvCacheRule == KVCacheRule::fp8_if_quantized;
  return runtime.name + " keeps caches in fp8 where products are quantised" +
         (anyChip ? "" : " and the chip multiplies fp4");
}

bool autopar::transforms::keepsFormat(KVCacheOp cache) {
  return llvm::any_of(cache->getUsers(), llvm::IsaPred<CompressOp>);
}

std::optional<ElementType>
autopar::transforms::formatOfCaches(ModuleOp module) {
  std::optional<ElementType> ofRows;
  std::optional<ElementType> format;
  module.walk([&](KVCacheOp cache) {
    Type element = tensorOf(cache.getResult().getType()).getElementType();
    if (!isRounded(element) || keepsFormat(cache))
      return WalkResult::advance();
    ElementType own = *toElementType(element);
    (plainFormat(own) == own ? format : ofRows) = plainFormat(own);
    return format ? WalkResult::interrupt() : WalkResult::advance();
  });
  return format ? format : ofRows;
}

/// Returns the source that was recorded for the KV-cache format: the
/// checkpoint, or the runtime's rule.
static std::optional<std::string> recordedSource(ModuleOp module) {
  if (ArrayAttr defaults = defaultsOf(module))
    for (auto one : defaults.getAsRange<DefaultAttr>())
      if (isCacheFormat(one.getName()) && one.getSource())
        return one.getSource().str();
  return std::nullopt;
}

/// Returns the explanation for KV caches that have the format of the model's
/// values.
static std::string unchangedText(const Runtime &runtime) {
  std::string text = "the model's format, as the checkpoint states none";
  return runtime.kvCacheRule == KVCacheRule::model
             ? text
             : text + "; " + cacheRuleText(runtime);
}

std::optional<Assumption>
autopar::transforms::findCacheFormat(ModuleOp module, const Runtime &runtime) {
  std::optional<ElementType> format = formatOfCaches(module);
  if (!format)
    return std::nullopt;
  std::string source = unchangedText(runtime);
  if (auto recorded = recordedSource(module))
    source = *recorded;
  else
    for (auto strategy : module.getOps<parallel::StrategyOp>())
      if (strategy.getKvDtype())
        source = "given with --kv-format";
  return Assumption{cacheFormatAssumption, std::string(nameOf(*format)),
                    source};
}
