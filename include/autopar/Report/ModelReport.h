//===- ModelReport.h - What a model is: autopar.model/1 ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_MODELREPORT_H
#define AUTOPAR_REPORT_MODELREPORT_H

#include "autopar/Support/Checked.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopar::report {

/// What follows from a model alone, whatever machine runs it. All counts are
/// exact and valid.
struct ModelReport {
  std::string name;
  Checked parameters, activeParameters, checkpointBytes;
  /// The longest context that the model was made for, 0 where not known.
  int64_t contextLength = 0;
  /// Of the checkpoint, but not loaded (multi-token prediction).
  Checked storedOnlyParameters;

  /// What weights are for: "embedding", "attention", ...
  struct Part {
    std::string name;
    Checked parameters, active, bytes;
  };
  std::vector<Part> parts;

  struct LayerKind {
    std::string name;
    int64_t count = 0;
  };
  std::vector<LayerKind> layers;
  /// In order: "3 dense_decoder, 58 moe_decoder".
  std::string pattern;

  /// Formats of KV caches, for each of which caches have a number.
  std::vector<std::string> kvFormats;
  /// The caches of one kind of layer.
  struct Cache {
    /// The layer kind, and what reads it there: "attention", "indexer".
    std::string layer, op;
    int64_t layers = 0;
    /// Tokens that a query sees, 0: all. Of a chunk: up to its own.
    int64_t window = 0, chunk = 0;
    /// In all its layers, by format.
    std::vector<Checked> bytesPerToken;
  };
  std::vector<Cache> caches;
  /// The caches of one sequence with `context` tokens, by format.
  struct CacheSize {
    int64_t context = 0;
    std::vector<Checked> bytes;
  };
  std::vector<CacheSize> cacheSizes;
  Checked stateBytesPerSequence;
  /// One token's keys and values of another input that attention reads (the
  /// source of an encoder), in the first format; not part of `caches`.
  Checked memoryBytesPerToken;
  /// Whether layers run on another input than the text: an encoder's source,
  /// images. `flops` leaves them out.
  bool hasSource = false;

  struct Flops {
    Checked linear, attention, recurrence, logits;
    Checked total() const { return linear + attention + recurrence + logits; }
  };
  /// One sequence: a prompt of `context` tokens, and the decoding of one token
  /// that sees as many (none of a model that keeps nothing).
  struct FlopsAt {
    int64_t context = 0;
    Flops prefill;
    std::optional<Flops> decode;
  };
  std::vector<FlopsAt> flops;

  /// Fields of the config that the model's family knows, with defaults.
  std::vector<std::pair<std::string, std::string>> fields;
  /// "head_dim = 128 (default of Qwen3Config)".
  std::vector<std::string> defaults;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_MODELREPORT_H
