//===- Format.h - Formats of quantized weights ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_FORMAT_H
#define AUTOPAR_MODEL_FORMAT_H

#include "autopar/Program/StoredDim.h"
#include "autopar/Support/ElementType.h"
#include "autopar/Support/Result.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopar::model {

/// One of the tensors in which a quantisation format stores a weight; see
/// `#transformer.format`.
struct FormatTensor {
  std::string suffix;
  ElementType type = ElementType::bf16;
  /// Whether the tensor has the shape of the unquantised weight; if not, it has
  /// `shape`.
  bool plain = true;
  std::vector<program::StoredDim> shape;
};

/// A quantisation format: which checkpoint tensors hold one weight. Read from
/// models/formats/*.json.
struct Format {
  std::string name, title;
  /// The number format in which matmuls multiply, if this format states one.
  std::optional<ElementType> compute;
  std::vector<FormatTensor> tensors;
  /// Number of values per block. Weights whose rows (last dimension) are not
  /// whole blocks are stored in the format `fallback`. 1: any row fits.
  int64_t row = 1;
  std::shared_ptr<const Format> fallback = nullptr;

  /// Returns this format, or the first fallback whose blocks divide rows of
  /// `length` values.
  const Format &forRows(int64_t length) const;
};

std::vector<std::string> formatNames();
/// Reads a format by its name in the library or by path, and sets its
/// parameters (group size, bits, ...). Error: a parameter that the format does
/// not have.
Result<Format> loadFormat(const std::string &nameOrPath,
                          const std::map<std::string, int64_t> &parameters);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_FORMAT_H
