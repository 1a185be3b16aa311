//===- FactorSplits.h - Splits of an op's factors ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_FACTORSPLITS_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_FACTORSPLITS_H

#include "autopar/Transforms/Split/Layouts.h"

namespace autopar::transforms {

/// Whether `value` depends on no other value: a weight, a KV cache, or one of
/// these after layout ops.
bool isSource(mlir::Value value);

/// How attention to the tokens of a step sees tokens of other devices, if
/// context parallelism splits the tokens over `axes`. Without axes, keys are
/// gathered.
struct ContextExchange {
  parallel::ContextKind kind = parallel::ContextKind::all_gather;
  llvm::SmallVector<mlir::StringAttr> axes = {};

  /// Returns the exchange with which `module` was split (`parallel.strategy`).
  static ContextExchange of(mlir::ModuleOp module);
};

/// The one split of each factor of an op that its operands have, or, where they
/// disagree, that they should have:
/// 1. sources keep the split they have, and others follow them; the dimension
///    of a source that is summed over stays whole where it is;
/// 2. else the first operand that is split is followed;
/// 3. an axis splits one factor: that of a source before others, tokens before
///    their grouping by experts; the others give it up, as they do to partial
///    sums that may wait and to what experts do with routed tokens;
/// 4. an axis that an operand gives up and no factor wants moves to the
///    operand's tokens, which costs less than making it whole.
///
/// Attention to tokens of the step (`FactorKind::seen`) has heads split over
/// the axes of its queries where those are exchanged for tokens, or sees keys
/// that go round.
class FactorSplits {
public:
  FactorSplits(ShardingOpInterface op, const ContextExchange &exchange);

  const ShardingFactors &getFactors() const { return factors; }
  /// Returns the indices of the operands that are partial sums.
  llvm::SmallVector<unsigned> partialOperands() const;

  /// Splits the tokens of partial operands over the axes of their sums, if
  /// these are free and split the same tokens elsewhere.
  void splitTokens(const TokenAxes &tokenAxes);
  /// For a matmul with a weight: splits tokens that are not split over axes
  /// that split the same tokens elsewhere. Slicing sends nothing, and otherwise
  /// every device would multiply all tokens.
  void sliceTokens(const TokenAxes &tokenAxes);
  /// Whether the op contracts a dimension and `splitTokens` would split
  /// something: with partial operands, every device would multiply all tokens.
  bool multipliesLessScattered(const TokenAxes &tokenAxes) const;
  /// Returns the layout that operand `index` should have; partial sums stay
  /// partial.
  parallel::Layout operandLayout(unsigned index) const;
  /// Whether any factor is split over one of `axes`.
  bool uses(llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Returns the axes of the split dimensions over which `result` is a sum.
  llvm::SmallVector<mlir::StringAttr, 2> reducedAxes(unsigned result) const;
  /// Whether a result is a partial sum of what the devices compute.
  bool reduces() const;
  /// Removes the splits of all reductions, so that no result is a partial sum.
  void gatherReductions();
  /// Return the layout of result `index`, and its type with that layout, if the
  /// operands have the layouts that they should have. If they do not yet, an
  /// axis may occur twice.
  parallel::Layout resultLayout(unsigned index) const;
  mlir::Type resultType(unsigned index) const;

private:
  using Axes = llvm::SmallVector<mlir::StringAttr, 4>;
  struct Split {
    /// The dimension of the operand from which the split comes; null if no
    /// operand has the factor.
    parallel::DimAttr dim;
    Axes axes;
    /// For a set of routed tokens that keeps its grouping, the axes of the
    /// grouping.
    Axes grouped;
    /// The priority of the split; the split with the lower number wins.
    unsigned rank = 0;
    /// Whether the dimension asks for the split itself. A dimension that is not
    /// split follows the others.
    bool asks = false;
  };

  void read(unsigned operand);
  void exchangeHeads();
  bool isProductOfTokens() const;
  parallel::DimAttr turn(parallel::DimAttr dim, int32_t factor) const;
  parallel::DimAttr turnLikeOperand(parallel::DimAttr dim,
                                    int32_t factor) const;
  void follow(int32_t factor, parallel::DimAttr dim,
              llvm::ArrayRef<mlir::StringAttr> axes, unsigned rank,
              llvm::ArrayRef<mlir::StringAttr> grouped = {});
  void resolveConflicts();
  llvm::SmallVector<mlir::StringAttr> waitingAxes() const;
  void moveSpareAxes();
  void moveSpareAxes(unsigned operand);
  Split *findTokens(unsigned operand);
  bool isClaimed(mlir::StringAttr axis) const;
  void
  forEachScatter(const TokenAxes &tokenAxes,
                 llvm::function_ref<void(int32_t factor, mlir::StringAttr axis)>
                     visit) const;
  Axes axesOf(int32_t factor) const;
  llvm::SmallVector<parallel::DimAttr> tokensOf(int32_t factor) const;
  parallel::DimAttr expertsOf(int32_t factor) const;
  parallel::DimAttr extentOf(int32_t factor) const;
  parallel::DimAttr setLike(parallel::DimAttr old, int32_t factor,
                            int32_t experts) const;
  parallel::DimAttr dimLike(parallel::DimAttr old, int32_t factor,
                            int32_t experts, unsigned operand) const;

  ShardingOpInterface op;
  const ContextExchange &exchange;
  ShardingFactors factors;
  /// The current layouts of the operands of the op.
  llvm::SmallVector<parallel::Layout, 3> layouts;
  llvm::SmallVector<Split> splits;
  llvm::SmallVector<program::SplitRule, 4> headRules;
};

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_FACTORSPLITS_H
