//===- Fixtures.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include <algorithm>

#include <memory>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::test;

static Traffic moved(Traffic::Role role, bool write, Dims shape) {
  Traffic traffic;
  traffic.role = role;
  traffic.write = write;
  traffic.shape = std::move(shape);
  return traffic;
}

namespace {

class DecoderBuilder {
public:
  explicit DecoderBuilder(const Decoder &sizes) : sizes(sizes) {
    program.model = "decoder";
    program.symbols = {"batch", "query", "context"};
    program.axes = {"tp"};
    program.layers = {{"model", 1}, {"layer", sizes.layers}};
  }
  CostProgram build();

private:
  void enter(uint32_t index) {
    layer = index;
    count = program.layers[index].count;
  }
  void weight(const std::string &name, Dims shape) {
    Resident record;
    record.name = name;
    record.layer = layer;
    record.count = count;
    record.shape = std::move(shape);
    program.residents.push_back(std::move(record));
  }
  Kernel &kernel(const std::string &name, const char *op, KernelKind kind) {
    Kernel &record = program.kernels.emplace_back();
    record.name = program.layers[layer].name + "/" + name;
    record.op = op;
    record.layer = layer;
    record.count = count;
    record.kind = kind;
    record.fusionGroup = group++;
    return record;
  }
  void norm(const std::string &name) {
    weight(name, {number(sizes.hidden)});
    kernel(name, "rms_norm", KernelKind::elementwise).traffic = {
        moved(Traffic::Role::activation, false, tokens({number(sizes.hidden)})),
        moved(Traffic::Role::weight, false, {number(sizes.hidden)}),
        moved(Traffic::Role::activation, true, tokens({number(sizes.hidden)}))};
  }
  Dims tokens(Dims rest) const {
    Dims shape = {symbol(batch), symbol(query)};
    shape.insert(shape.end(), rest.begin(), rest.end());
    return shape;
  }
  void linear(const std::string &name, Dims in, Dims out);
  void attention();
  void allReduce(const std::string &name) {
    program.collectives.push_back({program.layers[layer].name + "/" + name,
                                   CollectiveKind::all_reduce,
                                   layer,
                                   count,
                                   {tp},
                                   tokens({number(sizes.hidden)}),
                                   ElementType::bf16});
  }
  void embedding();
  void body();
  void head();

  Decoder sizes;
  CostProgram program;
  uint32_t layer = 0, group = 0;
  int64_t count = 1;
};

} // namespace

void DecoderBuilder::linear(const std::string &name, Dims in, Dims out) {
  Dims shape = in;
  shape.insert(shape.end(), out.begin(), out.end());
  weight(name, shape);
  Kernel &record = kernel(name, "linear", KernelKind::matmul);
  record.flopClass = FlopClass::linear;
  record.flopFactor = 2;
  record.rows = tokens({});
  record.columns = out;
  record.contraction = in;
  record.traffic = {moved(Traffic::Role::activation, false, tokens(in)),
                    moved(Traffic::Role::weight, false, shape),
                    moved(Traffic::Role::activation, true, tokens(out))};
}

void DecoderBuilder::attention() {
  Dim cached = symbol(context);
  cached.extent.limit = sizes.window;
  Dims cache = {symbol(batch), cached, split(sizes.kvHeads, SplitRule::cap),
                number(2 * sizes.headDim)};
  program.residents.push_back({"cache", Resident::Kind::kv_cache, layer, count,
                               cache, ElementType::bf16, 0, 1});
  Kernel &record = kernel("attention", "attention", KernelKind::attention);
  record.flopClass = FlopClass::attention;
  record.flopFactor = 2;
  record.rows = {symbol(batch)};
  record.columns = {split(sizes.heads)};
  record.contraction = {number(2 * sizes.headDim)};
  record.pairs = Pairs{symbol(query), symbol(context), true, sizes.window};
  record.heads = {split(sizes.kvHeads, SplitRule::cap), sizes.headDim};
  record.traffic = {moved(Traffic::Role::kv_cache, false, cache)};
}

