//===- DraftFamily.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Checkpoint/DraftFamily.h"

#include "Draft.h"
#include "DraftTensors.h"

#include <algorithm>
#include <set>

using namespace autopar;
using namespace autopar::checkpoint;

std::string DraftedFamily::summary() const {
  std::string text = std::to_string(known) + " of " +
                     std::to_string(tensors()) + " tensors known";
  if (products)
    text += ", " + std::to_string(products) + " more counted as products";
  if (kept)
    text += ", " + std::to_string(kept) + " by their bytes alone";
  return text;
}

namespace {

class FamilyDraft {
public:
  FamilyDraft(const JsonDocument &config, const CheckpointIndex &checkpoint)
      : draft(DraftConfig(config.toJson())),
        sorted(sortIntoLayers(checkpoint)) {
    draft.dtype = mostCommonType(checkpoint);
  }

  Result<DraftedFamily> run(const std::string &file);

private:
  static std::string mostCommonType(const CheckpointIndex &checkpoint);
  void dropScales();
  std::optional<Error> draftTokens();
  std::string findTable(const std::vector<const char *> &words) const;
  bool draftProduct(const char *block, int64_t in, int64_t out);
  int64_t widen(int64_t word);
  void draftHead(const std::string &embedding);
  void draftFinalNorm();
  void draftStack();
  void draftOuter(const TensorGroups &further);
  void draftFields();
  void listLeft();
  DraftedFamily finish();

  bool take(const std::string &name) {
    auto found = sorted.outer.find(name);
    if (found == sorted.outer.end() || found->second.taken)
      return false;
    found->second.taken = true;
    ++draft.result.known;
    return true;
  }

  Draft draft;
  SortedCheckpoint sorted;
  Json decoder = Json::object();
  /// Steps of the model: `entry` between the embedding and the layers, `rest`
  /// for tensors that no other block uses, `exit` after the last norm.
  std::vector<std::string> entry, rest, exit;
  Json stored;
};

} // namespace

/// Returns the floating-point dtype that most bytes of the checkpoint have:
/// that of the model, from which formats of some weights may differ.
std::string FamilyDraft::mostCommonType(const CheckpointIndex &checkpoint) {
  std::map<std::string, int64_t> bytes;
  for (const CheckpointTensor &tensor : checkpoint.tensors)
    if (tensor.dtype == "BF16" || tensor.dtype == "F16" ||
        tensor.dtype == "F32")
      bytes[tensor.dtype] += tensor.bytes;
  auto most = std::max_element(
      bytes.begin(), bytes.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == bytes.end() ? "" : most->first;
}

/// Removes the scales of quantised weights: they are part of the format, which
/// the config states.
void FamilyDraft::dropScales() {
  if (!draft.config.whole().contains("quantization_config"))
    return;
  auto drop = [](TensorGroups &groups) {
    for (auto it = groups.begin(); it != groups.end();) {
      bool isScale = false;
      for (const char *word : {"scale", "zero_point", "qzeros", "g_idx"})
        isScale |= contains(lastOf(it->first), word);
      it = isScale ? groups.erase(it) : std::next(it);
    }
  };
  drop(sorted.outer);
  for (LayerKind &kind : sorted.kinds)
    drop(kind.tensors);
}

//===----------------------------------------------------------------------===//
// Draft of what is before and after the layers
//===----------------------------------------------------------------------===//

static size_t commonBeginning(const std::string &a, const std::string &b) {
  auto end = std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()),
                           b.begin());
  return end.first - a.begin();
}

/// Returns the matrix outside of layers whose name contains one of `words`; of
/// several, the one whose name has the longest beginning in common with the
/// layers'.
std::string
FamilyDraft::findTable(const std::vector<const char *> &words) const {
  std::string best;
  auto hasWord = [&](const std::string &name) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char *word) { return contains(name, word); });
  };
  for (const auto &[name, group] : sorted.outer) {
    if (!hasWord(name) || group.taken || group.shape.size() != 2)
      continue;
    if (best.empty() || commonBeginning(name, sorted.prefix) >
                            commonBeginning(best, sorted.prefix))
      best = name;
  }
  return best;
}

std::optional<Error> FamilyDraft::draftTokens() {
  std::string table = findTable(
      {"embed_tokens", "wte", "tok_emb", "word_emb", "embed_in", "token_emb",
       "shared.weight", "embed_token", "tok_embeddings", "embeddings.weight"});
  auto rows = draft.config.numberAnywhere("vocab_size");
  for (const auto &[name, group] : sorted.outer)
    if (table.empty() && group.shape.size() == 2 && rows == group.shape[0])
      table = name;
  if (table.empty())
    return Error{"", "no table of tokens is in the checkpoint",
                 "names are expected to be like model.embed_tokens.weight"};
  std::vector<int64_t> shape = sorted.outer[table].shape;
  take(table);
  draft.hidden = widen(shape[1]);
  draft.config.enterTextOf(draft.hidden, shape[0]);
  Json &embedding = draft.blocks["embedding"];
  embedding["table"] = table;
  embedding["rows"] = draft.size("vocab_size", shape[0]);
  embedding["width"] = shape[1] == draft.hidden
                           ? draft.size("hidden_size", shape[1])
                           : std::to_string(shape[1]);
  draftHead(table);
  draftFinalNorm();
  return std::nullopt;
}

