//===- JsonTree.h - The values of a JSON document ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of a document lie in one list, in the order of the text: the
// contents of a list or an object follow it, and a member's value follows its
// key. No value has an allocation of its own.
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

/// A node of the tree: a value, or the key of a member.
struct JsonNode {
  /// The kind of a node. `natural` is an integer above the range of int64_t.
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
  /// For a string, its bytes; for a list or an object, the number of its
  /// elements or members.
  uint32_t size = 0;
  union {
    bool boolean;
    int64_t integer = 0;
    uint64_t natural;
    double number;
    const char *text;
    /// For a list or an object, the number of its nodes, including all nodes
    /// inside it.
    uint64_t span;
  };

  bool isContainer() const {
    return kind == Kind::array || kind == Kind::object;
  }
  std::string_view string() const { return {text, size}; }
  /// Returns the next sibling, if there is one.
  const JsonNode *next() const { return this + (isContainer() ? span : 1); }
};

/// The values of a document, and the owner of their strings.
class JsonTree {
public:
  /// Makes an empty tree; `bytes` is the size of the text that will be read.
  explicit JsonTree(size_t bytes = 0) {
    // Files of the library have about this many nodes.
    nodes.reserve(bytes / 16);
  }

  const JsonNode &root() const { return nodes.front(); }
  /// Returns the value of the member `key` of `object`; null if the object has
  /// no such member.
  const JsonNode *find(const JsonNode &object, std::string_view key) const;
  /// Returns the keys of the members in alphabetical order. The value of a
  /// member follows after its key.
  std::vector<const JsonNode *> keys(const JsonNode &object) const;
  /// Returns the JSON pointer of `value`; "" if it is not in the tree.
  std::string pointerTo(const JsonNode &value) const;

  /// An object with more members than this gets a sorted list of its keys,
  /// because readers may look up each member by name.
  static constexpr size_t mostUnsorted = 16;

private:
  friend class JsonTreeBuilder;
  using Numbers = std::vector<uint32_t>;
  const Numbers *sortedKeys(const JsonNode &object) const;

  std::vector<JsonNode> nodes;
  /// The strings that the tree owns, and the owner of all other strings.
  std::deque<std::string> strings;
  std::shared_ptr<const void> owner;
  /// The sorted keys of large objects, as indices of nodes, by the index of the
  /// object.
  std::map<uint32_t, Numbers> sorted;
};

/// Returns a copy of the value that can be changed.
nlohmann::json toJson(const JsonNode &node);

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_JSONTREE_H
