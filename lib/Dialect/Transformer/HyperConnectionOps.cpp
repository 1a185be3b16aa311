//===- HyperConnectionOps.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Verifiers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names of results, and verifiers
//===----------------------------------------------------------------------===//

void HyperPreOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "mixed");
  if (getPost())
    setName(getPost(), "post");
  if (getResidual())
    setName(getResidual(), "residual");
}

int64_t HyperPreOp::getNumCoefficients() {
  int64_t streams = sizeOf(getStreams(), 2), count = 0;
  int64_t ofEach = getResidual() ? streams + 2 : getPost() ? 2 : 1;
  // On overflow, return a number larger than the size of any weight.
  if (llvm::MulOverflow(streams, ofEach, count))
    return std::numeric_limits<int64_t>::max();
  return count;
}

static LogicalResult verifySize(Operation *op, StringRef name, Value tensor,
                                unsigned dim, int64_t expected) {
  int64_t found = sizeOf(tensor, dim);
  if (found == expected)
    return success();
  return op->emitOpError() << "has a " << name << " of " << found
                           << " elements, expected " << expected;
}

static LogicalResult verifyEps(Operation *op, const APFloat &eps) {
  if (eps.isFinite() && !eps.isNegative())
    return success();
  return op->emitOpError("has an eps that is negative or not finite");
}

/// Verifies that each optional result comes with the attribute that says how it
/// is computed, and the other way round.
static LogicalResult verifyResults(HyperPreOp op) {
  if (bool(op.getPost()) != bool(op.getMagnitude()))
    return op.emitOpError("has 'post' or a result for it, expected both");
  if (bool(op.getResidual()) != bool(op.getSinkhorn()))
    return op.emitOpError("has 'sinkhorn' or a residual, expected both");
  if (op.getResidual() && !op.getPost())
    return op.emitOpError("has a residual without 'post'");
  constexpr int64_t most = 1000;
  if (op.getSinkhorn() && (static_cast<int64_t>(*op.getSinkhorn()) < 1 ||
                           static_cast<int64_t>(*op.getSinkhorn()) > most))
    return op.emitOpError()
           << "has sinkhorn(" << static_cast<int64_t>(*op.getSinkhorn())
           << "), expected 1 to " << most;
  return op.getMagnitude() ? verifyPositive(op, "post", *op.getMagnitude())
                           : success();
}

LogicalResult HyperPreOp::verify() {
  if (failed(verifyResults(*this)) ||
      failed(verifyNumbers(*this, getStreams(), 2)))
    return failure();
  for (Value tensor : {getWeight(), getBase(), getScale()})
    if (failed(verifyNumbers(*this, tensor, 0)))
      return failure();
  if (failed(
          verifySize(*this, "weight", getWeight(), 2, getNumCoefficients())) ||
      failed(verifySize(*this, "scale", getScale(), 0,
                        static_cast<int64_t>((*this)->getNumResults()))))
    return failure();
  return failure(failed(verifyEps(*this, getEps())) ||
                 failed(verifyEps(*this, getGateEps())));
}

//===----------------------------------------------------------------------===//
// Factors, which say how ops can be split
//===----------------------------------------------------------------------===//

ShardingFactors HyperExpandOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks({{getX(), 3}, {getResult(), 4}}))
    return factors;
  FactorList tokens = addFactors(factors, FactorKind::parallel, 2);
  int32_t streams = factors.add(FactorKind::whole);
  int32_t hidden = factors.add(FactorKind::parallel);
  factors.operands = {concat(tokens, {hidden})};
  factors.results = {concat(tokens, {streams, hidden})};
  return factors;
}

ShardingFactors HyperPreOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks({{getStreams(), 4},
                  {getWeight(), 3},
                  {getBase(), 1},
                  {getScale(), 1},
                  {getResult(), 3},
                  {getPost(), 3},
                  {getResidual(), 4}}))
    return factors;
  FactorList tokens = addFactors(factors, FactorKind::parallel, 2);
  auto whole = [&] { return factors.add(FactorKind::whole); };
  int32_t streams = whole(), hidden = whole(), coefficients = whole();
  factors.operands = {concat(tokens, {streams, hidden}),
                      {streams, hidden, coefficients},
                      {coefficients},
                      {whole()}};
  factors.results = {concat(tokens, {hidden})};
  if (getPost())
    factors.results.push_back(concat(tokens, {streams}));
  if (getResidual())
    factors.results.push_back(concat(tokens, {streams, streams}));
  return factors;
}

ShardingFactors HyperPostOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks(
          {{getStreams(), 4}, {getY(), 3}, {getPost(), 3}, {getResidual(), 4}}))
    return factors;
  FactorList tokens = addFactors(factors, FactorKind::parallel, 2);
  int32_t streams = factors.add(FactorKind::whole);
  FactorList hidden = {factors.add(FactorKind::parallel)};
  FactorList all = concat(tokens, concat({streams}, hidden));
  factors.operands = {all, concat(tokens, hidden), concat(tokens, {streams})};
  if (getResidual())
    factors.operands.push_back(concat(tokens, {streams, streams}));
  factors.results = {all};
  return factors;
}

//===----------------------------------------------------------------------===//
// Workloads of hyper-connections
//===----------------------------------------------------------------------===//

void HyperExpandOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::gather);
  builder.read(kernel, getX());
  builder.write(kernel, getResult());
}

/// Sets the coordinates of the kernel's shape table: the number of tokens, and
/// the elements of all streams per token.
static void setShape(Kernel &kernel, Value streams, WorkloadBuilder &builder) {
  kernel.rows = builder.dims(streams, 0, 2);
  kernel.contraction = builder.dims(streams, 2, 4);
}

/// Adds one kernel: a matmul and a norm, and then the mix of the streams, which
/// reads them a second time.
void HyperPreOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addProduct(*this, KernelKind::hyper_pre,
                                      FlopClass::linear, getStreams());
  setShape(kernel, getStreams(), builder);
  kernel.columns = builder.dims(getWeight(), 2, 3);
  for (Value operand : getOperands())
    builder.read(kernel, operand);
  builder.move(kernel, builder.dims(getStreams()),
               builder.formatOf(getStreams()), /*write=*/false);
  for (Value result : (*this)->getResults())
    builder.write(kernel, result);
}

/// Adds a kernel whose sums of streams run on vector units, as in elementwise
/// kernels.
void HyperPostOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      builder.addKernel(*this, KernelKind::hyper_post, getStreams());
  setShape(kernel, getStreams(), builder);
  for (Value operand : getOperands())
    builder.read(kernel, operand);
  builder.write(kernel, getResult());
}
