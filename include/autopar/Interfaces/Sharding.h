//===- Sharding.h - Factors, and what follows from them ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_SHARDING_H
#define AUTOPAR_INTERFACES_SHARDING_H

#include "autopar/Interfaces/TensorView.h"

#include "mlir/IR/OpDefinition.h"

#include <map>

namespace autopar {

/// Whether and how a factor may be split.
enum class FactorKind : uint8_t {
  /// Devices compute parts of the result.
  parallel,
  /// Summed over: split, it makes those results partial sums that have no
  /// dimension of it.
  reduction,
  /// Must be whole.
  whole,
  /// Must be whole, although its surroundings may be split: tensor parallelism
  /// gathers it before the op and splits the result again.
  gathered,
  /// Like parallel, but operands may have different extents that divide each
  /// other: query heads and the key-value heads that they share.
  grouped,
  /// Split as other factors are, one after the other: routed tokens.
  merged,
  /// Must be whole, or passed around a ring.
  seen,
};

inline bool mustBeWhole(FactorKind kind) {
  return kind == FactorKind::whole || kind == FactorKind::gathered ||
         kind == FactorKind::seen;
}

/// The dimensions of an op's operands and results that belong together.
/// Operands are numbered as in the op.
struct ShardingFactors {
  static constexpr int32_t none = -1;

  llvm::SmallVector<FactorKind, 8> kinds;
  /// Per operand or result, per dimension: index into `kinds`.
  llvm::SmallVector<llvm::SmallVector<int32_t, 4>, 4> operands, results;
  /// Groups of operands in which the op is linear: partial sums may pass if
  /// all operands of one group, and no others, have them. A group of none: the
  /// op sums, and is linear in nothing.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> linear;
  /// For merged factors, the factors that they consist of.
  std::map<int32_t, llvm::SmallVector<int32_t, 4>> parts;
  /// Whether reductions are lookups of rows, so that padding is never read.
  bool looksUp = false;
  /// Whether each of the devices that have the same elements adds its share of
  /// them to a sum.
  bool sharesReplicas = false;
  /// Per operand or result that is a set grouped by experts: the factor of the
  /// experts. Where there is no entry, the grouping is a part of the split of
  /// the set's own factor.
  std::map<unsigned, int32_t> operandExperts, resultExperts;

  /// Whether `factor` may be split by `rule`. In a sum, replicas of a `cap`
  /// would count more than once, and padding would count at all; and each row
  /// goes to one place.
  bool maySplitBy(int32_t factor, program::SplitRule rule) const {
    if (rule == program::SplitRule::cap && isOfExperts(factor))
      return false;
    return kinds[factor] != FactorKind::reduction ||
           ((rule != program::SplitRule::cap || sharesReplicas) &&
            (rule != program::SplitRule::pad || looksUp));
  }
  /// Whether `result` is a sum over `factor`.
  bool isSummedBy(unsigned result, int32_t factor) const {
    return kinds[factor] == FactorKind::reduction &&
           !llvm::is_contained(results[result], factor);
  }
  /// Whether sets are grouped by `factor`.
  bool isOfExperts(int32_t factor) const {
    auto isIt = [&](const auto &entry) { return entry.second == factor; };
    return llvm::any_of(operandExperts, isIt) ||
           llvm::any_of(resultExperts, isIt);
  }

  /// Adds a factor.
  int32_t add(FactorKind kind) {
    kinds.push_back(kind);
    return kinds.size() - 1;
  }
  int32_t expertsOfOperand(unsigned index) const {
    auto it = operandExperts.find(index);
    return it == operandExperts.end() ? none : it->second;
  }
  int32_t expertsOfResult(unsigned index) const {
    auto it = resultExperts.find(index);
    return it == resultExperts.end() ? none : it->second;
  }
  /// Adds the factor that `all` are merged into.
  int32_t merge(llvm::ArrayRef<int32_t> all) {
    int32_t factor = add(FactorKind::merged);
    parts[factor].assign(all.begin(), all.end());
    return factor;
  }
};

/// The axes that a dimension of a merged factor is split over.
llvm::SmallVector<mlir::StringAttr, 4>
mergeAxes(llvm::ArrayRef<int32_t> parts,
          llvm::function_ref<llvm::ArrayRef<mlir::StringAttr>(int32_t)> axesOf);

/// The parts of a model that may have tensor parallelism of their own: heads,
/// and channels that are convolved over tokens, as heads are split; widths and
/// vocabulary; widths of routed experts.
enum class TensorParallelRole : uint8_t { attention, channels, dense, experts };

/// Whether two lists have the same axes, in any order.
bool haveSameAxes(llvm::ArrayRef<mlir::StringAttr> a,
                  llvm::ArrayRef<mlir::StringAttr> b);

/// The factor that tensor parallelism splits first.
struct TensorParallelFactor {
  int32_t factor;
  /// Rule of each operand's dimension of that factor, and behind them of each
  /// result's; results that have none follow the first that is not capped or,
  /// where `factor` is a reduction or a weight's, their own dimension.
  llvm::SmallVector<program::SplitRule, 4> operandRules;
  TensorParallelRole role = TensorParallelRole::dense;
};

/// Verifies that an op's types obey its factors: equal extents, equal splits,
/// whole where they must be, and partial sums exactly where they arise.
mlir::LogicalResult verifySharding(mlir::Operation *op);

/// Verifies an op's types against the module around it.
mlir::LogicalResult verifyEncodings(mlir::Operation *op);

/// Axes as text: "[dp, tp]".
std::string axesText(llvm::ArrayRef<mlir::StringAttr> axes);
/// A dimension and its split as text: "256 by dp*tp pad 16".
std::string splitText(const DimRef &dim);
/// "dimension 0", of a weight with its name: 'dimension 0 of "up_proj.weight"'.
std::string dimensionText(mlir::Operation *op, unsigned dim);
/// Whether `devices` may split a dimension of `extent` by `rule`.
bool maySplit(int64_t extent, program::SplitRule rule, int64_t devices);
/// The first numbers of devices that `allowed` says may: "1, 2, 4".
std::string sizesText(llvm::function_ref<bool(int64_t devices)> allowed);

template <typename ConcreteType>
class EncodingsMatchModule
    : public mlir::OpTrait::TraitBase<ConcreteType, EncodingsMatchModule> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyEncodings(op);
  }
};

} // namespace autopar

#endif // AUTOPAR_INTERFACES_SHARDING_H
