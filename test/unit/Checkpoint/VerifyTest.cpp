//===- VerifyTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Checkpoint/Verify.h"

#include <filesystem>
#include <fstream>

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::test;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static const char *const indexText =
    R"({"metadata":{"total_size":12},
        "weight_map":{"a":"1.safetensors","b":"1.safetensors",
                      "c":"2.safetensors"}})";

static std::string shard(const std::vector<std::string> &names) {
  std::string header = "{";
  for (size_t i = 0; i < names.size(); ++i)
    header += (i ? ",\"" : "\"") + names[i] +
              R"(":{"dtype":"F32","shape":[1],"data_offsets":[)" +
              std::to_string(4 * i) + "," + std::to_string(4 * i + 4) + "]}";
  return safetensors(header + "}", 4 * names.size());
}

static std::string refusedFolder(const MemoryFolder &folder) {
  Result<CheckpointIndex> index = readCheckpoint(folder);
  EXPECT_FALSE(index);
  return index ? "" : index.error().where + ": " + index.error().message;
}

static CheckpointIndex readFolder(const MemoryFolder &folder) {
  Result<CheckpointIndex> index = readCheckpoint(folder);
  EXPECT_TRUE(index) << index.error().str();
  return index ? std::move(*index) : CheckpointIndex();
}

TEST(Index, ReadsTheShardsThatAreThere) {
  MemoryFolder folder;
  folder.add("model.safetensors.index.json", indexText);
  CheckpointIndex none = readFolder(folder);
  EXPECT_EQ(none.unknown(), 3u);
  EXPECT_EQ(none.totalSize, 12);
  EXPECT_EQ(none.unreadFiles.size(), 2u);

  folder.add("1.safetensors", shard({"a", "b"}));
  folder.add("2.safetensors", "version https://git-lfs.github.com/spec/v1");
  CheckpointIndex some = readFolder(folder);
  EXPECT_EQ(some.unknown(), 1u);
  EXPECT_EQ(some.files, std::vector<std::string>{"1.safetensors"});

  folder.add("2.safetensors", shard({"c"}));
  CheckpointIndex all = readFolder(folder);
  EXPECT_EQ(all.unknown(), 0u);
  EXPECT_EQ(all.bytes(), Checked(12));
  EXPECT_TRUE(all.notes.empty());

  folder.add("2.safetensors", shard({"c", "d"}));
  EXPECT_EQ(readFolder(folder).notes.size(), 2u);
}

TEST(Index, PrefersOneFileAndNeverOpensPickles) {
  MemoryFolder folder;
  folder.add("pytorch_model.bin.index.json",
             R"({"weight_map":{"a":"pytorch_model.bin"}})");
  folder.add("pytorch_model.bin", "anything");
  EXPECT_EQ(readFolder(folder).format, CheckpointFormat::pytorch);
  folder.add("model.safetensors.index.json", indexText);
  EXPECT_EQ(readFolder(folder).tensors.size(), 3u);
  folder.add("model.safetensors", shard({"x"}));
  EXPECT_EQ(readFolder(folder).tensors.size(), 1u);
}

TEST(Index, RefusesContradictions) {
  MemoryFolder folder;
  EXPECT_EQ(refusedFolder(folder).rfind("folder: has no model.safetensors", 0),
            0u);
  folder.add("model.safetensors.index.json", indexText);
  folder.add("1.safetensors", shard({"a"}));
  EXPECT_EQ(refusedFolder(folder),
            "model.safetensors.index.json: /weight_map/b: 1.safetensors has "
            "no tensor of this name");
  folder.add("1.safetensors", shard({"a", "b", "c"}));
  folder.add("2.safetensors", shard({"c"}));
  EXPECT_EQ(refusedFolder(folder),
            "2.safetensors: the tensor \"c\" is in another file too");
  folder.add("1.safetensors", shard({"a", "b"}).substr(0, 60));
  EXPECT_EQ(refusedFolder(folder).rfind("1.safetensors: byte 0: ", 0), 0u);
}

TEST(Index, RefusesBadIndices) {
  auto refusedIndex = [](const std::string &text) {
    MemoryFolder folder;
    folder.add("model.safetensors.index.json", text);
    return refusedFolder(folder).substr(sizeof("model.safetensors.index.json"));
  };
  EXPECT_EQ(refusedIndex("{}"), " missing field \"weight_map\"");
  EXPECT_EQ(refusedIndex("[]"), " expected an object, found an array");
  EXPECT_EQ(refusedIndex("{} {}").rfind("1:4: syntax error", 0), 0u);
  EXPECT_EQ(refusedIndex(R"({"weight_map":{"a":1}})"),
            " /weight_map/a: expected a string, found 1");
  EXPECT_EQ(refusedIndex(R"({"metadata":{"total_size":"1"},"weight_map":{}})")
                .rfind(" /metadata/total_size: expected a number", 0),
            0u);
  EXPECT_EQ(refusedIndex(R"({"metadata":{"total_size":-1},"weight_map":{}})")
                .rfind(" /metadata/total_size: expected a number", 0),
            0u);
  EXPECT_EQ(refusedIndex(R"({"weight_map":{"a":"x","a":"y"}})"),
            " duplicate key \"a\"");
  for (const char *file : {"", "/etc/passwd", "../x", "a/../../x", ".."})
    EXPECT_EQ(
        refusedIndex(std::string(R"({"weight_map":{"a":")") + file + "\"}}"),
        std::string(" /weight_map/a: expected the name of a file beside "
                    "the index, found \"") +
            file + "\"");
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static CheckpointTensor stored(std::string name, std::vector<int64_t> shape,
                               std::string dtype, int64_t bytes) {
  return {std::move(name), std::move(dtype), std::nullopt, std::move(shape),
          bytes};
}

static std::vector<ModelTensor> layers(int count) {
  std::vector<ModelTensor> model = {{"embed_tokens.weight", {8, 4}}};
  for (int i = 0; i < count; ++i)
    model.push_back({"layers." + std::to_string(i) + ".w", {4, 2}});
  return model;
}

static CheckpointIndex stored(const std::vector<ModelTensor> &model) {
  CheckpointIndex index;
  for (const ModelTensor &tensor : model) {
    int64_t bytes = 2;
    for (int64_t size : tensor.shape)
      bytes *= size;
    index.tensors.push_back(stored(tensor.name, tensor.shape, "BF16", bytes));
  }
  return index;
}

static void expectText(const Verification &result, bool equal,
                       std::initializer_list<const char *> lines) {
  EXPECT_EQ(result.equal, equal) << result.text;
  for (const char *line : lines)
    EXPECT_NE(("\n" + result.text).find("\n" + std::string(line) + "\n"),
              std::string::npos)
        << "no line: " << line << "\nin:\n"
        << result.text;
}

TEST(Verify, FindsNoDifference) {
  expectText(verifyWeights(layers(3), stored(layers(3)), true), true,
             {"  model       4 tensors, 112 bytes",
              "  checkpoint  4 tensors, 112 bytes",
              "equal in names, shapes, dtypes and bytes"});
}

TEST(Verify, CollapsesLayers) {
  CheckpointIndex index = stored(layers(40));
  for (int i = 0; i < 40; ++i) {
    index.tensors[i + 1].shape = {2, 4};
    index.tensors.push_back(
        stored("layers." + std::to_string(i) + ".bias", {4}, "BF16", 8));
  }
  index.tensors[0].dtype = "F16";
  index.tensors.erase(index.tensors.begin() + 6);
  expectText(
      verifyWeights(layers(40), index, false), false,
      {"Missing in the checkpoint: 1 tensor, 16 bytes",
       "  layers.5.w  [4, 2] BF16", "Not in the model: 40 tensors, 320 bytes",
       "  layers.{0..39}.bias  [4] BF16",
       "  layers.{0..4,6..39}.w  model [4, 2], checkpoint [2, 4]",
       "  embed_tokens.weight  model BF16, checkpoint F16",
       "different: 1 missing in the checkpoint, 40 not in the model, 39 of "
       "another shape, 1 of another dtype"});
}

TEST(Verify, StarsInNamesAreNotNumbers) {
  CheckpointIndex index = stored(layers(1));
  for (const char *name : {"h.*.w", "h.0.w", "h.*.1"})
    index.tensors.push_back(stored(name, {4}, "BF16", 8));
  expectText(verifyWeights(layers(1), index, false), false,
             {"  h.*.w  [4] BF16", "  h.0.w  [4] BF16", "  h.*.1  [4] BF16"});
  EXPECT_NE(describeWeights(index).find("1 of h.*.*"), std::string::npos);
}

TEST(Verify, AllowsBuffers) {
  CheckpointIndex index = stored(layers(2));
  for (int i = 0; i < 2; ++i) {
    std::string layer = "layers." + std::to_string(i);
    index.tensors.push_back(
        stored(layer + ".self_attn.rotary_emb.inv_freq", {64}, "F32", 256));
    index.tensors.push_back(
        stored(layer + ".attn.bias", {1, 1, 8, 8}, "BOOL", 64));
  }
  index.tensors.push_back(stored("lm_head.weight", {8, 4}, "BF16", 64));
  expectText(verifyWeights(layers(2), index, false), true,
             {"Buffers, stored but not needed (no difference): 5 tensors, 704 "
              "bytes",
              "  layers.{0,1}.self_attn.rotary_emb.inv_freq  [64] F32: rotary "
              "frequencies, computed from the config",
              "  layers.{0,1}.attn.bias  [1, 1, 8, 8] BOOL: the causal mask, "
              "no weight",
              "  lm_head.weight  [8, 4] BF16: a head, which the model ties to "
              "its embedding"});
  expectText(verifyWeights(layers(2), index, true), false,
             {"different: 5 buffers"});
  // A bias of a product is no mask, a head of another shape no copy.
  index.tensors.push_back(stored("h.0.attn.bias", {8}, "BF16", 16));
  index.tensors.push_back(stored("h.0.output.weight", {8, 4}, "BF16", 64));
  index.tensors.push_back(stored("embed_out.weight", {9, 4}, "BF16", 72));
  expectText(verifyWeights(layers(2), index, false), false,
             {"different: 3 not in the model"});
}

static CheckpointIndex namesOf(const std::vector<ModelTensor> &model,
                               std::optional<int64_t> total) {
  CheckpointIndex index;
  for (const ModelTensor &tensor : model)
    index.tensors.push_back(stored(tensor.name, {}, "", 0));
  index.totalSize = total;
  index.unreadFiles = {"1.safetensors"};
  return index;
}

TEST(Verify, ComparesNamesAndTheirSum) {
  expectText(verifyWeights(layers(2), namesOf(layers(2), 96), false), true,
             {"safetensors, index only",
              "  checkpoint  3 tensors, 96 bytes (total_size)",
              "note: shapes and dtypes of 3 tensors were not checked: only "
              "names are known, and the sum of the bytes",
              "equal in names and in the sum of bytes"});
  expectText(verifyWeights(layers(2), namesOf(layers(2), 90), false), false,
             {"note: total_size is 6 bytes less than the model and the buffers "
              "whose size is known",
              "different: total_size"});
  expectText(verifyWeights(layers(2), namesOf(layers(2), std::nullopt), false),
             true, {"equal in names"});
}

TEST(Verify, LeavesRoomForBuffersOfUnknownSize) {
  std::vector<ModelTensor> more = layers(2);
  more.push_back({"layers.0.rotary_emb.inv_freq", {}});
  expectText(verifyWeights(layers(2), namesOf(more, 96 + 256), false), true,
             {"note: total_size is 256 bytes more than the model and the "
              "buffers whose size is known: those of the other buffers"});
  for (int total : {96, 95, 96 + 5000})
    expectText(verifyWeights(layers(2), namesOf(more, total), false), false,
               {"different: total_size"});
  more.back().name = "lm_head.weight";
  expectText(verifyWeights(layers(2), namesOf(more, 96 + 64), false), true, {});
}

TEST(Verify, FitsOnAScreen) {
  CheckpointIndex index = stored(layers(1));
  for (char c = 'a'; c <= 'z'; ++c)
    index.tensors.push_back(stored(std::string(1000, c), {1}, "F32", 4));
  expectText(verifyWeights(layers(1), index, false), false,
             {"  ... and 16 more lines"});
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

TEST(Describe, SaysWhatIsKnown) {
  CheckpointIndex index = stored(layers(3));
  index.tensors.push_back(stored("layers.0.q.qweight", {4, 4}, "I32", 64));
  index.files = {"model.safetensors"};
  EXPECT_EQ(
      describeWeights(index),
      "safetensors, 1 file read, 0 not read\n"
      "  architecture    unknown: this format does not store it\n"
      "  tensors         5\n"
      "  bytes           176 (176 B)\n"
      "  parameters      56 in floating point, and unknown in 16 elements of "
      "integers\n"
      "  layers by name  3 of layers.*\n\n"
      "  dtype          tensors               elements                  bytes "
      " of bytes\n"
      "  BF16                 4                     56                    112 "
      "    63.6%\n"
      "  I32                  1                     16                     64 "
      "    36.4%\n");
}

TEST(Describe, MarksTheUnknown) {
  EXPECT_EQ(describeWeights(namesOf(layers(2), std::nullopt)),
            "safetensors, 0 files read, 1 not read\n"
            "  architecture    unknown: this format does not store it\n"
            "  tensors         3\n"
            "  bytes           unknown; of 3 tensors only the name is known\n"
            "  parameters      unknown: no shapes\n"
            "  layers by name  2 of layers.*\n");
}

//===----------------------------------------------------------------------===//
// Published indices
//===----------------------------------------------------------------------===//

TEST(Index, ReadsPublishedOnes) {
  namespace fs = std::filesystem;
  fs::path folder =
      fs::path(AUTOPAR_SOURCE_DIR).parent_path() / "shared/data/configs";
  std::error_code error;
  size_t read = 0;
  for (const auto &model : fs::directory_iterator(folder, error))
    for (const char *name :
         {"model.safetensors.index.json", "pytorch_model.bin.index.json"}) {
      std::string path = (model.path() / name).string();
      if (!fs::exists(path))
        continue;
      Result<CheckpointIndex> index = readCheckpoint(path);
      // This one is two documents.
      if (path.find("bigscience--bloom/model") != path.npos) {
        EXPECT_FALSE(index);
        continue;
      }
      ASSERT_TRUE(index) << index.error().str();
      EXPECT_GT(index->unknown(), 100u) << path;
      EXPECT_TRUE(index->totalSize) << path;
      ++read;
    }
  if (!read)
    GTEST_SKIP() << "no published index files beside the repository";
}
