//===- JsonTree.h - What a document of JSON has -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of a document lie in one list, in the order of the text: what is
// inside a list or an object follows it, and a member's value follows its key.
// Nothing is allocated for each of them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SUPPORT_JSONTREE_H
#define AUTOPAR_LIB_SUPPORT_JSONTREE_H

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopar {

/// A value, or the key of a member.
struct JsonNode {
  /// `natural` is one that int64_t has not.
  enum class Kind : uint8_t {
    null,
    boolean,
    integer,
    natural,
    number,
    string,
    array,
    object
  };

  Kind kind = Kind::null;
  /// Bytes of a string; elements; members.
  uint32_t size = 0;
  union {
    bool boolean;
    int64_t integer = 0;
    uint64_t natural;
    double number;
    const char *text;
    /// Of a list or an object: nodes with all that are inside.
    uint64_t span;
  };

  bool isContainer() const {
    return kind == Kind::array || kind == Kind::object;
  }
  std::string_view string() const { return {text, size}; }
  /// Where the next sibling is, if there is one.
  const JsonNode *next() const { return this + (isContainer() ? span : 1); }
};

/// The values of a document, and who has their strings.
class JsonTree {
public:
  /// Of a text of so many bytes.
  explicit JsonTree(size_t bytes = 0) {
    // As many as files of the library have.
    nodes.reserve(bytes / 16);
  }

  const JsonNode &root() const { return nodes.front(); }
  /// The value of member `key` of `object`; null where there is none.
  const JsonNode *find(const JsonNode &object, std::string_view key) const;
  /// Keys of members, whose values follow them, in the order of their names.
  std::vector<const JsonNode *> keys(const JsonNode &object) const;
  /// The JSON pointer of `value`; "" of one that is not in here.
  std::string pointerTo(const JsonNode &value) const;

  /// Objects with more members have their keys sorted: readers may ask for each
  /// of them by name.
  static constexpr size_t mostUnsorted = 16;

private:
  friend class JsonTreeBuilder;
  using Numbers = std::vector<uint32_t>;
  const Numbers *sortedKeys(const JsonNode &object) const;

  std::vector<JsonNode> nodes;
  /// Strings that were made, and who has the others.
  std::deque<std::string> strings;
  std::shared_ptr<const void> owner;
  /// Keys of large objects by name, by the object: numbers of nodes.
  std::map<uint32_t, Numbers> sorted;
};

/// A copy to change.
nlohmann::json toJson(const JsonNode &node);

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_JSONTREE_H
