//===- Quantize.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "autopar/Import/Formats.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Regex.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_QUANTIZEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transforms;
using namespace autopar::transformer;
using namespace mlir;

/// Whether a matmul of tokens reads `weight`.
static bool isMultiplied(WeightOp weight) {
  return llvm::any_of(weight->getUses(), [](OpOperand &use) {
    if (auto linear = dyn_cast<LinearOp>(use.getOwner()))
      return linear.getWeight() == use.get();
    auto experts = dyn_cast<ExpertsOp>(use.getOwner());
    return experts && experts.getWeight() == use.get();
  });
}

namespace {

struct QuantizePass
    : autopar::transforms::impl::QuantizePassBase<QuantizePass> {
  using Base::Base;

  void runOnModule() override {
    FailureOr<FormatAttr> attr = readFormat();
    FailureOr<SmallVector<llvm::Regex, 0>> ignored = readIgnored();
    if (failed(attr) || failed(ignored))
      return signalPassFailure();
    // Several weights that are parts of one checkpoint tensor have the same
    // block and name.
    llvm::DenseSet<std::pair<Block *, StringAttr>> quantized;
    auto keyOf = [](WeightOp weight) {
      return std::make_pair(weight->getBlock(), weight.getNameAttr());
    };
    getOperation().walk([&](WeightOp weight) {
      if (isQuantized(weight, *ignored))
        quantized.insert(keyOf(weight));
    });
    if (quantized.empty()) {
      getOperation().emitError("quantizes no weight: no linear or experts op "
                               "reads one that has no format");
      return signalPassFailure();
    }
    getOperation().walk([&](WeightOp weight) {
      if (quantized.contains(keyOf(weight)))
        weight.setStorageAttr(
            StorageAttr::get(&getContext(), getStorageGroups(weight), *attr));
    });
  }

  FailureOr<FormatAttr> readFormat() {
    std::map<std::string, int64_t> values;
    for (const std::string &text : parameters) {
      auto [name, value] = StringRef(text).split('=');
      if (value.getAsInteger(10, values[name.str()]))
        return getOperation().emitError()
               << "parameters: expected name=number, found '" << text << "'";
    }
    Result<Format> read = loadFormat(format, values);
    if (!read)
      return getOperation().emitError() << read.error().str();
    return toAttr(&getContext(), *read);
  }

  FailureOr<SmallVector<llvm::Regex, 0>> readIgnored() {
    SmallVector<llvm::Regex, 0> ignored;
    for (const std::string &text : ignore) {
      std::string why;
      if (!ignored.emplace_back(text).isValid(why))
        return getOperation().emitError()
               << "ignore: '" << text << "' is no regular expression: " << why;
    }
    return ignored;
  }

  static bool isQuantized(WeightOp weight, ArrayRef<llvm::Regex> ignored) {
    bool matrix = getStorageGroups(weight).size() >= 2;
    return matrix && !weight.getStoredFormat() && isMultiplied(weight) &&
           llvm::none_of(ignored, [&](const llvm::Regex &regex) {
             return regex.match(weight.getName());
           });
  }
};

} // namespace
