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

TEST(Shell, BreaksCommandsBetweenWords) {
  EXPECT_EQ(commandLines("  ", {"go", "--to=here"}, 14), "  go --to=here\n");
  EXPECT_EQ(commandLines("  ", {"go", "--to=here"}, 13),
            "  go \\\n    --to=here\n");
  // A backslash needs room, too.
  EXPECT_EQ(commandLines("  ", {"go", "to", "'a b'"}, 8),
            "  go \\\n    to \\\n    'a b'\n");
  EXPECT_EQ(commandLines("", {"go", "'a long name'", "-v"}, 6),
            "go \\\n  'a long name' \\\n  -v\n");
}
