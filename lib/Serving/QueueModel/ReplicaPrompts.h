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

/// The prompts that arrive at the `replicas` replicas of a lock-step group in
/// one step. A replica prefills up to `limit` prompts of mean length; the last
/// one is cut if `cutsPrompts`.
struct ReplicaPrompts {
  double replicas = 1, squaredVariation = 0, limit = 1;
  bool cutsPrompts = true;

  /// Returns the mean work of the replica that prefills most, if `prompts`
  /// Poisson arrivals come to the group in the mean, and each goes to a replica
  /// with the fewest requests.
  double largest(double prompts) const;
  /// Returns the mean work of the replica that prefills most if there is no
  /// limit and prompts go to any replica.
  double largestUnlimited(double prompts) const;
  /// Returns the probability that `count` prompts together are longer than the
  /// limit.
  double shareOverLimit(double count) const;

private:
  double withRetries(double perReplica) const;
  double largestAnywhere(double prompts) const;
  double sharedPerPrompt(double prompts, double none) const;
  double sparedByDealing(double prompts) const;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_REPLICAPROMPTS_H
