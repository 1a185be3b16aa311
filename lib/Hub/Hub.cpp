//===- Hub.cpp ------------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hub/Hub.h"

#include "Environment.h"
#include "NotAModel.h"
#include "Remote.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <filesystem>
#include <set>

using namespace autopar;
using namespace autopar::hub;
namespace fs = std::filesystem;

/// Files that describe the quantisation if config.json does not.
static const std::vector<std::string> quantFiles = {"hf_quant_config.json",
                                                    "quantize_config.json"};

static bool endsWith(const std::string &text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// Returns the files of the model in `folder`.
static ModelFiles filesIn(const std::string &folder, std::string name,
                          std::string provenance) {
  ModelFiles files;
  files.name = std::move(name);
  files.configPath = folder + "/config.json";
  files.provenance = std::move(provenance);
  for (const std::string &file : quantFiles)
    if (!files.quantConfigPath && fileExists(folder + "/" + file))
      files.quantConfigPath = folder + "/" + file;
  return files;
}

/// Returns the last component of a path; "" for "." and "..".
static std::string lastName(const fs::path &path) {
  std::string name = path.filename().string();
  return name == "." || name == ".." ? "" : name;
}

static Result<ModelFiles> locatePath(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  if (isDirectory(path)) {
    if (!fileExists(path + "/config.json"))
      return refuseDirectory(path);
    return filesIn(path, lastName(path), path);
  }
  if (std::optional<Error> error = refuseFile(path))
    return *error;
  fs::path file = path;
  if (file.filename() == "config.json" && file.has_parent_path()) {
    std::string folder = file.parent_path().string();
    return filesIn(folder, lastName(folder), path);
  }
  ModelFiles files;
  std::string name = lastName(file);
  files.name = endsWith(name, ".json") ? name.substr(0, name.size() - 5) : name;
  if (files.name == "config")
    files.name.clear();
  files.configPath = files.provenance = path;
  return files;
}

std::vector<std::string> autopar::hub::bundledModels() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto &entry :
       fs::directory_iterator(dataDirectory("models"), error))
    if (fileExists(entry.path().string() + "/config.json"))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Words at the end of a repository's name that change neither its layers nor
/// their sizes: tuning and formats. Dates and numbers of releases are such,
/// too.
static bool isVariant(const std::string &word) {
  static const std::set<std::string> variants = {
      "instruct", "chat",  "it",   "hf",   "base",  "thinking", "fp8",  "fp4",
      "nvfp4",    "mxfp4", "bf16", "awq",  "gptq",  "int4",     "int8", "4bit",
      "8bit",     "w4a16", "w8a8", "gguf", "turbo", "dynamic",  "block"};
  return variants.count(word) ||
         (word.size() == 4 &&
          word.find_first_not_of("0123456789") == std::string::npos);
}

std::optional<std::string>
autopar::hub::bundledModelOf(const std::string &repository) {
  std::string name = lower(repository.substr(repository.rfind('/') + 1));
  std::vector<std::string> models = bundledModels();
  while (!name.empty()) {
    if (std::find(models.begin(), models.end(), name) != models.end())
      return name;
    size_t dash = name.rfind('-');
    if (dash == std::string::npos || !isVariant(name.substr(dash + 1)))
      return std::nullopt;
    name.resize(dash);
  }
  return std::nullopt;
}

/// Returns the models that `name` may mean. If a name ends in a weight format,
/// the format is separated by a colon here: "qwen3-32b-fp8" becomes
/// "qwen3-32b:fp8".
static std::vector<std::string>
modelsMeant(const std::string &name, const std::vector<std::string> &models) {
  std::vector<std::string> meant = suggestions(name, models);
  if (meant.size() != 1)
    return meant;
  std::string &model = meant.front();
  std::string format = name.substr(std::min(model.size() + 1, name.size()));
  if (lower(name).compare(0, model.size() + 1, model + "-") == 0 &&
      isInLibrary(format, dataDirectory("models/weight_formats")))
    model += ":" + format;
  return meant;
}

static Result<ModelFiles> locateBundled(const std::string &name) {
  std::vector<std::string> names = bundledModels();
  if (std::find(names.begin(), names.end(), name) != names.end())
    return filesIn(dataDirectory("models") + "/" + name, name, "bundled");
  return Error{"",
               "unknown model \"" + shorten(name) + "\"" +
                   didYouMean(modelsMeant(name, names)),
               "autopar models list shows the " + std::to_string(names.size()) +
                   " bundled models; the path of a config.json, or org/name "
                   "on the Hugging Face hub, works as well"};
}

