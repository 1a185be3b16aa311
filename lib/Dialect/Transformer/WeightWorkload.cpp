//===- WeightWorkload.cpp - Bytes of weights ------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

static Dim number(int64_t extent) {
  Dim dim;
  dim.extent.factor = extent;
  return dim;
}

namespace {

/// Computes which share of the tensors of a quantisation format belongs to one
/// weight. The shares of all weights that are parts of one checkpoint tensor
/// add up to the tensor.
class FormatShare {
public:
  FormatShare(WeightOp weight, WorkloadBuilder &builder)
      : groups(getStorageGroups(weight)), dims(builder.dims(weight)),
        shape(TensorView(weight.getResult()).getType().getShape()),
        spread(getSpreadDim(weight)) {}

  /// Returns the dimensions of the weight's share in `tensor`; nothing if it
  /// has none.
  std::optional<Dims> of(FormatTensorAttr tensor) {
    share.clear();
    if (spread)
      share.push_back(dims[*spread]);
    ArrayRef<StorageGroupAttr> all = groups;
    bool flat = usesAll(tensor);
    for (StorageGroupAttr group : all.drop_back(flat ? all.size() : 2))
      add(StoredDim{StoredDim::Base::i}, group);
    llvm::SmallDenseSet<unsigned, 2> used;
    for (const StoredDim &dim : tensor.getDims()) {
      used.insert(static_cast<unsigned>(dim.base));
      add(dim, groupsOf(dim.base));
    }
    for (StoredDim::Base base : {StoredDim::Base::o, StoredDim::Base::i})
      if (!flat && !used.contains(static_cast<unsigned>(base)) &&
          partOf(groupsOf(base)).start != 0)
        return std::nullopt;
    for (const Dim &dim : share)
      if (dim.extent.factor == 0)
        return std::nullopt;
    return share;
  }

private:
  ArrayRef<StorageGroupAttr> groupsOf(StoredDim::Base base) const {
    ArrayRef<StorageGroupAttr> all = groups;
    switch (base) {
    case StoredDim::Base::one:
      return {};
    case StoredDim::Base::o:
      return all.slice(all.size() - 2, 1);
    case StoredDim::Base::i:
      return all.take_back();
    case StoredDim::Base::all:
      return all;
    }
    llvm_unreachable("covered switch");
  }

  /// Returns the range that the weight has in the product of several checkpoint
  /// dimensions.
  StoredPart partOf(ArrayRef<StorageGroupAttr> product) const {
    StoredPart whole;
    for (StorageGroupAttr group : product)
      whole.total *= getStoredPart(group, shape).total;
    whole.length = whole.total;
    for (StorageGroupAttr group : product)
      whole = whole.nest(getStoredPart(group, shape));
    return whole;
  }

  /// Adds a dimension of a stored tensor that is made of the dimensions
  /// `product`. Splits of these remain if the other factors cancel exactly;
  /// else the whole dimension is split, unevenly.
  void add(const StoredDim &stored, ArrayRef<StorageGroupAttr> product) {
    Dims split;
    Dim merged;
    int64_t rest = 1;
    for (StorageGroupAttr group : product)
      for (const StorageFactor &factor : group.getFactors()) {
        if (factor.dim == StorageFactor::noDim)
          continue;
        const Dim &dim = dims[factor.dim];
        if (dim.axes.empty()) {
          rest *= dim.extent.factor;
          continue;
        }
        split.push_back(dim);
        llvm::append_range(merged.axes, dim.axes);
      }
    if (!split.empty() &&
        (Checked(rest) * stored.num) == stored.of(rest) * stored.den) {
      llvm::append_range(share, split);
      share.push_back(number(stored.of(rest).int64().value_or(0)));
      return;
    }
    StoredPart part = partOf(product);
    Checked extent =
        stored.of(part.start + part.length) - stored.of(part.start);
    merged.extent.factor = extent.int64().value_or(0);
    if (!merged.axes.empty())
      merged.rule = SplitRule::any;
    share.push_back(std::move(merged));
  }

  SmallVector<StorageGroupAttr> groups;
  Dims dims;
  ArrayRef<int64_t> shape;
  std::optional<int64_t> spread;
  Dims share;
};

} // namespace

/// Whether matmuls with this format are of 8-bit floats whose scales vary along
/// the contraction as well as along the outputs: kernels then rescale within
/// the contraction, and scale activations in groups. Such scales are floats;
/// those of OCP MX are bytes, and do not count.
static bool isScaledInBlocks(FormatAttr format) {
  Type compute = format.getCompute();
  if (!compute || toElementType(compute) != ElementType::fp8_e4m3)
    return false;
  return llvm::any_of(format.getTensors(), [](FormatTensorAttr tensor) {
    auto divides = [&](StoredDim::Base base) {
      return llvm::any_of(tensor.getDims(), [&](const StoredDim &dim) {
        return dim.base == base && dim.den > 1;
      });
    };
    return isa<FloatType>(tensor.getElementType()) &&
           tensor.getElementType().getIntOrFloatBitWidth() > 8 &&
           divides(StoredDim::Base::o) && divides(StoredDim::Base::i);
  });
}

void WeightOp::buildWorkload(WorkloadBuilder &builder) {
  Resident resident;
  resident.kind = Resident::Kind::weight;
  resident.name = getName().str();
  resident.shape = builder.dims(getResult());
  FormatAttr format = getFormat(*this);
  if (!format) {
    resident.type = getStoredTensor(*this).type;
    builder.addResident(getResult(), std::move(resident));
    return;
  }
  FormatShare share(*this, builder);
  WeightUnits units;
  if (format.getCompute())
    units.compute = toElementType(format.getCompute());
  // Formats with 4-bit floats store pairs of them as bytes, so that only the
  // format's name tells that they are floats.
  if (format.getName().getValue().contains("fp4"))
    units.storage = ElementType::fp4;
  else if (isScaledInBlocks(format))
    units.storage = ElementType::fp8_block;
  Dims values = resident.shape;
  for (auto [tensor, stored] :
       llvm::zip_equal(format.getTensors(), getStoredTensors(*this))) {
    std::optional<Dims> shape =
        tensor.getPlain() ? builder.dims(getResult()) : share.of(tensor);
    if (!shape)
      continue;
    resident.name = stored.name;
    resident.shape = *shape;
    resident.type = stored.type;
    resident.values = values;
    // The other tensors of the format (scales, zeros) hold no parameters.
    values = {number(0)};
    builder.addResident(getResult(), resident, units);
  }
}
