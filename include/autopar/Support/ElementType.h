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

/// The number format of the elements of a tensor.
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
  // Types of blocks: 32 values and their scale, as llama.cpp stores them.
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  iq4_nl,
  // Blocks of 16 values of `fp4` with one scale of `fp8_e4m3`.
  nvfp4,
  // Weights in 8-bit floats with one scale per block of 128 along the
  // contraction. Kernel curves are measured for it, but no tensor has this
  // type.
  fp8_block,
  // Rows of caches in which elements of 8 bits stand beside their scales and
  // elements of 16 bits (`blockOf` has the layouts).
  fp8_row_576,
  fp8_row_512,
  fp8_row_128,
};

/// Returns the bits of one element; for a block format, bits per element
/// rounded up.
int64_t bitsOf(ElementType type);

/// A block of a block format: how many values it has, and the bytes of these
/// with their scales.
struct BlockSize {
  int64_t values = 1, bytes = 0;
};
/// Returns the block of a block format; nothing for other formats.
std::optional<BlockSize> blockOf(ElementType type);
/// Returns the format of most elements of a cache row that has several formats;
/// other formats as they are.
ElementType plainFormat(ElementType type);
/// Returns the name that users write and read: "bf16", "fp16", "fp32", "fp8",
/// ...
std::string_view nameOf(ElementType type);
/// Returns the name in headers of safetensors files: "BF16", "F16", "F32",
/// "F8_E4M3", ...
std::string_view safetensorsNameOf(ElementType type);
/// Returns the format with this name in headers of safetensors files; nothing
/// if autopar does not know it.
std::optional<ElementType> parseSafetensorsName(std::string_view name);
/// Parses the name of a format as users or configs spell it: "bf16",
/// "bfloat16", "fp16", "float16", "half", "fp32", "float32", "fp8", "fp8_e4m3",
/// ... Returns nothing for other text.
std::optional<ElementType> parseElementType(std::string_view text);
/// Returns the names that error messages suggest for `parseElementType`.
std::string_view elementTypeChoices();
/// Returns the block format (`blockOf`) with this name; nothing if there is
/// none.
std::optional<ElementType> parseBlockFormat(std::string_view text);
/// Parses the name of a KV-cache format: those of `parseElementType`, and block
/// formats ("q8_0", "q4_0", ...).
std::optional<ElementType> parseCacheFormat(std::string_view text);
std::string_view cacheFormatChoices();
/// Parses the name of a format in which training multiplies: those of
/// `parseElementType`, and "nvfp4".
std::optional<ElementType> parseProductFormat(std::string_view text);
std::string_view productFormatChoices();
/// Returns the key of `peak_flops` in `hardware/chips/*.json` for this format:
/// "bf16", "fp16", "fp8", "fp4", "fp32", "int8".
std::string_view peakKeyOf(ElementType type);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_ELEMENTTYPE_H
