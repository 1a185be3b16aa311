//===- Names.h - Names of models and machines -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Logs and tables have names of their own: "nvidia/DeepSeek-R1-NVFP4",
// "H100-SXM-80GB (79.19 GiB)", "TensorRT-LLM 0.17". The rules that read them
// are data: models/names.json and hardware/names.json.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_NAMES_H
#define AUTOPAR_VALIDATION_NAMES_H

#include "autopar/Support/Result.h"
#include "autopar/Support/Words.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::validation {

/// A file of schema `autopar.names/1`.
struct NameRules {
  /// Words of a vendor that a name may begin with.
  std::vector<std::string> dropFirst;
  /// Words that say nothing of the size at the end of a name; `#` is a digit.
  std::vector<std::string> dropLast;
  /// Words at the end of a name to the weight format that they stand for.
  std::map<std::string, std::string> formats;
  /// Maps names to ours, or to nothing if they are known to mean something else
  /// than they seem.
  Aliases aliases;
};

Result<NameRules> readNameRules(const std::string &path);
Result<NameRules> parseNameRules(std::string_view text,
                                 const std::string &name);

/// The meaning of a name.
struct ResolvedName {
  /// A name of the library, or a config folder; "" if there is none.
  std::string name;
  /// Whether `name` is a folder of the caller's.
  bool isFolder = false;
  /// The weight format that the name ends in, as models/formats has it.
  std::string format;
  /// Why there is none, for people: `no model is called "gemma-7b"`.
  std::string why;
  /// The nearest name of ours, where there is none.
  std::string suggestion;

  explicit operator bool() const { return !name.empty(); }
};

/// Resolves names of models, in this order: `org/name` is a folder `org--name`;
/// an alias of the whole name; the name of the library or of a folder that
/// matches after the fewest vendors, variants and formats are cut, on both
/// sides in total.
class ModelNames {
public:
  ModelNames(NameRules rules, const std::vector<std::string> &bundled,
             const std::vector<std::string> &folders);
  ResolvedName find(const std::string &text) const;

private:
  struct Candidate {
    size_t cut;
    bool isFolder;
    std::string name;
    bool operator<(const Candidate &other) const;
  };
  void add(const std::string &name, bool isFolder);
  std::optional<Candidate> match(const std::string &text,
                                 bool followAliases) const;

  NameRules rules;
  std::vector<std::string> names;
  /// Every form of a name to the best that has it.
  std::map<std::string, Candidate> forms;
  std::map<std::string, std::optional<std::string>> aliases;
};

/// Resolves names of machines: a system of the library, else the alias with the
/// most words, all of which are in the name. Text in brackets is a note.
class SystemNames {
public:
  SystemNames(NameRules rules, std::vector<std::string> systems);
  ResolvedName find(const std::string &text) const;

private:
  NameRules rules;
  std::vector<std::string> systems;
};

struct RuntimeName {
  /// "vllm", "trtllm", "sglang", or "" where it is none of them.
  std::string name;
  /// "0.17", "1.0.0rc3"; else a month, "2025-07"; "" where the text has none.
  std::string version;
};

/// "TensorRT-LLM 0.17 trtllm-bench throughput" -> trtllm, 0.17.
RuntimeName resolveRuntime(std::string_view text);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_NAMES_H
