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
// Caches
//===----------------------------------------------------------------------===//

/// When, in steps modulo a block, its next token opens a block.
int64_t &Replica::openers(const RequestState &state) {
  int64_t phase = (state.since - state.contextThen) % engine.blockTokens;
  if (phase < 0)
    phase += engine.blockTokens;
  return opensBlock[static_cast<size_t>(phase)];
}

/// Of a request with `tokens` in its cache.
int64_t Replica::heldBlocks(size_t request, int64_t tokens) const {
  if (engine.reservesAnswers)
    tokens = requests[request].promptTokens + requests[request].answerTokens;
  return engine.blocksOf(tokens);
}

/// Blocks that the next step opens.
int64_t Replica::blocksToOpen() const {
  return engine.reservesAnswers
             ? 0
             : opensBlock[static_cast<size_t>(steps % engine.blockTokens)];
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void Replica::beginDecoding(size_t request) {
  RequestState &state = states[request];
  state.decodes = true;
  state.since = steps;
  state.contextThen = state.toRead;
  int64_t left = requests[request].answerTokens - state.made;
  ends.emplace(steps + left, request);
  begun.push_back(request);
  ++decoding;
  contexts += state.toRead;
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

/// The last that began gives its room up, and is read again when there is some.
void Replica::evictLast() {
  while (!states[begun.back()].decodes)
    begun.pop_back();
  size_t request = begun.back();
  begun.pop_back();
  endDecoding(request);
  RequestState &state = states[request];
  state.toRead = requests[request].promptTokens + state.made;
  state.read = 0;
  ++state.evictions;
  waiting.push_front(request);
}

void Replica::planDecoding() {
  while (decoding > 0 && used + blocksToOpen() > engine.blocks)
    evictLast();
  decodesNext = decoding > 0;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Whether the next that waits may begin, `budget` tokens at once.
bool Replica::admit(int64_t budget) {
  size_t request = waiting.front();
  RequestState &state = states[request];
  int64_t running = decoding + static_cast<int64_t>(reading.size());
  if (running >= engine.maxSequences)
    return false;
  if (state.toRead == 0) {
    state.toRead = requests[request].promptTokens;
    state.read = requests[request].cachedTokens;
  }
  // One that has no room beside what decodes is read all the same.
  if (!engine.cutsPrompts && state.toRead - state.read > budget &&
      !pieces.empty())
    return false;
  // What decodes has room for its next token, whenever that is.
  int64_t held = heldBlocks(request, state.toRead);
  if (used + blocksToOpen() + held > engine.blocks)
    return false;
  used += held;
  waiting.pop_front();
  reading.push_back(request);
  return true;
}

void Replica::planReading(int64_t budget) {
  size_t next = 0;
  budget = std::max<int64_t>(budget, engine.cutsPrompts ? 0 : 1);
  while (budget > 0) {
    if (next == reading.size() && (waiting.empty() || !admit(budget)))
      return;
    size_t request = reading[next++];
    int64_t left = states[request].toRead - states[request].read;
    int64_t tokens = engine.cutsPrompts ? std::min(left, budget) : left;
    pieces.push_back({request, tokens});
    budget -= tokens;
  }
}

//===----------------------------------------------------------------------===//
// Steps
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
         std::all_of(pieces.begin(), pieces.end(),
                     [](const Piece &piece) { return piece.tokens == 1; });
}

void Replica::plan() {
  pieces.clear();
  decodesNext = false;
  if (engine.fusesPrompts)
    planDecoding();
  planReading(engine.stepTokens - (engine.fusesPrompts ? decoding : 0));
}

StepLoad Replica::planned() const {
  StepLoad load;
  int64_t tokens = 0, seen = 0;
  for (const Piece &piece : pieces) {
    tokens += piece.tokens;
    seen += states[piece.request].read + piece.tokens;
  }
  int64_t held = decodesNext ? contexts + decoding : 0;
  load.decoding = static_cast<double>(decodesNext ? decoding : 0);
  bool joins = joinsDecoding();
  if (joins) {
    load.decoding += static_cast<double>(pieces.size());
    held += seen;
  }
  if (load.decoding > 0)
    load.context = std::round(static_cast<double>(held) / load.decoding);
  if (pieces.empty() || joins)
    return load;
  load.prompts = static_cast<double>(pieces.size());
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
    // Ends of those that were evicted since are of no meaning.
    int64_t left = requests[request].answerTokens - state.made;
    if (!state.decodes || state.since + left != step)
      continue;
    endDecoding(request);
    ended.push_back(request);
  }
  for (const Piece &piece : pieces)
    finishPiece(piece, answering, ended);
}

void Replica::finishPiece(const Piece &piece, std::vector<size_t> &answering,
                          std::vector<size_t> &ended) {
  RequestState &state = states[piece.request];
  state.read += piece.tokens;
  if (state.read < state.toRead)
    return;
  reading.pop_front();
  ++tokens;
  if (state.made++ == 0)
    answering.push_back(piece.request);
  if (state.made < requests[piece.request].answerTokens)
    return beginDecoding(piece.request);
  used -= heldBlocks(piece.request, state.toRead);
  ended.push_back(piece.request);
}
