//===- JsonBuilder.h - Makes trees of JSON ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SUPPORT_JSONBUILDER_H
#define AUTOPAR_LIB_SUPPORT_JSONBUILDER_H

#include "JsonTree.h"

namespace autopar {

/// Makes a tree of values as they come.
class JsonTreeBuilder {
public:
  explicit JsonTreeBuilder(JsonTree &tree) : tree(tree) {}

  void clear();
  void add(JsonNode node) {
    if (!open.empty())
      ++tree.nodes[open.back()].size;
    tree.nodes.push_back(node);
  }
  /// Strings that somebody has whom the tree keeps.
  void addText(std::string_view part) { add(nodeOf(part)); }
  void addKey(std::string_view part) { tree.nodes.push_back(nodeOf(part)); }
  /// Has the tree keep a string.
  std::string_view keep(std::string string) {
    return tree.strings.emplace_back(std::move(string));
  }
  /// Or what has such strings.
  void keep(std::shared_ptr<const void> owner) {
    tree.owner = std::move(owner);
  }
  /// False where it is nested too deep.
  bool begin(JsonNode::Kind kind);
  /// Ends what was begun last; false where it has a key twice.
  bool end();
  /// That key.
  std::string_view duplicate() const { return twice; }

private:
  static JsonNode nodeOf(std::string_view string);
  bool isUnique(const JsonNode &object);
  bool sortKeys(uint32_t object);

  JsonTree &tree;
  std::vector<uint32_t> open;
  std::vector<std::string_view> few;
  std::string_view twice;
};

/// By RapidJSON, which is fast and says little of mistakes: false, with
/// anything built, where there are some.
bool readValidJson(JsonTreeBuilder &builder, std::string_view text);

/// Adds `value`, whatever its depth.
void addJson(JsonTreeBuilder &builder, const nlohmann::json &value);

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_JSONBUILDER_H
