//===- Residents.cpp - What caches and states hold ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Execution.h"

#include "Placement.h"

#include <cmath>
#include <limits>

using namespace autopar;
using namespace mlir;

/// The part that `placement` says of `whole`.
static LocalTensor takePart(const LocalTensor &whole,
                            const Placement &placement) {
  LocalTensor part(placement.shape());
  placement.forEach([&](int64_t local, int64_t at) {
    part.data[local] =
        at < 0 ? std::numeric_limits<double>::quiet_NaN() : whole.data[at];
  });
  return part;
}

//===----------------------------------------------------------------------===//
// What they begin with
//===----------------------------------------------------------------------===//

/// Tokens that were cached before the first step: random ones.
static CachedTokens tokensBefore(const std::string &key, const TensorView &type,
                                 const DeviceGrid &grid) {
  const Workload &step = grid.workload();
  bool isContext = type.dim(1).extent == "context";
  int64_t before = isContext ? step.context - step.query : 0;
  CachedTokens tokens;
  for (int64_t token = 0; token < before; ++token) {
    std::string name = key + "/" + std::to_string(token);
    LocalTensor row(Placement(type, grid, 0).without(1).wholeShape());
    for (int64_t i = 0; i < row.size(); ++i)
      row.data[i] = randomNumber(name, i);
    tokens[token] = std::move(row);
  }
  return tokens;
}

/// A state before the first step: of nothing, or a random one.
static LocalTensor stateBefore(const std::string &key, const TensorView &type,
                               const DeviceGrid &grid) {
  LocalTensor state(Placement(type, grid, 0).wholeShape());
  if (grid.workload().context != grid.workload().query)
    for (int64_t i = 0; i < state.size(); ++i)
      state.data[i] = randomNumber(key, i);
  return state;
}

/// What was handed over under `key`.
template <typename T>
static const T *findHanded(const std::map<std::string, T> &all,
                           const std::string &key, Value value) {
  auto found = all.find(key);
  if (found != all.end())
    return &found->second;
  emitError(value.getLoc(), "was not handed over: the module before did not "
                            "run it");
  return nullptr;
}

LogicalResult Execution::fill(Value value, const std::string &key,
                              std::vector<CachedTokens> &cache) {
  TensorView type(value);
  residents[key] = value;
  CachedTokens random;
  if (!handed)
    random = tokensBefore(key, type, *grid);
  const CachedTokens *tokens =
      handed ? findHanded(handed->caches, key, value) : &random;
  if (!tokens)
    return failure();
  int64_t parts = grid->sizeOf(type.dim(1).axes);
  for (int64_t device = 0; device < grid->size(); ++device) {
    Placement row = Placement(type, *grid, device).without(1);
    int64_t place = grid->placeOf(device, type.dim(1).axes);
    for (const auto &[token, whole] : *tokens)
      if (token % parts == place)
        cache[device][token] = takePart(whole, row);
  }
  return success();
}

LogicalResult Execution::fill(Value value, const std::string &key,
                              DeviceTensors &state) {
  TensorView type(value);
  residents[key] = value;
  LocalTensor before;
  if (!handed)
    before = stateBefore(key, type, *grid);
  const LocalTensor *whole =
      handed ? findHanded(handed->states, key, value) : &before;
  if (!whole)
    return failure();
  for (int64_t device = 0; device < grid->size(); ++device)
    state[device] = takePart(*whole, Placement(type, *grid, device));
  return success();
}

//===----------------------------------------------------------------------===//
// What they have come to
//===----------------------------------------------------------------------===//

/// Puts a device's row of a token into the whole one; false where another
/// device has another copy.
static bool addPart(LocalTensor &whole, const LocalTensor &part,
                    const Placement &placement) {
  if (part.shape != placement.shape())
    return false;
  bool isSame = true;
  placement.forEach([&](int64_t local, int64_t at) {
    if (at < 0)
      return;
    double &element = whole.data[at];
    isSame &= std::isnan(element) || std::abs(element - part.data[local]) <=
                                         1e-9 * (1 + std::abs(element));
    element = part.data[local];
  });
  return isSame;
}

/// A tensor of which nothing is known yet.
static LocalTensor unknown(const Placement &placement) {
  return LocalTensor(placement.wholeShape(),
                     std::numeric_limits<double>::quiet_NaN());
}

static bool isKnown(const LocalTensor &whole) {
  return llvm::none_of(whole.data, [](double x) { return std::isnan(x); });
}

static LogicalResult failToJoin(Value value) {
  return emitError(value.getLoc(),
                   "devices do not have it as its type says: copies that "
                   "differ, or elements that none has");
}

static FailureOr<CachedTokens> joinCache(Value value,
                                         const std::vector<CachedTokens> &cache,
                                         const DeviceGrid &grid) {
  CachedTokens joined;
  for (int64_t device = 0; device < grid.size(); ++device) {
    Placement row = Placement(TensorView(value), grid, device).without(1);
    for (const auto &[token, part] : cache[device]) {
      LocalTensor &whole =
          joined.try_emplace(token, unknown(row)).first->second;
      if (!addPart(whole, part, row))
        return failToJoin(value);
    }
  }
  for (const auto &[token, whole] : joined)
    if (!isKnown(whole))
      return failToJoin(value);
  return joined;
}

static FailureOr<LocalTensor> joinState(Value value, const DeviceTensors &state,
                                        const DeviceGrid &grid) {
  TensorView type(value);
  LocalTensor whole = unknown(Placement(type, grid, 0));
  for (int64_t device = 0; device < grid.size(); ++device)
    if (!addPart(whole, state[device], Placement(type, grid, device)))
      return failToJoin(value);
  if (!isKnown(whole))
    return failToJoin(value);
  return whole;
}

LogicalResult Execution::takeOver(const Execution &from) {
  handed.emplace();
  for (const auto &[key, cache] : from.caches) {
    FailureOr<CachedTokens> joined =
        joinCache(from.residents.at(key), cache, *from.grid);
    if (failed(joined))
      return failure();
    handed->caches[key] = std::move(*joined);
  }
  for (const auto &[key, state] : from.states) {
    FailureOr<LocalTensor> joined =
        joinState(from.residents.at(key), state, *from.grid);
    if (failed(joined))
      return failure();
    handed->states[key] = std::move(*joined);
  }
  return success();
}
