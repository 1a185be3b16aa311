//===- ShapeTable.cpp - Kernels of a shape over their roofline ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeTable.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;

std::vector<std::string_view> ShapeTable::namesOf(KernelKind kernel,
                                                  ShapeKind kind) {
  std::string_view tokens = kind == ShapeKind::decode ? "context" : "query";
  bool isProduct = kind == ShapeKind::product;
  if (kernel == KernelKind::matmul && isProduct)
    return {"rows", "columns", "contraction"};
  if (kernel == KernelKind::batched_matmul && isProduct)
    return {"rows", "heads", "columns"};
  if (isHyper(kernel) && isProduct)
    return {"rows", "hidden"};
  if (kernel == KernelKind::grouped_matmul && isProduct)
    return {"rows_per_expert", "experts", "share", "columns", "contraction"};
  if ((kernel == KernelKind::attention ||
       kernel == KernelKind::attention_backward) &&
      !isProduct)
    return {"streams", tokens, "group", "head_size"};
  // The time of sparse prefill attention depends on the selected tokens of each
  // query, not on the length of the cache.
  if (kernel == KernelKind::sparse_attention && kind == ShapeKind::prefill)
    return {"queries", "seen", "heads"};
  if (kernel == KernelKind::encoder_attention && kind == ShapeKind::prefill)
    return {"streams", "query", "head_size"};
  if ((kernel == KernelKind::latent_attention ||
       kernel == KernelKind::sparse_attention) &&
      !isProduct)
    return {"sequences", tokens, "heads"};
  // A recurrence reads a state of fixed size, whatever the context is.
  if (isScan(kernel) && !isProduct)
    return {"streams", "query"};
  return {};
}

size_t ShapeTable::varyingOf(KernelKind kernel) {
  return namesOf(kernel, ShapeKind::product).empty() ? 2 : 1;
}

//===----------------------------------------------------------------------===//
// Interpolation between the sizes of a table
//===----------------------------------------------------------------------===//

namespace {
/// Where a size lies between two knots of a table, in logarithms: the knots
/// below and above, and the share of the way between them.
struct Place {
  size_t below = 0, above = 0;
  double share = 0;
};
} // namespace

static Place placeOf(const std::vector<double> &at, double size) {
  auto above = std::lower_bound(at.begin(), at.end(), size);
  auto index = static_cast<size_t>(above - at.begin());
  if (above == at.end())
    return {index - 1, index - 1, 0};
  if (above == at.begin() || *above == size)
    return {index, index, 0};
  double low = std::log2(at[index - 1]), high = std::log2(at[index]);
  return {index - 1, index, (std::log2(size) - low) / (high - low)};
}

static ShapeGrid::Side sideOf(const ShapeTable::Coordinate &coordinate) {
  return {static_cast<int>(std::log2(coordinate.at.front())),
          static_cast<int>(std::log2(coordinate.at.back()))};
}

/// Returns the ratio of the table at the given places, one for each coordinate.
static double ratioAt(const ShapeTable &table,
                      const std::vector<Place> &places) {
  // A place that lies on a knot has no upper neighbour.
  size_t onKnots = 0;
  for (size_t i = 0; i < places.size(); ++i)
    onKnots |= size_t(places[i].share == 0) << i;
  double sum = 0;
  for (size_t corner = 0; corner < size_t(1) << places.size(); ++corner) {
    if (corner & onKnots)
      continue;
    double weight = 1;
    size_t cell = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      bool isAbove = corner >> i & 1;
      const Place &place = places[i];
      weight *= isAbove ? place.share : 1 - place.share;
      cell = cell * table.coordinates[i].at.size() +
             (isAbove ? place.above : place.below);
    }
    sum += weight * table.ratios[cell];
  }
  return sum;
}

ShapeGrid autopar::hardware::reduce(const ShapeTable &table,
                                    const std::vector<double> &fixed) {
  const auto &coordinates = table.coordinates;
  size_t varying = coordinates.size() - fixed.size();
  std::vector<Place> places(coordinates.size());
  for (size_t i = 0; i < fixed.size(); ++i)
    places[varying + i] = placeOf(coordinates[varying + i].at, fixed[i]);
  ShapeGrid grid;
  grid.x = sideOf(coordinates[0]);
  if (varying > 1)
    grid.y = sideOf(coordinates[1]);
  std::vector<Place> ofY(grid.y.last - grid.y.first + 1);
  for (size_t y = 0; varying > 1 && y < ofY.size(); ++y)
    ofY[y] = placeOf(coordinates[1].at,
                     std::exp2(grid.y.first + static_cast<int>(y)));
  for (int x = grid.x.first; x <= grid.x.last; ++x) {
    places[0] = placeOf(coordinates[0].at, std::exp2(x));
    for (const Place &y : ofY) {
      if (varying > 1)
        places[1] = y;
      grid.ratios.push_back(ratioAt(table, places));
    }
  }
  return grid;
}

//===----------------------------------------------------------------------===//
// Reading tables from files
//===----------------------------------------------------------------------===//

