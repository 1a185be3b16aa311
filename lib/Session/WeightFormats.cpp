//===- WeightFormats.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WeightFormats.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::session;

/// Finds the weight format from layers that quantizers do not skip. They skip
/// layers that decide (routers, gates), small layers (convolutions), heads and
/// vision towers.
Result<std::string>
autopar::session::formatOfCheckpoint(const ModelRequest &request) {
  Result<Model> model = findModel(request);
  if (!model)
    return model.error();
  // The layers with the most weights; routers, heads and norms may be
  // unquantised.
  const std::pair<const char *, WeightRole> weights[] = {
      {"model.layers.1.mlp.experts.1.down_proj", WeightRole::expert},
      {"model.layers.1.mlp.experts", WeightRole::packed},
      {"model.layers.1.mlp.down_proj", WeightRole::product}};
  bool isFp8 = false, isInt4 = false;
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
    isInt4 |= (*format)->name.find("int4") != std::string::npos;
  }
  return std::string(isFp8 ? "fp8" : isInt4 ? "int4" : "bf16");
}

ElementType autopar::session::unitsOf(const std::string &format) {
  if (format == "nvfp4" || format == "fp4")
    return ElementType::fp4;
  return format == "fp8" || format == "fp8_block" ? ElementType::fp8_e4m3
                                                  : ElementType::bf16;
}
