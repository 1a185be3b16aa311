//===- Residents.cpp - Contents of caches and states ----------------------===//
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
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace mlir;

/// Returns the part `placement` of a microbatch, taken from the tensor of the
/// batch.
static LocalTensor takePart(const LocalTensor &whole,
                            const Placement &placement, const InBatch &place) {
  LocalTensor part(placement.shape());
  placement.forEach([&](int64_t local, int64_t at) {
    part.data[local] = at < 0 ? std::numeric_limits<double>::quiet_NaN()
                              : whole.data[place(at)];
  });
  return part;
}

/// Returns the dimension of a KV cache's rows that counts sequences; nothing if
/// there is none.
static std::optional<unsigned> batchDimOfRows(const TensorView &cache,
                                              const DeviceGrid &grid) {
  std::optional<unsigned> dim = grid.batchDimOf(cache);
  return dim && *dim > 1 ? std::optional(*dim - 1) : dim;
}

//===----------------------------------------------------------------------===//
// Initial contents of caches and states
//===----------------------------------------------------------------------===//

/// Returns random contents for the tokens that were cached before the first
/// step.
static CachedTokens tokensBefore(const std::string &key, const TensorView &type,
                                 const std::vector<int64_t> &shape,
                                 const DeviceGrid &grid) {
  const Workload &step = grid.workload();
  bool isContext = type.dim(1).extent.is("context");
  int64_t before = isContext ? step.context - step.query : 0;
  CachedTokens tokens;
  for (int64_t token = 0; token < before; ++token) {
    std::string name = key + "/" + std::to_string(token);
    LocalTensor row(shape);
    for (int64_t i = 0; i < row.size(); ++i)
      row.data[i] = randomNumber(name, i);
    tokens[token] = std::move(row);
  }
  return tokens;
}

/// Returns the state before the first step: zeros if there are no earlier
/// tokens, else random numbers.
static LocalTensor stateBefore(const std::string &key,
                               const std::vector<int64_t> &shape,
                               const DeviceGrid &grid) {
  LocalTensor state(shape);
  if (grid.workload().context != grid.workload().query)
    for (int64_t i = 0; i < state.size(); ++i)
      state.data[i] = randomNumber(key, i);
  return state;
}

/// Returns the contents that were taken over from another execution under
/// `key`; null if there are none.
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

LogicalResult Execution::fill(const std::string &key,
                              Kept<CachedTokens> &cache) {
  TensorView type(cache.handle);
  InBatch place(Placement(type, *grid, 0).without(1).wholeShape(),
                batchDimOfRows(type, *grid), microbatch, microbatches);
  CachedTokens random;
  if (!handed)
    random = tokensBefore(key, type, place.shapeOfBatch(), *grid);
  const CachedTokens *tokens =
      handed ? findHanded(handed->caches, key, cache.handle) : &random;
  if (!tokens)
    return failure();
  int64_t parts = grid->sizeOf(type.dim(1).axes);
  for (int64_t device : grid->active()) {
    Placement row = Placement(type, *grid, device).without(1);
    int64_t at = grid->placeOf(device, type.dim(1).axes);
    for (const auto &[token, whole] : *tokens)
      if (token % parts == at)
        cache.byDevice[device][token] = takePart(whole, row, place);
  }
  return success();
}

LogicalResult Execution::fill(const std::string &key,
                              Kept<LocalTensor> &state) {
  TensorView type(state.handle);
  InBatch place(Placement(type, *grid, 0).wholeShape(), grid->batchDimOf(type),
                microbatch, microbatches);
  LocalTensor before;
  if (!handed)
    before = stateBefore(key, place.shapeOfBatch(), *grid);
  const LocalTensor *whole =
      handed ? findHanded(handed->states, key, state.handle) : &before;
  if (!whole)
    return failure();
  for (int64_t device : grid->active())
    state.byDevice[device] =
        takePart(*whole, Placement(type, *grid, device), place);
  return success();
}

/// Returns the KV cache or state of `device` for the current microbatch; null
/// for other values.
template <typename T>
T *Execution::keptOf(Value value, int64_t device, AllKept<T> &all) {
  std::string key = residentKey(value);
  if (key.empty())
    return nullptr;
  Kept<T> &kept = all[key][microbatch];
  if (!llvm::is_contained(kept.devices, device)) {
    kept.handle = value;
    kept.byDevice.resize(grid->size());
    if (failed(fill(key, kept)))
      return nullptr;
    llvm::append_range(kept.devices, grid->active());
  }
  return &kept.byDevice[device];
}

CachedTokens *Execution::cacheOf(Value value, int64_t device) {
  return keptOf(value, device, caches);
}

