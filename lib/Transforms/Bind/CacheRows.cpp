//===- CacheRows.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheRows.h"

#include "CacheFormat.h"

#include "autopar/Interfaces/TensorView.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace autopar;
using namespace autopar::runtime;
using namespace autopar::transforms;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// Which rows a cache has, and how many elements a row has. If a row covers
/// several tokens, the cache has a part of the row for each token.
struct Row {
  CacheRow::Of of;
  int64_t elements;
};

} // namespace

static int64_t lastOf(Value tensor) {
  return TensorView(tensor).getType().getShape().back();
}

/// Returns the rows that an op keeps in its caches; nothing if the caches hold
/// keys and values of heads, or latents all of which are read.
static std::optional<Row> rowKeptBy(Operation *user) {
  constexpr CacheRow::Of latent = CacheRow::Of::sparse_latent;
  return llvm::TypeSwitch<Operation *, std::optional<Row>>(user)
      .Case([](IndexerOp op) {
        return Row{CacheRow::Of::index, lastOf(op.getQuery())};
      })
      .Case([](LatentAttentionOp op) -> std::optional<Row> {
        if (op.getNumSeen() == 0 || !op.getCache())
          return std::nullopt;
        return Row{latent, lastOf(op.getCache())};
      })
      .Case([](CompressedAttentionOp op) {
        return Row{latent, lastOf(op.getRow())};
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the rows of a cache, whose handle may pass through a ring.
static std::optional<Row> rowOf(Value handle) {
  for (Operation *user : handle.getUsers()) {
    std::optional<Row> row = user->getNumOperands() == 1
                                 ? rowOf(user->getResult(0))
                                 : rowKeptBy(user);
    if (row)
      return row;
  }
  return std::nullopt;
}

static void setFormat(Value handle, ElementType format) {
  Type element = fromElementType(handle.getContext(), format);
  handle.setType(
      withTensor(handle.getType(), tensorOf(handle.getType()).clone(element)));
  for (Operation *user : handle.getUsers())
    if (user->getNumOperands() == 1)
      setFormat(user->getResult(0), format);
}

void autopar::transforms::keepRowsOf(ModuleOp module, const Runtime &runtime) {
  std::optional<ElementType> common = formatOfCaches(module);
  module.walk([&](KVCacheOp cache) {
    std::optional<Row> row = rowOf(cache.getResult());
    std::optional<ElementType> format =
        toElementType(tensorOf(cache.getType()).getElementType());
    if (!row || !format || keepsFormat(cache))
      return;
    bool isRow = plainFormat(*format) != *format;
    // Which rows the keys of an indexer get depends on the format of the other
    // caches.
    ElementType plain = !isRow ? *format
                        : row->of == CacheRow::Of::index
                            ? common.value_or(plainFormat(*format))
                            : plainFormat(*format);
    setFormat(cache.getResult(),
              runtime.formatOfRow(row->of, row->elements, plain));
  });
}