/// The limits of a coordinate. Sizes are integers, except rows per expert.
static constexpr double leastSize = 1.0 / 1024, largestSize = 1 << 30;
/// The limits of a ratio, in percent.
static constexpr uint32_t leastPercent = 1, mostPercent = 100'000;
static constexpr ptrdiff_t mostDigits = 6;
/// The largest number of cells that a table may have.
static constexpr size_t mostCells = 100'000;

static bool isPowerOfTwo(double size) {
  int exponent = 0;
  return std::frexp(size, &exponent) == 0.5;
}

static void readSizes(const JsonReader &reader, bool varies,
                      std::vector<double> &at) {
  JsonReader sizes = reader.array("at");
  for (const JsonReader &size : sizes.elements()) {
    double value = size.asNumber(leastSize, largestSize);
    if (reader.failed())
      return;
    if (!at.empty() && value <= at.back())
      return size.fail("expected sizes that rise, found " +
                       formatNumber(value) + " after " +
                       formatNumber(at.back()));
    if (varies && !isPowerOfTwo(value))
      return size.fail("expected a power of two, found " + formatNumber(value));
    at.push_back(value);
  }
  if (!reader.failed() && at.empty())
    sizes.fail("expected at least one size, found none");
}

static void readCoordinates(const JsonReader &reader, KernelKind kernel,
                            ShapeKind kind, ShapeTable &table) {
  std::vector<std::string_view> names = ShapeTable::namesOf(kernel, kind);
  JsonReader list = reader.array("coordinates");
  std::vector<JsonReader> elements = list.elements();
  if (reader.failed())
    return;
  if (elements.size() != names.size())
    return list.fail(
        "expected " + std::to_string(names.size()) + " coordinates, found " +
            std::to_string(elements.size()),
        "those of " + std::string(nameOf(kernel)) + ": " +
            join(std::vector<std::string>(names.begin(), names.end()), ", "));
  for (size_t i = 0; i < names.size(); ++i) {
    elements[i].allowOnly({"of", "at"});
    ShapeTable::Coordinate &made = table.coordinates.emplace_back();
    made.of = elements[i].string("of");
    if (!reader.failed() && made.of != names[i])
      return elements[i].failAt("of", "expected \"" + std::string(names[i]) +
                                          "\", found \"" + shorten(made.of) +
                                          "\"");
    readSizes(elements[i], i < ShapeTable::varyingOf(kernel), made.at);
  }
}

/// Reads a line of percents. Returns the first word that is no legal number;
/// nothing if all are.
static std::optional<std::string> readLine(std::string_view line,
                                           std::vector<double> &ratios) {
  const char *at = line.data(), *end = at + line.size();
  while (at != end) {
    const char *word = at;
    uint32_t percent = 0;
    for (uint32_t digit; at != end && (digit = uint32_t(*at - '0')) < 10; ++at)
      percent = percent * 10 + digit;
    if ((at != end && *at != ' ') || at - word > mostDigits ||
        percent < leastPercent || percent > mostPercent)
      return std::string(word, std::find(word, end, ' '));
    ratios.push_back(static_cast<double>(percent) / 100);
    at += at != end;
  }
  return std::nullopt;
}

/// Reads ratios from lines of text, which takes a tenth of the time that JSON
/// numbers take.
static void readRatios(const JsonReader &reader, ShapeTable &table) {
  JsonReader list = reader.array("percent");
  if (reader.failed())
    return;
  size_t cells = 1;
  for (const ShapeTable::Coordinate &coordinate : table.coordinates)
    cells = std::min(mostCells + 1, cells * coordinate.at.size());
  table.ratios.reserve(cells);
  for (const JsonReader &line : list.elements()) {
    std::optional<std::string> wrong =
        line.isString() ? readLine(line.asStringView(), table.ratios)
                        : line.toJson().dump();
    if (wrong)
      return list.fail("expected lines of integers from 1 to 100000 between "
                       "spaces, found " +
                       shorten(*wrong));
  }
  if (cells > mostCells || table.ratios.size() != cells)
    list.fail("expected " + std::to_string(cells) +
              " ratios, one for each combination of sizes and at most " +
              std::to_string(mostCells) + ", found " +
              std::to_string(table.ratios.size()));
}

std::shared_ptr<const ShapeTable>
autopar::hardware::readShapeTable(const JsonReader &reader, KernelKind kernel,
                                  ShapeKind kind) {
  auto table = std::make_shared<ShapeTable>();
  reader.allowOnly({"coordinates", "percent", "fit"});
  readCoordinates(reader, kernel, kind, *table);
  if (reader.failed())
    return nullptr;
  readRatios(reader, *table);
  JsonReader fit = reader.object("fit");
  if (reader.failed())
    return nullptr;
  fit.allowOnly({"median_error", "p90_error", "rows"});
  table->medianError = fit.number("median_error", 0, 1e6);
  table->p90Error = fit.number("p90_error", 0, 1e6);
  fit.integer("rows", 1, INT64_MAX);
  return table;
}
