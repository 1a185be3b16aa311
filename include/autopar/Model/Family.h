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

/// A model family: the file models/families/<model type>.json, merged with the
/// families on which it builds (RFC 7386). It has fields of the config with
/// their defaults, blocks with their parameters and tensor names, stacks of
/// layers, and the model as a list of steps. models/families/README.md
/// describes the format.
struct Family {
  std::string name;
  /// Path of the family file, for messages.
  std::string file;
  /// The class of transformers that the defaults come from: "LlamaConfig".
  std::string source;
  JsonValue description;

  /// Returns the member `key` of the object `section`; null if there is none.
  const JsonValue *find(const char *section, const std::string &key) const;
};

/// Whether there is a family file for `modelType`.
bool hasFamily(const std::string &modelType);
Result<Family> loadFamily(const std::string &modelType);
/// Reads a family from a text instead of a file. It may build on other
/// families.
Result<Family> parseFamily(const std::string &modelType,
                           const std::string &text);
/// Changes a family of language models into one of `architecture`: the same
/// model with another head, as models/tasks.json states. Returns false if
/// models/tasks.json does not name the architecture.
Result<bool> applyTask(Family &family, const std::string &architecture);
/// Returns the directory of a user's own families, which take precedence over
/// those of the library: `AUTOPAR_FAMILIES`, else
/// `XDG_CONFIG_HOME`/autopar/families, else ~/.config/autopar/families.
std::string userFamiliesFolder();
/// Returns all model types that have a family file, sorted.
std::vector<std::string> familyNames();
/// Returns the model types whose own files list the class `architecture`,
/// sorted. Families that are part of another one in the list, or build on
/// another one, are left out.
std::vector<std::string> familiesOf(const std::string &architecture);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_FAMILY_H