/// Downloads the files that describe `repository` into `cache`. config.json is
/// stored last, so that the other files are there if it is.
static Result<ModelFiles> download(const Repository &repository,
                                   const std::string &cache,
                                   const HubOptions &options) {
  Result<Remote> remote = Remote::open(repository, options);
  if (!remote)
    return remote.error();
  Result<std::optional<HttpAnswer>> config = remote->getConfig();
  if (!config)
    return config.error();
  if (!*config)
    return remote->missing();
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string &name : quantFiles) {
    Result<std::optional<HttpAnswer>> file = remote->getJson(name);
    if (!file)
      return file.error();
    if (*file)
      files.emplace_back(name, std::move((*file)->body));
  }
  files.emplace_back("config.json", std::move((*config)->body));
  Result<std::string> snapshot =
      storeSnapshot(repository, cache, (*config)->commit, files);
  if (!snapshot)
    return snapshot.error();
  return filesIn(*snapshot, repository.name, remote->addressOf("config.json"));
}

/// Returns the snapshot that was last known to be this revision.
static std::optional<Snapshot>
newestSnapshot(const Repository &repository,
               const std::vector<std::string> &caches) {
  std::optional<Snapshot> newest;
  for (const std::string &cache : caches)
    if (auto snapshot = findSnapshot(repository, cache))
      if (!newest || snapshot->age < newest->age)
        newest = snapshot;
  return newest;
}

static Result<ModelFiles> locateOnHub(const Repository &repository,
                                      const HubOptions &options) {
  constexpr double day = 24 * 3600;
  std::vector<std::string> caches = {hubCacheDirectory(), cacheDirectory()};
  auto snapshot = newestSnapshot(repository, caches);
  bool asks = !options.offline && !isOffline();
  if (options.refresh && !asks)
    return Error{"", "no network is to be used, and the hub is to be asked",
                 "leave out --refresh, or --offline and HF_HUB_OFFLINE"};
  bool isFresh = snapshot && snapshot->age < day && !options.refresh;
  if (asks && !isFresh) {
    Result<ModelFiles> files = download(repository, caches[1], options);
    // An old snapshot is better than no files.
    if (files || !snapshot || options.refresh)
      return files;
  }
  if (snapshot)
    return filesIn(snapshot->folder, repository.name, snapshot->folder);
  return Error{"",
               "no network is to be used, and " + repository.id() +
                   " at revision \"" + repository.revision +
                   "\" is in no cache",
               "looked in " + repository.folderIn(caches[0]) + " and " +
                   repository.folderIn(caches[1])};
}

/// Returns whether only the hub or a cache can have the model `argument`,
/// because it is no file.
static bool isHubName(const std::string &argument) {
  std::error_code error;
  return argument.find('/') != argument.npos && !fs::exists(argument, error) &&
         !endsWith(argument, ".json") && argument.find_first_of("/.~") != 0;
}

static Result<ModelFiles> locateHere(const std::string &argument) {
  if (argument == "-")
    return ModelFiles{"", "-", std::nullopt, "<stdin>"};
  std::error_code error;
  if (fs::exists(argument, error))
    return locatePath(argument);
  if (endsWith(argument, ".json") || argument.find_first_of("/.~") == 0 ||
      refuseFile(argument))
    return Error{argument, "cannot open: No such file or directory", ""};
  return locateBundled(argument);
}

Result<ModelFiles> autopar::hub::locateModel(const std::string &given,
                                             const HubOptions &options) {
  std::string argument = nameOfAddress(given);
  if (!isHubName(argument)) {
    if (options.revision.empty() && !options.refresh)
      return locateHere(argument);
    std::string what = options.revision.empty()
                           ? "what is asked again of the hub"
                           : "a revision";
    return Error{"",
                 what + " is that of a model on the hub, org/name, not of \"" +
                     shorten(argument) + "\"",
                 options.revision.empty() ? "leave out --refresh"
                                          : "leave out --revision"};
  }
  Result<Repository> repository = parseRepository(argument, options.revision);
  if (!repository)
    return repository.error();
  return locateOnHub(*repository, options);
}
