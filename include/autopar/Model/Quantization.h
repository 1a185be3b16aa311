//===- Quantization.h - Formats of weights ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_QUANTIZATION_H
#define AUTOPAR_MODEL_QUANTIZATION_H

#include "autopar/Model/Format.h"
#include "autopar/Model/Scope.h"

namespace autopar::model {

/// The role of a weight: a matmul; the matmul of one expert; one tensor with
/// the matmuls of all experts; the matmul of a router or gate that is an
/// ordinary module; the head; the table of token embeddings. A quantisation
/// method lists the roles to which it applies.
enum class WeightRole {
  product,
  expert,
  packed,
  router,
  head,
  embedding,
  other
};

/// The quantisation settings of a checkpoint, interpreted by
/// models/quantization/<method>.json.
class Quantization {
public:
  /// Reads the settings from `quantization_config` or `compression_config` of
  /// the config or its text part, else from `file` (hf_quant_config.json,
  /// quantize_config.json), which may be null. Without settings, no weight has
  /// a format. Errors: an unknown method, settings that the method does not
  /// have.
  static Result<Quantization> read(const JsonDocument &config,
                                   const JsonDocument *file, ModelNotes &notes);

  Quantization();
  Quantization(Quantization &&);
  Quantization &operator=(Quantization &&);
  ~Quantization();

  /// The name, in notes, of the KV-cache format that settings state.
  static constexpr const char *cacheFormatDefault = "KV cache";

  bool isNone() const { return !rules; }
  /// Returns the format of a module's weight; null if it is not quantised.
  /// `module` is the module's full name without ".weight"; `inLayer` says
  /// whether it is in a repeated layer.
  Result<const Format *> formatOf(std::string_view module, WeightRole role,
                                  bool inLayer) const;
  /// Whether layers of one kind may have different formats.
  bool dependsOnLayer() const;
  /// Whether the matrices of experts that the model packs into one tensor are
  /// stored one by one, as `<module>.<expert>.gate_proj`, `up_proj`,
  /// `down_proj`.
  bool splitsExperts() const;
  /// Returns the KV-cache format for which the checkpoint has scales; nothing
  /// if the settings do not state one.
  std::optional<ElementType> kvCacheFormat() const { return cacheFormat; }

private:
  struct Rules;
  std::unique_ptr<Rules> rules;
  std::optional<ElementType> cacheFormat;
};

} // namespace autopar::model

#endif // AUTOPAR_MODEL_QUANTIZATION_H
