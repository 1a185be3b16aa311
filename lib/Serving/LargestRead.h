//===- LargestRead.h - The replica that reads most --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replicas that step together wait for the one that reads most. Lengths are
// those of prompts of mean length.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_LARGESTREAD_H
#define AUTOPAR_LIB_SERVING_LARGESTREAD_H

namespace autopar::serving {

/// Nothing with a probability of `none`, else a length of a log-normal law.
struct LengthLaw {
  double none = 0, mean = 1, variance = 0;

  /// The mean of the longest of so many, a whole count, of each no more than
  /// `most`.
  double longest(double count, double most) const;
  /// The mean of one, no more than `most`.
  double limited(double most) const;
  /// What one leaves of `most`: the mean of squares.
  double idleSquare(double most) const;
};

/// Prompts that find no room in the step after they came.
struct Unread {
  /// Of all, and for how many steps all wait in the mean.
  double share = 0, steps = 0;
};

/// What comes to each of `replicas` in a step, and is read as far as it has
/// room: `most` in prompts that are cut, else in whole ones.
struct ReplicaReads {
  double replicas = 1, squaredVariation = 0, most = 1;
  bool cutsPrompts = true;

  /// Of a replica: so many vary little.
  static constexpr double many = 500;
  /// How likely two meet that come at once where requests come and end one by
  /// one, each to the first of the replicas that have fewest, over how likely
  /// they do where each goes to any. Of two replicas exactly: their counts
  /// differ by n or 1-n with (1/3)^n, and they meet where n is 2 or more, with
  /// 1/3 for 1/2.
  static constexpr double meetingAlone = 2.0 / 3;

  /// In the mean, of the replica that reads most, where `prompts` of Poisson's
  /// law come to all of them and as many end: each goes to one that has fewest.
  double largest(double prompts) const;
  /// The same where nothing ends meanwhile: they are dealt evenly.
  double largestOfEven(double prompts) const;
  /// Where so many come after as many have ended anywhere, each where there are
  /// fewest: the share that comes where more than one has ended, before all
  /// replicas have as many.
  double shareUneven(double prompts) const;
  /// How likely so many prompts are longer than the room of one replica: sums
  /// of lengths are of log-normal laws.
  double shareWithoutRoom(double count) const;
  /// How likely any replica has more to read than room, where any has
  /// something, of so many in the mean.
  double shareCut(double prompts) const;
  /// Of so many that come in the mean.
  Unread unread(double prompts) const;
  /// The most that one of them gets, whether it has room or not, where each
  /// goes to any.
  double largestToRead(double prompts) const;

private:
  double comingAgain(double each) const;
  Unread ownRest() const;
  double largestAnywhere(double prompts) const;
  double meeting(double prompts, double none) const;
  double spared(double prompts) const;
  LengthLaw lawOf(double each) const;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_LARGESTREAD_H