void DecoderBuilder::embedding() {
  enter(0);
  weight("embed_tokens",
         {split(sizes.vocabulary, SplitRule::pad, 64), number(sizes.hidden)});
  kernel("embedding", "embedding", KernelKind::gather).traffic = {
      moved(Traffic::Role::activation, false, tokens({number(sizes.hidden)})),
      moved(Traffic::Role::activation, true, tokens({number(sizes.hidden)}))};
  allReduce("embedding.all_reduce");
}

void DecoderBuilder::body() {
  enter(1);
  Dims hidden = {number(sizes.hidden)};
  Dims queries = {split(sizes.heads), number(sizes.headDim)};
  Dims keys = {split(sizes.kvHeads, SplitRule::cap), number(sizes.headDim)};
  Dims wide = {split(sizes.intermediate)};
  norm("input_layernorm");
  linear("q_proj", hidden, queries);
  linear("k_proj", hidden, keys);
  linear("v_proj", hidden, keys);
  program.kernels[program.kernels.size() - 2].fusionGroup = group - 3;
  program.kernels[program.kernels.size() - 1].fusionGroup = group - 3;
  attention();
  linear("o_proj", queries, hidden);
  allReduce("o_proj.all_reduce");
  norm("post_attention_layernorm");
  linear("gate_proj", hidden, wide);
  linear("up_proj", hidden, wide);
  program.kernels.back().fusionGroup = group - 2;
  linear("down_proj", wide, hidden);
  allReduce("down_proj.all_reduce");
}

void DecoderBuilder::head() {
  enter(0);
  norm("norm");
  Dim vocabulary = split(sizes.vocabulary, SplitRule::pad, 64);
  linear("lm_head", {number(sizes.hidden)}, {vocabulary});
  Kernel &logits = program.kernels.back();
  logits.op = "logits";
  logits.flopClass = FlopClass::logits;
  logits.rows = {symbol(batch)};
  program.collectives.push_back({"model/logits.all_gather",
                                 CollectiveKind::all_gather,
                                 0,
                                 1,
                                 {tp},
                                 {symbol(batch), vocabulary},
                                 ElementType::bf16});
}

CostProgram DecoderBuilder::build() {
  embedding();
  body();
  head();
  program.activations = {
      {"x", 0, tokens({number(sizes.hidden)}), ElementType::bf16, 0, 9},
      {"h", 1, tokens({split(sizes.intermediate)}), ElementType::bf16, 5, 6},
      {"g", 1, tokens({split(sizes.intermediate)}), ElementType::bf16, 6, 7}};
  return std::move(program);
}

CostProgram test::makeDecoder(const Decoder &sizes) {
  return DecoderBuilder(sizes).build();
}

CostProgram test::makeBorderedDecoder() {
  CostProgram program = makeDecoder();
  auto find = [&](const char *name) {
    uint32_t index = 0;
    while (program.kernels[index].name != name)
      ++index;
    return index;
  };
  uint32_t first = find("layer/input_layernorm"), last = find("model/norm");
  // What the norms read: at their first run the embedding, later the sum.
  constexpr uint32_t embedded = 1, summed = 2;
  program.kernels[first].traffic[0].value = embedded;
  program.kernels[last].traffic[0].value = summed;
  Kernel sum = program.kernels[first];
  sum.name = "layer/add";
  sum.op = "add";
  sum.fusionGroup = program.kernels.size();
  sum.traffic.erase(sum.traffic.begin() + 1);
  sum.traffic[0].value = 0;
  sum.traffic[1].value = summed;
  auto before = static_cast<uint32_t>(program.kernels.size());
  program.kernels.push_back(std::move(sum));
  int64_t layers = program.layers[1].count;
  program.borders = {{before, first, layers - 1, 1, {{embedded, summed}}},
                     {before, last, 1, std::nullopt, {}}};
  return program;
}

static Figure figure(const char *path, double value) {
  return {value, {"datasheet", "test"}, path};
}

