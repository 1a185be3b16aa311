//===- FileScopeTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/FileScope.h"

#include "autopar/Support/File.h"

#include <gtest/gtest.h>

using namespace autopar;

TEST(FileScope, StandsInForTheDisk) {
  EXPECT_FALSE(fileExists("/nowhere/a.json"));
  {
    FileScope scope({{"/nowhere/a.json", "1"}, {"/nowhere/b/c.json", "2"}});
    EXPECT_TRUE(fileExists("/nowhere/a.json"));
    EXPECT_TRUE(isDirectory("/nowhere"));
    EXPECT_TRUE(isDirectory("/nowhere/b"));
    EXPECT_FALSE(isDirectory("/now"));
    EXPECT_EQ(*readFile("/nowhere/b/c.json"), "2");
    EXPECT_FALSE(readFile(AUTOPAR_SOURCE_DIR "/README.md"));
    EXPECT_FALSE(fileExists(AUTOPAR_SOURCE_DIR "/README.md"));
    EXPECT_EQ(listFiles("/nowhere", ".json"),
              std::vector<std::string>{"a.json"});
    EXPECT_TRUE(writeOutput("memory:x", "3"));
    EXPECT_EQ(scope.written().at("memory:x"), "3");
  }
  EXPECT_FALSE(fileExists("/nowhere/a.json"));
}

TEST(FileScope, KeepsWhatIsRead) {
  std::string path = AUTOPAR_SOURCE_DIR "/LICENSE";
  FileScope scope;
  ASSERT_TRUE(readFile(path));
  EXPECT_FALSE(readFile("/nowhere/a.json"));
  ASSERT_EQ(scope.read().size(), 1u);
  EXPECT_EQ(scope.read().begin()->first, path);
}
