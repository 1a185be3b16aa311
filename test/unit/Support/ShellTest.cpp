//===- ShellTest.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Shell.h"

#include <gtest/gtest.h>

using namespace autopar;

TEST(Shell, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shellWord("zipf:1.0"), "zipf:1.0");
  EXPECT_EQ(shellWord("./my-node.json"), "./my-node.json");
  EXPECT_EQ(shellWord("my loads.json"), "'my loads.json'");
  EXPECT_EQ(shellWord("$HOME;a|b*"), "'$HOME;a|b*'");
  EXPECT_EQ(shellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(shellWord(""), "''");
}