LocalTensor *Execution::stateOf(Value value, int64_t device) {
  return keptOf(value, device, states);
}

//===----------------------------------------------------------------------===//
// Joining the parts of devices
//===----------------------------------------------------------------------===//

/// Copies a device's part into the whole row of a token; returns false if
/// another device has a different copy.
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

/// Returns a tensor of NaN, for elements that are not known yet.
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

/// Joins the parts of a KV cache that the devices have, for one microbatch.
static FailureOr<CachedTokens> joinDevices(Value value,
                                           ArrayRef<int64_t> devices,
                                           ArrayRef<CachedTokens> cache,
                                           const DeviceGrid &grid) {
  CachedTokens joined;
  for (int64_t device : devices) {
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

static FailureOr<LocalTensor> joinDevices(Value value,
                                          ArrayRef<int64_t> devices,
                                          ArrayRef<LocalTensor> state,
                                          const DeviceGrid &grid) {
  TensorView type(value);
  LocalTensor whole = unknown(Placement(type, grid, 0));
  for (int64_t device : devices)
    if (!addPart(whole, state[device], Placement(type, grid, device)))
      return failToJoin(value);
  if (!isKnown(whole))
    return failToJoin(value);
  return whole;
}

/// Joins a KV cache over all microbatches.
static FailureOr<CachedTokens>
joinBatch(Value value, ArrayRef<CachedTokens> parts, const DeviceGrid &grid) {
  std::map<int64_t, std::vector<LocalTensor>> rows;
  for (const CachedTokens &part : parts)
    for (const auto &[token, row] : part)
      rows[token].push_back(row);
  CachedTokens joined;
  for (const auto &[token, all] : rows) {
    if (all.size() != parts.size())
      return failToJoin(value);
    joined[token] = joinBatch(all, batchDimOfRows(TensorView(value), grid));
  }
  return joined;
}

static FailureOr<LocalTensor>
joinBatch(Value value, ArrayRef<LocalTensor> parts, const DeviceGrid &grid) {
  return joinBatch(parts, grid.batchDimOf(TensorView(value)));
}

template <typename T, typename AllKept>
static LogicalResult joinAll(const AllKept &kept, const DeviceGrid &grid,
                             std::map<std::string, T> &whole) {
  for (const auto &[key, microbatches] : kept) {
    std::vector<T> parts;
    for (const auto &[number, part] : microbatches) {
      FailureOr<T> joined =
          joinDevices(part.handle, part.devices, part.byDevice, grid);
      if (failed(joined))
        return failure();
      parts.push_back(std::move(*joined));
    }
    FailureOr<T> batch =
        joinBatch(microbatches.begin()->second.handle, parts, grid);
    if (failed(batch))
      return failure();
    whole[key] = std::move(*batch);
  }
  return success();
}

LogicalResult Execution::takeOver(const Execution &from) {
  handed.emplace();
  return failure(failed(joinAll(from.caches, *from.grid, handed->caches)) ||
                 failed(joinAll(from.states, *from.grid, handed->states)));
}

//===----------------------------------------------------------------------===//
// Bytes of caches and states
//===----------------------------------------------------------------------===//

int64_t autopar::interpreter::bytesOf(Value value, const LocalTensor &local) {
  ElementType type =
      *toElementType(TensorView(value).getType().getElementType());
  if (std::optional<BlockSize> block = blockOf(type))
    return (local.size() * block->bytes + block->values - 1) / block->values;
  return (local.size() * bitsOf(type) + 7) / 8;
}

static int64_t bytesOf(Value value, const CachedTokens &tokens) {
  int64_t sum = 0;
  for (const auto &[token, row] : tokens)
    sum += bytesOf(value, row);
  return sum;
}

/// Adds the bytes of the KV caches or states in `kept` to those of each device
/// in `all`.
template <typename AllKept>
static void addKept(const AllKept &kept, int64_t DeviceHoldings::*bytes,
                    std::vector<DeviceHoldings> &all) {
  for (const auto &[key, microbatches] : kept)
    for (const auto &[number, own] : microbatches)
      for (int64_t device : own.devices)
        all[device].*bytes += bytesOf(own.handle, own.byDevice[device]);
}

std::vector<DeviceHoldings> Execution::holdings() const {
  std::vector<DeviceHoldings> all(grid->size());
  for (auto [device, own] : llvm::enumerate(all)) {
    for (const auto &[weight, bytes] : weights[device])
      own.weights += bytes;
    own.sent = sentBytes[device];
    own.summed = summedBytes[device];
  }
  addKept(caches, &DeviceHoldings::caches, all);
  addKept(states, &DeviceHoldings::states, all);
  return all;
}
