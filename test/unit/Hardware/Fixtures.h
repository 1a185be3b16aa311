//===- Fixtures.h - Library and scratch files of these tests ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_HARDWARE_FIXTURES_H
#define AUTOPAR_TEST_UNIT_HARDWARE_FIXTURES_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Support/File.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace autopar::test {

/// Uses the library of the source tree, and a folder for broken copies of it,
/// which tests that run beside it do not have.
class LibraryTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, 1);
    folder = testing::TempDir() + "hardware-" + std::to_string(getpid()) + "/";
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// A copy of a library file with one piece of text replaced.
  std::string edited(const std::string &file, const std::string &from,
                     const std::string &to) {
    std::string text = *readFile(std::string(AUTOPAR_SOURCE_DIR "/") + file);
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::string path = folder + file.substr(file.rfind('/') + 1);
    EXPECT_TRUE(writeFile(path, text));
    return path;
  }

  std::string chipError(const std::string &from, const std::string &to) {
    std::string path = edited("hardware/chips/h100-sxm.json", from, to);
    return withoutFolder(hardware::HardwareLibrary().chip(path));
  }
  std::string systemError(const std::string &from, const std::string &to) {
    std::string path = edited("hardware/systems/h100-sxm-8.json", from, to);
    return withoutFolder(hardware::HardwareLibrary().machine(path));
  }

  /// The error as printed, scratch folder removed; "" where there is none.
  template <typename T>
  std::string withoutFolder(const Result<T> &result) {
    if (result)
      return "";
    std::string text = result.error().str();
    if (text.compare(0, folder.size(), folder) == 0)
      text.erase(0, folder.size());
    return text;
  }

  std::string folder;
};

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_HARDWARE_FIXTURES_H
