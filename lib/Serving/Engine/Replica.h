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

/// The progress of a request in the engine.
struct RequestState {
  /// The number of tokens that the request must prefill before it decodes, and
  /// how many of them are prefilled.
  int64_t toPrefill = 0, prefilled = 0;
  /// The number of answer tokens that existed when the request last began or
  /// stopped to decode.
  int64_t made = 0;
  /// While the request decodes: the replica's `steps` when it began, and the
  /// tokens of its context at that time.
  int64_t since = 0, contextThen = 0;
  int32_t evictions = 0;
  bool decodes = false;
};

/// One replica: requests wait, are prefilled, decode and end.
///
/// State: queues of waiting and prefilling requests, and the number and
/// contexts of those that decode. Invariant: a step costs nothing for each
/// sequence that decodes, as they are counted and lie in the order of their
/// ends. Example: of three sequences that end at steps 5, 9 and 9, the steps 1
/// to 4 only add 3 to `contexts`.
class Replica {
public:
  /// All arguments must outlive the replica. `states` has all requests of the
  /// service, each of which is in one replica.
  Replica(const Engine &engine, const std::vector<program::Request> &requests,
          std::vector<RequestState> &states)
      : engine(engine), requests(requests), states(states),
        opensBlock(static_cast<size_t>(engine.blockTokens)) {}

  void add(size_t request) { waiting.push_back(request); }
  /// Returns the load of the sequences that decode, whether the planned step
  /// decodes or not.
  StepLoad decodingLoad() const;
  /// Returns the number of requests that wait, are prefilled or decode.
  size_t size() const {
    return waiting.size() + prefilling.size() + static_cast<size_t>(decoding);
  }
  int64_t usedBlocks() const { return used; }
  int64_t decodedSteps() const { return steps; }
  /// Returns the number of output tokens so far.
  int64_t tokensMade() const { return tokens; }

  /// Chooses the prompts of the next step. An engine that fuses prompts also
  /// decodes beside them; sequences without room are then preempted.
  void plan();
  bool prefills() const { return !chunks.empty(); }
  /// Plans a decoding step of an engine that alternates between prefill and
  /// decoding, when no replica prefills.
  void planDecoding();
  /// Returns the load of the step that was planned.
  StepLoad planned() const;
  /// Ends the planned step. Appends the requests whose first token the step
  /// made to `answering`, and the requests that it ended to `ended`.
  void finish(std::vector<size_t> &answering, std::vector<size_t> &ended);

private:
  struct Chunk {
    size_t request;
    int64_t tokens;
  };
  /// The value of `steps` at which a request ends, and the index of the
  /// request.
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
  void planPrefill(int64_t budget);
  /// Returns whether all chunks are last tokens of prompts that arrived
  /// prefilled.
  bool joinsDecoding() const;
  void finishChunk(const Chunk &chunk, std::vector<size_t> &answering,
                   std::vector<size_t> &ended);

  const Engine &engine;
  const std::vector<program::Request> &requests;
  std::vector<RequestState> &states;
  std::deque<size_t> waiting, prefilling;
  /// The ends of the sequences that decode. Ends of preempted requests stay
  /// here and are skipped.
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  /// The requests in the order in which they began to decode; some of them have
  /// ended since.
  std::vector<size_t> begun;
  /// The number of steps that decoded so far, the number of sequences that
  /// decode, and the sum of their contexts in tokens.
  int64_t steps = 0, decoding = 0, contexts = 0;
  /// The number of sequences that open a KV block in a step, by `steps` modulo
  /// the block size.
  std::vector<int64_t> opensBlock;
  int64_t used = 0, tokens = 0;
  /// The chunks of the planned step, and whether it decodes.
  std::vector<Chunk> chunks;
  bool decodesNext = false;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_REPLICA_H
