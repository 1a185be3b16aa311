//===- RecurrentFactors.h - Factors of recurrences --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_RECURRENTFACTORS_H
#define AUTOPAR_DIALECT_TRANSFORMER_RECURRENTFACTORS_H

#include "autopar/Dialect/Transformer/Factors.h"

namespace autopar::transformer {

/// The factors of a short convolution, and of its backward.
struct ConvFactors {
  ConvFactors(mlir::Value x, FactorKind sequences)
      : tokens({factors.add(sequences), factors.add(FactorKind::whole)}) {
    channels = addFactors(factors, FactorKind::parallel, rankOf(x) - 2);
    weight = concat(channels, {factors.add(FactorKind::whole)});
  }

  FactorList x() const { return concat(tokens, channels); }

  ShardingFactors factors;
  FactorList tokens, channels, weight;
};

/// The factors that recurrences over heads share. All operands have the factor
/// of heads; an operand with fewer heads has it as groups of heads.
struct HeadFactors {
  explicit HeadFactors(FactorKind sequences, FactorKind ofHeads)
      : batch(factors.add(sequences)), query(factors.add(FactorKind::whole)),
        heads(factors.add(ofHeads)) {}

  int32_t addWhole() { return factors.add(FactorKind::whole); }
  FactorList tokens() const { return {batch, query, heads}; }

  ShardingFactors factors;
  int32_t batch, query, heads;
};

/// Whether `matrix` has one group that serves all heads, so that every device
/// holds it.
inline bool hasOneGroup(mlir::Value matrix) {
  return TensorView(matrix).extent(2) == NamedExtent::number(1);
}

inline bool haveRanks(mlir::Value x, mlir::Value matrix, mlir::Value a) {
  return rankOf(x) == 4 && rankOf(matrix) == 4 && rankOf(a) >= 1 &&
         rankOf(a) <= 2;
}

/// The factors of a state-space recurrence, and of its backward. Where a group
/// serves all heads, so that every device holds it, its gradient is summed over
/// the heads.
struct StateSpaceFactors : HeadFactors {
  StateSpaceFactors(mlir::Value input, mlir::Value ofA, bool isBackward)
      : HeadFactors(isBackward ? FactorKind::reduction : FactorKind::parallel,
                    isBackward && hasOneGroup(input) ? FactorKind::reduction
                                                     : FactorKind::grouped) {
    width = addWhole();
    states = addWhole();
    int32_t groups = hasOneGroup(input) ? addWhole() : heads;
    x = concat(tokens(), {width});
    matrix = {batch, query, groups, states};
    a = {heads};
    if (rankOf(ofA) == 2)
      a.push_back(states);
  }

  int32_t width, states;
  FactorList x, matrix, a;
};

/// The factors of the delta rule. A decay per channel has the width of the
/// keys.
struct DeltaFactors : HeadFactors {
  DeltaFactors(FactorKind sequences, mlir::Value ofDecay)
      : HeadFactors(sequences, FactorKind::grouped) {
    if (rankOf(ofDecay) == 4) {
      decay = keys;
      bias = {heads, keyWidth};
    }
  }

  int32_t keyWidth = addWhole(), valueWidth = addWhole();
  FactorList keys = concat(tokens(), {keyWidth}),
             values = concat(tokens(), {valueWidth});
  FactorList decay = tokens(), bias = {heads};
};

/// Returns the tensor-parallel factor of heads for `numTensors` operands and
/// results, where the tensors numbered in `grouped` have fewer heads.
TensorParallelFactor splitHeads(unsigned numTensors,
                                llvm::ArrayRef<unsigned> grouped);
/// Returns the tensor-parallel factor of channels for `numTensors` operands and
/// results; nothing if all channels share one group.
std::optional<TensorParallelFactor> channelsOf(mlir::Value x,
                                               unsigned numTensors);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_RECURRENTFACTORS_H
