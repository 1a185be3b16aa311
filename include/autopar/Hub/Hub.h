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

/// A function that is called with a progress line during downloads that take
/// longer than a second, and with "" at the end.
using ProgressCallback = std::function<void(const std::string &line)>;

struct HubOptions {
  /// Whether the network must not be used, as with `HF_HUB_OFFLINE=1`.
  bool offline = false;
  /// Branch, tag or commit; if "", the part of the model argument after "@",
  /// else "main".
  std::string revision;
  ProgressCallback progress;
  /// Whether to ask the hub even if a cache has the model.
  bool refresh = false;
};

/// The paths of the files that describe a model, as `readFile` takes them.
struct ModelFiles {
  /// The model's name; "" if the config comes from standard input.
  std::string name;
  std::string configPath;
  /// Path of hf_quant_config.json or quantize_config.json in the same
  /// directory, if there is one.
  std::optional<std::string> quantConfigPath;
  /// Where the files came from, as text for users: "bundled", a path or a URL.
  std::string provenance;
};

/// Finds the model that `argument` names, in this order: "-" (standard input);
/// a path of a config.json, or of a directory that has one; the name of a
/// bundled model; "org/name" or "org/name@revision" in the cache of
/// huggingface_hub, in autopar's own cache, and on the hub (`HF_ENDPOINT`).
/// Files from the hub are kept in autopar's own cache. A branch or tag is
/// resolved again after a day, and the newer cache wins; if the hub cannot be
/// reached, the last result is used.
Result<ModelFiles> locateModel(const std::string &argument,
                               const HubOptions &options);

/// Returns the names of the models that are part of autopar.
std::vector<std::string> bundledModels();

/// Returns the bundled model of a repository: "deepseek-r1" for
/// "deepseek-ai/DeepSeek-R1" and for "nvidia/DeepSeek-R1-NVFP4"; nothing if no
/// bundled model has its name without the words of tuning and formats at its
/// end.
std::optional<std::string> bundledModelOf(const std::string &repository);

/// Returns the directory for files that are kept between runs: `AUTOPAR_CACHE`,
/// else `XDG_CACHE_HOME`/autopar, else ~/.cache/autopar.
std::string cacheDirectory();

} // namespace autopar::hub

#endif // AUTOPAR_HUB_HUB_H