/// Drafts a matmul outside of layers from `in` to `out` elements; returns
/// whether the checkpoint has one.
bool FamilyDraft::draftProduct(const char *block, int64_t in, int64_t out) {
  for (const auto &[name, group] : sorted.outer) {
    if (group.taken || group.shape != std::vector<int64_t>{out, in} ||
        lastOf(name) != "weight" || group.dtype != draft.dtype)
      continue;
    std::string stem = parentOf(name);
    take(name);
    draft.blocks[block] = {{"is", "linear"},
                           {"name", stem},
                           {"width", std::to_string(out)},
                           {"bias", take(stem + ".bias")}};
    draft.result.hasLiterals = true;
    return true;
  }
  return false;
}

/// Returns the number of elements of a token between layers: that of the
/// embedding or, if the config states more and there is a matmul from one to
/// the other, that of the config.
int64_t FamilyDraft::widen(int64_t word) {
  int64_t wide = draft.config.numberAnywhere("hidden_size").value_or(word);
  if (wide == word || !draftProduct("embedding_in", word, wide))
    return word;
  entry.push_back("embedding_in");
  if (draftProduct("head_in", wide, word))
    exit.push_back("head_in");
  else
    draft.guess("no head: no product leads back to the width of words");
  return wide;
}

void FamilyDraft::draftHead(const std::string &embedding) {
  bool hasHead = entry.empty() || !exit.empty();
  exit.push_back("last_token");
  if (!hasHead)
    return;
  exit.push_back("head");
  int64_t width =
      entry.empty() ? draft.hidden : sorted.outer[embedding].shape[1];

  std::string head = findTable(
      {"lm_head", "embed_out", "output.weight", "output_head", "head.weight"});
  bool isHead = !head.empty() && sorted.outer[head].shape[1] == width;
  Json &block = draft.blocks["head"];
  block["tied_to"] = embedding;
  block["tied"] = !isHead;
  block["table"] = isHead ? head : embedding;
  block["rows"] =
      isHead ? Json(draft.size("vocab_size", sorted.outer[head].shape[0]))
             : draft.blocks["embedding"]["rows"];
  if (!isHead)
    draft.guess("the head is tied: the checkpoint has none");
  else
    take(head);
  std::string bias = parentOf(isHead ? head : embedding) + ".bias";
  if (isHead && take(bias))
    block["bias"] = bias;
}

void FamilyDraft::draftFinalNorm() {
  std::string best;
  for (const auto &[name, group] : sorted.outer) {
    bool isNorm = lastOf(name) == "weight" &&
                  (contains(name, "norm") || contains(name, "ln_f")) &&
                  group.shape == std::vector<int64_t>{draft.hidden} &&
                  group.dtype == draft.dtype;
    if (isNorm && (best.empty() || commonBeginning(name, sorted.prefix) >=
                                       commonBeginning(best, sorted.prefix)))
      best = parentOf(name);
  }
  if (best.empty()) {
    draft.blocks["final_norm"] = {
        {"is", "scale"}, {"by", 1}, {"name", nullptr}, {"eps", nullptr}};
    return;
  }
  take(best + ".weight");
  Json &norm = draft.blocks["final_norm"];
  norm["is"] = take(best + ".bias") ? "layer_norm" : "rms_norm";
  norm["name"] = best;
  norm["eps"] = draft.fieldOr("rms_norm_eps", "1e-6");
}

/// Returns an expression for the kind of layer `i`.
static std::string kindExpression(const SortedCheckpoint &sorted) {
  std::vector<size_t> kindOf(sorted.layers, 0);
  for (size_t kind = 0; kind < sorted.kinds.size(); ++kind)
    for (int64_t layer : sorted.kinds[kind].layers)
      kindOf[layer] = kind;
  std::string list;
  for (size_t kind : kindOf)
    list += (list.empty() ? "[" : ", ") + std::to_string(kind);
  return list + "][i]";
}

