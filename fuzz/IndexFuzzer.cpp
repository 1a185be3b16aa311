//===- IndexFuzzer.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is an index of shards; behind a first zero byte, the file that all
// of its names lead to (without one, there are no files).

#include "MemorySource.h"

#include "autopar/Checkpoint/Verify.h"

using namespace autopar;
using namespace autopar::checkpoint;

namespace {

class OneShard : public ByteFolder {
public:
  explicit OneShard(std::optional<std::string_view> shard) : shard(shard) {}

  const std::string &name() const override { return path; }
  Result<std::unique_ptr<ByteSource>>
  open(const std::string &file) const override {
    if (!shard)
      return std::unique_ptr<ByteSource>();
    return std::unique_ptr<ByteSource>(
        std::make_unique<fuzz::MemorySource>(file, *shard));
  }

private:
  std::string path = "folder";
  std::optional<std::string_view> shard;
};

} // namespace

static void read(std::string_view text, const ByteFolder &folder,
                 CheckpointFormat format) {
  fuzz::MemorySource source("a.index.json", text);
  Result<CheckpointIndex> index = readIndex(source, folder, format);
  if (!index)
    return;
  describeWeights(*index);
  verifyWeights({{"model.norm.weight", {8}, ElementType::bf16}}, *index, true);
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string_view input(data, size);
  size_t end = input.find('\0');
  std::optional<std::string_view> shard;
  if (end != std::string_view::npos)
    shard = input.substr(end + 1);
  OneShard folder(shard);
  read(input.substr(0, end), folder, CheckpointFormat::safetensors);
  read(input.substr(0, end), folder, CheckpointFormat::pytorch);
  return 0;
}
