//===- Replica.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replica.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

//===----------------------------------------------------------------------===//
// Blocks of KV caches
//===----------------------------------------------------------------------===//

/// Returns the entry of `opensBlock` for the step in which the next token of a
/// sequence opens a KV block; the index is this step modulo the block size.
int64_t &Replica::openers(const RequestState &state) {
  int64_t phase = (state.since - state.contextThen) % engine.blockTokens;
  if (phase < 0)
    phase += engine.blockTokens;
  return opensBlock[static_cast<size_t>(phase)];
}

/// Returns the number of KV blocks that a request needs with `tokens` tokens in
/// its cache.
int64_t Replica::heldBlocks(size_t request, int64_t tokens) const {
  if (engine.reservesAnswers)
    tokens = requests[request].promptTokens + requests[request].answerTokens;
  return engine.blocksOf(tokens);
}

/// Returns the number of KV blocks that the next decoding step opens.
int64_t Replica::blocksToOpen() const {
  return engine.reservesAnswers
             ? 0
             : opensBlock[static_cast<size_t>(steps % engine.blockTokens)];
}

//===----------------------------------------------------------------------===//
// Sequences that decode
//===----------------------------------------------------------------------===//

void Replica::beginDecoding(size_t request) {
  RequestState &state = states[request];
  state.decodes = true;
  state.since = steps;
  state.contextThen = state.toPrefill;
  int64_t left = requests[request].answerTokens - state.made;
  ends.emplace(steps + left, request);
  begun.push_back(request);
  ++decoding;
  contexts += state.toPrefill;
  ++openers(state);
}

void Replica::endDecoding(size_t request) {
  RequestState &state = states[request];
  int64_t context = contextOf(state);
  --openers(state);
  --decoding;
  contexts -= context;
  used -= heldBlocks(request, context);
  state.made += steps - state.since;
  state.decodes = false;
}

/// Preempts the sequence that began to decode last. It is prefilled again when
/// there is room.
void Replica::evictLast() {
  while (!states[begun.back()].decodes)
    begun.pop_back();
  size_t request = begun.back();
  begun.pop_back();
  endDecoding(request);
  RequestState &state = states[request];
  state.toPrefill = requests[request].promptTokens + state.made;
  state.prefilled = 0;
  ++state.evictions;
  waiting.push_front(request);
}

void Replica::planDecoding() {
  while (decoding > 0 && used + blocksToOpen() > engine.blocks)
    evictLast();
  decodesNext = decoding > 0;
}

//===----------------------------------------------------------------------===//
// Prompts that are prefilled
//===----------------------------------------------------------------------===//

/// Admits the first waiting request if it has room in the step's `budget` and
/// in the KV caches. Returns whether it was admitted.
bool Replica::admit(int64_t budget) {
  size_t request = waiting.front();
  RequestState &state = states[request];
  int64_t running = decoding + static_cast<int64_t>(prefilling.size());
  if (running >= engine.maxSequences)
    return false;
  if (state.toPrefill == 0) {
    state.toPrefill = requests[request].promptTokens;
    state.prefilled = requests[request].cachedTokens;
  }
  // If the engine does not cut prompts, a prompt that is longer than the budget
  // is prefilled alone.
  if (!engine.cutsPrompts && state.toPrefill - state.prefilled > budget &&
      !chunks.empty())
    return false;
  // KV blocks are kept free for the next tokens of sequences that decode.
  int64_t held = heldBlocks(request, state.toPrefill);
  if (used + blocksToOpen() + held > engine.blocks)
    return false;
  used += held;
  waiting.pop_front();
  prefilling.push_back(request);
  return true;
}

void Replica::planPrefill(int64_t budget) {
  size_t next = 0;
  budget = std::max<int64_t>(budget, engine.cutsPrompts ? 0 : 1);
  while (budget > 0) {
    if (next == prefilling.size() && (waiting.empty() || !admit(budget)))
      return;
    size_t request = prefilling[next++];
    int64_t left = states[request].toPrefill - states[request].prefilled;
    int64_t tokens = engine.cutsPrompts ? std::min(left, budget) : left;
    chunks.push_back({request, tokens});
    budget -= tokens;
  }
}

//===----------------------------------------------------------------------===//
// Planning and ending steps
//===----------------------------------------------------------------------===//

StepLoad Replica::decodingLoad() const {
  StepLoad load;
  load.decoding = static_cast<double>(decoding);
  if (decoding > 0)
    load.context = std::round(static_cast<double>(contexts) / load.decoding);
  return load;
}

bool Replica::joinsDecoding() const {
  return engine.decodesOnly &&
         std::all_of(chunks.begin(), chunks.end(),
                     [](const Chunk &chunk) { return chunk.tokens == 1; });
}

void Replica::plan() {
  chunks.clear();
  decodesNext = false;
  if (engine.fusesPrompts)
    planDecoding();
  planPrefill(engine.stepTokens - (engine.fusesPrompts ? decoding : 0));
}

StepLoad Replica::planned() const {
  StepLoad load;
  int64_t tokens = 0, seen = 0;
  for (const Chunk &chunk : chunks) {
    tokens += chunk.tokens;
    seen += states[chunk.request].prefilled + chunk.tokens;
  }
  int64_t held = decodesNext ? contexts + decoding : 0;
  load.decoding = static_cast<double>(decodesNext ? decoding : 0);
  bool joins = joinsDecoding();
  if (joins) {
    load.decoding += static_cast<double>(chunks.size());
    held += seen;
  }
  if (load.decoding > 0)
    load.context = std::round(static_cast<double>(held) / load.decoding);
  if (chunks.empty() || joins)
    return load;
  load.prompts = static_cast<double>(chunks.size());
  load.promptTokens = std::round(static_cast<double>(tokens) / load.prompts);
  load.promptContext = std::max(
      load.promptTokens, std::round(static_cast<double>(seen) / load.prompts));
  return load;
}

void Replica::finish(std::vector<size_t> &answering,
                     std::vector<size_t> &ended) {
  if (decodesNext) {
    used += blocksToOpen();
    tokens += decoding;
    contexts += decoding;
    ++steps;
  }
  while (decodesNext && !ends.empty() && ends.top().first <= steps) {
    auto [step, request] = ends.top();
    ends.pop();
    const RequestState &state = states[request];
    // If a sequence was preempted after its end was planned, this end is out of
    // date and is skipped.
    int64_t left = requests[request].answerTokens - state.made;
    if (!state.decodes || state.since + left != step)
      continue;
    endDecoding(request);
    ended.push_back(request);
  }
  for (const Chunk &chunk : chunks)
    finishChunk(chunk, answering, ended);
}

void Replica::finishChunk(const Chunk &chunk, std::vector<size_t> &answering,
                          std::vector<size_t> &ended) {
  RequestState &state = states[chunk.request];
  state.prefilled += chunk.tokens;
  if (state.prefilled < state.toPrefill)
    return;
  prefilling.pop_front();
  ++tokens;
  if (state.made++ == 0)
    answering.push_back(chunk.request);
  if (state.made < requests[chunk.request].answerTokens)
    return beginDecoding(chunk.request);
  used -= heldBlocks(chunk.request, state.toPrefill);
  ended.push_back(chunk.request);
}
