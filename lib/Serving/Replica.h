//===- Replica.h - The scheduler of one replica -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_REPLICA_H
#define AUTOPAR_LIB_SERVING_REPLICA_H

#include "autopar/Serving/Simulation.h"

#include <deque>
#include <queue>

namespace autopar::serving {

/// Where a request is.
struct RequestState {
  /// Tokens that are read before it decodes, and of these already.
  int64_t toRead = 0, read = 0;
  /// Of its answer, when it began to decode or since.
  int64_t made = 0;
  /// Of those that decode: `steps` when it began, and its context then.
  int64_t since = 0, contextThen = 0;
  int32_t evictions = 0;
  bool decodes = false;
};

/// Requests wait, are read, decode and end. Nothing is done for each of those
/// that decode in a step: they are counted, and lie in the order of their ends.
class Replica {
public:
  /// All outlive it. `states` are of all requests, of which each is in one
  /// replica.
  Replica(const Engine &engine, const std::vector<program::Request> &requests,
          std::vector<RequestState> &states)
      : engine(engine), requests(requests), states(states),
        opensBlock(static_cast<size_t>(engine.blockTokens)) {}

  void add(size_t request) { waiting.push_back(request); }
  /// What decodes here, whether in the step that is planned or not.
  StepLoad decodingLoad() const;
  /// Requests that are here.
  size_t size() const {
    return waiting.size() + reading.size() + static_cast<size_t>(decoding);
  }
  int64_t usedBlocks() const { return used; }
  int64_t decodedSteps() const { return steps; }
  /// Of answers.
  int64_t tokensMade() const { return tokens; }

  /// Chooses what the next step reads, and of an engine that fuses what decodes
  /// beside it, evicting what has no room.
  void plan();
  bool reads() const { return !pieces.empty(); }
  /// The same of an engine that alternates, in whose step no replica reads.
  void planDecoding();
  /// What was chosen.
  StepLoad planned() const;
  /// The step that was planned is over: adds the requests whose first token it
  /// made, and those that it ended.
  void finish(std::vector<size_t> &answering, std::vector<size_t> &ended);

private:
  struct Piece {
    size_t request;
    int64_t tokens;
  };
  /// When, in `steps`.
  using End = std::pair<int64_t, size_t>;

  int64_t contextOf(const RequestState &state) const {
    return state.contextThen + steps - state.since;
  }
  int64_t &openers(const RequestState &state);
  int64_t heldBlocks(size_t request, int64_t tokens) const;
  int64_t blocksToOpen() const;

  void beginDecoding(size_t request);
  void endDecoding(size_t request);
  void evictLast();

  bool admit(int64_t budget);
  void planReading(int64_t budget);
  /// Whether all that is read is the last token of prompts that come read.
  bool joinsDecoding() const;
  void finishPiece(const Piece &piece, std::vector<size_t> &answering,
                   std::vector<size_t> &ended);

  const Engine &engine;
  const std::vector<program::Request> &requests;
  std::vector<RequestState> &states;
  std::deque<size_t> waiting, reading;
  /// Of those that decode, and stale ones of evicted requests.
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  /// In the order in which they began to decode, and some that ended.
  std::vector<size_t> begun;
  /// Steps that decoded; those that decode, and tokens of their contexts.
  int64_t steps = 0, decoding = 0, contexts = 0;
  /// How many open a block in a step, by `steps` modulo a block.
  std::vector<int64_t> opensBlock;
  int64_t used = 0, tokens = 0;
  /// Of the step that is planned.
  std::vector<Piece> pieces;
  bool decodesNext = false;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_REPLICA_H
