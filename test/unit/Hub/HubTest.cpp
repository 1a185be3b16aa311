//===- HubTest.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hub/Hub.h"
#include "autopar/Hub/HttpRange.h"
#include "autopar/Support/File.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace autopar;
using namespace autopar::hub;

namespace {

TEST(HubTest, Locate) {
  Result<ModelFiles> input = locateModel("-", {});
  ASSERT_TRUE(input);
  EXPECT_EQ(input->configPath, "-");
  EXPECT_EQ(input->name, "");

  Result<ModelFiles> bundled = locateModel("mixtral-8x7b", {});
  ASSERT_TRUE(bundled) << bundled.error().str();
  EXPECT_EQ(bundled->name, "mixtral-8x7b");
  EXPECT_EQ(bundled->provenance, "bundled");
  EXPECT_EQ(bundled->quantConfigPath, std::nullopt);

  std::string path = AUTOPAR_SOURCE_DIR "/models/mixtral-8x7b";
  for (const char *suffix : {"", "/", "//", "/config.json"}) {
    Result<ModelFiles> files = locateModel(path + suffix, {});
    ASSERT_TRUE(files) << files.error().str();
    EXPECT_EQ(files->name, "mixtral-8x7b");
    EXPECT_EQ(files->configPath, path + "/config.json");
  }
}

TEST(HubTest, QuantConfig) {
  std::string folder = testing::TempDir() + "HubTestQuantConfig";
  (void)!std::system(("mkdir -p '" + folder + "'").c_str());
  for (const char *file : {"config.json", "quantize_config.json"})
    ASSERT_TRUE(writeFile(folder + "/" + file, "{}"));
  Result<ModelFiles> files = locateModel(folder, {});
  ASSERT_TRUE(files);
  EXPECT_EQ(files->quantConfigPath, folder + "/quantize_config.json");
}

/// Talks to test/Hub/server.py, where there is an openssl to make its
/// certificate.
class RangeTest : public testing::Test {
protected:
  void SetUp() override {
    if (std::system("openssl version >/dev/null 2>&1"))
      GTEST_SKIP() << "there is no openssl";
    folder = testing::TempDir() + "RangeTest" + std::to_string(getpid());
    // It ends when its standard input does.
    std::string command = "mkdir -p '" + folder +
                          "' && exec python3 -B '" AUTOPAR_SOURCE_DIR
                          "/test/Hub/server.py' '" +
                          folder + "' >'" + folder + "/port'";
    server = popen(command.c_str(), "w");
    ASSERT_TRUE(server);
    std::string port;
    for (int tries = 0; tries < 600 && port.find('\n') == port.npos; ++tries) {
      usleep(50'000);
      if (Result<std::string> text = readFile(folder + "/port"))
        port = *text;
    }
    ASSERT_FALSE(port.empty());
    port.pop_back();
    setenv("HF_ENDPOINT", ("https://localhost:" + port).c_str(), 1);
    setenv("CURL_CA_BUNDLE", (folder + "/cert.pem").c_str(), 1);
    setenv("no_proxy", "*", 1);
    unsetenv("HF_HUB_OFFLINE");
  }

  void TearDown() override {
    if (server)
      pclose(server);
  }

  Result<std::optional<HttpRange>> open(const std::string &file) {
    return openModelFile("org/ranges", file, {});
  }

  void expectRefused(const std::string &file, const std::string &message) {
    Result<std::optional<HttpRange>> range = open(file);
    ASSERT_FALSE(range) << file;
    EXPECT_NE(range.error().str().find(message), std::string::npos)
        << range.error().str();
  }

  std::string folder;
  std::FILE *server = nullptr;
};

TEST_F(RangeTest, Reads) {
  std::string blob;
  for (int i = 0; i < 300'000; ++i)
    blob += char(i * 7 % 251);
  for (const char *file : {"blob", "moved"}) {
    Result<std::optional<HttpRange>> opened = open(file);
    ASSERT_TRUE(opened) << opened.error().str();
    ASSERT_TRUE(opened->has_value());
    HttpRange &range = **opened;
    EXPECT_EQ(range.size(), blob.size());
    for (auto [offset, count] : {std::pair<size_t, size_t>{0, 8},
                                 {100, 5000},
                                 {131'070, 4},
                                 {200'000, 100'000},
                                 {299'999, 1},
                                 {300'000, 0},
                                 {0, 300'000}}) {
      Result<std::string> bytes = range.read(offset, count);
      ASSERT_TRUE(bytes) << bytes.error().str();
      EXPECT_EQ(*bytes, blob.substr(offset, count)) << offset;
    }
    EXPECT_FALSE(range.read(0, 300'001));
    EXPECT_FALSE(range.read(300'001, 0));
    EXPECT_FALSE(range.read(UINT64_MAX, 2));
    EXPECT_FALSE(range.read(2, UINT64_MAX));
  }
}

TEST_F(RangeTest, Refuses) {
  Result<std::optional<HttpRange>> missing = open("nothing.safetensors");
  ASSERT_TRUE(missing) << missing.error().str();
  EXPECT_FALSE(missing->has_value());
  for (const char *file : {"whole", "other", "short"})
    expectRefused(file, "the server does not answer with the range 0-131071");
  expectRefused("../config.json", "is no name of a file on the hub");
  Result<std::optional<HttpRange>> grows = open("grows");
  ASSERT_TRUE(grows && *grows);
  Result<std::string> bytes = (*grows)->read(200'000, 10);
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().str().find("has changed"), std::string::npos);
}

} // namespace
