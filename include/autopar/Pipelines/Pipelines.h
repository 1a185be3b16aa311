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
                     "leaves one open); then products of them: "
                     "dpo=2,dpi=8,tp=8,ep=dpi*tp")};
  Option<std::string> map{
      *this, "map",
      llvm::cl::desc("Which axes run over the fastest links: outermost first, "
                     "as in tp,dp (default: dp,cp,tp)")};
  Option<std::string> shardTP{
      *this, "shard-tp",
      llvm::cl::desc("Tensor parallelism over this many devices")};
  Option<std::string> shardCP{
      *this, "shard-cp",
      llvm::cl::desc("Context parallelism: the tokens of each sequence over "
                     "this many devices")};
  Option<std::string> contextKind{
      *this, "cp-kind",
      llvm::cl::desc("How context parallelism works: ring (keys and values go "
                     "round; default) or all-to-all (heads for tokens)")};
  Option<std::string> shardDP{
      *this, "shard-dp",
      llvm::cl::desc("Data parallelism: sequences over this many replicas")};
  Option<std::string> shardEP{
      *this, "shard-ep",
      llvm::cl::desc("Expert parallelism: routed experts over this many of the "
                     "tp*cp*dp devices (default: split as tp splits)")};
  Option<std::string> shardETP{
      *this, "shard-etp",
      llvm::cl::desc("Tensor parallelism inside each expert, with --shard-ep "
                     "(default: 1)")};
  Option<std::string> shardDCP{
      *this, "shard-dcp",
      llvm::cl::desc("Decode context parallelism: this part of tp splits the "
                     "KV cache by sequence, not by head")};
  Option<std::string> shardAttentionTP{
      *this, "shard-attention-tp",
      llvm::cl::desc("Part of tp that attention uses; over the rest of tp it "
                     "is data-parallel (default: all of tp)")};
  Option<std::string> stagePP{
      *this, "stage-pp",
      llvm::cl::desc("Pipeline parallelism: the layers over this many stages, "
                     "balanced by cost")};
  Option<std::string> stages{
      *this, "stages",
      llvm::cl::desc("Layers of each pipeline stage, with --stage-pp: "
                     "0-19,20-40,... (default: balanced by cost)")};
  Option<int64_t> microbatches{
      *this, "microbatches",
      llvm::cl::desc("Parts of the batch that follow each other through the "
                     "stages (default: what divides it, at most the stages)")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Order of microbatches: gpipe, one_f_one_b, interleaved, "
                     "zero_bubble, dual_pipe, inference (default: inference, "
                     "or interleaved)")};
  Option<int64_t> interleave{
      *this, "interleave",
      llvm::cl::desc("Virtual stages of each device (default: 1)")};
  Option<bool> shardSP{
      *this, "shard-sp",
      llvm::cl::desc("Sequence parallelism: tokens over tp where weights are "
                     "whole; all-reduces become reduce-scatter + all-gather")};
  Option<bool> fsdp{
      *this, "fsdp",
      llvm::cl::desc("Split parameters over the dp*cp replicas (experts: edp) "
                     "and gather each layer before its use")};
  Option<bool> dispatchByNode{
      *this, "dispatch-by-node",
      llvm::cl::desc(
          "Send a routed token once to each node that has one of its "
          "experts, and add up there what returns, as DeepEP does "
          "(default: a row for each expert)")};
  Option<std::string> dispatchDtype{
      *this, "dispatch-dtype",
      llvm::cl::desc("Format of routed tokens on their way to experts: fp8 has "
                     "a scale for each 128 values (default: as they are)")};
  Option<std::string> placeExperts{
      *this, "place-experts",
      llvm::cl::desc("How experts are placed on the devices of --shard-ep: "
                     "block, round_robin or balanced (default: balanced with "
                     "--expert-load or --expert-trace)")};
  Option<int64_t> redundantExperts{
      *this, "redundant-experts",
      llvm::cl::desc("Slots of all devices together for copies of hot experts "
                     "(default: 0)")};
  Option<std::string> expertLoad{
      *this, "expert-load",
      llvm::cl::desc("Tokens per expert and layer: a file (autopar.load/1, "
                     "CSV), or even, zipf:1.0, log_normal:0.24; the step "
                     "follows the hottest device")};
  Option<std::string> expertTrace{
      *this, "expert-trace",
      llvm::cl::desc("Experts that tokens were routed to together (JSON lines, "
                     "CSV): saves sends to other nodes")};
  Option<bool> groupsInNode{
      *this, "expert-groups-in-node",
      llvm::cl::desc("Keep the groups that routers select from in one node")};
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
      llvm::cl::desc("Runtime: vllm, sglang, trtllm, ideal, or a file; "
                     "vllm@0.16 or vllm@2026-02 is that of a version or a "
                     "month (default: vllm)")};
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
  Option<bool> impact{
      *this, "impact",
      llvm::cl::desc("Rank the figures of chip, links and runtime by what 1 % "
                     "more of each does: which to measure first")};
  Option<std::string> reportOutput{
      *this, "report-output",
      llvm::cl::desc(
          "Where the report goes (default: standard output, in place "
          "of the IR)"),
      llvm::cl::init("-")};
  Option<std::string> trace{
      *this, "trace",
      llvm::cl::desc("File for the timeline of the pipeline, which Perfetto "
                     "opens (Chrome's trace format)")};
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

/// The plan that `options` say. Bad options go to `onError`.
mlir::FailureOr<Plan> readPlanOptions(const PlanOptions &options,
                                      PipelineErrorHandler onError);

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
