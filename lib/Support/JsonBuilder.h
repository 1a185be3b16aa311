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

/// Builds a tree from a sequence of values.
class JsonTreeBuilder {
public:
  explicit JsonTreeBuilder(JsonTree &tree) : tree(tree) {}

  void clear();
  void add(JsonNode node) {
    if (!open.empty())
      ++tree.nodes[open.back()].size;
    tree.nodes.push_back(node);
  }
  /// Adds a string or a key, which the owner of strings holds; the tree keeps
  /// this owner alive.
  void addText(std::string_view part) { add(nodeOf(part)); }
  void addKey(std::string_view part) { tree.nodes.push_back(nodeOf(part)); }
  /// Makes the tree the owner of a string. Returns a view of it.
  std::string_view keep(std::string string) {
    return tree.strings.emplace_back(std::move(string));
  }
  /// Makes the tree share the owner of strings, which keeps them alive.
  void keep(std::shared_ptr<const void> owner) {
    tree.owner = std::move(owner);
  }
  /// Begins a list or an object. Returns false if it is nested too deeply.
  bool begin(JsonNode::Kind kind);
  /// Ends the innermost list or object. Returns false if it has a key twice.
  bool end();
  /// Returns the key that an object has twice.
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

/// Reads JSON with RapidJSON, which is fast but describes errors poorly.
/// Returns false if the text is no JSON; the tree is then incomplete.
bool readValidJson(JsonTreeBuilder &builder, std::string_view text);

/// Adds `value`, whatever its depth is.
void addJson(JsonTreeBuilder &builder, const nlohmann::json &value);

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_JSONBUILDER_H
