//===- Collectives.cpp - Collectives between devices ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "RoutedRows.h"

#include <limits>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::parallel;
using namespace mlir;

/// Returns the axes of a collective.
template <typename OpTy>
static SmallVector<StringAttr> axesOf(OpTy op) {
  SmallVector<StringAttr> axes;
  for (Attribute axis : op.getAxes())
    axes.push_back(cast<StringAttr>(axis));
  return axes;
}

/// Returns the sum of the tensors that the devices in `group` have.
static LocalResult sumOf(Operation *op, Device &device, Value input,
                         const std::vector<int64_t> &group) {
  LocalTensor sum = device(input);
  for (int64_t member : group) {
    if (member == device.id)
      continue;
    const LocalTensor &other = device.of(member, input);
    if (other.shape != sum.shape || other.rows != sum.rows)
      return op->emitError("devices that are to be added differ in shape");
    for (int64_t i = 0; i < sum.size(); ++i)
      sum.data[i] += other.data[i];
  }
  return sum;
}

/// Assembles a tensor with the indices `wanted` along `dim` from parts, each of
/// which comes with the indices that it has.
static LocalResult
stitch(Operation *op, size_t dim, const std::vector<int64_t> &wanted,
       const std::vector<std::pair<LocalTensor, std::vector<int64_t>>> &parts) {
  LocalTensor result;
  result.rows = parts.front().first.rows;
  result.shape = parts.front().first.shape;
  result.shape[dim] = static_cast<int64_t>(wanted.size());
  result.data.assign(result.extentFrom(0),
                     std::numeric_limits<double>::quiet_NaN());
  bool hasExperts = llvm::any_of(
      parts, [](const auto &part) { return !part.first.experts.empty(); });
  if (hasExperts)
    result.experts.assign(result.data.size(), -1);
  Strides to(result.shape, dim);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < 0)
      continue;
    bool isFound = false;
    for (const auto &[part, indices] : parts) {
      int64_t at = find(indices, wanted[i]);
      if (at < 0)
        continue;
      Strides from(part.shape, dim);
      if (from.outer != to.outer || from.inner != to.inner)
        return op->emitError("devices differ in dimensions that stay");
      if (from.extent != static_cast<int64_t>(indices.size()))
        return op->emitError("a device has ")
               << from.extent << " of the " << indices.size()
               << " indices that its type says";
      for (int64_t outer = 0; outer < to.outer; ++outer)
        for (int64_t inner = 0; inner < to.inner; ++inner) {
          int64_t target = to.at(outer, int64_t(i), inner);
          int64_t source = from.at(outer, at, inner);
          result.data[target] = part.data[source];
          if (hasExperts)
            result.experts[target] = part.experts[source];
        }
      isFound = true;
      break;
    }
    if (!isFound)
      return op->emitError("no device of the group has index ")
             << wanted[i] << " of dimension " << dim;
  }
  return result;
}

/// Returns where each of the `wanted` indices is in `indices`; -1 for padding.
static std::vector<int64_t> placesOf(const std::vector<int64_t> &wanted,
                                     const std::vector<int64_t> &indices) {
  std::vector<int64_t> places;
  for (int64_t index : wanted)
    places.push_back(index < 0 ? -1 : find(indices, index));
  return places;
}

static LocalResult run(AllReduceOp op, Device &device) {
  return sumOf(op, device, op.getInput(),
               device.grid().groupOf(device.id, axesOf(op)));
}

/// Whether `dim` of `value` is its set of routed tokens, or stands for the
/// experts by which the set is grouped.
static bool isOfSet(Value value, int64_t dim) {
  return dim == expertsDim || (dim == 0 && TensorView(value).isSet());
}

static std::vector<LocalTensor> tensorsOf(Device &device, Value input,
                                          const std::vector<int64_t> &group) {
  std::vector<LocalTensor> parts;
  for (int64_t member : group)
    parts.push_back(device.of(member, input));
  return parts;
}

/// Joins the parts of dimension `dim` that the devices of a group have.
template <typename Op>
static LocalResult joinParts(Op op, Device &device) {
  std::vector<int64_t> group = device.grid().groupOf(device.id, axesOf(op));
  auto dim = static_cast<int64_t>(op.getDim());
  std::vector<std::pair<LocalTensor, std::vector<int64_t>>> parts;
  for (int64_t member : group)
    parts.push_back(
        {device.of(member, op.getInput()),
         device.grid().indicesOf(TensorView(op.getInput()), dim, member)});
  return stitch(op, dim, device.indices(op.getResult(), dim), parts);
}

