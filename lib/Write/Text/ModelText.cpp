//===- ModelText.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Text.h"

#include "autopar/Report/ModelReport.h"

#include "autopar/Support/TextTables.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::report;
using namespace autopar::writing;

//===----------------------------------------------------------------------===//
// Words for keys and sums
//===----------------------------------------------------------------------===//

/// Returns a key as words: "stored only" for "stored_only".
static std::string words(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

static std::string sight(const ModelReport::Cache &cache) {
  if (cache.chunk)
    return "chunk of " + formatInteger(cache.chunk);
  return cache.window ? "last " + formatInteger(cache.window) : "all";
}

static Checked sum(const std::vector<ModelReport::Cache> &caches, size_t i) {
  Checked bytes;
  for (const ModelReport::Cache &cache : caches)
    bytes += cache.bytesPerToken[i];
  return bytes;
}

static std::string oneToken(Checked flops, int64_t tokens) {
  return formatFlops(floorDiv(flops, tokens));
}

//===----------------------------------------------------------------------===//
// The text about one model
//===----------------------------------------------------------------------===//

static std::string totals(const ModelReport &model) {
  TextTable table("lrr");
  table.add({"parameters", formatInteger(model.parameters), ""});
  table.add({"active per token", formatInteger(model.activeParameters),
             percent(model.activeParameters.real(), model.parameters.real())});
  if (!model.storedOnlyParameters.isZero())
    table.add({"stored only, not loaded",
               formatInteger(model.storedOnlyParameters), ""});
  table.add({"checkpoint bytes", formatInteger(model.checkpointBytes),
             formatBytes(model.checkpointBytes)});
  if (model.contextLength)
    table.add({"longest context", formatInteger(model.contextLength), ""});
  return model.name + "\n" + table.str() +
         wrapText("  layers in order: ", model.pattern);
}

static std::string partsTable(const ModelReport &model) {
  TextTable table("lrrrr");
  table.add({"", "parameters", "of all", "active", "bytes"});
  for (const ModelReport::Part &part : model.parts)
    table.add({words(part.name), formatInteger(part.parameters),
               percent(part.parameters.real(), model.parameters.real()),
               formatInteger(part.active), formatBytes(part.bytes)});
  return "\nParts\n" + table.str();
}

static void addFormats(const std::vector<Checked> &bytes,
                       std::vector<std::string> &cells, bool exact) {
  for (Checked count : bytes)
    cells.push_back(exact ? formatInteger(count) + " B" : formatBytes(count));
}

static std::string cachesTable(const ModelReport &model) {
  if (model.caches.empty())
    return "\nNo KV cache grows with the context\n";
  std::string alignment = "llrl" + std::string(model.kvFormats.size(), 'r');
  TextTable table(alignment);
  std::vector<std::string> head = {"", "for", "layers", "sees"};
  head.insert(head.end(), model.kvFormats.begin(), model.kvFormats.end());
  table.add(std::move(head));
  std::vector<Checked> all;
  for (size_t i = 0; i < model.kvFormats.size(); ++i)
    all.push_back(sum(model.caches, i));
  for (const ModelReport::Cache &cache : model.caches) {
    std::vector<std::string> row = {cache.layer, words(cache.op),
                                    formatInteger(cache.layers), sight(cache)};
    addFormats(cache.bytesPerToken, row, true);
    table.add(std::move(row));
  }
  std::vector<std::string> last = {"all", "", "", ""};
  addFormats(all, last, true);
  table.add(std::move(last));
  return "\nKV cache of a token, while no window is full\n" + table.str();
}

/// Writes the caches that are not in the tables.
static std::string memoryText(const ModelReport &model) {
  if (model.memoryBytesPerToken.isZero())
    return "";
  return wrapText("  ",
                  "Cross-attention keeps " +
                      formatInteger(model.memoryBytesPerToken) + " B (" +
                      model.kvFormats.front() +
                      ") of each token of the source besides, which is not "
                      "in these tables.");
}

static std::string sizesTable(const ModelReport &model) {
  std::string text;
  if (!model.caches.empty()) {
    TextTable table("r" + std::string(model.kvFormats.size(), 'r'));
    std::vector<std::string> head = {"tokens"};
    head.insert(head.end(), model.kvFormats.begin(), model.kvFormats.end());
    table.add(std::move(head));
    for (const ModelReport::CacheSize &size : model.cacheSizes) {
      std::vector<std::string> row = {formatInteger(size.context)};
      addFormats(size.bytes, row, false);
      table.add(std::move(row));
    }
    text = "\nKV cache of a sequence\n" + table.str();
  }
  if (!model.stateBytesPerSequence.isZero())
    text += "\nStates of a sequence: " +
            formatInteger(model.stateBytesPerSequence) +
            " B, whatever its length\n";
  return text;
}

static void addFlops(TextTable &table, const char *phase, int64_t context,
                     const ModelReport::Flops &flops, int64_t tokens) {
  table.add({phase, formatInteger(context), oneToken(flops.linear, tokens),
             oneToken(flops.attention, tokens),
             oneToken(flops.recurrence, tokens), oneToken(flops.logits, tokens),
             oneToken(flops.total(), tokens)});
}

static std::string flopsTable(const ModelReport &model) {
  TextTable table("lrrrrrr");
  table.add(
      {"", "context", "linear", "attention", "recurrence", "logits", "total"});
  for (const ModelReport::FlopsAt &at : model.flops)
    addFlops(table, "prefill", at.context, at.prefill, at.context);
  for (const ModelReport::FlopsAt &at : model.flops)
    if (at.decode)
      addFlops(table, "decode", at.context, *at.decode, 1);
  return "\nFLOPs of a token\n" + table.str() +
         wrapText("  ",
                  "Prefill: the mean of a prompt as long as the context, "
                  "with logits for its last token. A multiply-add is 2.") +
         (model.hasSource
              ? wrapText("  ", "What runs on the source (an encoder, a vision "
                               "tower, keys and values of cross-attention) is "
                               "left out.")
              : "");
}

static std::string fieldsText(const ModelReport &model) {
  std::vector<std::string> fields;
  for (const auto &[name, value] : model.fields)
    fields.push_back(name + " " + value);
  std::string text;
  if (!fields.empty())
    text = "\nConfig\n" + wrapText("  ", join(fields, ", "));
  for (const std::string &note : model.defaults)
    text += (&note == &model.defaults.front() ? "\nDefaults\n" : "") +
            wrapText("  - ", note);
  return text;
}

std::string autopar::writing::writeText(const ModelReport &model) {
  return totals(model) + partsTable(model) + cachesTable(model) +
         sizesTable(model) + memoryText(model) + flopsTable(model) +
         fieldsText(model);
}

//===----------------------------------------------------------------------===//
// The differences of two models
//===----------------------------------------------------------------------===//

using Row = std::pair<std::string, std::string>;

static void addCaches(const ModelReport &model, std::vector<Row> &rows) {
  for (size_t i = 0; i < model.kvFormats.size(); ++i)
    rows.emplace_back("KV of a token, " + model.kvFormats[i],
                      formatInteger(sum(model.caches, i)) + " B");
  for (const ModelReport::Cache &cache : model.caches)
    rows.emplace_back("cache: " + cache.layer + ", " + words(cache.op),
                      std::to_string(cache.layers) + " layers, sees " +
                          sight(cache));
  for (const ModelReport::CacheSize &size : model.cacheSizes)
    rows.emplace_back("KV at " + formatInteger(size.context) + " tokens, " +
                          model.kvFormats.front(),
                      formatBytes(size.bytes.front()));
  rows.emplace_back("states of a sequence",
                    formatInteger(model.stateBytesPerSequence) + " B");
}

/// Returns all properties in which two models can differ, by name.
static std::vector<Row> flatten(const ModelReport &model) {
  std::vector<Row> rows = {
      {"parameters", formatInteger(model.parameters)},
      {"active per token", formatInteger(model.activeParameters)},
      {"stored only", formatInteger(model.storedOnlyParameters)},
      {"checkpoint bytes", formatInteger(model.checkpointBytes)},
      {"longest context", formatInteger(model.contextLength)},
      {"layers in order", model.pattern}};
  for (const ModelReport::Part &part : model.parts)
    rows.emplace_back("parameters: " + words(part.name),
                      formatInteger(part.parameters));
  addCaches(model, rows);
  for (const ModelReport::FlopsAt &at : model.flops) {
    std::string context = " of a token at " + formatInteger(at.context);
    rows.emplace_back("prefill FLOPs" + context,
                      oneToken(at.prefill.total(), at.context));
    if (at.decode)
      rows.emplace_back("decode FLOPs" + context,
                        oneToken(at.decode->total(), 1));
  }
  rows.insert(rows.end(), model.fields.begin(), model.fields.end());
  return rows;
}

static const std::string *find(const std::vector<Row> &rows,
                               const std::string &name) {
  for (const Row &row : rows)
    if (row.first == name)
      return &row.second;
  return nullptr;
}

std::string autopar::writing::writeDifferences(const ModelReport &first,
                                               const ModelReport &second) {
  std::vector<Row> a = flatten(first), b = flatten(second);
  TextTable table("lrr");
  table.add({"", first.name, second.name});
  bool differs = false;
  auto add = [&](const std::string &name, const std::string *x,
                 const std::string *y) {
    if (x && y && *x == *y)
      return;
    table.add({name, x ? *x : "-", y ? *y : "-"});
    differs = true;
  };
  for (const auto &[name, value] : a)
    add(name, &value, find(b, name));
  for (const auto &[name, value] : b)
    if (!find(a, name))
      add(name, nullptr, &value);
  return differs ? table.str() : "  nothing differs\n";
}

std::string autopar::writing::writeList(
    const std::vector<std::pair<std::string, ModelReport>> &models) {
  TextTable table("lrrrr", uncut);
  table.add({"model", "parameters", "active", "checkpoint", "context"});
  for (const auto &[name, model] : models)
    table.add({name, formatInteger(model.parameters),
               formatInteger(model.activeParameters),
               formatBytes(model.checkpointBytes),
               model.contextLength ? formatInteger(model.contextLength) : "-"});
  return table.str();
}
