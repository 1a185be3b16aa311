//===- Pipelines.h - Named compositions of passes ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PIPELINES_PIPELINES_H
#define AUTOPAR_PIPELINES_PIPELINES_H

#include "autopar/Pipelines/PlanPasses.h"
#include "autopar/Plan/Plan.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace autopar::plan {
struct PlanKnob;
} // namespace autopar::plan

namespace autopar::pipelines {

/// All flags of the product. `autopar-opt` has one flag for each option, and
/// the pass pipeline `autopar-plan` has them as options. The choices of a plan
/// are those of `planKnobs`.
struct PlanOptions : mlir::PassPipelineOptions<PlanOptions> {
  PlanOptions();
  Option<std::string> plan{
      *this, "plan", llvm::cl::value_desc("file|words"),
      llvm::cl::desc("Plan to start from: a file (autopar.plan/1), or words as "
                     "in tp8,pp2,sp; other flags override it")};
  Option<std::string> diffPlans{
      *this, "diff-plans", llvm::cl::value_desc("plan;plan"),
      llvm::cl::desc("Compare two plans, in words as in 'tp8; tp4,pp2', or as "
                     "two files (autopar.plan/1); other flags apply to both")};
  Option<std::string> mesh{
      *this, "mesh", llvm::cl::value_desc("axis=N,..."),
      llvm::cl::desc(
          "Mesh axes with sizes, outermost first: pp=4,tp=8 ('?' leaves one "
          "open), then products of axes: dpo=2,dpi=8,tp=8,ep=dpi*tp")};
  Option<std::string> map{
      *this, "map", llvm::cl::value_desc("axis,..."),
      llvm::cl::desc(
          "Order of the axes over the machine, outermost first, as in tp,dp: "
          "the last one has the fastest links (default: dp,cp,tp)")};
  Option<std::string> shardTP{
      *this, "shard-tp", llvm::cl::value_desc("N"),
      llvm::cl::desc("Tensor parallelism over this many devices")};
  Option<std::string> shardCP{
      *this, "shard-cp", llvm::cl::value_desc("N"),
      llvm::cl::desc("Context parallelism: the tokens of each sequence over "
                     "this many devices")};
  Option<std::string> shardDP{
      *this, "shard-dp", llvm::cl::value_desc("N"),
      llvm::cl::desc("Data parallelism: sequences over this many replicas")};
  Option<std::string> shardEP{
      *this, "shard-ep", llvm::cl::value_desc("N"),
      llvm::cl::desc("Expert parallelism: routed experts over this many of the "
                     "tp*cp*dp devices (default: split as tp splits)")};
  Option<std::string> shardETP{
      *this, "shard-etp", llvm::cl::value_desc("N"),
      llvm::cl::desc(
          "Tensor parallelism inside each expert, with --shard-ep (default in "
          "training: tp, if the runtime splits experts by tp as megatron does; "
          "else tp/ep if ep is less than tp, else 1)")};
  Option<std::string> shardDCP{
      *this, "shard-dcp", llvm::cl::value_desc("N"),
      llvm::cl::desc("Decode context parallelism: this part of tp splits the "
                     "KV cache by sequence, not by head")};
  Option<std::string> shardAttentionTP{
      *this, "shard-attention-tp", llvm::cl::value_desc("N"),
      llvm::cl::desc("Part of tp that attention uses; over the rest of tp it "
                     "is data-parallel (default: all of tp)")};
  Option<std::string> shardFSDP{
      *this, "shard-fsdp", llvm::cl::value_desc("N"),
      llvm::cl::desc(
          "Number of the dp*cp replicas over which --fsdp or --zero splits; "
          "the other replicas have copies, HSDP (default: all)")};
  Option<std::string> stagePP{
      *this, "stage-pp", llvm::cl::value_desc("N"),
      llvm::cl::desc("Pipeline parallelism: the layers over this many stages, "
                     "balanced by cost")};
  Option<std::string> phase{*this, "phase",
                            llvm::cl::value_desc("prefill|decode|train"),
                            llvm::cl::desc("prefill, decode or train")};
  Option<int64_t> batch{
      *this, "batch", llvm::cl::value_desc("N"),
      llvm::cl::desc("Sequences in a step; 128k, 131_072 and 1M are "
                     "counts, too")};
  Option<std::string> prompt{
      *this, "prompt", llvm::cl::value_desc("N|distribution"),
      llvm::cl::desc(
          "New tokens per sequence of a prefill, or prompt tokens per request "
          "of a service: 2000, uniform:100..500, lognormal:2000,0.8 (mean, and "
          "standard deviation of the logarithm), histogram:128x3,4096x1")};
  Option<std::string> outputTokens{
      *this, "output-tokens", llvm::cl::value_desc("N|distribution"),
      llvm::cl::desc("Tokens of each answer; same forms as --prompt")};
  Option<std::string> rate{
      *this, "rate", llvm::cl::value_desc("N"),
      llvm::cl::desc(
          "Arrival rate of a service, in requests per second (Poisson "
          "process): reports its latency and throughput, and its decode step")};
  Option<int64_t> concurrency{
      *this, "concurrency", llvm::cl::value_desc("N"),
      llvm::cl::desc("Requests of a service that run at once, each replaced "
                     "when it ends (closed loop); instead of --rate")};
  Option<std::string> requests{
      *this, "requests", llvm::cl::value_desc("file"),
      llvm::cl::desc(
          "Requests to replay: a table (CSV, JSON lines) with columns arrival "
          "(seconds), input, output, or a trace of Azure, Mooncake, BurstGPT "
          "or vidur; with --concurrency each arrives when another has ended")};
  Option<int64_t> simulate{
      *this, "simulate", llvm::cl::value_desc("N"),
      llvm::cl::desc("Simulate N requests, step by step, beside the steady "
                     "state (without N: 10000)")};
  Option<int64_t> seed{
      *this, "seed", llvm::cl::value_desc("N"),
      llvm::cl::desc(
          "Seed of the random numbers of a simulation (default: 1)")};
  Option<std::string> requestsOutput{
      *this, "requests-output", llvm::cl::value_desc("file"),
      llvm::cl::desc(
          "File for the times of each simulated request, as JSON lines")};
  Option<std::string> sla{
      *this, "sla", llvm::cl::value_desc("limits"),
      llvm::cl::desc("Latency limits: ttft:500ms,tpot:30ms")};
  Option<int64_t> context{
      *this, "context", llvm::cl::value_desc("N"),
      llvm::cl::desc("Cached tokens of each sequence after the step")};
  Option<int64_t> encoderTokens{
      *this, "encoder-tokens", llvm::cl::value_desc("N"),
      llvm::cl::desc("Positions per sequence that an encoder encodes in the "
                     "step: patches of images, frames of audio, source text "
                     "(default: the module's, 0 in decode)"),
      llvm::cl::init(-1)};
  Option<int64_t> crossTokens{
      *this, "cross-tokens", llvm::cl::value_desc("N"),
      llvm::cl::desc("Encoded positions of each sequence that cross attention "
                     "sees (default: the module's)"),
      llvm::cl::init(-1)};
  Option<std::string> hardware{
      *this, "hardware", llvm::cl::value_desc("name|path"),
      llvm::cl::desc("Machine: a name ('autopar hardware list') or a file "
                     "(default: h100-sxm-8)")};
  Option<int64_t> nodes{*this, "nodes", llvm::cl::value_desc("N"),
                        llvm::cl::desc("Nodes of the machine (default: 1)")};
  Option<std::string> price{
      *this, "price", llvm::cl::value_desc("USD"),
      llvm::cl::desc("Price of a device per hour, in USD (default: that of the "
                     "machine's file)")};
  Option<std::string> runtime{
      *this, "runtime", llvm::cl::value_desc("name[@version]"),
      llvm::cl::desc(
          "Runtime: vllm, sglang, trtllm, ideal, or a file; with a version or "
          "a month, vllm@0.16 or vllm@2026-02 (default: vllm)")};
  ListOption<std::string> overrides{
      *this, "set", llvm::cl::value_desc("path=value"),
      llvm::cl::desc("Replace a value of the hardware or runtime files: "
                     "chips.h100-sxm.memory_bandwidth=4e12")};
  Option<bool> explain{
      *this, "explain", llvm::cl::value_desc("true"),
      llvm::cl::desc("Show how every number of the report is computed")};
  Option<bool> impact{
      *this, "impact", llvm::cl::value_desc("true"),
      llvm::cl::desc(
          "Rank the figures of chip, links and runtime by how much 1 % more of "
          "each changes the result; the first ones are worth measuring")};
  Option<bool> verbose{
      *this, "verbose", llvm::cl::value_desc("true"),
      llvm::cl::desc("List all assumptions in a text report, defaults too")};
  Option<bool> brief{
      *this, "brief", llvm::cl::value_desc("true"),
      llvm::cl::desc("Write only the first ten lines of a text report: what "
                     "runs where, whether it fits, how fast, at what price")};
  Option<std::string> reportOutput{
      *this, "report-output", llvm::cl::value_desc("file"),
      llvm::cl::desc("File for the report (default: standard output; "
                     "autopar-opt then prints no IR)"),
      llvm::cl::init("-")};
  Option<std::string> trace{
      *this, "trace", llvm::cl::value_desc("file"),
      llvm::cl::desc("File for the timeline of the pipeline, or of simulated "
                     "requests, which Perfetto opens (Chrome's trace format)")};
  Option<std::string> estimate{
      *this, "estimate", llvm::cl::value_desc("text|json|html|xlsx"),
      llvm::cl::desc("Report memory, FLOPs, communication and latency: text "
                     "(default), json, html, a page, or xlsx, a spreadsheet "
                     "of formulas"),
      llvm::cl::init("")};

