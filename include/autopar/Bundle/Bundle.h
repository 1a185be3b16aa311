//===- Bundle.h - Estimates that can be done again -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_BUNDLE_BUNDLE_H
#define AUTOPAR_BUNDLE_BUNDLE_H

#include "autopar/Support/Result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace autopar::bundle {

/// The inputs and outputs of an estimate, complete: a zip whose `manifest.json`
/// (`autopar.bundle/1`) has a hash of each file.
struct Bundle {
  /// Choices of the estimate that are not in the module.
  struct Choice {
    bool explain = false, impact = false, verbose = false;
    int64_t simulate = 0;
    uint64_t seed = 1;
    /// A file of requests to simulate instead.
    std::string requests = {};
  };

  std::string model, autoparVersion, llvmVersion;
  /// Flags as on the command line.
  std::vector<std::string> flags;
  Choice choice;
  /// Texts by name: module.mlir, report.json, report.txt, plan.json,
  /// hardware/.., runtimes/.., files/...
  std::map<std::string, std::string> files;
  /// For `files/..`, the path by which the module, or a flag, names it.
  std::map<std::string, std::string> paths;
};

/// Estimates the module in `text`, and keeps all files that were read. Errors:
/// those of the estimate.
Result<Bundle> makeBundle(const std::string &text, const Bundle::Choice &choice,
                          std::vector<std::string> flags);

/// The bytes of a file; equal bundles give equal bytes.
Result<std::string> packBundle(const Bundle &bundle);
/// Errors name `path` and the entry: no zip, entries that are missing, twice,
/// too large or of other bytes than the manifest says, names that lead
/// elsewhere.
Result<Bundle> readBundle(const std::string &path);

/// A value of a JSON text, in the bundle and now; "" where there is none.
struct Difference {
  std::string pointer, before, now;
};

/// The estimate of a bundle, done again.
struct Replay {
  std::string model;
  /// A recomputed file: report.json, report.txt, plan.json.
  struct Output {
    std::string name;
    bool isSame = false;
    /// Differences of a JSON text.
    std::vector<Difference> differences = {};
  };
  std::vector<Output> outputs;
  /// Files of hardware and runtimes that are other ones where this program
  /// runs; one that is not there has no differences.
  struct InstalledFile {
    std::string name;
    bool isThere = false;
    std::vector<Difference> differences = {};
  };
  size_t libraryFiles = 0;
  std::vector<InstalledFile> changed;
  /// Differences with the installed files, or an error.
  std::vector<Difference> withInstalled;
  std::optional<Error> installedError;
  /// Versions of the program that wrote the bundle, and of this one: "autopar
  /// 0.1, LLVM 22.1".
  std::string writtenBy, replayedBy;

  bool isSame() const;
};

/// Recomputes a bundle. Errors: its contents cannot be estimated any more.
Result<Replay> replay(const Bundle &bundle);
std::string writeText(const Replay &replay);
/// `autopar.replay/1`.
std::string writeJson(const Replay &replay);

} // namespace autopar::bundle

#endif // AUTOPAR_BUNDLE_BUNDLE_H
