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

/// One tensor of a format; see `#transformer.format`.
struct FormatTensor {
  std::string suffix;
  ElementType type = ElementType::bf16;
  /// The shape of the plain tensor; else `shape`.
  bool plain = true;
  std::vector<program::StoredDim> shape;
};

/// The checkpoint tensors that hold one weight: models/formats/*.json.
struct Format {
  std::string name, title;
  /// The format that matrix units multiply, if the format states one.
  std::optional<ElementType> compute;
  std::vector<FormatTensor> tensors;
  /// Values of a block; rows of the plain tensor (its last dimension) that are
  /// no whole blocks are stored in `fallback`. 1: any row fits.
  int64_t row = 1;
  std::shared_ptr<const Format> fallback = nullptr;

  /// This format, or the first fallback that fits rows of `length` values.
  const Format &forRows(int64_t length) const;
};

std::vector<std::string> formatNames();
/// By library name or by path, with other values for its parameters (group
/// size, bits, ...). Errors: a parameter that the format does not have.
Result<Format> loadFormat(const std::string &nameOrPath,
                          const std::map<std::string, int64_t> &parameters);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_FORMAT_H
