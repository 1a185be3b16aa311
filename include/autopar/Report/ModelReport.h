//===- ModelReport.h - Facts about a model: autopar.model/1 -----*- C++ -*-===//
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

/// Facts about a model that hold on any machine. All counts are exact and
/// valid.
struct ModelReport {
  std::string name;
  Checked parameters, activeParameters, checkpointBytes;
  /// The longest context that the model supports, in tokens; 0 if not known.
  int64_t contextLength = 0;
  /// Number of parameters in the checkpoint that are not loaded (multi-token
  /// prediction).
  Checked storedOnlyParameters;

  /// The parameters that serve one purpose: "embedding", "attention", ...
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
  /// The layer kinds in order, as text: "3 dense_decoder, 58 moe_decoder".
  std::string pattern;

  /// Number formats of KV caches; sizes of caches below have one number per
  /// format.
  std::vector<std::string> kvFormats;
  /// The KV caches of one kind of layer.
  struct Cache {
    /// The layer kind, and the operation that reads the cache: "attention",
    /// "indexer".
    std::string layer, op;
    int64_t layers = 0;
    /// Number of tokens that a query sees, 0 for all; with a chunk, only those
    /// of the chunk up to the query itself.
    int64_t window = 0, chunk = 0;
    /// Bytes per token over all layers of the kind, by number format.
    std::vector<Checked> bytesPerToken;
  };
  std::vector<Cache> caches;
  /// Bytes of the KV caches of one sequence with `context` tokens, by number
  /// format.
  struct CacheSize {
    int64_t context = 0;
    std::vector<Checked> bytes;
  };
  std::vector<CacheSize> cacheSizes;
  Checked stateBytesPerSequence;
  /// Bytes per encoded position of the keys and values of another input that
  /// attention reads (the source of an encoder), in the first format; not
  /// included in `caches`.
  Checked memoryBytesPerToken;
  /// Whether some layers run on another input than text: the source of an
  /// encoder, images. `flops` does not include these layers.
  bool hasSource = false;

  struct Flops {
    Checked linear, attention, recurrence, logits;
    Checked total() const { return linear + attention + recurrence + logits; }
  };
  /// FLOPs for one sequence: of a prefill of `context` tokens, and of decoding
  /// one token at that context (absent for a model without KV caches).
  struct FlopsAt {
    int64_t context = 0;
    Flops prefill;
    std::optional<Flops> decode;
  };
  std::vector<FlopsAt> flops;

  /// The config fields that the model's family knows, with their values,
  /// defaults included.
  std::vector<std::pair<std::string, std::string>> fields;
  /// The fields that have default values, as text: "head_dim = 128 (default of
  /// Qwen3Config)".
  std::vector<std::string> defaults;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_MODELREPORT_H
