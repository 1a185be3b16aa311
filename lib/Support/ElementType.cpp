//===- ElementType.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/ElementType.h"

#include <utility>

using namespace autopar;

namespace {
struct Row {
  int64_t bits;
  std::string_view name, safetensors, peak;
};
} // namespace

/// The bits and the names of the types, in the order of the enumeration.
static constexpr Row rows[] = {
    {32, "fp32", "F32", "fp32"},       {16, "bf16", "BF16", "bf16"},
    {16, "fp16", "F16", "fp16"},       {8, "fp8", "F8_E4M3", "fp8"},
    {8, "fp8_e5m2", "F8_E5M2", "fp8"}, {32, "int32", "I32", "int32"},
    {8, "int8", "I8", "int8"},         {8, "fp8_e8m0", "F8_E8M0", "fp8"},
    {4, "fp4", "F4", "fp4"},           {8, "uint8", "U8", "int8"},
    {16, "int16", "I16", "int16"},     {64, "int64", "I64", "int64"},
    {9, "q8_0", "Q8_0", "bf16"},       {5, "q4_0", "Q4_0", "bf16"},
    {5, "q4_1", "Q4_1", "bf16"},       {6, "q5_0", "Q5_0", "bf16"},
    {6, "q5_1", "Q5_1", "bf16"},       {5, "iq4_nl", "IQ4_NL", "bf16"},
    {5, "nvfp4", "", "fp8"},           {8, "fp8_block", "", "fp8_block"},
    {10, "fp8_row_576", "", "bf16"},   {10, "fp8_row_512", "", "bf16"},
    {9, "fp8_row_128", "", "fp8"},
};

namespace {
struct BlockRow {
  ElementType type;
  BlockSize size;
};
} // namespace

/// The types that are stored in blocks: values per block, and bytes of a block.
/// The GGUF types (github.com/ggml-org/llama.cpp, ggml/src/ggml-common.h) have
/// blocks of 32 values with a 16-bit scale and, for `_1`, an offset; the fifth
/// bits of values are stored separately. Kernels multiply these types in 16
/// bits. NVFP4 has 8 bytes of values and a scale of one byte; TensorRT-LLM
/// widens its values to FP8 for attention.
///
/// Rows of latents have fp8 values, their scales, and in bf16 the 64 elements
/// that turn; kernels multiply them in bf16 (github.com/deepseek-ai/FlashMLA,
/// README, "FP8 with scale"). A row of 576 (DeepSeek-V3.2): 512 values with 4
/// scales of 4 bytes. A row of 512 (DeepSeek-V4): 448 values with 7 scales of
/// one byte and a byte of padding. A row of 128 (keys of an indexer): its
/// values and one scale of 4 bytes, which kernels multiply in fp8.
static constexpr BlockRow blocks[] = {
    {ElementType::q8_0, {32, 34}},
    {ElementType::q4_0, {32, 18}},
    {ElementType::q4_1, {32, 20}},
    {ElementType::q5_0, {32, 22}},
    {ElementType::q5_1, {32, 24}},
    {ElementType::iq4_nl, {32, 18}},
    {ElementType::nvfp4, {16, 9}},
    {ElementType::fp8_row_576, {576, 512 + 4 * 4 + 64 * 2}},
    {ElementType::fp8_row_512, {512, 448 + 7 + 1 + 64 * 2}},
    {ElementType::fp8_row_128, {128, 128 + 4}},
};

static constexpr std::pair<std::string_view, ElementType> spellings[] = {
    {"bf16", ElementType::bf16},         {"bfloat16", ElementType::bf16},
    {"fp16", ElementType::f16},          {"f16", ElementType::f16},
    {"float16", ElementType::f16},       {"half", ElementType::f16},
    {"fp32", ElementType::f32},          {"f32", ElementType::f32},
    {"float32", ElementType::f32},       {"float", ElementType::f32},
    {"fp8", ElementType::fp8_e4m3},      {"fp8_e4m3", ElementType::fp8_e4m3},
    {"fp8_e5m2", ElementType::fp8_e5m2},
};

static const Row &row(ElementType type) {
  return rows[static_cast<unsigned>(type)];
}

int64_t autopar::bitsOf(ElementType type) { return row(type).bits; }

std::optional<BlockSize> autopar::blockOf(ElementType type) {
  for (const BlockRow &block : blocks)
    if (block.type == type)
      return block.size;
  return std::nullopt;
}

ElementType autopar::plainFormat(ElementType type) {
  switch (type) {
  case ElementType::fp8_row_576:
  case ElementType::fp8_row_512:
  case ElementType::fp8_row_128:
    return ElementType::fp8_e4m3;
  default:
    return type;
  }
}

std::string_view autopar::nameOf(ElementType type) { return row(type).name; }

std::string_view autopar::safetensorsNameOf(ElementType type) {
  return row(type).safetensors;
}

std::optional<ElementType>
autopar::parseSafetensorsName(std::string_view name) {
  for (const Row &row : rows) {
    auto type = static_cast<ElementType>(&row - rows);
    if (!name.empty() && row.safetensors == name && !blockOf(type))
      return type;
  }
  return std::nullopt;
}

std::string_view autopar::peakKeyOf(ElementType type) { return row(type).peak; }

std::string_view autopar::elementTypeChoices() {
  return "bf16, fp16, fp32, fp8 (fp8_e4m3), fp8_e5m2";
}

std::optional<ElementType> autopar::parseElementType(std::string_view text) {
  if (text.substr(0, 6) == "torch.")
    text.remove_prefix(6);
  for (auto [spelling, type] : spellings)
    if (text == spelling)
      return type;
  return std::nullopt;
}

std::optional<ElementType> autopar::parseBlockFormat(std::string_view text) {
  for (const BlockRow &block : blocks)
    if (text == nameOf(block.type))
      return block.type;
  return std::nullopt;
}

std::optional<ElementType> autopar::parseCacheFormat(std::string_view text) {
  std::optional<ElementType> block = parseBlockFormat(text);
  // Rows of caches are no formats that a user can name; they follow from the
  // cache and its runtime.
  if (block && plainFormat(*block) == *block)
    return block;
  return parseElementType(text);
}

std::string_view autopar::cacheFormatChoices() {
  return "bf16, fp16, fp32, fp8 (fp8_e4m3), fp8_e5m2, q8_0, q5_1, q5_0, q4_1, "
         "q4_0, iq4_nl, nvfp4";
}

/// Returns the format of this name. It also accepts 4-bit values with scales
/// beside them.
std::optional<ElementType> autopar::parseProductFormat(std::string_view text) {
  if (text == "nvfp4" || text == nameOf(ElementType::fp4))
    return ElementType::fp4;
  return parseElementType(text);
}

std::string_view autopar::productFormatChoices() {
  return "bf16, fp16, fp32, fp8 (fp8_e4m3), fp8_e5m2, nvfp4";
}