static LocalResult run(AllGatherOp op, Device &device) {
  if (!isOfSet(op.getInput(), static_cast<int64_t>(op.getDim())))
    return joinParts(op, device);
  return joinRows(tensorsOf(device, op.getInput(),
                            device.grid().groupOf(device.id, axesOf(op))));
}

/// Sums over the devices of a group, and returns the part that belongs to this
/// device.
template <typename Op>
static LocalResult sumAndSelect(Op op, Device &device) {
  LocalResult sum = sumOf(op, device, op.getInput(),
                          device.grid().groupOf(device.id, axesOf(op)));
  if (failed(sum))
    return failure();
  auto dim = static_cast<int64_t>(op.getDim());
  if (isOfSet(op.getInput(), dim))
    return RowHomes(TensorView(op.getResult()), device.grid())
        .select(*sum, device.id, axesOf(op));
  return sum->select(dim, placesOf(device.indices(op.getResult(), dim),
                                   device.indices(op.getInput(), dim)));
}

static LocalResult run(ReduceScatterOp op, Device &device) {
  return sumAndSelect(op, device);
}

static LocalResult run(AllSliceOp op, Device &device) {
  auto dim = static_cast<int64_t>(op.getDim());
  const LocalTensor &input = device(op.getInput());
  if (isOfSet(op.getInput(), dim))
    return RowHomes(TensorView(op.getResult()), device.grid())
        .select(input, device.id, axesOf(op));
  return input.select(dim, placesOf(device.indices(op.getResult(), dim),
                                    device.indices(op.getInput(), dim)));
}

/// Returns the data that device `member` sends to `device`: the rows of a set,
/// or the indices of dimension `to` that the result has.
static LocalTensor sentBy(AllToAllOp op, int64_t member, Device &device,
                          int64_t to) {
  const LocalTensor &all = device.of(member, op.getInput());
  if (isOfSet(op.getInput(), to))
    return RowHomes(TensorView(op.getResult()), device.grid())
        .select(all, device.id, axesOf(op));
  return all.select(to, placesOf(device.indices(op.getResult(), to),
                                 device.grid().indicesOf(
                                     TensorView(op.getInput()), to, member)));
}

static LocalResult run(AllToAllOp op, Device &device) {
  auto from = static_cast<int64_t>(op.getFrom());
  auto to = static_cast<int64_t>(op.getTo());
  std::vector<LocalTensor> sent;
  std::vector<std::pair<LocalTensor, std::vector<int64_t>>> parts;
  for (int64_t member : device.grid().groupOf(device.id, axesOf(op)))
    if (isOfSet(op.getInput(), from))
      sent.push_back(sentBy(op, member, device, to));
    else
      parts.push_back(
          {sentBy(op, member, device, to),
           device.grid().indicesOf(TensorView(op.getInput()), from, member)});
  if (isOfSet(op.getInput(), from))
    return joinRows(sent);
  return stitch(op, from, device.indices(op.getResult(), from), parts);
}

/// Takes the block of this device from a device that has it.
static LocalResult run(PermuteOp op, Device &device) {
  TensorView from(op.getInput());
  // A set may be permuted, because all devices of the group have the same rows
  // of it.
  unsigned first = TensorView(op.getInput()).isSet() ? 1 : 0;
  for (int64_t member : device.grid().groupOf(device.id, axesOf(op))) {
    bool isSame = true;
    for (unsigned dim = first; dim < from.rank(); ++dim)
      isSame &= device.grid().indicesOf(from, dim, member) ==
                device.indices(op.getResult(), dim);
    if (isSame)
      return device.of(member, op.getInput());
  }
  return op.emitError("no device of the group has the block");
}

/// A KV cache stays where it is, and attention reads the parts of all devices;
/// other values are joined from all parts that are passed around.
static LocalResult run(RingOp op, Device &device) {
  if (isa<TensorHandleInterface>(op.getInput().getType()))
    return device(op.getInput());
  return joinParts(op, device);
}

static LocalResult run(RingReduceOp op, Device &device) {
  return sumAndSelect(op, device);
}

void autopar::interpreter::attachCollectives(MLIRContext *context) {
  attach<AllReduceOp, run>(context);
  attach<AllGatherOp, run>(context);
  attach<ReduceScatterOp, run>(context);
  attach<AllSliceOp, run>(context);
  attach<AllToAllOp, run>(context);
  attach<PermuteOp, run>(context);
  attach<RingOp, run>(context);
  attach<RingReduceOp, run>(context);
}
