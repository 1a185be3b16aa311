//===- TrainingKeys.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingKeys.h"

#include "autopar/Validation/TrainedPlan.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::validation;

/// Separates the parts of a key; no cell contains it.
constexpr char separator = '\x1f';

static std::string
keyOf(std::initializer_list<std::optional<int64_t>> numbers) {
  std::string key;
  for (const std::optional<int64_t> &number : numbers)
    key += (number ? std::to_string(*number) : "") + separator;
  return key;
}

static std::string modelKey(const TrainingRow &row) {
  std::string key = row.model + separator;
  if (!row.architecture)
    return key;
  const TrainedArchitecture &sizes = *row.architecture;
  return key + keyOf({sizes.layers, sizes.hidden, sizes.heads, sizes.kvHeads,
                      sizes.headSize, sizes.width, sizes.vocabulary,
                      sizes.experts, sizes.topK, sizes.expertWidth,
                      sizes.sharedExperts, sizes.firstDense});
}

std::string autopar::validation::taskKey(const TrainingRow &row) {
  std::optional<TrainingFormat> format = trainingFormatOf(row.precision);
  return modelKey(row) + row.system + separator + row.task + separator +
         (format ? nameOf(*format) : row.precision) + separator +
         keyOf({row.devices, row.sequenceTokens});
}

std::string autopar::validation::planKey(const TrainingRow &row,
                                         Microbatches microbatches) {
  std::string key = taskKey(row);
  for (const std::string &part :
       {row.precision, row.recompute, row.schedule, row.fsdp})
    key += part + separator;
  key += keyOf({row.tp, row.pp, row.dp, row.cp, row.ep, row.expertTp,
                row.interleave, row.zeroStage, row.globalBatch,
                row.offloadsActivations});
  if (row.sequenceParallel)
    key += *row.sequenceParallel ? "sp" : "no sp";
  if (microbatches == Microbatches::apart)
    key += separator + keyOf({row.microbatch});
  return key;
}
