//===- BookTest.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Book.h"
#include "Formula.h"
#include "Xlsx.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::spreadsheet;

TEST(Formula, BindsAsItsReadersDo) {
  Formula a = "a", b = "b", c = "c";
  EXPECT_EQ(((a + b) * c).text, "(a+b)*c");
  EXPECT_EQ((a + b * c).text, "a+b*c");
  EXPECT_EQ((a - (b - c)).text, "a-(b-c)");
  EXPECT_EQ((a - b - c).text, "a-b-c");
  EXPECT_EQ((a / (b / c)).text, "a/(b/c)");
  EXPECT_EQ((a / b * c).text, "a/b*c");
  EXPECT_EQ((a * (b * c)).text, "a*(b*c)");
  EXPECT_EQ(choose(a > b + c, 1, least(a, b)).text, "IF(a>b+c,1,MIN(a,b))");
}

/// Rounding up is rounding down of what is negative, which must not lose its
/// sign to what is around.
TEST(Formula, RoundsUp) {
  Formula up = atLeast(Formula("a") / "b");
  EXPECT_EQ(up.text, "-INT(-(a/b))");
  EXPECT_EQ((up * 8).text, "(-INT(-(a/b)))*8");
  EXPECT_EQ((Formula("c") + up).text, "c+(-INT(-(a/b)))");
  EXPECT_EQ((Formula("c") - int64_t(-3)).text, "c-(-3)");
}

TEST(Formula, CountsWhatIsInsideOfIt) {
  EXPECT_EQ(Formula("a").depth, 0u);
  EXPECT_EQ((call("INT", Formula("a")) + "b").depth, 1u);
  EXPECT_EQ(least(call("INT", (Formula("a") + "b") * "c"), 1).depth, 3u);
}

TEST(Formula, HasAllDigits) {
  EXPECT_EQ(exactly(0.1).text, "0.1");
  EXPECT_EQ(exactly(1.0 / 3).text, "0.3333333333333333");
  EXPECT_EQ(exactly(1e300).text, "1E+300");
  EXPECT_EQ(exactly(8).text, "8");
}

TEST(Book, NamesColumnsByLetters) {
  Sheet sheet{"Time", {}};
  EXPECT_EQ(sheet.address(6, 2), "Time!$C$7");
  EXPECT_EQ(Sheet::here(0, 25), "$Z$1");
  EXPECT_EQ(Sheet::here(0, 26), "$AA$1");
  EXPECT_EQ(Sheet::here(0, 701), "$ZZ$1");
  EXPECT_EQ(Sheet::here(0, 702), "$AAA$1");
  EXPECT_EQ(Sheet::range(2, 5, 1, 3), "$B$3:$C$5");
}

/// Names are what strangers wrote: bytes that are no text, and control
/// characters, are shown as such.
TEST(Xlsx, EqualBooksAreEqualBytes) {
  Book book;
  Sheet sheet{"One", {10}};
  sheet.title("a\x1b[2J <b> & \xff");
  sheet.rows.push_back({Cell::of(2.0, Cell::Style::input),
                        Cell::formula(Sheet::here(1, 0) + "*2", 4)});
  book.names.emplace_back("an_input", sheet.address(1, 0));
  book.sheets.push_back(sheet);
  Result<std::string> first = writeXlsx(book), second = writeXlsx(book);
  ASSERT_TRUE(first) << first.error().str();
  EXPECT_EQ(first->substr(0, 2), "PK");
  EXPECT_EQ(*first, *second);
}
