//===- MakeBundle.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Outputs.h"
#include "Zip.h"

#include "autopar/Support/File.h"
#include "autopar/Support/FileScope.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::bundle;

/// Returns the name of a file of a library: hardware/chips/.. or runtimes/..;
/// nothing for other files.
static std::optional<std::string> libraryName(const std::string &path) {
  for (const char *kind : {"hardware", "runtimes"}) {
    std::string folder = dataDirectory(kind) + "/";
    if (path.rfind(folder, 0) == 0)
      return std::string(kind) + "/" + path.substr(folder.size());
  }
  return std::nullopt;
}

/// Returns a plain name, in the bundle, for a file of the user.
static std::string ownName(const std::string &path, size_t number) {
  std::string last = path.substr(path.rfind('/') + 1);
  for (char &c : last)
    if (!isPlainName(std::string(1, c)) && c != '.')
      c = '_';
  return "files/" + std::to_string(number) + "-" + last;
}

static void keepFiles(const FileScope::Files &read, Bundle &bundle) {
  size_t number = 0;
  for (const auto &[path, text] : read) {
    std::optional<std::string> name = libraryName(path);
    if (!name) {
      name = ownName(path, number++);
      bundle.paths[*name] = path;
    }
    bundle.files[*name] = text;
  }
}

static std::string modelOf(const std::string &report) {
  auto root = nlohmann::json::parse(report, nullptr, false);
  for (const char *pointer : {"/model/name", "/model"}) {
    nlohmann::json::json_pointer at(pointer);
    if (root.contains(at) && root[at].is_string())
      return root[at].get<std::string>();
  }
  return "";
}

Result<Bundle> autopar::bundle::makeBundle(const std::string &text,
                                           const Bundle::Choice &choice,
                                           std::vector<std::string> flags) {
  Bundle bundle;
  bundle.autoparVersion = ownVersion();
  bundle.llvmVersion = llvmVersion();
  bundle.flags = std::move(flags);
  bundle.choice = choice;
  FileScope scope;
  auto outputs = estimateAll(text, choice);
  if (!outputs)
    return outputs.error();
  bundle.files = std::move(*outputs);
  bundle.files["module.mlir"] = text;
  bundle.model = modelOf(bundle.files["report.json"]);
  keepFiles(scope.read(), bundle);
  return bundle;
}
