//===- WeightFormats.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WeightFormats.h"

#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using nlohmann::json;

/// Quantizers leave alone what decides (routers, gates), what is small
/// (convolutions), heads and vision towers.
static json modulesLeftAlone(bool hasLatentAttention) {
  json names = {"lm_head",       "*mlp.gate",   "*shared_expert_gate*",
                "*in_proj_a*",   "*in_proj_b*", "*conv1d*",
                "model.visual*", "visual*"};
  // DeepSeek-R1-NVFP4 of NVIDIA: attention is left in 16 bits.
  if (hasLatentAttention)
    names.push_back("*self_attn*");
  return names;
}

Result<ConfigAssumption> autopar::assumeFormat(const ModelRequest &request,
                                               const std::string &format) {
  const std::string key = "quantization_config";
  if (format == "bf16")
    return ConfigAssumption{key, "null"};
  if (format == "fp8")
    return ConfigAssumption{key,
                            json{{"quant_method", "modelopt"},
                                 {"quant_algo", "FP8"},
                                 {"exclude_modules", modulesLeftAlone(false)}}
                                .dump()};
  if (format == "fp8_block")
    return ConfigAssumption{
        key, json{{"quant_method", "fp8"},
                  {"fmt", "e4m3"},
                  {"activation_scheme", "dynamic"},
                  {"weight_block_size", {128, 128}},
                  {"modules_to_not_convert", modulesLeftAlone(false)}}
                 .dump()};
  if (format != "nvfp4")
    return Error{"", "unknown weight format \"" + shorten(format) + "\"",
                 "formats: bf16, fp8, fp8_block, nvfp4"};
  Result<Model> model = findModel(request);
  if (!model)
    return model.error();
  bool isLatent = model->config->reader().has("kv_lora_rank");
  return ConfigAssumption{key,
                          json{{"quant_method", "modelopt"},
                               {"quant_algo", "NVFP4"},
                               {"group_size", 16},
                               {"exclude_modules", modulesLeftAlone(isLatent)}}
                              .dump()};
}

Result<std::string> autopar::formatOfCheckpoint(const ModelRequest &request) {
  Result<Model> model = findModel(request);
  if (!model)
    return model.error();
  // Those of most weights; routers, heads and norms may be left alone.
  const std::pair<const char *, WeightRole> weights[] = {
      {"model.layers.1.mlp.experts.1.down_proj", WeightRole::expert},
      {"model.layers.1.mlp.experts", WeightRole::packed},
      {"model.layers.1.mlp.down_proj", WeightRole::product}};
  bool isFp8 = false;
  for (auto [name, role] : weights) {
    Result<const Format *> format =
        model->quantization.formatOf(name, role, /*inLayer=*/true);
    if (!format)
      return format.error();
    if (!*format)
      continue;
    if ((*format)->name.find("fp4") != std::string::npos)
      return std::string("fp4");
    isFp8 |= (*format)->name.find("fp8") != std::string::npos;
  }
  return std::string(isFp8 ? "fp8" : "bf16");
}

ElementType autopar::unitsOf(const std::string &format) {
  if (format == "nvfp4" || format == "fp4")
    return ElementType::fp4;
  return format == "fp8" || format == "fp8_block" ? ElementType::fp8_e4m3
                                                  : ElementType::bf16;
}
