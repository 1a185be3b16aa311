//===- NearestFamilies.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/NearestFamilies.h"

#include "autopar/Import/ImportModel.h"
#include "autopar/Import/Tensors.h"
#include "autopar/Model/UnreadKeys.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::importer;
using namespace autopar::model;
using namespace mlir;

/// Returns the name and the shape of a tensor as one text.
template <typename Shape>
static std::string textOf(StringRef name, const Shape &shape) {
  std::string text = name.str();
  for (int64_t size : shape)
    text += " " + std::to_string(size);
  return text;
}

/// Returns the config with the model type and an architecture of `family`.
static Result<JsonDocument> readAs(const JsonDocument &config,
                                   const std::string &family) {
  Result<Family> loaded = loadFamily(family);
  if (!loaded)
    return loaded.error();
  JsonValue changed = config.toJson();
  changed["model_type"] = family;
  changed.erase("architectures");
  auto known = loaded->description.find("architectures");
  if (known != loaded->description.end() && !known->empty())
    changed["architectures"] = {known->front()};
  Result<JsonDocument> document = JsonDocument::parse("{}", config.name());
  if (document)
    document->set(changed);
  return document;
}

namespace {

/// Imports one config as several model types, without printing diagnostics.
class Trials {
public:
  explicit Trials(const JsonDocument &config)
      : config(config),
        silence(&context, [](Diagnostic &) { return success(); }) {}

  Result<Model> read(const std::string &family) {
    Result<JsonDocument> document = readAs(config, family);
    if (!document)
      return document.error();
    return readModel(std::move(*document), config.name());
  }

  Result<OwningOpRef<ModuleOp>> import(const Model &model) {
    return importModel(&context, model);
  }

private:
  const JsonDocument &config;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  ScopedDiagnosticHandler silence;
};

} // namespace

namespace {

/// The tensors of a checkpoint: by name and shape, and the number of tensors by
/// end of name and shape.
struct HeldTensors {
  explicit HeldTensors(const CheckpointIndex &checkpoint) {
    for (const CheckpointTensor &tensor : checkpoint.tensors) {
      names.insert(textOf(tensor.name, tensor.shape));
      ++ends[textOf(endOf(tensor.name), tensor.shape)];
    }
  }

  /// Returns the end of a tensor's name by which tensors of different models
  /// are compared: what follows the last number, or the last two words if there
  /// is no number. Similar models may call their layers differently.
  static StringRef endOf(StringRef name) {
    SmallVector<StringRef> words;
    name.split(words, '.');
    size_t begin = words.size() > 2 ? words.size() - 2 : 0;
    for (size_t i = 0; i + 1 < words.size(); ++i)
      if (llvm::all_of(words[i], llvm::isDigit))
        begin = i + 1;
    return name.drop_front(words[begin].data() - name.data());
  }

  std::unordered_set<std::string> names;
  std::unordered_map<std::string, size_t> ends;
};

} // namespace

static Likeness compare(ModuleOp module, const HeldTensors &held) {
  size_t equal = 0, alike = 0, count = 0, all = held.names.size();
  std::unordered_map<std::string, size_t> left = held.ends;
  auto visit = [&](StringRef name, const transformer::StoredTensor &tensor) {
    ++count;
    equal += held.names.count(textOf(name, tensor.shape));
    auto end = left.find(textOf(HeldTensors::endOf(name), tensor.shape));
    if (end == left.end() || !end->second)
      return;
    --end->second;
    ++alike;
  };
  if (failed(forEachTensor(module, visit)) || !alike)
    return {};
  return {"", double(alike) / double(count + all - alike),
          equal == count && equal == all};
}

/// Families that have less than this share of tensors in common with the model
/// are not listed: most models share norms and biases.
static constexpr double leastShare = 0.1;

std::vector<Likeness>
autopar::importer::nearestFamilies(const JsonDocument &config,
                                   const CheckpointIndex &checkpoint,
                                   size_t count) {
  HeldTensors held(checkpoint);
  std::vector<Likeness> all;
  Trials trials(config);
  for (const std::string &family : familyNames()) {
    Result<Model> model = trials.read(family);
    if (!model)
      continue;
    Result<OwningOpRef<ModuleOp>> module = trials.import(*model);
    if (!module)
      continue;
    Likeness likeness = compare(**module, held);
    likeness.family = family;
    likeness.hasBase = model->scope->family().description.contains("base");
    if (likeness.share >= leastShare)
      all.push_back(std::move(likeness));
  }
  llvm::sort(all, [](const Likeness &a, const Likeness &b) {
    return std::tuple(!a.isEqual, -a.share, a.hasBase, a.family) <
           std::tuple(!b.isEqual, -b.share, b.hasBase, b.family);
  });
  all.resize(std::min(all.size(), count));
  return all;
}

std::string
autopar::importer::formatLikenesses(const std::vector<Likeness> &nearest) {
  std::string text;
  for (const Likeness &one : nearest) {
    auto percent = static_cast<int>(std::floor(100 * one.share));
    text += (text.empty() ? "" : ", ") + one.family + " (" +
            std::to_string(percent) + " %" +
            (text.empty() ? " of tensors)" : ")");
  }
  return text;
}

std::vector<std::string>
autopar::importer::familiesThatRead(const JsonDocument &config, size_t count) {
  struct Reading {
    size_t unread, known;
    std::string family;
  };
  std::vector<Reading> all;
  Trials trials(config);
  for (const std::string &family : familyNames()) {
    Result<Model> model = trials.read(family);
    if (!model || !trials.import(*model))
      continue;
    Result<std::vector<std::string>> unread = unreadKeysOf(*model->scope);
    std::set<std::string> known;
    model->scope->addKnownKeys(known);
    if (unread)
      all.push_back({unread->size(), known.size(), family});
  }
  llvm::sort(all, [](const Reading &a, const Reading &b) {
    return std::tuple(a.unread, b.known, a.family) <
           std::tuple(b.unread, a.known, b.family);
  });
  std::vector<std::string> names;
  for (const Reading &one : all)
    if (names.size() < count)
      names.push_back(one.family);
  return names;
}
