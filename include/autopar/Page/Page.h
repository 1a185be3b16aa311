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

/// `text` with the special characters of HTML escaped.
std::string escapeHtml(std::string_view text);

/// Builds the body of a page: text is escaped.
class HtmlBody {
public:
  HtmlBody &heading(int level, std::string_view text);
  HtmlBody &paragraph(std::string_view text, std::string_view kind = "");
  /// Rows of a table under its head; cells from the second on are numbers where
  /// `numeric` says so. Rows of one cell are headings inside the table.
  HtmlBody &table(const std::vector<std::string> &head,
                  const std::vector<std::vector<std::string>> &rows,
                  bool numeric = true);
  /// Text as it stands, for who runs no scripts.
  HtmlBody &plain(std::string_view text);
  /// A chart of the page's data member `key`, drawn by the script as `kind`.
  HtmlBody &chart(std::string_view kind, std::string_view key,
                  std::string_view caption);
  /// Folds the following content, until `endDetails`, under `summary`.
  HtmlBody &beginDetails(std::string_view summary);
  HtmlBody &endDetails();

  const std::string &str() const { return html; }

private:
  std::string html;
};

/// A page with `body`; `data` is JSON, an object. Errors: files of the page
/// that are not installed.
Result<std::string> makePage(std::string_view title, const HtmlBody &body,
                             const std::string &data);

/// Makes a page from `members`, JSON texts whose names select their views.
/// Readers without scripts see `text`.
using PageMembers = std::vector<std::pair<std::string, std::string>>;
Result<std::string> makePage(std::string_view title, const PageMembers &members,
                             const std::string &text);

} // namespace autopar::page

#endif // AUTOPAR_PAGE_PAGE_H
