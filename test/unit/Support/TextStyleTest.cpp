//===- TextStyleTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/TextStyle.h"
#include "autopar/Report/Report.h"

#include "gtest/gtest.h"

using namespace autopar;

static TextStyle inColor() {
  TextStyle style;
  style.color = true;
  return style;
}

TEST(TextStyle, ScopesNest) {
  TextStyle narrow;
  narrow.width = 60;
  {
    TextStyleScope outer(narrow);
    {
      TextStyleScope inner(inColor());
      EXPECT_EQ(TextStyleScope::current().width, 100u);
    }
    EXPECT_EQ(TextStyleScope::current().width, 60u);
  }
  EXPECT_EQ(TextStyleScope::current().width, 100u);
}

TEST(TextStyle, BreaksLongLines) {
  TextStyle narrow;
  narrow.width = 10;
  EXPECT_EQ(finishText("  one two three\nshort\n", narrow),
            "  one two\n    three\nshort\n");
}

TEST(TextStyle, Colors) {
  EXPECT_EQ(finishText("  fits  yes: 1 of 2\n", inColor()),
            "  fits  \x1b[32myes\x1b[0m: 1 of 2\n");
  EXPECT_EQ(finishText("  fits  NO: 3 of 2\n", inColor()),
            "  fits  \x1b[31mNO\x1b[0m: 3 of 2\n");
  EXPECT_EQ(finishText("  ! warm\n", inColor()), "  \x1b[33m!\x1b[0m warm\n");
  EXPECT_EQ(finishText("a\n\nHead\n  x  56%  ##\n", inColor()),
            "\x1b[1ma\x1b[0m\n\n\x1b[1mHead\x1b[0m\n"
            "  x  \x1b[1m56%\x1b[0m  \x1b[36m##\x1b[0m\n");
  // Neither shares nor bars.
  EXPECT_EQ(finishText("  a#2 x56% #1\n", inColor()), "  a#2 x56% #1\n");
}

TEST(TextStyle, NamesMoveNoCursor) {
  EXPECT_EQ(finishText("== a\x1b[2Jb ==\n\u6a21\n", {}),
            "== a\\x1b[2Jb ==\n\u6a21\n");
}

TEST(TextStyle, PlainTextStaysAsItIs) {
  EXPECT_EQ(finishText("  fits  yes: 56%\n  ! x\n", {}),
            "  fits  yes: 56%\n  ! x\n");
}
