//===- TransformerWorkloads.cpp - What the ops cost -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

/// A multiply and an add.
static constexpr int64_t flopsPerProduct = 2;

static unsigned rankOf(Value value) { return TensorView(value).rank(); }

//===----------------------------------------------------------------------===//
// Residents
//===----------------------------------------------------------------------===//

void KVCacheOp::buildWorkload(WorkloadBuilder &builder) {
  constexpr int32_t contextDim = 2;
  Resident resident;
  resident.kind = Resident::Kind::kv_cache;
  resident.name = "cache";
  resident.shape = builder.dims(getResult());
  resident.shape[contextDim].extent.limit = getWindow().value_or(0);
  resident.type = builder.formatOf(getResult());
  resident.pagedDim = contextDim;
  builder.addResident(getResult(), std::move(resident));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A kernel of 2*rows*columns*contraction FLOPs, of which the op fills in the
/// dimensions.
static Kernel &addProduct(WorkloadBuilder &builder, Operation *op,
                          KernelKind kind, FlopClass flopClass, Value x) {
  Kernel &kernel = builder.addKernel(op, kind, x);
  kernel.flopClass = flopClass;
  kernel.flopFactor = flopsPerProduct;
  return kernel;
}

void LinearOp::buildWorkload(WorkloadBuilder &builder) {
  unsigned contracted = getNumContracted(), rank = rankOf(getX());
  Kernel &kernel =
      addProduct(builder, *this, KernelKind::matmul, FlopClass::linear, getX());
  kernel.rows = builder.dims(getX(), 0, rank - contracted);
  kernel.contraction = builder.dims(getX(), rank - contracted, rank);
  kernel.columns = builder.dims(getWeight(), contracted, rankOf(getWeight()));
  for (Value operand : getOperands())
    builder.read(kernel, operand);
  builder.write(kernel, getResult());
}

void RouterOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      addProduct(builder, *this, KernelKind::matmul, FlopClass::linear, getX());
  kernel.rows = builder.dims(getX(), 0, rankOf(getX()) - 1);
  kernel.contraction = builder.dims(getWeight(), 0, 1);
  kernel.columns = builder.dims(getWeight(), 1, 2);
  builder.read(kernel, getX());
  builder.read(kernel, getWeight());
  builder.write(kernel, getResult());
}

void ExpertsOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = addProduct(builder, *this, KernelKind::grouped_matmul,
                              FlopClass::linear, getX());
  kernel.rows = builder.dims(getX(), 0, 1);
  kernel.contraction = builder.dims(getWeight(), 1, 2);
  kernel.columns = builder.dims(getWeight(), 2, 3);
  builder.read(kernel, getX());
  builder.readExperts(kernel, getWeight(), getX(), getTopK());
  builder.write(kernel, getResult());
}

void LogitsOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      addProduct(builder, *this, KernelKind::matmul, FlopClass::logits, getX());
  kernel.rows = builder.dims(getX(), 0, rankOf(getX()) - 1);
  kernel.contraction = builder.dims(getTable(), 1, 2);
  kernel.columns = builder.dims(getTable(), 0, 1);
  builder.read(kernel, getX());
  builder.read(kernel, getTable());
  builder.write(kernel, getResult());
}

/// Scores and weighted values: 2*pairs*heads*(d_qk + d_v) FLOPs, and a flash
/// kernel's traffic, which never writes the scores.
void AttentionOp::buildWorkload(WorkloadBuilder &builder) {
  int64_t queryWidth = TensorView(getQuery()).getType().getDimSize(3);
  int64_t valueWidth = TensorView(getValue()).getType().getDimSize(3);
  Kernel &kernel = addProduct(builder, *this, KernelKind::attention,
                              FlopClass::attention, getQuery());
  kernel.rows = builder.dims(getQuery(), 0, 1);
  kernel.columns = builder.dims(getQuery(), 2, 3);
  Dim widths;
  widths.extent.factor = queryWidth + valueWidth;
  kernel.contraction = {widths};
  Pairs pairs;
  pairs.query = builder.dims(getQuery(), 1, 2).front();
  pairs.context = builder.dims(getCache(), 2, 3).front();
  pairs.causal = getCausal();
  pairs.window = getWindow().value_or(0);
  kernel.pairs = pairs;
  builder.read(kernel, getQuery());
  builder.read(kernel, getCache());
  builder.write(kernel, getResult());
  // The new keys and values go to the cache.
  builder.write(kernel, getKey());
  builder.write(kernel, getValue());
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

void EmbeddingOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::gather);
  builder.read(kernel, getIds());
  builder.gather(kernel, getTable(), getIds());
  builder.write(kernel, getResult());
}

void LastTokenOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::gather);
  builder.read(kernel, getResult());
  builder.write(kernel, getResult());
}

#define AUTOPAR_ELEMENTWISE(OP)                                                \
  void OP::buildWorkload(WorkloadBuilder &builder) {                           \
    builder.addElementwise(*this);                                             \
  }
AUTOPAR_ELEMENTWISE(AddOp)
AUTOPAR_ELEMENTWISE(AddBiasOp)
AUTOPAR_ELEMENTWISE(ActivationOp)
AUTOPAR_ELEMENTWISE(GatedOp)
AUTOPAR_ELEMENTWISE(RMSNormOp)
AUTOPAR_ELEMENTWISE(LayerNormOp)
AUTOPAR_ELEMENTWISE(RopeOp)
AUTOPAR_ELEMENTWISE(DispatchOp)
AUTOPAR_ELEMENTWISE(CombineOp)
#undef AUTOPAR_ELEMENTWISE
