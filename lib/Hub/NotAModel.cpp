//===- NotAModel.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NotAModel.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <filesystem>

using namespace autopar;
using namespace autopar::hub;
namespace fs = std::filesystem;

namespace {
/// A kind of file that is no model, told by the end of its name; and what to
/// give instead.
struct Kind {
  const char *ending, *what, *instead;
};
} // namespace

static constexpr const char *estimateInstead =
    "for an estimate, give the config.json of the model that it holds, or its "
    "org/name on the hub";

static constexpr Kind kinds[] = {
    {".mlir", "is MLIR, expected a config.json",
     "autopar estimate and autopar-opt --estimate read it"},
    {".gguf", "is GGUF, expected a config.json",
     "autopar-translate --describe-weights lists its tensors"},
    {".safetensors", "is a checkpoint, expected a config.json",
     "autopar-translate --describe-weights lists its tensors"}};

static bool endsWith(const std::string &text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// The file of PEFT that describes an adapter, which is trained beside an
/// unchanged model.
static constexpr const char *adapterFile = "adapter_config.json";

/// Returns the error for an adapter; nothing if `path` describes none.
static std::optional<Error> refuseAdapter(const std::string &path) {
  Result<JsonDocument> document =
      JsonDocument::readFile(path, JsonDocument::Dialect::python);
  if (!document || !document->reader().isObject())
    return std::nullopt;
  auto config = document->toJson();
  auto textOf = [&](const char *key, const char *absent) {
    auto found = config.find(key);
    return found != config.end() && found->is_string()
               ? shorten(found->get<std::string>())
               : std::string(absent);
  };
  auto rank = config.find("r");
  std::string base = textOf("base_model_name_or_path", "");
  return Error{path,
               "an adapter of " + (base.empty() ? "a model" : base) + " (" +
                   textOf("peft_type", "PEFT") +
                   (rank != config.end() && rank->is_number_integer()
                        ? ", rank " + rank->dump()
                        : "") +
                   "), which has no tensors of that model",
               base.empty() ? "give the model that it was trained for"
                            : "give the model itself: " + base};
}

std::optional<Error> autopar::hub::refuseFile(const std::string &path) {
  if (endsWith(path, adapterFile))
    return refuseAdapter(path);
  for (const Kind &kind : kinds)
    if (endsWith(path, kind.ending))
      return Error{path, kind.what,
                   kind.instead + (kind.ending == std::string_view(".mlir")
                                       ? ""
                                       : std::string("; ") + estimateInstead)};
  return std::nullopt;
}

/// Returns the folders below `path` that have a config.json.
static std::vector<std::string> modelsBelow(const std::string &path) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(path, error))
    if (fileExists(entry.path().string() + "/config.json"))
      found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  constexpr size_t shown = 5;
  if (found.size() > shown) {
    found.resize(shown);
    found.emplace_back("...");
  }
  return found;
}

Error autopar::hub::refuseDirectory(const std::string &path) {
  constexpr const char *what = "the directory has no config.json";
  if (std::vector<std::string> below = modelsBelow(path); !below.empty())
    return {path, what, "there is one in " + join(below, ", ")};
  if (fileExists(path + "/" + adapterFile))
    if (auto error = refuseAdapter(path + "/" + adapterFile))
      return *error;
  for (const Kind &kind : kinds)
    if (std::vector<std::string> files = listFiles(path, kind.ending);
        !files.empty())
      return {path, what,
              "it has " + shorten(files.front()) + ": " +
                  refuseFile(files.front())->note};
  if (fileExists(path + "/params.json"))
    return {path, what,
            "its params.json is of another format; the config.json of the "
            "model on the hub says the same: give its org/name"};
  return {path, what,
          "give a folder or a file that is one, a name of 'autopar models "
          "list', or org/name on the hub"};
}
