//===- CacheRows.cpp - Rows of several formats ----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheRows.h"

#include "Choice.h"

#include "autopar/Hardware/Figures.h"
#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::runtime;

ElementType Runtime::formatOfRow(CacheRow::Of of, int64_t elements,
                                 ElementType format) const {
  for (const CacheRow &row : cacheRows)
    if (row.of == of && row.elements == elements &&
        row.where.value_or(format) == format)
      return row.format;
  return format;
}

static constexpr std::pair<const char *, CacheRow::Of> cachesOfRows[] = {
    {"sparse_latent", CacheRow::Of::sparse_latent},
    {"index", CacheRow::Of::index}};

void autopar::runtime::readCacheRows(const JsonReader &reader,
                                     Runtime &runtime) {
  if (!reader.has("cache_rows"))
    return;
  for (const JsonReader &item : reader.array("cache_rows").elements()) {
    item.allowOnly({"of", "elements", "format", "where", "source"});
    CacheRow row;
    row.of = readChoice(item, "of", cachesOfRows);
    row.elements = item.integer("elements", 1, limits::maxTokens);
    std::optional<ElementType> format = parseBlockFormat(item.string("format"));
    if (!format || blockOf(*format)->values != row.elements)
      item.failAt("format", "expected the format of a row of " +
                                std::to_string(row.elements) + " elements");
    row.format = format.value_or(row.format);
    if (item.has("where")) {
      row.where = parseElementType(item.string("where"));
      if (!row.where)
        item.failAt("where",
                    "expected one of " + std::string(elementTypeChoices()));
    }
    row.source = readSource(item);
    runtime.cacheRows.push_back(row);
  }
}
