//===- FileScope.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/FileScope.h"

#include <cassert>

using namespace autopar;

static FileScope *active = nullptr;

FileScope::FileScope() {
  assert(!active);
  active = this;
}

FileScope::FileScope(Files files) : FileScope() { stand = std::move(files); }

FileScope::~FileScope() { active = nullptr; }

FileScope *FileScope::current() { return active; }

std::optional<std::string> FileScope::find(const std::string &path) const {
  auto file = stand->find(path);
  return file == stand->end() ? std::nullopt : std::optional(file->second);
}

bool FileScope::isDirectory(const std::string &path) const {
  auto next = stand->lower_bound(path + "/");
  return next != stand->end() &&
         next->first.compare(0, path.size() + 1, path + "/") == 0;
}

std::vector<std::string> FileScope::list(const std::string &directory) const {
  std::vector<std::string> names;
  std::string prefix = directory + "/";
  for (auto it = stand->lower_bound(prefix);
       it != stand->end() && it->first.compare(0, prefix.size(), prefix) == 0;
       ++it) {
    std::string name = it->first.substr(prefix.size());
    if (name.find('/') == std::string::npos)
      names.push_back(std::move(name));
  }
  return names;
}

bool FileScope::write(const std::string &path, const std::string &text) {
  if (path.rfind(memory, 0) != 0)
    return false;
  writtenFiles[path] = text;
  return true;
}