/// Slot p holds expert p modulo `experts`.
static std::shared_ptr<const PlacedExperts>
placeInOrder(int64_t experts, int64_t slots, const std::vector<double> &loads) {
  auto placed = std::make_shared<PlacedExperts>();
  placed->axes = {tp};
  placed->experts = experts;
  placed->slots = slots;
  placed->source = "loads of a test";
  std::vector<int32_t> held;
  for (int64_t slot = 0; slot < slots; ++slot)
    held.push_back(static_cast<int32_t>(slot % experts));
  placed->layers = {{1, {0, loads}, held, std::nullopt, std::nullopt}};
  return placed;
}

static Kernel makeExpertProduct(const Dim &rows, const Dim &experts) {
  Kernel kernel;
  kernel.name = "moe/up";
  kernel.op = "experts";
  kernel.layer = 1;
  kernel.count = 3;
  kernel.kind = KernelKind::grouped_matmul;
  kernel.flopClass = FlopClass::linear;
  kernel.flopFactor = 2;
  kernel.rows = {rows};
  kernel.contraction = {number(1024)};
  kernel.columns = {number(512)};
  Traffic read =
      moved(Traffic::Role::weight, false, {experts, number(1024), number(512)});
  read.topK = 2;
  read.rows = {symbol(batch, 2), symbol(query)};
  kernel.traffic = {
      moved(Traffic::Role::activation, false, {rows, number(1024)}), read,
      moved(Traffic::Role::activation, true, {rows, number(512)})};
  return kernel;
}

CostProgram autopar::test::makeExperts(int64_t experts, int64_t slots,
                                       const std::vector<double> &loads) {
  CostProgram program;
  program.model = "experts";
  program.symbols = {"batch", "query", "context"};
  program.axes = {"tp"};
  program.layers = {{"model", 1}, {"moe", 3}};
  std::optional<uint32_t> shared;
  if (!loads.empty()) {
    shared = 1;
    program.placement = placeInOrder(experts, slots, loads);
  }
  Dim rows{{2, {batch, query}, 0}, {tp}, SplitRule::any, 1, shared};
  Dim weights = split(experts, SplitRule::pad, slots);
  program.kernels = {makeExpertProduct(rows, weights)};
  Collective exchange;
  exchange.name = "moe/exchanged";
  exchange.kind = CollectiveKind::all_to_all;
  exchange.layer = 1;
  exchange.count = 3;
  exchange.axes = {tp};
  Dim tokens{{1, {batch}, 0}, {tp}, SplitRule::any, 1};
  exchange.shape = {tokens, symbol(query, 2), number(1024)};
  exchange.routed = true;
  exchange.sharedBy = shared;
  program.collectives = {exchange};
  Resident weight;
  weight.name = "up";
  weight.layer = 1;
  weight.count = 3;
  weight.shape = {weights, number(1024), number(512)};
  weight.topK = 2;
  program.residents = {weight};
  program.activations = {
      {"exchanged", 1, {rows, number(1024)}, ElementType::bf16, 0, 1}};
  return program;
}

Machine test::makeMachine(int64_t nodes) {
  Pool pool;
  pool.devicesPerNode = 8;
  pool.nodes = nodes;
  pool.chip.name = "h100-sxm";
  pool.chip.memoryLabel = figure("chips.h100-sxm.memory_label", 80e9);
  pool.chip.memoryUsable = figure("chips.h100-sxm.memory_usable", 80e9);
  pool.chip.memoryBandwidth =
      figure("chips.h100-sxm.memory_bandwidth", 3.35e12);
  pool.chip.peakFlops["bf16"] =
      figure("chips.h100-sxm.peak_flops.bf16", 989.4e12);
  pool.chip.peakFlops["fp8"] =
      figure("chips.h100-sxm.peak_flops.fp8", 1978.9e12);
  Tier fast, slow;
  fast.name = "scale_up";
  fast.domain = 8;
  fast.bandwidth = figure("systems.h100-sxm-8.scale_up.bandwidth", 450e9);
  fast.efficiency = figure("systems.h100-sxm-8.scale_up.efficiency", 0.8);
  fast.latency = figure("systems.h100-sxm-8.scale_up.latency", 3);
  slow.name = "scale_out";
  slow.domain = 8 * nodes;
  slow.bandwidth = figure("systems.h100-sxm-8.scale_out.bandwidth", 50e9);
  slow.efficiency = figure("systems.h100-sxm-8.scale_out.efficiency", 0.5);
  slow.latency = figure("systems.h100-sxm-8.scale_out.latency", 10);
  pool.tiers.push_back(fast);
  if (nodes > 1)
    pool.tiers.push_back(slow);
  Machine machine;
  machine.name = "h100-sxm-8";
  machine.title = "8x H100";
  machine.pools.push_back(std::move(pool));
  return machine;
}

