//===- HubFolder.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HubFolder.h"

#include "autopar/Hub/HttpRange.h"

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::hub;
using namespace autopar::importer;

namespace {

class HubFile : public ByteSource {
public:
  HubFile(std::string file, HttpRange range)
      : file(std::move(file)), range(std::move(range)) {}

  const std::string &name() const override { return file; }
  uint64_t size() const override { return range.size(); }
  Result<std::string> read(uint64_t offset, uint64_t count) override {
    return range.read(offset, count);
  }

private:
  std::string file;
  HttpRange range;
};

class HubFolder : public ByteFolder {
public:
  HubFolder(std::string repository, HubOptions options)
      : repository(std::move(repository)), options(std::move(options)) {}

  const std::string &name() const override { return repository; }
  Result<std::unique_ptr<ByteSource>>
  open(const std::string &file) const override {
    Result<std::optional<HttpRange>> range =
        openModelFile(repository, file, options);
    if (!range)
      return range.error();
    if (!*range)
      return std::unique_ptr<ByteSource>();
    return std::unique_ptr<ByteSource>(
        std::make_unique<HubFile>(repository + "/" + file, std::move(**range)));
  }

private:
  std::string repository;
  HubOptions options;
};

} // namespace

std::unique_ptr<ByteFolder>
autopar::importer::openHubFolder(std::string repository, HubOptions options) {
  return std::make_unique<HubFolder>(std::move(repository), std::move(options));
}