  /// An option that is an integer, with the range of its allowed values.
  struct Count {
    const Option<int64_t> *option;
    int64_t least, most;

    bool has(int64_t value) const { return value >= least && value <= most; }
    /// Returns the error for the value `text`: "--batch=0: expected a number
    /// from 1 to 1099511627776".
    std::string refusal(const std::string &text) const;
  };
  llvm::SmallVector<Count, 6> counts() const;

  /// Returns all options by name, from which command lines make flags.
  const auto &byName() const { return OptionsMap; }

  using Knob =
      std::pair<const plan::PlanKnob *, std::unique_ptr<Option<std::string>>>;
  llvm::ArrayRef<Knob> knobs() const { return ofKnobs; }
  using NumberOption = std::pair<const program::RequestKnob *,
                                 std::unique_ptr<Option<std::string>>>;
  llvm::ArrayRef<NumberOption> requestKnobs() const { return ofRequests; }

private:
  std::vector<NumberOption> ofRequests;
  std::vector<Knob> ofKnobs;
};

using PipelineErrorHandler =
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>;
using FindPlan = llvm::function_ref<mlir::LogicalResult()>;

/// Reads the plan from `options`. Invalid options are passed to `onError`.
mlir::FailureOr<plan::Plan> readPlanOptions(const PlanOptions &options,
                                            PipelineErrorHandler onError);

/// Reads plan, machine and step from `options`. Invalid options are passed to
/// `onError`.
mlir::FailureOr<PlanRequest> readPlanRequest(const PlanOptions &options,
                                             PipelineErrorHandler onError);

/// Adds the passes that `options` ask for: bind workload, mesh and formats,
/// split, insert collectives, estimate; for two plans, each on a clone of the
/// module. Invalid options are passed to `onError`. If `options` have no plan,
/// `findPlan` adds the passes that find one for the bound module.
mlir::LogicalResult addPlanPipeline(mlir::OpPassManager &pm,
                                    const PlanOptions &options,
                                    PipelineErrorHandler onError,
                                    FindPlan findPlan = nullptr);

/// Copies those options to a report pass that choose the report's contents.
template <typename PassOptions>
void fillDetail(const PlanOptions &options, PassOptions &pass) {
  pass.explain = options.explain;
  pass.impact = options.impact;
  pass.verbose = options.verbose;
  pass.simulate = options.simulate;
  if (options.seed.getNumOccurrences())
    pass.seed = static_cast<uint64_t>(int64_t(options.seed));
  pass.requests = options.requests;
}

/// Registers the pipelines for `--pass-pipeline`.
void registerPipelines();

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_PIPELINES_H
