//===- StrategyFile.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StrategyFile.h"

#include "autopar/Support/Bytes.h"
#include "autopar/Support/File.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/xxhash.h"

using namespace autopar;
using namespace autopar::pipelines;

namespace {
struct Header {
  /// The checksum of the rest of the file, and the number of programs in it.
  uint64_t checksum, count;
};
} // namespace

static constexpr llvm::StringLiteral magic = "autopar.strategies/3\n";

StrategyFile::StrategyFile(const std::string &directory,
                           llvm::StringRef origin) {
  if (directory.empty())
    return;
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(origin));
  path = directory + "/" + llvm::toHex(digest, /*LowerCase=*/true) + ".bin";
  read();
}

void StrategyFile::read() {
  // A file is always replaced as a whole, so that a file that is mapped into
  // memory does not change.
  auto found = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!found || !(*found)->getBuffer().starts_with(magic))
    return;
  text = std::move(*found);
  std::string_view bytes(text->getBuffer());
  ByteReader reader(bytes.substr(magic.size()));
  Header header{};
  reader(header);
  if (reader.failed || llvm::xxh3_64bits(reader.rest()) != header.checksum)
    return;
  for (uint64_t i = 0; i < header.count && !reader.failed; ++i) {
    uint64_t keySize = 0, size = 0;
    reader(keySize, size);
    std::string_view key = reader.take(keySize);
    entries[key] = reader.take(size);
  }
}

void StrategyFile::add(llvm::StringRef key, std::string bytes) {
  entries[key] = added[key] = std::move(bytes);
}

static std::string textOf(const Header &header) {
  ByteWriter writer;
  writer.bytes = magic.str();
  writer(header);
  return writer.bytes;
}

/// Writes the file from one buffer, because files have a hundred megabytes.
Result<bool> StrategyFile::save() {
  if (added.empty())
    return false;
  size_t begin = textOf({}).size(), size = begin;
  for (const auto &entry : entries)
    size +=
        2 * sizeof(uint64_t) + entry.getKey().size() + entry.getValue().size();
  ByteWriter file;
  file.bytes.reserve(size);
  file.bytes.resize(begin);
  for (const auto &entry : entries) {
    llvm::StringRef key = entry.getKey(), bytes = entry.getValue();
    file(uint64_t(key.size()), uint64_t(bytes.size()));
    file.bytes.append(key.data(), key.size());
    file.bytes.append(bytes.data(), bytes.size());
  }
  auto body = llvm::StringRef(file.bytes).drop_front(begin);
  file.bytes.replace(0, begin,
                     textOf({llvm::xxh3_64bits(body), entries.size()}));
  if (std::error_code error = llvm::sys::fs::create_directories(
          llvm::StringRef(path).rsplit('/').first))
    return Error{path, "cannot be written: " + error.message(), ""};
  return writeFile(path, file.bytes);
}
