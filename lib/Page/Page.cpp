//===- Page.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Page/Page.h"

#include "autopar/Support/File.h"

#include <zlib.h>

using namespace autopar;
using namespace autopar::page;

std::string autopar::page::escapeHtml(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    default:
      // Control characters, except tabs and ends of lines, are not allowed in
      // HTML.
      escaped += static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n'
                     ? '?'
                     : c;
    }
  }
  return escaped;
}

//===----------------------------------------------------------------------===//
// Elements of a page's body
//===----------------------------------------------------------------------===//

static std::string element(std::string_view tag, std::string_view text,
                           std::string_view attributes = "") {
  std::string html = "<" + std::string(tag);
  html += attributes.empty() ? "" : " " + std::string(attributes);
  return html + ">" + escapeHtml(text) + "</" + std::string(tag) + ">";
}

HtmlBody &HtmlBody::heading(int level, std::string_view text) {
  html += element("h" + std::to_string(level), text) + "\n";
  return *this;
}

HtmlBody &HtmlBody::paragraph(std::string_view text, std::string_view kind) {
  html += element("p", text,
                  kind.empty() ? "" : "class=\"" + escapeHtml(kind) + "\"") +
          "\n";
  return *this;
}

HtmlBody &HtmlBody::table(const std::vector<std::string> &head,
                          const std::vector<std::vector<std::string>> &rows,
                          bool numeric) {
  html += numeric ? "<div class=\"wide\"><table class=\"numbers\">\n<thead><tr>"
                  : "<div class=\"wide\"><table>\n<thead><tr>";
  for (const std::string &cell : head)
    html += element("th", cell, "scope=\"col\"");
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string> &row : rows) {
    html += "<tr>";
    std::string span = "colspan=\"" + std::to_string(head.size()) + "\"";
    for (size_t i = 0; i < row.size(); ++i)
      html +=
          row.size() == 1 ? element("th", row[i], span) : element("td", row[i]);
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  return *this;
}

HtmlBody &HtmlBody::plain(std::string_view text) {
  html += "<noscript>" + element("pre", text) + "</noscript>\n";
  return *this;
}

HtmlBody &HtmlBody::chart(std::string_view kind, std::string_view key,
                          std::string_view caption) {
  html += "<figure data-chart=\"" + escapeHtml(kind) + "\" data-key=\"" +
          escapeHtml(key) + "\">" + element("figcaption", caption) +
          "</figure>\n";
  return *this;
}

HtmlBody &HtmlBody::beginDetails(std::string_view summary) {
  html += "<details>" + element("summary", summary) + "\n";
  return *this;
}

HtmlBody &HtmlBody::endDetails() {
  html += "</details>\n";
  return *this;
}

//===----------------------------------------------------------------------===//
// Making the whole page
//===----------------------------------------------------------------------===//

/// Returns JSON for the inside of a script: nothing in it can end the script.
static std::string inScript(const std::string &json) {
  std::string safe;
  for (char c : json)
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

/// Puts `text` in place of the marker `name`, which it looks for from `from`
/// on. Returns where the text ends.
static size_t fill(std::string &page, std::string_view name,
                   std::string_view text, size_t from) {
  std::string marker = "<!--autopar:" + std::string(name) + "-->";
  size_t place = page.find(marker, from);
  if (place == std::string::npos)
    return from;
  page.replace(place, marker.size(), text);
  return place + text.size();
}

/// Returns `text` compressed as gzip does it. It fails only if there is not
/// enough memory.
static std::string pack(const std::string &text) {
  z_stream stream = {};
  constexpr int gzip = 16 + MAX_WBITS, memory = 8;
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip, memory,
               Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

static std::string base64(const std::string &bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto at = [&](size_t j) -> unsigned {
      return i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j])
                                  : 0;
    };
    unsigned group = at(0) << 16 | at(1) << 8 | at(2);
    for (int shift : {18, 12, 6, 0})
      text += digits[group >> shift & 63];
  }
  size_t padding = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - padding, padding, padding, '=');
}

/// Returns data as a page embeds it; long data is compressed.
static std::string dataOf(const std::string &json) {
  constexpr size_t readable = 512 << 10;
  return json.size() <= readable ? inScript(json) : base64(pack(json));
}

Result<std::string> autopar::page::makePage(std::string_view title,
                                            const HtmlBody &body,
                                            const std::string &data) {
  Result<std::string> page =
      readFile(installedDirectory("page") + "/page.html");
  if (!page)
    return page.error();
  size_t end = fill(*page, "title", escapeHtml(title), 0);
  end = fill(*page, "body", body.str(), end);
  fill(*page, "data", dataOf(data), end);
  return page;
}

/// Appends `json` without white space.
static void appendDense(std::string &text, std::string_view json) {
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (c == '"')
      inString = !inString;
    else if (!inString && (c == ' ' || c == '\n'))
      continue;
    text += c;
    if (inString && c == '\\' && i + 1 < json.size())
      text += json[++i];
  }
}

Result<std::string> autopar::page::makePage(std::string_view title,
                                            const PageMembers &members,
                                            const std::string &text) {
  std::string data;
  for (const auto &[name, member] : members) {
    data.append(data.empty() ? "{\"" : ",\"").append(name).append("\":");
    appendDense(data, member);
  }
  return makePage(title, HtmlBody().plain(text), data + "}");
}
