//===- ElementType.h - Numeric formats and their sizes ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_ELEMENTTYPE_H
#define AUTOPAR_SUPPORT_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace autopar {

/// The numeric format of the elements of a tensor.
enum class ElementType : uint8_t {
  f32,
  bf16,
  f16,
  fp8_e4m3,
  fp8_e5m2,
  i32,
  i8,
  fp8_e8m0,
  fp4,
  u8,
  i16,
  i64,
  // Blocks of 32 values with their scales, as llama.cpp stores them.
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  iq4_nl,
  // Blocks of 16 values of `fp4` with one scale of `fp8_e4m3`.
  nvfp4,
  // 8-bit floats of weights with scales per block of 128 along the contraction.
  // Kernels are measured for it; it is no type of a tensor.
  fp8_block,
};

/// Size of one element; of a block format, rounded up to whole bits.
int64_t bitsOf(ElementType type);

/// Number of values that are stored together, and bytes of these with their
/// scales.
struct BlockSize {
  int64_t values = 1, bytes = 0;
};
/// The blocks of a block format; nothing for other formats.
std::optional<BlockSize> blockOf(ElementType type);
/// The name users write and read: "bf16", "fp16", "fp32", "fp8", ...
std::string_view nameOf(ElementType type);
/// The name in safetensors headers: "BF16", "F16", "F32", "F8_E4M3", ...
std::string_view safetensorsNameOf(ElementType type);
/// The type with this name in safetensors headers.
std::optional<ElementType> parseSafetensorsName(std::string_view name);
/// Parses a user's or a config's spelling: "bf16", "bfloat16", "fp16",
/// "float16", "half", "fp32", "float32", "fp8", "fp8_e4m3", ... Returns nothing
/// for other text.
std::optional<ElementType> parseElementType(std::string_view text);
/// The spellings that `parseElementType` advertises in error messages.
std::string_view elementTypeChoices();
/// Parses formats of KV caches: those of `parseElementType`, and blocks
/// ("q8_0", "q4_0", ...).
std::optional<ElementType> parseCacheFormat(std::string_view text);
std::string_view cacheFormatChoices();
/// Parses formats in which training multiplies: those of `parseElementType`,
/// and "nvfp4".
std::optional<ElementType> parseProductFormat(std::string_view text);
std::string_view productFormatChoices();
/// The key of `peak_flops` in `hardware/chips/*.json` for this format: "bf16",
/// "fp16", "fp8", "fp4", "fp32", "int8".
std::string_view peakKeyOf(ElementType type);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_ELEMENTTYPE_H
