//===- Repository.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repository.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>

using namespace autopar;
using namespace autopar::hub;
namespace fs = std::filesystem;

static bool isAlnum(char c) { return std::isalnum((unsigned char)c); }

/// Returns whether `text` is a legal name on the hub, which is safe in a path:
/// it has only letters, digits, "-", "_" and "." (and the characters `also`),
/// does not begin with "." or "-", and does not contain "..".
static bool isSafe(std::string_view text, size_t longest,
                   std::string_view also = "") {
  return !text.empty() && text.size() <= longest &&
         (isAlnum(text[0]) || text[0] == '_') && text.find("..") == text.npos &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return isAlnum(c) || c == '-' || c == '_' || c == '.' ||
                  also.find(c) != also.npos;
         });
}

/// Returns whether each part of `text` between slashes is such a safe name.
static bool isSafePath(std::string_view text) {
  constexpr size_t longest = 255;
  for (size_t slash; (slash = text.find('/')) != text.npos;
       text.remove_prefix(slash + 1))
    if (!isSafe(text.substr(0, slash), longest))
      return false;
  return isSafe(text, longest);
}

std::string Repository::addressOf(const std::string &file) const {
  std::string quoted;
  for (char c : revision)
    quoted += c == '/' ? std::string("%2F") : std::string(1, c);
  return "/" + id() + "/resolve/" + quoted + "/" + file;
}

std::string Repository::folderIn(const std::string &cache) const {
  return cache + "/models--" + org + "--" + name;
}

static std::vector<std::string> partsOf(const std::string &path) {
  std::vector<std::string> parts(1);
  for (char c : path)
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Returns an address such as "https://host/org/name/tree/revision" without its
/// scheme and its query.
static std::string pathOf(const std::string &address) {
  size_t scheme = address.find("://");
  std::string path =
      scheme == address.npos ? address : address.substr(scheme + 3);
  path.resize(std::min(path.find_first_of("?#"), path.size()));
  for (size_t at; (at = path.find("%2F")) != path.npos;)
    path.replace(at, 3, "/");
  return path;
}

std::string autopar::hub::nameOfAddress(const std::string &argument) {
  static const std::string hosts[] = {"huggingface.co", "www.huggingface.co",
                                      "hf.co"};
  std::vector<std::string> parts = partsOf(pathOf(argument));
  const char *endpoint = std::getenv("HF_ENDPOINT");
  bool ofHub = std::find(std::begin(hosts), std::end(hosts), parts[0]) !=
                   std::end(hosts) ||
               (endpoint && pathOf(endpoint) == parts[0]);
  if (!ofHub || parts.size() < 3 || parts[2].empty())
    return argument;
  std::string name = parts[1] + "/" + parts[2];
  // The rest of the path has the revision: /tree/main, /blob/main/config.json,
  // /tree/refs/pr/1.
  if (parts.size() < 5 || parts[4].empty())
    return name;
  name += "@" + parts[4];
  for (size_t i = 5;
       parts[4] == "refs" && i < std::min<size_t>(7, parts.size()); ++i)
    name += "/" + parts[i];
  return name;
}

Result<Repository> autopar::hub::parseRepository(const std::string &argument,
                                                 const std::string &revision) {
  constexpr size_t longest = 96;
  size_t slash = argument.find('/'), at = argument.find('@');
  Repository repository;
  repository.org = argument.substr(0, slash);
  repository.name =
      slash == argument.npos ? "" : argument.substr(slash + 1, at - slash - 1);
  if (!isSafe(repository.org, longest) || !isSafe(repository.name, longest) ||
      argument.find("--") != argument.npos)
    return Error{"",
                 "\"" + shorten(argument) +
                     "\" is neither a path, nor a bundled model, nor a name "
                     "on the hub",
                 "names on the hub are org/name or org/name@revision, of "
                 "letters, digits, \"-\", \"_\" and \".\""};
  std::string suffix = at == argument.npos ? "" : argument.substr(at + 1);
  if (at != argument.npos && !revision.empty() && suffix != revision)
    return Error{"",
                 "two revisions of " + repository.id() + ": \"" +
                     shorten(suffix) + "\" and \"" + shorten(revision) + "\"",
                 "give one of @ and --revision"};
  repository.revision = revision.empty() ? suffix : revision;
  if (at == argument.npos && revision.empty())
    repository.revision = "main";
  if (!isSafePath(repository.revision))
    return Error{"",
                 "\"" + shorten(repository.revision) +
                     "\" is no revision: expected a branch, a tag or a "
                     "commit",
                 ""};
  return repository;
}

Result<bool> autopar::hub::checkFileName(const std::string &file) {
  if (isSafePath(file))
    return true;
  return Error{"", "\"" + shorten(file) + "\" is no name of a file on the hub",
               ""};
}

static bool isCommit(const std::string &text) {
  constexpr size_t digits = 40;
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Returns the commit in the file `reference`; `revision` if there is no such
/// file.
static std::string commitOf(const std::string &reference,
                            const std::string &revision) {
  if (!fileExists(reference))
    return revision;
  Result<std::string> text = readFile(reference);
  if (!text)
    return revision;
  return text->substr(0, text->find_last_not_of(" \r\n") + 1);
}

/// Returns the seconds since `path` was written.
static double ageOf(const std::string &path) {
  std::error_code error;
  auto written = fs::last_write_time(path, error);
  auto now = fs::file_time_type::clock::now();
  return error ? 0 : std::chrono::duration<double>(now - written).count();
}

std::optional<Snapshot> autopar::hub::findSnapshot(const Repository &repository,
                                                   const std::string &cache) {
  constexpr size_t longest = 255;
  std::string folder = repository.folderIn(cache);
  std::string reference = folder + "/refs/" + repository.revision;
  std::string commit = commitOf(reference, repository.revision);
  std::string snapshot = folder + "/snapshots/" + commit;
  std::string config = snapshot + "/config.json";
  if (!isSafe(commit, longest) || !fileExists(config))
    return std::nullopt;
  if (isCommit(repository.revision))
    return Snapshot{snapshot, 0};
  return Snapshot{snapshot, ageOf(fileExists(reference) ? reference : config)};
}

/// Writes `text` to `path`; makes the folder if necessary.
static Result<bool> writeWithFolder(const std::string &path,
                                    const std::string &text) {
  std::error_code error;
  std::string folder = fs::path(path).parent_path().string();
  fs::create_directories(folder, error);
  Result<bool> written =
      error ? Error{folder, "cannot make this folder: " + error.message(), ""}
            : writeFile(path, text);
  if (written)
    return true;
  return Error{written.error().where, written.error().message,
               "AUTOPAR_CACHE names the folder that keeps downloads"};
}

Result<std::string> autopar::hub::storeSnapshot(
    const Repository &repository, const std::string &cache,
    const std::string &commit,
    const std::vector<std::pair<std::string, std::string>> &files) {
  std::string folder = repository.folderIn(cache), id = commit;
  if (!isCommit(commit)) {
    id = repository.revision;
    std::replace(id.begin(), id.end(), '/', '_');
  }
  std::string snapshot = folder + "/snapshots/" + id;
  for (const auto &[name, text] : files)
    if (auto written = writeWithFolder(snapshot + "/" + name, text); !written)
      return written.error();
  if (id == repository.revision)
    return snapshot;
  std::string reference = folder + "/refs/" + repository.revision;
  if (auto written = writeWithFolder(reference, id); !written)
    return written.error();
  return snapshot;
}
