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

/// Whether and how a factor (a group of dimensions that belong together) may be
/// split over devices.
enum class FactorKind : uint8_t {
  /// The factor may be split: each device then computes its part of the result.
  parallel,
  /// The op sums over this factor. If it is split, results without a dimension
  /// of it become partial sums.
  reduction,
  /// The factor must not be split.
  whole,
  /// Must not be split, although the dimensions around the op may be: tensor
  /// parallelism gathers the operand before the op and splits the result again.
  gathered,
  /// May be split as a parallel factor, but operands may have different extents
  /// that divide each other: query heads and the key-value heads that they
  /// share.
  grouped,
  /// Is split as the factors are that it merges, one after the other: routed
  /// tokens.
  merged,
  /// Must not be split, or must be passed around a ring.
  seen,
};

inline bool mustBeWhole(FactorKind kind) {
  return kind == FactorKind::whole || kind == FactorKind::gathered ||
         kind == FactorKind::seen;
}

/// Which dimensions of an op's operands and results belong to the same factor.
/// Operands are numbered as in the op.
struct ShardingFactors {
  static constexpr int32_t none = -1;

  llvm::SmallVector<FactorKind, 8> kinds;
  /// The factor of each dimension, as an index into `kinds`: first by operand
  /// or result, then by dimension.
  llvm::SmallVector<llvm::SmallVector<int32_t, 4>, 4> operands, results;
  /// Groups of operands in which the op is linear: partial sums may pass the op
  /// if all operands of one group, and no others, are partial sums. An empty
  /// group says that the op sums by itself, and is linear in no operand.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> linear;
  /// For each merged factor, the factors that it consists of.
  std::map<int32_t, llvm::SmallVector<int32_t, 4>> parts;
  /// Whether reductions are lookups of rows, in which padding is never read.
  bool looksUp = false;
  /// Whether devices that hold the same elements each add their share of these
  /// to a sum.
  bool sharesReplicas = false;
  /// For each operand or result that is a set of routed tokens grouped by
  /// experts, the factor of the experts. Without an entry, the grouping belongs
  /// to the split of the set's own factor.
  std::map<unsigned, int32_t> operandExperts, resultExperts;

  /// Whether `factor` may be split with the split rule `rule`. In a sum,
  /// replicas of a `cap` split would count more than once, and padding would
  /// count; and each row of a grouped set goes to one expert.
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
  /// Whether some set of routed tokens is grouped by `factor`.
  bool isOfExperts(int32_t factor) const {
    auto isIt = [&](const auto &entry) { return entry.second == factor; };
    return llvm::any_of(operandExperts, isIt) ||
           llvm::any_of(resultExperts, isIt);
  }

  /// Adds a factor of this kind and returns its index.
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
  /// Adds a factor that merges the factors `all`, and returns its index.
  int32_t merge(llvm::ArrayRef<int32_t> all) {
    int32_t factor = add(FactorKind::merged);
    parts[factor].assign(all.begin(), all.end());
    return factor;
  }
};

/// Returns the axes over which a dimension of a merged factor is split, from
/// those of the factors `parts`.
llvm::SmallVector<mlir::StringAttr, 4>
mergeAxes(llvm::ArrayRef<int32_t> parts,
          llvm::function_ref<llvm::ArrayRef<mlir::StringAttr>(int32_t)> axesOf);

/// The parts of a model that may each have a tensor parallelism of their own:
/// attention heads; channels that are convolved over tokens, which are split
/// like heads; dense layers and the vocabulary; routed experts.
enum class TensorParallelRole : uint8_t { attention, channels, dense, experts };

/// Whether two lists have the same axes, in any order.
bool haveSameAxes(llvm::ArrayRef<mlir::StringAttr> a,
                  llvm::ArrayRef<mlir::StringAttr> b);

/// The factor of an op that tensor parallelism splits first.
struct TensorParallelFactor {
  int32_t factor;
  /// The split rule of each operand's dimension of that factor, followed by
  /// that of each result. A result without a rule has the first rule that is
  /// not `cap` or, if `factor` is a reduction or belongs to a weight, that of
  /// its own dimension.
  llvm::SmallVector<program::SplitRule, 4> operandRules;
  TensorParallelRole role = TensorParallelRole::dense;
};

/// Verifies that the types of an op obey its factors: equal extents, equal
/// splits, no split where a dimension must be whole, and partial sums exactly
/// where they arise.
mlir::LogicalResult verifySharding(mlir::Operation *op);

/// Verifies the types of an op against the mesh and the symbols of the module
/// around it.
mlir::LogicalResult verifyEncodings(mlir::Operation *op);

/// Returns a list of axes as text: "[dp, tp]".
std::string axesText(llvm::ArrayRef<mlir::StringAttr> axes);
/// Returns a dimension and its split as text: "256 by dp*tp pad 16".
std::string splitText(const DimRef &dim);
/// Returns the name of a dimension as text: "dimension 0", or for a weight
/// 'dimension 0 of "up_proj.weight"'.
std::string dimensionText(mlir::Operation *op, unsigned dim);
/// Whether `devices` devices may split a dimension of `extent` elements with
/// the split rule `rule`.
bool maySplit(int64_t extent, program::SplitRule rule, int64_t devices);
/// Returns the smallest numbers of devices for which `allowed` holds, as text:
/// "1, 2, 4".
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