void FamilyDraft::draftStack() {
  bool isOne = sorted.kinds.size() == 1;
  Json steps = Json::array();
  for (size_t i = 0; i < sorted.kinds.size(); ++i) {
    LayerKind &kind = sorted.kinds[i];
    Json layer = draftLayer(draft, kind, i ? "_" + std::to_string(i + 1) : "");
    if (isOne) {
      steps = layer;
      break;
    }
    steps.push_back(
        {{"when", "kind == " + std::to_string(i)}, {"then", layer}});
    draft.guess(formatLayers(kind.layers) + ": kind " + std::to_string(i + 1) +
                ", by number");
  }
  decoder["layers"] = draft.size("num_hidden_layers", sorted.layers);
  decoder["prefix"] = sorted.prefix;
  decoder["steps"] = steps;
  if (isOne)
    return;
  draft.result.hasLiterals = true;
  decoder["variables"] = {{"kind", kindExpression(sorted)}};
}

/// Keeps tensors outside of layers as weights in device memory; tensors of
/// layers that the config does not count are only stored.
void FamilyDraft::draftOuter(const TensorGroups &further) {
  rest = draft.placeRest("outside", sorted.outer, /*runs=*/false);
  if (!rest.empty())
    draft.guess("tensors outside of the layers, as towers have them, are kept "
                "on devices, and a step of text does not multiply them");
  if (further.empty())
    return;
  Json steps = Json::array();
  for (std::string &block : draft.placeRest("further", further, /*runs=*/false))
    steps.push_back(std::move(block));
  stored["further_layers"] = {{"width", std::to_string(draft.hidden)},
                              {"steps", steps}};
  draft.guess("layers beyond those that the config counts are stored, and a "
              "step does not run them");
}

//===----------------------------------------------------------------------===//
// Draft of the config fields, and the whole file
//===----------------------------------------------------------------------===//

/// Adds the fields to the family; fields of a nested config get keys with its
/// path.
void FamilyDraft::draftFields() {
  Json &dtype = draft.fields["dtype"];
  std::optional<ElementType> type = parseSafetensorsName(draft.dtype);
  dtype["key"] = Json::array();
  dtype["default"] =
      "'" + std::string(nameOf(type.value_or(ElementType::bf16))) + "'";
  dtype["reason"] = "what the checkpoint has";
  if (draft.config.isNested())
    for (const std::string &field : autopar::checkpoint::draftFields())
      if (std::string key = draft.config.keyOf(field);
          !key.empty() && !draft.fields[field].contains("key"))
        draft.fields[field]["key"] = key;
  draft.guess("defaults of keys that a config may leave out: those of Llama");
}

void FamilyDraft::listLeft() {
  std::set<std::string> names;
  for (const auto &[name, group] : sorted.outer)
    if (!group.taken)
      names.insert(name);
  for (const LayerKind &kind : sorted.kinds)
    for (const auto &[name, group] : kind.tensors)
      if (!group.taken)
        names.insert(sorted.prefix + ".{i}." + name);
  draft.result.left.assign(names.begin(), names.end());
}

DraftedFamily FamilyDraft::finish() {
  listLeft();
  const nlohmann::json &config = draft.config.whole();
  Json family;
  family["base"] = "llama";
  family["source"] = "its config.json";
  if (auto it = config.find("architectures"); it != config.end())
    family["architectures"] = *it;
  std::string note = "A draft: " + draft.result.summary() + ". Guessed: ";
  for (size_t i = 0; i < draft.result.guesses.size(); ++i)
    note += (i ? "; " : "") + draft.result.guesses[i];
  family["note"] = note + ".";
  family["remarks"] = Json::array();
  family["fields"] = draft.fields;
  family["blocks"] = draft.blocks;
  family["stacks"] = {{"decoder", decoder}};
  Json model = {"embedding"};
  for (const std::vector<std::string> &steps :
       {entry, {"decoder", "final_norm"}, rest, exit})
    for (const std::string &step : steps)
      model.push_back(step);
  family["model"] = model;
  if (!stored.is_null())
    family["stored"] = stored;
  draft.result.text = family.dump(2) + "\n";
  return std::move(draft.result);
}

Result<DraftedFamily> FamilyDraft::run(const std::string &file) {
  if (!draft.config.whole().is_object())
    return Error{file, "expected an object", ""};
  if (sorted.kinds.empty())
    return Error{"", "no tensor of the checkpoint is in a numbered layer",
                 "names are expected to be like model.layers.0.mlp.up"};
  dropScales();
  if (auto error = draftTokens())
    return *error;
  TensorGroups further;
  if (auto count = draft.config.number("num_hidden_layers"))
    further = takeLayersFrom(sorted, *count);
  draftStack();
  draftOuter(further);
  draftFields();
  return finish();
}

Result<DraftedFamily>
autopar::checkpoint::draftFamily(const JsonDocument &config,
                                 const CheckpointIndex &checkpoint) {
  return FamilyDraft(config, checkpoint).run(config.name());
}
