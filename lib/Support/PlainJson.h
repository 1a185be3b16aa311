//===- PlainJson.h - The JSON that most files have --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SUPPORT_PLAINJSON_H
#define AUTOPAR_LIB_SUPPORT_PLAINJSON_H

#include <nlohmann/json.hpp>

#include <string_view>

namespace autopar {

/// Reads JSON in a fraction of the time that nlohmann/json's reader takes, into
/// the events of that reader. It says no to all that is not JSON, without a
/// reason, and to some that is: numbers beyond the range of their type.
class PlainJson {
public:
  using Events = nlohmann::json_sax<nlohmann::json>;

  /// `events` bounds the depth.
  PlainJson(std::string_view text, Events &events)
      : next(text.data()), end(text.data() + text.size()), events(events) {}

  /// Whether the text has been read; if not, events so far are of no use.
  bool read();

private:
  bool value();
  bool object();
  bool array();
  bool member();
  bool number();
  bool real(const char *begin);
  template <typename Integer>
  bool integer(const char *begin, bool (Events::*event)(Integer));
  bool word(std::string_view expected);
  bool string(std::string &text);
  bool escapedString(const char *begin, std::string &text);
  void skipSpace();
  void skipDigits();
  bool take(char expected);

  const char *next, *end;
  Events &events;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_PLAINJSON_H
