//===- Fixtures.h - Headers built in memory ------------------- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_CHECKPOINT_FIXTURES_H
#define AUTOPAR_TEST_UNIT_CHECKPOINT_FIXTURES_H

#include "autopar/Checkpoint/Checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace autopar::test {

/// A file of `front`, and zeros up to `bytes`. Counts what is read of it.
class MemorySource : public checkpoint::ByteSource {
public:
  MemorySource(std::string name, std::string front, uint64_t bytes)
      : file(std::move(name)), front(std::move(front)), bytes(bytes) {}

  const std::string &name() const override { return file; }
  uint64_t size() const override { return bytes; }
  Result<std::string> read(uint64_t offset, uint64_t count) override {
    EXPECT_LE(offset + count, bytes);
    taken += count;
    std::string text(count, '\0');
    for (uint64_t i = 0; i < count && offset + i < front.size(); ++i)
      text[i] = front[offset + i];
    return text;
  }

  uint64_t taken = 0;

private:
  std::string file, front;
  uint64_t bytes;
};

/// Files by name: what they begin with, and their size.
class MemoryFolder : public checkpoint::ByteFolder {
public:
  std::map<std::string, std::pair<std::string, uint64_t>> files;

  const std::string &name() const override { return path; }
  Result<std::unique_ptr<checkpoint::ByteSource>>
  open(const std::string &file) const override {
    auto it = files.find(file);
    if (it == files.end())
      return std::unique_ptr<checkpoint::ByteSource>();
    return std::unique_ptr<checkpoint::ByteSource>(
        std::make_unique<MemorySource>(file, it->second.first,
                                       it->second.second));
  }
  void add(const std::string &file, const std::string &text) {
    files[file] = {text, text.size()};
  }

private:
  std::string path = "folder";
};

template <typename T>
std::string raw(T value) {
  std::string text(sizeof(T), '\0');
  std::memcpy(text.data(), &value, sizeof(T));
  return text;
}

/// A file of safetensors with `data` bytes behind its header.
inline std::string safetensors(const std::string &header, size_t data = 0) {
  return raw(uint64_t(header.size())) + header + std::string(data, '\0');
}

inline Result<checkpoint::CheckpointIndex> readText(const std::string &text) {
  MemorySource source("a.bin", text, text.size());
  return readCheckpoint(source);
}

inline checkpoint::CheckpointIndex read(const std::string &text) {
  Result<checkpoint::CheckpointIndex> index = readText(text);
  EXPECT_TRUE(index) << index.error().str();
  return index ? std::move(*index) : checkpoint::CheckpointIndex();
}

/// The error of `text`, without its note.
inline std::string refused(const std::string &text) {
  Result<checkpoint::CheckpointIndex> index = readText(text);
  EXPECT_FALSE(index);
  return index ? "" : index.error().where + ": " + index.error().message;
}

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_CHECKPOINT_FIXTURES_H
