//===- TerminalTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Terminal.h"

#include "gtest/gtest.h"

using namespace autopar;

TEST(Terminal, WrapIndentsWhatFollows) {
  EXPECT_EQ(wrap("- ", "one two three", 9), "- one two\n  three\n");
  EXPECT_EQ(wrap("", "", 9), "\n");
}

TEST(Terminal, WrapBreaksLongWords) {
  EXPECT_EQ(wrap("- ", "abcdefgh", 5), "- abc\n  def\n  gh\n");
  // Between characters, not between bytes.
  EXPECT_EQ(wrap("", "\u00e9\u00e9\u00e9", 2), "\u00e9\u00e9\n\u00e9\n");
  // A head that fills the line leaves a character of room.
  EXPECT_EQ(wrap("head", "ab", 2), "heada\n    b\n");
}

TEST(Terminal, LengthIsInCharacters) {
  EXPECT_EQ(lengthOf("\u00e9t\u00e9"), 3u);
}

TEST(Terminal, ControlCharactersAreVisible) {
  EXPECT_EQ(visible("a\x1b[31mb\n\x7f"), "a\\x1b[31mb\\x0a\\x7f");
  EXPECT_EQ(visible("\u009b\u00e9\u6a21"), "\\x9b\u00e9\u6a21");
  EXPECT_EQ(visible("\xc2"), "\xc2");
}
