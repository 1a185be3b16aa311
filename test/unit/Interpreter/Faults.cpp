//===- Faults.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"

#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::parallel;
using namespace mlir;

StringRef autopar::nameOf(FaultKind kind) {
  static const char *const names[] = {
      "skipped",      "doubled",         "other devices", "a peer's part",
      "lost part",    "swapped parts",   "stale",         "stray row",
      "lost append",  "misplaced token", "overwritten",   "kept twice",
      "lost peer",    "wrong peer",      "not updated",   "updated twice",
      "lost value",   "idle value",      "other part",    "stale values",
      "other device", "skipped task",    "repeated task"};
  static_assert(std::size(names) == faultKinds);
  return names[static_cast<int>(kind)];
}

//===----------------------------------------------------------------------===//
// What can go wrong where
//===----------------------------------------------------------------------===//

/// The operand that is an `OpTy` seen through rings, or null.
template <typename OpTy>
static Value residentOperand(Operation *op) {
  if (isa<ParallelDialect>(op->getDialect()))
    return {};
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    while (auto ring = dyn_cast_if_present<RingOp>(source))
      source = ring.getInput().getDefiningOp();
    if (isa_and_present<OpTy>(source))
      return operand;
  }
  return {};
}

static Value cacheOf(Operation *op) {
  return residentOperand<transformer::KVCacheOp>(op);
}
static Value stateOf(Operation *op) {
  return residentOperand<transformer::StateOp>(op);
}

bool autopar::canHave(Operation *op, FaultKind kind) {
  bool brings =
      isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, PermuteOp>(op);
  bool isSet = op->getNumResults() == 1 && TensorView(op->getResult(0)).isSet();
  switch (kind) {
  case FaultKind::skipped:
  case FaultKind::peersPart:
  case FaultKind::stale:
    return brings || isa<AllSliceOp>(op);
  case FaultKind::doubled:
    return isa<AllReduceOp, ReduceScatterOp>(op);
  case FaultKind::otherDevices:
  case FaultKind::lostPart:
  case FaultKind::swappedParts:
    return brings;
  case FaultKind::strayRow:
    return brings && isSet;
  case FaultKind::lostAppend:
  case FaultKind::misplacedToken:
  case FaultKind::overwritten:
    return cacheOf(op) != nullptr;
  case FaultKind::keptTwice:
  case FaultKind::lostPeer:
  case FaultKind::wrongPeer:
    return cacheOf(op) && !TensorView(cacheOf(op)).dim(1).axes.empty();
  case FaultKind::notUpdated:
  case FaultKind::updatedTwice:
    return stateOf(op) != nullptr;
  case FaultKind::lostValue:
  case FaultKind::idleValue:
  case FaultKind::otherMicrobatch:
  case FaultKind::staleValues:
  case FaultKind::swappedDevices:
  case FaultKind::skippedTask:
  case FaultKind::repeatedTask:
    return isa<StagesOp>(op);
  }
  return false;
}

FailureOr<LocalTensors> Counter::execute(ExecutableOpInterface op,
                                         Device &device) {
  if (device.id == device.grid().active().front())
    ++times[op];
  return op.execute(device);
}

