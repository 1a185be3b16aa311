//===- Family.h - What a model type means, as data --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_FAMILY_H
#define AUTOPAR_MODEL_FAMILY_H

#include "autopar/Model/Expression.h"

#include <string>
#include <vector>

namespace autopar::model {

/// A family file, models/families/<model type>.json, with its bases merged in
/// (RFC 7386): fields of the config with their defaults, blocks with their
/// parameters and tensor names, stacks of layers, and the model as a list of
/// steps. models/families/README.md describes the format.
struct Family {
  std::string name;
  /// The file, for messages.
  std::string file;
  /// Where the defaults come from: "LlamaConfig".
  std::string source;
  JsonValue description;

  /// The member `key` of the object `section`, null where there is none.
  const JsonValue *find(const char *section, const std::string &key) const;
};

/// Whether there is a family file for `modelType`.
bool hasFamily(const std::string &modelType);
Result<Family> loadFamily(const std::string &modelType);
/// The family of a text that is no file, which may have a base.
Result<Family> parseFamily(const std::string &modelType,
                           const std::string &text);
/// Makes a family of language models one of `architecture`: the same model with
/// another head, as models/tasks.json has it. False where that names none.
Result<bool> applyTask(Family &family, const std::string &architecture);
/// Where a user's own families lie, which come before those of the library:
/// `AUTOPAR_FAMILIES`, else `XDG_CONFIG_HOME`/autopar/families, else
/// ~/.config/autopar/families.
std::string userFamiliesFolder();
/// All model types that have a file, sorted.
std::vector<std::string> familyNames();
/// Model types whose own files list the class `architecture`, sorted; without
/// parts of another of them, and without those that build on another.
std::vector<std::string> familiesOf(const std::string &architecture);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_FAMILY_H
