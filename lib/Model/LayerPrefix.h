//===- LayerPrefix.h - The first layers of a model --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_LAYERPREFIX_H
#define AUTOPAR_LIB_MODEL_LAYERPREFIX_H

#include "autopar/Model/Scope.h"

namespace autopar::model {

/// Shortens each stack of `scope` in `config` to its first layers: as many as
/// have all kinds of layers, and at least `least`. Lists about layers are
/// shortened, too.
void keepFirstLayers(Scope &scope, int64_t least, JsonValue &config);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_LAYERPREFIX_H