/// Ops that faults are at have one result.
static FailureOr<LocalTensor> executeOne(ExecutableOpInterface op,
                                         Device &device) {
  FailureOr<LocalTensors> results = op.execute(device);
  if (failed(results))
    return failure();
  return std::move(results->front());
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

/// Far from whatever a model computes.
static constexpr double poison = 1e3;

static bool differ(double a, double b) {
  return std::isnan(a) != std::isnan(b) || std::abs(a - b) > 1e-9;
}

/// Whether `spoiled` is not `right`; what is not becomes poison where asked
/// for.
static bool findChange(LocalTensor &spoiled, const LocalTensor &right,
                       bool poisons) {
  if (spoiled.shape != right.shape || spoiled.rows != right.rows)
    return true;
  bool changed = spoiled.experts != right.experts;
  for (int64_t i = 0; i < right.size(); ++i)
    if (differ(spoiled.data[i], right.data[i])) {
      changed = true;
      if (poisons)
        spoiled.data[i] = poison;
    }
  return changed;
}

void Saboteur::compare(LocalTensor &spoiled, const LocalTensor &right) {
  changed |= findChange(spoiled, right, fault.poisons);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static std::vector<int64_t> groupOf(Operation *op, const Device &device) {
  SmallVector<StringAttr> axes;
  for (Attribute axis : op->getAttrOfType<ArrayAttr>("axes"))
    axes.push_back(cast<StringAttr>(axis));
  return device.grid().groupOf(device.id, axes);
}

/// `own`, its elements again and again up to the shape of `right`.
static LocalTensor filled(const LocalTensor &own, LocalTensor right) {
  if (!right.rows.empty() || !own.rows.empty())
    return own;
  for (int64_t i = 0; i < right.size(); ++i) {
    right.data[i] = own.size() ? own.data[i % own.size()] : 0;
    if (!right.experts.empty() && !own.experts.empty())
      right.experts[i] = own.experts[i % own.size()];
  }
  return right;
}

static void empty(LocalTensor &part) {
  if (!part.rows.empty())
    part = part.select(0, {});
  std::fill(part.data.begin(), part.data.end(), 0);
}

/// `op` on `device` where what its group has is something else.
FailureOr<LocalTensor> Saboteur::withParts(ExecutableOpInterface op,
                                           Device &device) {
  DeviceTensors &parts = device.run.valueOf(op->getOperand(0));
  DeviceTensors right = parts;
  std::vector<int64_t> group = groupOf(op, device);
  auto member = [&](int64_t place) { return group[place % group.size()]; };
  if (fault.kind == FaultKind::lostPart)
    empty(parts[member(fault.peer)]);
  if (fault.kind == FaultKind::swappedParts)
    std::swap(parts[member(fault.peer)], parts[member(fault.peer + 1)]);
  if (fault.kind == FaultKind::otherDevices) {
    std::vector<int64_t> outside;
    for (int64_t other : device.grid().active())
      if (!llvm::is_contained(group, other))
        outside.push_back(other);
    for (size_t i = 0; i < group.size() && !outside.empty(); ++i)
      if (group[i] != device.id)
        parts[group[i]] = right[outside[(fault.peer + i) % outside.size()]];
  }
  FailureOr<LocalTensor> result = executeOne(op, device);
  parts = std::move(right);
  return result;
}

/// The victim's last row goes to the device after it.
void Saboteur::moveRow(LocalTensor &result, const Device &device) {
  if (device.id == fault.victim && !result.rows.empty()) {
    auto count = static_cast<int64_t>(result.rows.size());
    std::vector<int64_t> kept;
    for (int64_t row = 0; row + 1 < count; ++row)
      kept.push_back(row);
    strayed = result.select(0, {count - 1});
    result = result.select(0, kept);
    changed = true;
  } else if (device.id == fault.victim + 1 && !strayed.rows.empty()) {
    auto place = llvm::lower_bound(result.rows, strayed.rows.front());
    int64_t width = result.extentFrom(1), at = place - result.rows.begin();
    result.data.insert(result.data.begin() + at * width, strayed.data.begin(),
                       strayed.data.end());
    result.rows.insert(place, strayed.rows.front());
    ++result.shape[0];
  }
}

/// One of the devices that execute what `device` does.
static int64_t peerOf(const Device &device, const Fault &fault) {
  ArrayRef<int64_t> devices = device.grid().active();
  return devices[fault.peer % devices.size()];
}

/// What `device` has of a collective that goes wrong.
FailureOr<LocalTensor> Saboteur::spoil(ExecutableOpInterface op,
                                       Device &device) {
  FailureOr<LocalTensor> right = executeOne(op, device);
  if (failed(right))
    return failure();
  FailureOr<LocalTensor> spoiled = *right;
  Device peer(device.run, peerOf(device, fault));
  switch (fault.kind) {
  case FaultKind::skipped:
    spoiled = filled(device(op->getOperand(0)), *right);
    break;
  case FaultKind::doubled:
    for (double &element : spoiled->data)
      element *= 2;
    break;
  case FaultKind::peersPart:
    spoiled = executeOne(op, peer);
    break;
  case FaultKind::stale:
    if (last.count(device.id) && last[device.id].shape == right->shape)
      spoiled = last[device.id];
    break;
  default:
    spoiled = withParts(op, device);
  }
  if (failed(spoiled))
    changed = true;
  else
    compare(*spoiled, *right);
  return spoiled;
}

//===----------------------------------------------------------------------===//
// Caches and states
//===----------------------------------------------------------------------===//

/// `before`: without the tokens of this step.
void Saboteur::spoilCache(CachedTokens &cache, const CachedTokens &before,
                          CachedTokens &peers) {
  CachedTokens right = cache;
  std::vector<int64_t> added;
  for (const auto &[token, row] : right)
    if (!before.count(token))
      added.push_back(token);
  if (added.empty())
    return;
  int64_t token = added[fault.peer % added.size()];
  switch (fault.kind) {
  case FaultKind::lostAppend:
    cache = before;
    changed = true;
    break;
  case FaultKind::misplacedToken:
    cache[token + 1] = right[token];
    cache.erase(token);
    changed = true;
    break;
  case FaultKind::overwritten:
    for (auto &[other, row] : cache)
      if (other != token) {
        row = right[token];
        compare(row, right[other]);
        break;
      }
    break;
  default: // Kept twice.
    if (auto [kept, isNew] = peers.try_emplace(token, right[token]); isNew) {
      changed = true;
      if (fault.poisons)
        kept->second = LocalTensor(right[token].shape, poison);
    }
  }
}

/// `op` on `device` where what it sees of a peer's cache is something else.
FailureOr<LocalTensor> Saboteur::withOtherCache(ExecutableOpInterface op,
                                                Device &device) {
  Value value = cacheOf(op);
  std::vector<int64_t> group =
      device.grid().groupOf(device.id, TensorView(value).dim(1).axes);
  int64_t peer = group[fault.peer % group.size()];
  const CachedTokens own = *device.run.cacheOf(value, device.id);
  CachedTokens &cache = *device.run.cacheOf(value, peer);
  CachedTokens right = cache;
  if (peer == device.id || own.empty() || right.empty())
    return executeOne(op, device);
  if (fault.kind == FaultKind::lostPeer) {
    cache.clear();
    changed = true;
  } else {
    auto next = own.begin();
    for (auto &[token, row] : cache) {
      row = next->second;
      compare(row, right[token]);
      if (++next == own.end())
        next = own.begin();
    }
  }
  FailureOr<LocalTensor> result = executeOne(op, device);
  cache = std::move(right);
  return result;
}

FailureOr<LocalTensor> Saboteur::withOtherState(ExecutableOpInterface op,
                                                Device &device) {
  LocalTensor &state = *device.run.stateOf(stateOf(op), device.id);
  LocalTensor before = state;
  FailureOr<LocalTensor> result = executeOne(op, device);
  LocalTensor right = state;
  if (fault.kind == FaultKind::notUpdated)
    state = before;
  else
    (void)executeOne(op, device);
  compare(state, right);
  return result;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void Saboteur::order(StageOrders &orders) {
  bool skips = fault.kind == FaultKind::skippedTask;
  if (changed || (!skips && fault.kind != FaultKind::repeatedTask))
    return;
  std::vector<StageTask> &tasks = orders[fault.peer % orders.size()];
  auto task = tasks.begin() + fault.site.time % tasks.size();
  if (skips)
    tasks.erase(task);
  else
    tasks.insert(task, StageTask(*task));
  changed = true;
}

void Saboteur::spoilMessage(StageMessage &message) {
  if (message.parts.empty())
    return;
  StageMessage::Part &part = message.parts[fault.peer % message.parts.size()];
  const DeviceTensors right = part.tensors;
  switch (fault.kind) {
  case FaultKind::lostValue:
    changed = true;
    message.parts.erase(message.parts.begin() +
                        fault.peer % message.parts.size());
    return;
  case FaultKind::idleValue: {
    Operation *op = part.value.getParentRegion()->getParentOp();
    auto function = dyn_cast<func::FuncOp>(op);
    function = function ? function : op->getParentOfType<func::FuncOp>();
    changed = true;
    message.parts.push_back({function.getArgument(0), right});
    return;
  }
  case FaultKind::otherMicrobatch:
    changed = true;
    message.to.microbatch ^= 1;
    return;
  case FaultKind::staleValues:
    for (const StageMessage::Part &before : lastMessage.parts)
      if (before.value == part.value && message.from == lastMessage.from)
        part.tensors = before.tensors;
    break;
  default: // Swapped devices.
    std::vector<size_t> devices;
    for (auto [device, local] : llvm::enumerate(right))
      if (!local.shape.empty())
        devices.push_back(device);
    std::swap(part.tensors[devices.front()], part.tensors[devices.back()]);
  }
  for (auto [spoiled, own] : llvm::zip(part.tensors, right))
    compare(spoiled, own);
}

void Saboteur::send(StageMessage &message) {
  bool isHere = fault.kind >= FaultKind::lostValue &&
                fault.kind <= FaultKind::swappedDevices &&
                time == fault.site.time;
  StageMessage right = message;
  if (isHere)
    spoilMessage(message);
  lastMessage = std::move(right);
  time += isa<StagesOp>(fault.site.op);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool Saboteur::isAt(Operation *op, const Device &device) const {
  return op == fault.site.op && time == fault.site.time &&
         (fault.victim < 0 || fault.victim == device.id);
}

LogicalResult Saboteur::prepare(ExecutableOpInterface op, Device &device) {
  bool isCaches =
      fault.kind >= FaultKind::lostAppend && fault.kind <= FaultKind::keptTwice;
  if (!isCaches || !isAt(op, device))
    return op.prepare(device);
  Value value = cacheOf(op);
  CachedTokens before = *device.run.cacheOf(value, device.id);
  if (failed(op.prepare(device)))
    return failure();
  spoilCache(*device.run.cacheOf(value, device.id), before,
             *device.run.cacheOf(value, peerOf(device, fault)));
  return success();
}

FailureOr<LocalTensors> Saboteur::execute(ExecutableOpInterface op,
                                          Device &device) {
  if (op != fault.site.op)
    return op.execute(device);
  FailureOr<LocalTensor> result;
  if (fault.kind == FaultKind::strayRow) {
    result = executeOne(op, device);
    if (succeeded(result) && time == fault.site.time)
      moveRow(*result, device);
  } else if (isAt(op, device) && fault.kind < FaultKind::lostAppend) {
    result = spoil(op, device);
  } else if (isAt(op, device) && fault.kind >= FaultKind::notUpdated) {
    result = withOtherState(op, device);
  } else if (isAt(op, device) && fault.kind >= FaultKind::lostPeer) {
    result = withOtherCache(op, device);
  } else {
    result = executeOne(op, device);
  }
  bool isLast = device.id == device.grid().active().back();
  if (time + 1 == fault.site.time && succeeded(result))
    last[device.id] = *result;
  time += isLast;
  if (failed(result))
    return failure();
  return LocalTensors{std::move(*result)};
}
