//===- PageTest.cpp - Reports that browsers show --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Page/Page.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::page;

TEST(Html, TextIsEscaped) {
  EXPECT_EQ(escapeHtml("a <b> & \"c\"\x1b[2J\t"),
            "a &lt;b&gt; &amp; &quot;c&quot;?[2J\t");
}

TEST(Html, BodyHoldsWhatWasAdded) {
  HtmlBody body;
  body.heading(2, "<x>").paragraph("quiet & more", "quiet");
  EXPECT_EQ(body.str(), "<h2>&lt;x&gt;</h2>\n"
                        "<p class=\"quiet\">quiet &amp; more</p>\n");
}

/// A row of one cell is a heading over all columns.
TEST(Html, TablesHaveHeadingsInside) {
  HtmlBody body;
  body.table({"", "n"}, {{"by model"}, {"<a>", "1"}});
  EXPECT_NE(body.str().find("<tr><th colspan=\"2\">by model</th></tr>"),
            std::string::npos)
      << body.str();
  EXPECT_NE(body.str().find("<tr><td>&lt;a&gt;</td><td>1</td></tr>"),
            std::string::npos);
}

TEST(Html, ChartsAreNamedByKind) {
  HtmlBody body;
  body.chart("parity", "tpot", "\"TPOT\"");
  EXPECT_EQ(body.str(), "<figure data-chart=\"parity\" data-key=\"tpot\">"
                        "<figcaption>&quot;TPOT&quot;</figcaption></figure>\n");
}
