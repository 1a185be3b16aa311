//===- Algorithm.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hardware/Algorithm.h"

#include "Readers.h"
#include "autopar/Support/Text.h"

#include <cmath>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;

using Sent = Algorithm::Sent;
using Hops = Algorithm::Hops;
using Tiers = Algorithm::Tiers;

/// The source of the rules. Its sections 4.1 to 4.5 give the bytes that each
/// collective sends; for small messages it uses a tree.
static constexpr const char *thakur =
    "Thakur, Rabenseifner, Gropp, \"Optimization of Collective Communication "
    "Operations in MPICH\" (2005)";

const Algorithm &autopar::hardware::ruleOf(CollectiveKind kind) {
  using Kind = CollectiveKind;
  // The rules, in the order of `CollectiveKind`.
  static const Algorithm rules[] = {
      {"tree", Kind::all_reduce, Sent::others, 2, Hops::tree, Tiers::in_turn,
       thakur},
      {"tree", Kind::all_gather, Sent::others, 1, Hops::tree, Tiers::in_turn,
       thakur},
      {"tree", Kind::reduce_scatter, Sent::others, 1, Hops::tree,
       Tiers::in_turn, thakur},
      {"tree", Kind::all_to_all, Sent::others, 1, Hops::tree, Tiers::at_once,
       "NVIDIA/nccl pull request 401 (2.8): intra- and inter-node messages of "
       "an all-to-all are balanced, each peer has a warp of its own"},
      {"direct", Kind::permute, Sent::all, 1, Hops::one, Tiers::slowest,
       thakur},
      {"ring", Kind::ring, Sent::others, 1, Hops::others, Tiers::slowest,
       "Liu, Zaharia, Abbeel, \"Ring Attention\" (arXiv:2310.01889)"},
  };
  return rules[static_cast<size_t>(kind)];
}

double autopar::hardware::sentBytes(const Algorithm &algorithm, int64_t devices,
                                    double bytes) {
  auto n = static_cast<double>(devices);
  auto rounds = static_cast<double>(algorithm.rounds);
  switch (algorithm.sent) {
  case Sent::all:
    return rounds * bytes;
  case Sent::others:
    return rounds * (n - 1) / n * bytes;
  case Sent::to_each:
    return rounds * (n - 1) * bytes;
  }
  return 0;
}

double autopar::hardware::wireBytes(CollectiveKind kind, int64_t devices,
                                    double bytes) {
  return sentBytes(ruleOf(kind), devices, bytes);
}

double autopar::hardware::hopsOf(const Algorithm &algorithm, int64_t devices) {
  switch (algorithm.hops) {
  case Hops::one:
    return 1;
  case Hops::tree:
    return std::ceil(std::log2(static_cast<double>(devices)));
  case Hops::others:
    return static_cast<double>(devices - 1);
  }
  return 0;
}

std::string autopar::hardware::sentText(const Algorithm &algorithm,
                                        const std::string &devices) {
  std::string rounds =
      algorithm.rounds == 1 ? "" : std::to_string(algorithm.rounds) + " * ";
  switch (algorithm.sent) {
  case Sent::all:
    return rounds.substr(0, rounds.find(' '));
  case Sent::others:
    return rounds + "(" + devices + " - 1) / " + devices;
  case Sent::to_each:
    return rounds + "(" + devices + " - 1)";
  }
  return "";
}

std::string autopar::hardware::latencyText(const Algorithm &algorithm,
                                           const std::string &devices) {
  switch (algorithm.hops) {
  case Hops::one:
    return "latency";
  case Hops::tree:
    return "latency * ceil(log2(" + devices + "))";
  case Hops::others:
    return "latency * (" + devices + " - 1)";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Reading algorithms from files
//===----------------------------------------------------------------------===//

std::optional<CollectiveKind>
autopar::hardware::measuredKind(std::string_view name) {
  using Kind = CollectiveKind;
  for (Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter,
                    Kind::all_to_all, Kind::permute})
    if (nameOf(kind) == name)
      return kind;
  return std::nullopt;
}

/// Returns the value of the text member `key` of `reader`, which must be one of
/// `words`.
template <typename T>
static T readWord(const JsonReader &reader, const char *key,
                  std::initializer_list<std::pair<const char *, T>> words) {
  std::string text = reader.string(key), known;
  for (const auto &[word, value] : words) {
    if (text == word)
      return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  reader.failAt(key, "unknown \"" + shorten(text) + "\"", "known: " + known);
  return words.begin()->second;
}

Algorithm autopar::hardware::readAlgorithm(const JsonReader &reader) {
  reader.allowOnly({"name", "collective", "sent", "rounds", "hops", "source"});
  std::string collective = reader.string("collective");
  std::optional<CollectiveKind> kind = measuredKind(collective);
  if (!kind)
    reader.failAt("collective",
                  "unknown collective \"" + shorten(collective) + "\"",
                  "known: " + std::string(measuredKinds));
  Algorithm algorithm = ruleOf(kind.value_or(CollectiveKind::all_reduce));
  algorithm.name = reader.string("name");
  algorithm.sent = readWord<Sent>(reader, "sent",
                                  {{"all", Sent::all},
                                   {"others", Sent::others},
                                   {"to_each", Sent::to_each}});
  algorithm.rounds = reader.optionalInteger("rounds", 1, 8).value_or(1);
  algorithm.hops = readWord<Hops>(
      reader, "hops",
      {{"one", Hops::one}, {"tree", Hops::tree}, {"others", Hops::others}});
  algorithm.source = readSource(reader).str();
  return algorithm;
}
