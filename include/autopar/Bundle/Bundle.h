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

/// All inputs and outputs of one estimate, so that another machine can repeat
/// it: a zip file whose `manifest.json` (format `autopar.bundle/1`) has a hash
/// of each file.
struct Bundle {
  /// The options of the estimate that the module does not state.
  struct Choice {
    bool explain = false, impact = false, verbose = false;
    int64_t simulate = 0;
    uint64_t seed = 1;
    /// Path of a file of requests to simulate, instead of `simulate` random
    /// requests; "" for none.
    std::string requests = {};
  };

  std::string model, autoparVersion, llvmVersion;
  /// The command-line flags of the estimate, as the user wrote them.
  std::vector<std::string> flags;
  Choice choice;
  /// Text of each file by its name in the zip: module.mlir, report.json,
  /// report.txt, plan.json, hardware/.., runtimes/.., files/...
  std::map<std::string, std::string> files;
  /// For each file `files/..` of the zip, the path by which the module or a
  /// flag refers to it.
  std::map<std::string, std::string> paths;
};

/// Estimates the module in `text` and collects all files that the estimate
/// read. Errors are those of the estimate.
Result<Bundle> makeBundle(const std::string &text, const Bundle::Choice &choice,
                          std::vector<std::string> flags);

/// Returns the bytes of the zip file; equal bundles give equal bytes.
Result<std::string> packBundle(const Bundle &bundle);
/// Reads a bundle from the zip file `path`. Errors name `path` and the zip
/// entry: the file is no zip; an entry is missing, occurs twice, is too large,
/// does not match its hash in the manifest, or has a name outside of the
/// bundle.
Result<Bundle> readBundle(const std::string &path);

/// A JSON value that differs between the bundle (`before`) and a new estimate
/// (`now`), at a JSON pointer. A text is "" where the value is missing.
struct Difference {
  std::string pointer, before, now;
};

/// The result of estimating the module of a bundle again.
struct Replay {
  std::string model;
  /// A file that was computed again (report.json, report.txt or plan.json), and
  /// whether it equals the file in the bundle.
  struct Output {
    std::string name;
    bool isSame = false;
    /// The JSON values that differ; empty for files that are not JSON.
    std::vector<Difference> differences = {};
  };
  std::vector<Output> outputs;
  /// A hardware or runtime file that differs between the bundle and this
  /// installation. `isThere` is false if this installation has no such file.
  struct InstalledFile {
    std::string name;
    bool isThere = false;
    std::vector<Difference> differences = {};
  };
  size_t libraryFiles = 0;
  std::vector<InstalledFile> changed;
  /// The values of report.json that differ if the installed hardware and
  /// runtime files are used, or the error of that estimate.
  std::vector<Difference> withInstalled;
  std::optional<Error> installedError;
  /// The version of the program that wrote the bundle, and of this program:
  /// "autopar 0.1, LLVM 22.1".
  std::string writtenBy, replayedBy;

  bool isSame() const;
};

/// Estimates the module of a bundle again, with the files of the bundle and
/// with the installed ones. Returns an error if the bundle's contents can no
/// longer be estimated.
Result<Replay> replay(const Bundle &bundle);
std::string writeText(const Replay &replay);
/// Writes the replay as JSON, in the format `autopar.replay/1`.
std::string writeJson(const Replay &replay);

} // namespace autopar::bundle

#endif // AUTOPAR_BUNDLE_BUNDLE_H
