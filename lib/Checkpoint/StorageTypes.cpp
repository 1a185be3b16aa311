//===- StorageTypes.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StorageTypes.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::checkpoint;

/// The types of safetensors: `Dtype` in safetensors/src/tensor.rs (0.8) of
/// github.com/huggingface/safetensors.
static constexpr StorageType safetensorsTypes[] = {
    {"BOOL", 1, 8},        {"F4", 1, 4},          {"F6_E2M3", 1, 6},
    {"F6_E3M2", 1, 6},     {"U8", 1, 8},          {"I8", 1, 8},
    {"F8_E5M2", 1, 8},     {"F8_E4M3", 1, 8},     {"F8_E8M0", 1, 8},
    {"F8_E4M3FNUZ", 1, 8}, {"F8_E5M2FNUZ", 1, 8}, {"I16", 1, 16},
    {"U16", 1, 16},        {"F16", 1, 16},        {"BF16", 1, 16},
    {"I32", 1, 32},        {"U32", 1, 32},        {"F32", 1, 32},
    {"C64", 1, 64},        {"F64", 1, 64},        {"I64", 1, 64},
    {"U64", 1, 64},
};

/// The types of ggml: numbers from `enum ggml_type` in ggml/include/ggml.h,
/// block layouts from ggml/src/ggml-common.h of github.com/ggml-org/llama.cpp.
static constexpr StorageType ggmlTypes[] = {
    {"F32", 1, 32, 0},
    {"F16", 1, 16, 1},
    {"Q4_0", 32, 18 * 8, 2},
    {"Q4_1", 32, 20 * 8, 3},
    {"Q5_0", 32, 22 * 8, 6},
    {"Q5_1", 32, 24 * 8, 7},
    {"Q8_0", 32, 34 * 8, 8},
    {"Q8_1", 32, 36 * 8, 9},
    {"Q2_K", 256, 84 * 8, 10},
    {"Q3_K", 256, 110 * 8, 11},
    {"Q4_K", 256, 144 * 8, 12},
    {"Q5_K", 256, 176 * 8, 13},
    {"Q6_K", 256, 210 * 8, 14},
    {"Q8_K", 256, 292 * 8, 15},
    {"IQ2_XXS", 256, 66 * 8, 16},
    {"IQ2_XS", 256, 74 * 8, 17},
    {"IQ3_XXS", 256, 98 * 8, 18},
    {"IQ1_S", 256, 50 * 8, 19},
    {"IQ4_NL", 32, 18 * 8, 20},
    {"IQ3_S", 256, 110 * 8, 21},
    {"IQ2_S", 256, 82 * 8, 22},
    {"IQ4_XS", 256, 136 * 8, 23},
    {"I8", 1, 8, 24},
    {"I16", 1, 16, 25},
    {"I32", 1, 32, 26},
    {"I64", 1, 64, 27},
    {"F64", 1, 64, 28},
    {"IQ1_M", 256, 56 * 8, 29},
    {"BF16", 1, 16, 30},
    {"TQ1_0", 256, 54 * 8, 34},
    {"TQ2_0", 256, 66 * 8, 35},
    {"MXFP4", 32, 17 * 8, 39},
    {"NVFP4", 64, 36 * 8, 40},
    {"Q1_0", 128, 18 * 8, 41},
    {"Q2_0", 64, 18 * 8, 42},
};

static constexpr std::pair<uint32_t, std::string_view> removedTypes[] = {
    {4, "Q4_2"},        {5, "Q4_3"},        {31, "Q4_0_4_4"},
    {32, "Q4_0_4_8"},   {33, "Q4_0_8_8"},   {36, "IQ4_NL_4_4"},
    {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"},
};

const StorageType *
autopar::checkpoint::findSafetensorsType(std::string_view name) {
  for (const StorageType &type : safetensorsTypes)
    if (type.name == name)
      return &type;
  return nullptr;
}

std::string autopar::checkpoint::safetensorsTypeChoices() {
  std::vector<std::string_view> names;
  for (const StorageType &type : safetensorsTypes)
    names.push_back(type.name);
  return join(names, ", ");
}

const StorageType *autopar::checkpoint::findGgmlType(uint32_t number) {
  for (const StorageType &type : ggmlTypes)
    if (type.number == number)
      return &type;
  return nullptr;
}

std::string_view autopar::checkpoint::removedGgmlType(uint32_t number) {
  for (auto [removed, name] : removedTypes)
    if (removed == number)
      return name;
  return {};
}

std::string autopar::checkpoint::setStorage(CheckpointTensor &tensor,
                                            const StorageType &type,
                                            std::vector<int64_t> shape) {
  Checked elements = 1;
  for (int64_t size : shape)
    elements *= size;
  Checked bits = elements * type.bits;
  std::optional<int64_t> bytes = floorDiv(bits, type.elements * 8).int64();
  std::string text = formatShape(shape) + " of " + std::string(type.name);
  if (!elements.int64() || !bytes)
    return "shape " + text + " is more than 2^63 bytes";
  if (type.elements > 1 && (shape.empty() || shape.back() % type.elements))
    return "shape " + text + " has rows that are no whole blocks of " +
           std::to_string(type.elements);
  if (type.elements == 1 && bits != Checked(*bytes) * 8)
    return "shape " + text + " does not fill whole bytes";
  tensor.dtype = type.name;
  tensor.type = parseSafetensorsName(type.name);
  tensor.shape = std::move(shape);
  tensor.bytes = *bytes;
  return "";
}

std::string
autopar::checkpoint::formatShape(const std::vector<int64_t> &shape) {
  constexpr size_t shown = 8;
  std::vector<std::string> sizes;
  for (size_t i = 0; i < shape.size() && i < shown; ++i)
    sizes.push_back(std::to_string(shape[i]));
  if (shape.size() > shown)
    sizes.push_back("...");
  return "[" + join(sizes, ", ") + "]";
}

std::string autopar::checkpoint::checkName(std::string_view name) {
  if (name.empty())
    return "a tensor has no name";
  for (char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return "the tensor name \"" + shorten(name) +
             "\" has a control character";
  if (!isUtf8(name))
    return "a tensor name is not UTF-8";
  return "";
}
