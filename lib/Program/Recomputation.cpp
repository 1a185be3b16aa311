//===- Recomputation.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Recomputation.h"

#include "autopar/Support/Count.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;

using Kind = Recomputation::Kind;

std::string_view autopar::program::nameOf(LayerPart part) {
  static constexpr std::string_view names[] = {
      "attention_core", "norms",          "mlp_activation", "mlp",
      "experts",        "shared_experts", "mla_up"};
  return names[static_cast<size_t>(part)];
}

/// Megatron's name for recomputing the core of attention.
static constexpr std::string_view selective = "selective";

static std::string partChoices() {
  std::string text;
  for (LayerPart part : layerParts)
    text += (text.empty() ? "" : ", ") + std::string(nameOf(part));
  return text;
}

std::string autopar::program::recomputationChoices() {
  return "none, selective, full, full:N (layers of each stage), full/N (one "
         "layer in N), save_products, save_products/N (one product in N), "
         "auto, or a list of " +
         partChoices();
}

static Error unknown(std::string_view text) {
  return {"",
          "unknown recomputation '" + shorten(std::string(text)) +
              "', expected " + recomputationChoices(),
          ""};
}

/// Returns the number that follows `word` and `sign` in `text`; nothing if
/// `text` has another form.
static std::optional<int64_t> numberBehind(std::string_view text,
                                           std::string_view word, char sign,
                                           int64_t least) {
  if (text.size() <= word.size() + 1 || text.substr(0, word.size()) != word ||
      text[word.size()] != sign)
    return std::nullopt;
  std::optional<int64_t> count = parseCount(text.substr(word.size() + 1));
  if (!count || *count < least || *count > int64_t(limits::maxLayers))
    return std::nullopt;
  return count;
}

static std::optional<LayerPart> parsePart(std::string_view text) {
  if (text == selective)
    return LayerPart::attention_core;
  for (LayerPart part : layerParts)
    if (text == nameOf(part))
      return part;
  return std::nullopt;
}

static Result<Recomputation> parseParts(std::string_view text) {
  Recomputation parsed;
  parsed.kind = Kind::parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find_first_of(",+", begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    std::optional<LayerPart> part = parsePart(word);
    if (!part)
      return unknown(word);
    parsed.parts.push_back(*part);
    begin = end + 1;
  }
  std::sort(parsed.parts.begin(), parsed.parts.end());
  parsed.parts.erase(std::unique(parsed.parts.begin(), parsed.parts.end()),
                     parsed.parts.end());
  return parsed;
}

Result<Recomputation> Recomputation::parse(std::string_view text) {
  if (text == "none")
    return Recomputation();
  if (text == "auto")
    return Recomputation{Kind::fitting};
  if (text == "full")
    return Recomputation{Kind::full};
  if (text == "save_products")
    return Recomputation{Kind::save_products};
  if (auto layers = numberBehind(text, "full", ':', 1))
    return Recomputation{Kind::full, {}, 1, *layers};
  if (auto every = numberBehind(text, "full", '/', 2))
    return Recomputation{Kind::full, {}, *every};
  if (auto every = numberBehind(text, "save_products", '/', 2))
    return Recomputation{Kind::save_products, {}, *every};
  return parseParts(text);
}

std::string Recomputation::str() const {
  std::string one = every > 1 ? "/" + std::to_string(every) : "";
  switch (kind) {
  case Kind::none:
    return "none";
  case Kind::fitting:
    return "auto";
  case Kind::save_products:
    return "save_products" + one;
  case Kind::full:
    return "full" +
           (layersOfStage > 0 ? ":" + std::to_string(layersOfStage) : one);
  case Kind::parts:
    break;
  }
  if (parts.size() == 1 && parts.front() == LayerPart::attention_core)
    return std::string(selective);
  std::string text;
  for (LayerPart part : parts)
    text += (text.empty() ? "" : "+") + std::string(nameOf(part));
  return text;
}

bool Recomputation::takesLayer(int64_t index, int64_t ofStage) const {
  if (layersOfStage > 0)
    return ofStage < layersOfStage;
  return (index + 1) % every == 0;
}