Runtime test::makeRuntime() {
  Runtime runtime;
  runtime.name = "test";
  runtime.title = "a runtime that adds nothing";
  runtime.memoryUtilization = figure("runtimes.test.memory_utilization", 1);
  runtime.contextBytes = figure("runtimes.test.context_bytes", 0);
  runtime.libraryBytes = figure("runtimes.test.library_bytes", 0);
  runtime.communicationBytes = figure("runtimes.test.communication_bytes", 0);
  runtime.communicationBytesPerPeer =
      figure("runtimes.test.communication_bytes_per_peer", 0);
  runtime.graphBytes = figure("runtimes.test.graph_bytes", 0);
  runtime.graphBytesEach = figure("runtimes.test.graph_bytes_each", 0);
  runtime.graphs = figure("runtimes.test.graphs", 0);
  runtime.wholeGraphs = figure("runtimes.test.whole_graphs", 0);
  runtime.graphBytesPerRecurrentGraph =
      figure("runtimes.test.graph_bytes_per_recurrent_graph", 0);
  runtime.reserveBytes = figure("runtimes.test.reserve_bytes", 0);
  runtime.reserveBytesPerToken =
      figure("runtimes.test.reserve_bytes_per_token", 0);
  runtime.reserveBytesPerPeer =
      figure("runtimes.test.reserve_bytes_per_peer", 0);
  runtime.reserveLeast = figure("runtimes.test.reserve_least", 0);
  runtime.reserveBytesPerGraphSequence =
      figure("runtimes.test.reserve_bytes_per_graph_sequence", 0);
  runtime.graphSequences = figure("runtimes.test.graph_sequences", 0);
  runtime.expertHiddenMultiple =
      figure("runtimes.test.expert_hidden_multiple", 1);
  runtime.expertIntermediateMultiple =
      figure("runtimes.test.expert_intermediate_multiple", 1);
  runtime.expertContractionMultiple =
      figure("runtimes.test.expert_contraction_multiple", 1);
  runtime.profileTokens = figure("runtimes.test.profile_tokens", 0);
  runtime.profileSequences = figure("runtimes.test.profile_sequences", 0);
  runtime.samplerBytesPerLogit =
      figure("runtimes.test.sampler_bytes_per_logit", 0);
  runtime.profileHiddenStates =
      figure("runtimes.test.profile_hidden_states", 0);
  runtime.keepsExpertWorkspace =
      figure("runtimes.test.keeps_expert_workspace", 0);
  runtime.tokenBudget = figure("runtimes.test.token_budget", 8192);
  runtime.kvBlockTokens = figure("runtimes.test.kv_block_tokens", 16);
  runtime.hostTimeUs = figure("runtimes.test.host_time", 0);
  runtime.kernelFloorUs = figure("runtimes.test.kernel_floor", 0);
  runtime.vocabularyMultiple = figure("runtimes.test.vocabulary_multiple", 64);
  return runtime;
}

Plan test::makePlan(int64_t tpSize) {
  Plan plan;
  plan.setAxis(Degree::tp, tpSize);
  return plan;
}

Workload test::prefill(int64_t batchSize, int64_t prompt) {
  return {Phase::prefill, batchSize, prompt, prompt};
}

Workload test::decode(int64_t batchSize, int64_t contextLength) {
  return {Phase::decode, batchSize, 1, contextLength};
}

nlohmann::json test::numberAt(const nlohmann::json &root, std::string path) {
  for (char &c : path)
    if (c == '.' || c == '[')
      c = '/';
  path.erase(std::remove(path.begin(), path.end(), ']'), path.end());
  nlohmann::json::json_pointer pointer("/" + path);
  return root.contains(pointer) ? root[pointer] : nlohmann::json();
}
