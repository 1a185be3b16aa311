//===- DraftConfig.h - What a config calls its sizes ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_DRAFTCONFIG_H
#define AUTOPAR_LIB_CHECKPOINT_DRAFTCONFIG_H

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopar::checkpoint {

/// A config in which fields are found by all the keys that published models use
/// for them. Fields have the names that they have in the family "llama".
class DraftConfig {
public:
  explicit DraftConfig(nlohmann::json config) : root(std::move(config)) {}

  /// Enters the text model's config: the first one, of the whole and those
  /// inside, whose `hidden_size` is `hidden` and whose vocabulary, if it states
  /// one, is `rows`. If there is none, the whole config is used.
  void enterTextOf(int64_t hidden, int64_t rows);

  /// Returns the field from the first config, of the whole and those inside,
  /// that has it.
  std::optional<int64_t> numberAnywhere(const std::string &field) const;

  /// Returns an integer; nothing if no key of the field has one.
  std::optional<int64_t> number(const std::string &field) const;
  const nlohmann::json *find(const std::string &field) const;
  /// Returns the key of the field in the entered config, with dots; "" if it
  /// has none.
  std::string keyOf(const std::string &field) const;
  /// Returns the path of `key` of the entered config, with dots.
  std::string pathOf(const std::string &key) const { return path + key; }
  /// Whether the entered config lies inside another one.
  bool isNested() const { return !path.empty(); }
  const nlohmann::json &whole() const { return root; }

private:
  nlohmann::json root;
  /// The path of the entered config: "text_config.", or "" for the whole.
  std::string path;
};

/// Returns the names of the fields that `DraftConfig` knows.
std::vector<std::string> draftFields();

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_DRAFTCONFIG_H
