//===- TransformerWorkloads.cpp - What the ops cost -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Workloads of weights, caches and states
//===----------------------------------------------------------------------===//

void KVCacheOp::buildWorkload(WorkloadBuilder &builder) {
  constexpr int32_t contextDim = 1;
  Resident resident;
  resident.kind = Resident::Kind::kv_cache;
  resident.name = "cache";
  resident.shape = builder.dims(getResult());
  resident.shape[contextDim].extent.limit = getWindow().value_or(0);
  resident.type = builder.formatOf(getResult());
  // Only a cache that grows with the context is allocated in blocks; one of
  // encoded tokens does not grow.
  if (TensorView(getResult()).extent(contextDim).is("context"))
    resident.pagedDim = contextDim;
  builder.addResident(getResult(), std::move(resident));
}

//===----------------------------------------------------------------------===//
// Workloads of matmuls
//===----------------------------------------------------------------------===//

void LinearOp::buildWorkload(WorkloadBuilder &builder) {
  unsigned contracted = getNumContracted(), rank = rankOf(getX());
  builder.castInput(*this, getX(), getWeight());
  Kernel &kernel =
      builder.addProduct(*this, KernelKind::matmul, FlopClass::linear, getX());
  kernel.rows = builder.dims(getX(), 0, rank - contracted);
  kernel.contraction = builder.dims(getX(), rank - contracted, rank);
  kernel.columns = builder.dims(getWeight(), contracted, rankOf(getWeight()));
  for (Value operand : getOperands())
    builder.read(kernel, operand);
  builder.write(kernel, getResult());
}

void ConvolutionOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      builder.addProduct(*this, KernelKind::matmul, FlopClass::linear, getX());
  int64_t out = rankOf(getWeight()) - 1;
  kernel.rows = builder.dims(getResult(), 0, rankOf(getResult()) - 1);
  kernel.contraction = builder.dims(getWeight(), 0, out);
  kernel.columns = builder.dims(getWeight(), out, out + 1);
  for (Value operand : getOperands())
    builder.read(kernel, operand);
  builder.write(kernel, getResult());
}

/// Adds a kernel on vector units: each element of the weight is used for one
/// channel only, which matrix units cannot exploit.
void ChannelConvolutionOp::buildWorkload(WorkloadBuilder &builder) {
  constexpr int64_t flopsPerProduct = 2;
  Kernel &kernel = builder.addKernel(*this, KernelKind::scan);
  kernel.flopClass = FlopClass::linear;
  kernel.compute = ElementType::f32;
  kernel.flopFactor = flopsPerProduct;
  int64_t channels = rankOf(getResult()) - 1;
  kernel.rows = builder.dims(getResult(), 0, channels);
  kernel.columns = builder.dims(getResult(), channels, channels + 1);
  kernel.contraction = builder.dims(getWeight(), 1, rankOf(getWeight()));
  for (Value operand : getOperands())
    builder.read(kernel, operand);
  builder.write(kernel, getResult());
}

void LogitsOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      builder.addProduct(*this, KernelKind::matmul, FlopClass::logits, getX());
  kernel.rows = builder.dims(getX(), 0, rankOf(getX()) - 1);
  kernel.contraction = builder.dims(getTable(), 1, 2);
  kernel.columns = builder.dims(getTable(), 0, 1);
  builder.read(kernel, getX());
  builder.read(kernel, getTable());
  builder.write(kernel, getResult());
}

//===----------------------------------------------------------------------===//
// Workloads of ops that only move data
//===----------------------------------------------------------------------===//

void EmbeddingOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::gather);
  builder.read(kernel, getIds());
  builder.gather(kernel, getTable(), builder.dims(getIds()));
  builder.write(kernel, getResult());
}

void PositionEmbeddingOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::gather);
  builder.read(kernel, getX());
  builder.gather(kernel, getTable(),
                 builder.dims(getX(), 0, rankOf(getX()) - 1));
  builder.write(kernel, getResult());
}

/// The op moves only the inserted tokens; the tokens that stay are not moved.
void InsertOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::gather);
  builder.read(kernel, getY());
  builder.move(kernel, builder.dims(getY()), builder.formatOf(getResult()),
               /*write=*/true);
}

void LayerPartOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::gather);
  builder.read(kernel, getResult());
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
AUTOPAR_ELEMENTWISE(AddBiasOp)
AUTOPAR_ELEMENTWISE(ActivationOp)
AUTOPAR_ELEMENTWISE(ScaleOp)
AUTOPAR_ELEMENTWISE(SoftcapOp)
AUTOPAR_ELEMENTWISE(WeighOp)
AUTOPAR_ELEMENTWISE(MultiplyOp)
AUTOPAR_ELEMENTWISE(MergeTokensOp)
AUTOPAR_ELEMENTWISE(CastOp)
#undef AUTOPAR_ELEMENTWISE

/// In training by runtimes in which each expert has a matmul of its own
/// (`addPasses`), both halves of a limited gate's input (of routed experts) are
/// clamped and concatenated again, before one kernel multiplies them
/// (Megatron-LM, megatron/core/fusions/fused_bias_geglu.py,
/// weighted_bias_quick_geglu_impl).
void GatedOp::buildWorkload(WorkloadBuilder &builder) {
  constexpr Passes clampPasses = {4, 4};
  if (getLimit() && TensorView(getGate()).isSet() && builder.trains())
    builder.addPasses(*this, getGate(), clampPasses);
  builder.addElementwise(*this);
}

bool transformer::isInputGradient(Value value) {
  Operation *op = value.getDefiningOp();
  auto isAddend = [](Value addend) {
    return addend.hasOneUse() && isInputGradient(addend);
  };
  return isa_and_present<InputGradientOpInterface>(op) ||
         (isa_and_present<AddOp>(op) &&
          llvm::all_of(op->getOperands(), isAddend));
}

void AddOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
  if (isInputGradient(getResult()))
    builder.makesSum(getLhs(), getResult());
}
