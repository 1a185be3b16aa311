//===- TrainingRows.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/TrainingRows.h"

#include "LoggedRow.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Validation/MemoryRows.h"

using namespace autopar;
using namespace autopar::validation;

const char *autopar::validation::nameOf(IterationSource source) {
  switch (source) {
  case IterationSource::stated:
    return "stated";
  case IterationSource::derived:
    return "derived";
  case IterationSource::throughput:
    return "throughput";
  }
  return "";
}

const std::vector<std::string> &autopar::validation::trainingColumns() {
  static const std::vector<std::string> columns = {
      "id",
      "model",
      "arch",
      "params_B",
      "hardware",
      "n_gpus",
      "tp",
      "pp",
      "dp",
      "cp",
      "ep",
      "etp",
      "vp",
      "zero",
      "fsdp",
      "sp",
      "offload_activations",
      "seq",
      "gbs",
      "mbs",
      "recompute",
      "schedule",
      "precision",
      "task",
      "source",
      "iter_time_s",
      "iter_time_s_derived",
      "tokens_per_s_per_gpu",
      "peak_gib",
      "peak_gb_nvidia_smi",
      "params_optimizer_gib",
      "activations_pct_of_baseline"};
  return columns;
}

bool autopar::validation::hasTraining(const DataTable &table) {
  for (const char *column :
       {"iter_time_s", "iter_time_s_derived", "tflops_per_gpu", "peak_gib",
        "peak_gb_nvidia_smi"})
    if (table.has(column))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static std::optional<bool> truthOf(RowReader &reader, const char *column) {
  std::string cell = reader.text(column);
  if (cell.empty())
    return std::nullopt;
  if (cell != "true" && cell != "false")
    reader.fail(std::string(column) + ": expected true or false, found \"" +
                shorten(cell) + "\"");
  return cell == "true";
}

static TrainedArchitecture readSizes(const JsonReader &reader) {
  auto size = [&](const char *key) {
    return reader.optionalInteger(key, 1, limits::maxDimension);
  };
  TrainedArchitecture read;
  read.layers = reader.optionalInteger("layers", 1, limits::maxLayers);
  read.hidden = size("hidden");
  read.heads = size("heads");
  read.kvHeads = size("kv_heads");
  read.headSize = size("head_dim");
  read.width = reader.has("ffn") ? size("ffn") : size("dense_ffn");
  read.vocabulary = size("vocab");
  read.experts = size("experts");
  read.topK = size("topk");
  read.expertWidth = size("moe_ffn");
  read.sharedExperts = size("shared_experts");
  read.firstDense = reader.optionalInteger("first_dense", 0, limits::maxLayers);
  if (reader.has("gated"))
    read.gated = reader.boolean("gated");
  read.latentAttention = reader.booleanOr("mla", false);
  return read;
}

static std::optional<TrainedArchitecture> readArchitecture(RowReader &reader) {
  std::string cell = reader.text("arch");
  if (cell.empty())
    return std::nullopt;
  Result<JsonDocument> document = JsonDocument::parse(cell, "arch");
  if (!document) {
    reader.fail(document.error().str());
    return std::nullopt;
  }
  JsonReader root = document->reader();
  TrainedArchitecture read = readSizes(root);
  if (root.failed())
    reader.fail(root.takeError().str());
  return read;
}

static void readDegrees(RowReader &reader, TrainingRow &row) {
  auto degree = [&](const char *column) {
    return reader.integer(column, 1, maxDegree);
  };
  row.devices = reader.integer("n_gpus", 1, limits::maxDevices);
  row.tp = degree("tp");
  row.pp = degree("pp");
  row.dp = degree("dp");
  row.cp = degree("cp");
  row.ep = degree("ep");
  row.expertTp = degree("etp");
  row.interleave = degree("vp");
  row.zeroStage = reader.integer("zero", 0, 3);
  row.fsdp = reader.text("fsdp");
  row.sequenceParallel = truthOf(reader, "sp");
  row.offloadsActivations =
      truthOf(reader, "offload_activations").value_or(false);
  row.sequenceTokens = reader.integer("seq", 1, limits::maxTokens);
  row.globalBatch = reader.integer("gbs", 1, limits::maxTokens);
  row.microbatch = reader.integer("mbs", 1, limits::maxTokens);
}

/// The sequences of one micro-batch of each replica without pipeline stages:
/// the global batch of a row that gives nothing but a rate, which the number of
/// micro-batches hardly changes.
static std::optional<int64_t> batchOfReplicas(const TrainingRow &row) {
  if (!row.microbatch || !row.devices || !row.tp || row.pp.value_or(1) > 1)
    return std::nullopt;
  int64_t replica = *row.tp * row.cp.value_or(1);
  if (*row.devices % replica != 0)
    return std::nullopt;
  return *row.microbatch * (*row.devices / replica);
}

/// Reads the stated time, else the derived one, else that of the tokens per
/// second.
static void readTime(RowReader &reader, TrainingRow &row) {
  row.iterationSeconds = reader.positive("iter_time_s");
  if (row.iterationSeconds)
    return;
  row.iterationSeconds = reader.positive("iter_time_s_derived");
  row.iterationSource = IterationSource::derived;
  std::optional<double> tokens = reader.positive("tokens_per_s_per_gpu");
  if (row.iterationSeconds || !tokens)
    return;
  if (!row.globalBatch)
    row.globalBatch = batchOfReplicas(row);
  if (!row.devices || !row.globalBatch || !row.sequenceTokens)
    return;
  row.iterationSource = IterationSource::throughput;
  row.iterationSeconds = double(*row.globalBatch) *
                         double(*row.sequenceTokens) /
                         (*tokens * double(*row.devices));
}

/// nvidia-smi counts MiB, and its "GB" in tables are GiB.
static void readMemory(RowReader &reader, TrainingRow &row) {
  row.peakGiB = reader.positive("peak_gib");
  if (!row.peakGiB)
    row.peakGiB = reader.positive("peak_gb_nvidia_smi");
  row.isComputed = !reader.text("params_optimizer_gib").empty() ||
                   !reader.text("activations_pct_of_baseline").empty();
}

static TrainingRow readRow(RowReader &reader, size_t line) {
  TrainingRow row;
  row.line = line;
  row.id = reader.id();
  row.source = reader.text("source");
  row.model = reader.text("model");
  row.system = reader.text("hardware");
  row.task = reader.text("task");
  row.precision = reader.text("precision");
  row.recompute = reader.text("recompute");
  row.schedule = reader.text("schedule");
  row.architecture = readArchitecture(reader);
  row.parametersBillion = reader.positive("params_B");
  readDegrees(reader, row);
  readTime(reader, row);
  readMemory(reader, row);
  return row;
}

Result<TrainingRows>
autopar::validation::readTrainingRows(const DataTable &table) {
  if (auto absent = checkColumns(table, {"model", "hardware"}, "training"))
    return *absent;
  TrainingRows read;
  bool isOfMemory = hasEngineMemory(table);
  for (const DataTable::Row &line : table.rows()) {
    RowReader reader(table, line);
    if (isOfMemory && !isOfTraining(reader))
      continue;
    TrainingRow row = readRow(reader, line.line);
    if (reader.error())
      read.unreadable.push_back(*reader.error());
    else
      read.rows.push_back(std::move(row));
  }
  return read;
}
