//===- Repository.h - A model on the hub, and in caches ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HUB_REPOSITORY_H
#define AUTOPAR_LIB_HUB_REPOSITORY_H

#include "autopar/Support/Result.h"

#include <utility>
#include <vector>

namespace autopar::hub {

/// The repository "org/name" at a branch, tag or commit. Names and revision
/// have only characters that are safe in paths.
struct Repository {
  std::string org, name, revision;

  std::string id() const { return org + "/" + name; }
  /// Returns the path of `file` on the server, which follows after the endpoint
  /// in its address.
  std::string addressOf(const std::string &file) const;
  /// Returns the repository's folder in a cache, laid out as by
  /// huggingface_hub: refs/<revision> has the commit, snapshots/<commit> the
  /// files.
  std::string folderIn(const std::string &cache) const;
};

/// Returns "org/name" or "org/name@revision" if `argument` is the address of a
/// page or a file of the hub; else `argument` itself.
std::string nameOfAddress(const std::string &argument);

/// Reads "org/name" or "org/name@revision"; `revision` may be empty.
Result<Repository> parseRepository(const std::string &argument,
                                   const std::string &revision);

/// Checks a path inside a repository.
Result<bool> checkFileName(const std::string &file);

/// A folder of a cache that has a config.json.
struct Snapshot {
  std::string folder;
  /// The seconds since the cache resolved the revision; 0 for a commit, which
  /// never changes.
  double age = 0;
};
std::optional<Snapshot> findSnapshot(const Repository &repository,
                                     const std::string &cache);

/// Stores files (name and text), in order, as the snapshot `commit`; "" if the
/// commit is not known. Returns the folder of the snapshot.
Result<std::string>
storeSnapshot(const Repository &repository, const std::string &cache,
              const std::string &commit,
              const std::vector<std::pair<std::string, std::string>> &files);

} // namespace autopar::hub

#endif // AUTOPAR_LIB_HUB_REPOSITORY_H
