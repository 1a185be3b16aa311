//===- Fixtures.h - Programs and machines of the tests ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_COST_FIXTURES_H
#define AUTOPAR_TEST_UNIT_COST_FIXTURES_H

#include "autopar/Cost/Pricer.h"
#include "autopar/Plan/Plan.h"

#include <nlohmann/json.hpp>

namespace autopar::test {

/// Symbols and the axis that all programs here have.
inline constexpr program::SymbolId batch = 0, query = 1, context = 2;
inline constexpr program::AxisId tp = 0;

inline program::Dim number(int64_t extent) {
  return {{extent, {}, 0}, {}, {}, 1};
}
inline program::Dim symbol(program::SymbolId id, int64_t factor = 1) {
  return {{factor, {id}, 0}, {}, program::SplitRule::any, 1};
}
inline program::Dim split(int64_t extent,
                          program::SplitRule rule = program::SplitRule::plain,
                          int64_t multiple = 1) {
  return {{extent, {}, 0}, {tp}, rule, multiple};
}

/// Sizes of a dense decoder in the style of Llama.
struct Decoder {
  int64_t hidden = 8192, layers = 80, heads = 64, kvHeads = 8, headDim = 128,
          intermediate = 28672, vocabulary = 128256;
  int64_t window = 0;
};

/// The program of a dense decoder, tensor-parallel over "tp", as extracted
/// from the IR. The default is Llama-3.3-70B.
program::CostProgram makeDecoder(const Decoder &sizes = {});
/// The same with a sum that ends each layer, followed by the next norm.
program::CostProgram makeBorderedDecoder();
/// The decoder, whose model function is cut behind its layers: stages take
/// ranges of them.
program::CostProgram makeStack();
/// The same with a sum that ends each layer, followed by the norm of the next
/// one or the last.
program::CostProgram makeBorderedStack();

/// One layer of routed experts on the devices of "tp", as extracted from the
/// IR: 2 experts a token, each of 1024 x 512. Without `loads`, nothing is
/// placed; else expert e is in slot e, and experts past the first ones fill the
/// rest.
program::CostProgram makeExperts(int64_t experts, int64_t slots,
                                 const std::vector<double> &loads = {});

/// Eight devices with the figures of an H100 and no curves: 80 GB, 3,350 GB/s,
/// 989.4 TFLOP/s in bf16, links of 450 GB/s.
hardware::Machine makeMachine(int64_t nodes = 1);
/// Gives curves of bf16 products and of bf16 attention tables of shapes.
void addShapes(hardware::Chip &chip);
/// The same with curves of matrix products, attention and all-reduces, and
/// tables of their shapes.
hardware::Machine makeMeasuredMachine(int64_t nodes = 1);
/// No memory, no time of its own, blocks of 16 tokens, all memory used.
runtime::Runtime makeRuntime();
/// One with a share, floors and bytes of its own, that launches as one what it
/// can.
runtime::Runtime makeBusyRuntime();
plan::Plan makePlan(int64_t tpSize);
/// The devices of such a plan.
cost::Layout makeLayout(int64_t tpSize);
program::Workload prefill(int64_t batchSize, int64_t prompt);
program::Workload decode(int64_t batchSize, int64_t contextLength);

/// The number at `path`: "communication.collectives[0].count".
nlohmann::json numberAt(const nlohmann::json &root, std::string path);

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_COST_FIXTURES_H
