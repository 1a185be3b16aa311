//===- Pipelines.h - Named compositions of passes ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PIPELINES_PIPELINES_H
#define AUTOPAR_PIPELINES_PIPELINES_H

#include "autopar/Plan/Plan.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace autopar {

/// Everything the product flags say. `autopar-opt` has one flag for each, and
/// so has the pipeline `autopar-plan`.
struct PlanOptions : mlir::PassPipelineOptions<PlanOptions> {
  Option<std::string> plan{*this, "plan",
                           llvm::cl::desc("Plan to start from: a file of "
                                          "autopar.plan/1; flags override it")};
  Option<std::string> diffPlans{
      *this, "diff-plans",
      llvm::cl::desc("Report in what two plans differ: two files of "
                     "autopar.plan/1; flags override both")};
  Option<std::string> mesh{
      *this, "mesh",
      llvm::cl::desc("Mesh axes with sizes, outermost first: pp=4,tp=8 ('?' "
                     "leaves one open)")};
  Option<std::string> shardTP{
      *this, "shard-tp",
      llvm::cl::desc("Tensor parallelism over this many devices")};
  Option<std::string> phase{*this, "phase",
                            llvm::cl::desc("prefill or decode")};
  Option<int64_t> batch{*this, "batch", llvm::cl::desc("Sequences in a step")};
  Option<int64_t> prompt{
      *this, "prompt",
      llvm::cl::desc("New tokens of each sequence in a prefill")};
  Option<int64_t> context{
      *this, "context",
      llvm::cl::desc("Cached tokens of each sequence after the step")};
  Option<int64_t> source{
      *this, "source",
      llvm::cl::desc(
          "Positions of each sequence that an encoder encodes in the "
          "step: patches of images, frames of audio, source text "
          "(default: the module's, 0 in decode)"),
      llvm::cl::init(-1)};
  Option<int64_t> memory{
      *this, "memory",
      llvm::cl::desc("Encoded positions of each sequence that cross attention "
                     "sees (default: the module's)"),
      llvm::cl::init(-1)};
  Option<std::string> dtype{
      *this, "dtype",
      llvm::cl::desc("Format of activations and products: bf16, fp16, fp32, "
                     "fp8 (weights stay as stored)")};
  Option<std::string> kvDtype{*this, "kv-dtype",
                              llvm::cl::desc("Format of the KV cache")};
  Option<std::string> hardware{
      *this, "hardware",
      llvm::cl::desc("Machine: a name ('autopar hardware list') or a file "
                     "(default: h100-sxm-8)")};
  Option<int64_t> nodes{*this, "nodes",
                        llvm::cl::desc("Nodes of the machine (default: 1)")};
  Option<std::string> runtime{
      *this, "runtime",
      llvm::cl::desc("Runtime: vllm, ideal, or a file (default: vllm)")};
  Option<double> memoryUtilization{
      *this, "memory-utilization",
      llvm::cl::desc("The runtime's share of device memory, 0 to 1")};
  ListOption<std::string> overrides{
      *this, "set",
      llvm::cl::desc("Replace a value of the libraries: "
                     "chips.h100-sxm.memory_bandwidth=4e12")};
  Option<bool> explain{
      *this, "explain",
      llvm::cl::desc("Say how every number of the report came about")};
  Option<std::string> reportOutput{
      *this, "report-output",
      llvm::cl::desc(
          "Where the report goes (default: standard output, in place "
          "of the IR)"),
      llvm::cl::init("-")};
  Option<std::string> estimate{
      *this, "estimate",
      llvm::cl::desc("Report memory, FLOPs, communication and latency: text "
                     "(default) or json"),
      llvm::cl::init("")};

  /// All of them by name, so that a command line can have a flag for each.
  const auto &byName() const { return OptionsMap; }
};

using PipelineErrorHandler =
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>;

/// Adds the passes that `options` ask for: bind workload, mesh and formats,
/// shard, insert collectives, estimate; of two plans, each on a copy. Bad
/// options go to `onError`.
mlir::LogicalResult addPlanPipeline(mlir::OpPassManager &pm,
                                    const PlanOptions &options,
                                    PipelineErrorHandler onError);

/// Registers the pipelines for `--pass-pipeline`.
void registerPipelines();

} // namespace autopar

#endif // AUTOPAR_PIPELINES_PIPELINES_H
