//===- ReplicaPrompts.h - The most loaded replica of a step -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lock-step replicas wait for the one that prefills most (docs/serving.md,
// "Lock step"). Lengths are in units of the mean prompt length.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_REPLICAPROMPTS_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_REPLICAPROMPTS_H

namespace autopar::serving {

/// Prompts that arrive at the `replicas` replicas of a lock-step group in one
/// step. A replica prefills up to `limit` of them, cut where `cutsPrompts`.
struct ReplicaPrompts {
  double replicas = 1, squaredVariation = 0, limit = 1;
  bool cutsPrompts = true;

  /// Mean work of the replica that prefills most, for a mean of `prompts`
  /// Poisson arrivals to the group, each sent to a replica with fewest
  /// requests.
  double largest(double prompts) const;
  /// The same without the limit, for arrivals that go to any replica.
  double largestUnlimited(double prompts) const;
  /// P(`count` prompts together are longer than the limit).
  double shareOverLimit(double count) const;

private:
  double withRetries(double perReplica) const;
  double largestAnywhere(double prompts) const;
  double sharedPerPrompt(double prompts, double none) const;
  double sparedByDealing(double prompts) const;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_REPLICAPROMPTS_H
