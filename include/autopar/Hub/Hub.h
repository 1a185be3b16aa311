//===- Hub.h - Finds models -------------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_HUB_HUB_H
#define AUTOPAR_HUB_HUB_H

#include "autopar/Support/Result.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autopar::hub {

/// Called with the progress of a download that takes longer than a second, one
/// line at a time; with "" at its end.
using ProgressCallback = std::function<void(const std::string &line)>;

struct HubOptions {
  /// Never touch the network. `HF_HUB_OFFLINE=1` says the same.
  bool offline = false;
  /// Branch, tag or commit; "": the part of the argument behind "@", else
  /// "main".
  std::string revision;
  ProgressCallback progress;
  /// Ask the hub even where a cache has the model.
  bool refresh = false;
};

/// The files that describe a model; paths that `readFile` takes.
struct ModelFiles {
  /// The model's name; "" for standard input.
  std::string name;
  std::string configPath;
  /// hf_quant_config.json or quantize_config.json beside it.
  std::optional<std::string> quantConfigPath;
  /// Where the files came from, for people: "bundled", a path, an address.
  std::string provenance;
};

/// Finds the model that `argument` names, in this order: "-" (standard input);
/// a path of a config.json or of a directory that has one; the name of a
/// bundled model; "org/name" or "org/name@revision" in the cache of
/// huggingface_hub, in autopar's own cache, and on the hub (`HF_ENDPOINT`),
/// whose files are kept in autopar's own cache. A branch or tag is resolved
/// again after a day, and the newer cache wins; if the hub cannot be reached,
/// the last result holds.
Result<ModelFiles> locateModel(const std::string &argument,
                               const HubOptions &options);

/// The names of models that autopar brings along.
std::vector<std::string> bundledModels();

/// The folder for files that are kept between runs: `AUTOPAR_CACHE`, else
/// `XDG_CACHE_HOME`/autopar, else ~/.cache/autopar.
std::string cacheDirectory();

} // namespace autopar::hub

#endif // AUTOPAR_HUB_HUB_H
