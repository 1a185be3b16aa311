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

/// The role of a weight: a matmul; one expert's matmul; a tensor of all
/// experts' matmuls; the matmul of a router or gate that is an ordinary module;
/// the head; the table of token embeddings. Methods of quantisation list the
/// roles that they apply to.
enum class WeightRole {
  product,
  expert,
  packed,
  router,
  head,
  embedding,
  other
};

/// The quantization settings of a checkpoint, read as
/// models/quantization/<method>.json says.
class Quantization {
public:
  /// Settings are at `quantization_config` or `compression_config` of the
  /// config or its text part, else in `file` (hf_quant_config.json,
  /// quantize_config.json), which may be null. Without any, no weight has a
  /// format. Errors: an unknown method, settings that it does not have.
  static Result<Quantization> read(const JsonDocument &config,
                                   const JsonDocument *file, ModelNotes &notes);

  Quantization();
  Quantization(Quantization &&);
  Quantization &operator=(Quantization &&);
  ~Quantization();

  /// The name in notes of a format of caches that settings state.
  static constexpr const char *cacheFormatDefault = "KV cache";

  bool isNone() const { return !rules; }
  /// The format of a module's weight, null where it is plain. `module` is the
  /// full name without ".weight"; `inLayer`: it is in a repeated layer.
  Result<const Format *> formatOf(std::string_view module, WeightRole role,
                                  bool inLayer) const;
  /// Whether layers of one kind may have different formats.
  bool dependsOnLayer() const;
  /// Whether the matrices of packed experts are stored one by one, as
  /// `<module>.<expert>.gate_proj`, `up_proj`, `down_proj`.
  bool splitsExperts() const;
  /// The format that keys and values were scaled for; absent where the settings
  /// do not say one.
  std::optional<ElementType> kvCacheFormat() const { return cacheFormat; }

private:
  struct Rules;
  std::unique_ptr<Rules> rules;
  std::optional<ElementType> cacheFormat;
};

} // namespace autopar::model

#endif // AUTOPAR_MODEL_QUANTIZATION_H
