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

/// A config whose keys are known by the words that published models have for
/// them. Fields are called as those of the family "llama" are.
class DraftConfig {
public:
  explicit DraftConfig(nlohmann::json config) : root(std::move(config)) {}

  /// Looks for fields from now on in the first config, of the whole and those
  /// inside, whose `hidden_size` is `hidden`, with a vocabulary of `rows` if
  /// there is one; in the whole where none is so wide.
  void enterTextOf(int64_t hidden, int64_t rows);

  /// The first config, of the whole and those inside, that has the field.
  std::optional<int64_t> numberAnywhere(const std::string &field) const;

  /// A whole number; nothing where no key of the field has one.
  std::optional<int64_t> number(const std::string &field) const;
  const nlohmann::json *find(const std::string &field) const;
  /// The key that the field has here, with dots; "" where there is none.
  std::string keyOf(const std::string &field) const;
  /// `key` of the config that was entered, with dots.
  std::string pathOf(const std::string &key) const { return path + key; }
  /// Whether fields are those of a config inside another.
  bool isNested() const { return !path.empty(); }
  const nlohmann::json &whole() const { return root; }

private:
  nlohmann::json root;
  /// "text_config.", or "".
  std::string path;
};

/// The fields that `DraftConfig` knows.
std::vector<std::string> draftFields();

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_DRAFTCONFIG_H
