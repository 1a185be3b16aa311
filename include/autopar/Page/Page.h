//===- Page.h - Reports that browsers show ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file that needs no other and no network: style, script, chart library
// (Observable Plot) and data are in it.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PAGE_PAGE_H
#define AUTOPAR_PAGE_PAGE_H

#include "autopar/Support/Result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopar::page {

/// Returns `text` with the special characters of HTML escaped.
std::string escapeHtml(std::string_view text);

/// Builds the body of an HTML page; all text is escaped.
class HtmlBody {
public:
  HtmlBody &heading(int level, std::string_view text);
  HtmlBody &paragraph(std::string_view text, std::string_view kind = "");
  /// Adds a table. With `numeric`, cells from the second column on are aligned
  /// as numbers. A row with one cell is a heading inside the table.
  HtmlBody &table(const std::vector<std::string> &head,
                  const std::vector<std::vector<std::string>> &rows,
                  bool numeric = true);
  /// Adds preformatted text, for readers whose browser runs no scripts.
  HtmlBody &plain(std::string_view text);
  /// Adds a chart of the data member `key`, which the page's script draws as a
  /// chart of this `kind`.
  HtmlBody &chart(std::string_view kind, std::string_view key,
                  std::string_view caption);
  /// Puts the following content, until `endDetails`, into a section that is
  /// folded under `summary`.
  HtmlBody &beginDetails(std::string_view summary);
  HtmlBody &endDetails();

  const std::string &str() const { return html; }

private:
  std::string html;
};

/// Returns an HTML page with `body`; `data` is a JSON object. Error: a file of
/// the page is not installed.
Result<std::string> makePage(std::string_view title, const HtmlBody &body,
                             const std::string &data);

/// Returns an HTML page that shows `members`: names, which select the view, and
/// JSON texts. Readers without scripts see `text`.
using PageMembers = std::vector<std::pair<std::string, std::string>>;
Result<std::string> makePage(std::string_view title, const PageMembers &members,
                             const std::string &text);

} // namespace autopar::page

#endif // AUTOPAR_PAGE_PAGE_H
