//===- Chip.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"
#include "ShapeTable.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;

static constexpr KernelKind kernelKinds[] = {KernelKind::matmul,
                                             KernelKind::grouped_matmul,
                                             KernelKind::attention,
                                             KernelKind::attention_backward,
                                             KernelKind::latent_attention,
                                             KernelKind::elementwise,
                                             KernelKind::gather,
                                             KernelKind::scan,
                                             KernelKind::index,
                                             KernelKind::encoder_attention,
                                             KernelKind::sparse_attention,
                                             KernelKind::batched_matmul,
                                             KernelKind::channel_scan,
                                             KernelKind::hyper_pre,
                                             KernelKind::hyper_post};

/// Returns the kernel kind whose curve prices kernels of `kind` if the chip has
/// no curve for `kind`.
static std::optional<KernelKind> standInOf(KernelKind kind) {
  switch (kind) {
  case KernelKind::attention_backward:
  case KernelKind::latent_attention:
  case KernelKind::index:
  case KernelKind::encoder_attention:
    return KernelKind::attention;
  case KernelKind::sparse_attention:
    return KernelKind::latent_attention;
  case KernelKind::batched_matmul:
    return KernelKind::matmul;
  case KernelKind::channel_scan:
    return KernelKind::scan;
  // Kernels of these kinds stream data like elementwise kernels.
  case KernelKind::scan:
  case KernelKind::hyper_pre:
  case KernelKind::hyper_post:
    return KernelKind::elementwise;
  case KernelKind::matmul:
  case KernelKind::grouped_matmul:
  case KernelKind::attention:
  case KernelKind::elementwise:
  case KernelKind::gather:
    return std::nullopt;
  }
  return std::nullopt;
}

/// Returns whether curves of `kind` are used only for the formats that were
/// measured.
static bool isOfFormat(KernelKind kind) {
  return kind == KernelKind::encoder_attention ||
         kind == KernelKind::sparse_attention ||
         kind == KernelKind::batched_matmul ||
         kind == KernelKind::channel_scan || isHyper(kind);
}

//===----------------------------------------------------------------------===//
// Looking up peaks and curves
//===----------------------------------------------------------------------===//

/// Returns the keys of the formats whose curve may serve `type`: first `type`
/// itself, then the formats that contain its values, the narrowest first. On a
/// chip that has only one of fp16 and bf16, this one replaces the other.
static std::vector<std::string_view> fallbacks(ElementType type) {
  std::string_view key = peakKeyOf(type);
  if (key == "fp8" || key == "fp4" || key == "int8")
    return {key, "bf16", "fp16", "fp32"};
  if (key == "bf16")
    return {key, "fp16", "fp32"};
  if (key == "fp16")
    return {key, "bf16", "fp32"};
  return {key};
}

const Figure *Chip::peak(ElementType type) const {
  for (std::string_view key : fallbacks(type)) {
    auto it = peakFlops.find(std::string(key));
    if (it != peakFlops.end())
      return &it->second;
  }
  return nullptr;
}

/// Returns the key of a pair of formats, such as "fp4_bf16". The pair of
/// "fp8_block" and fp8 has the key "fp8_block".
static std::string keyOf(ElementType storage, ElementType units) {
  if (storage == ElementType::fp8_block && units == ElementType::fp8_e4m3)
    return std::string(peakKeyOf(storage));
  return std::string(peakKeyOf(storage)) + "_" + std::string(peakKeyOf(units));
}

ElementType Chip::unitsOf(KernelKind kind, ElementType type,
                          std::optional<ElementType> storage) const {
  if (isOfFormat(kind))
    return unitsOf(*standInOf(kind), type, storage);
  auto curves = kernels.find(kind);
  // Without a curve, a scan uses vector units, because there are no
  // measurements of scans on matrix units.
  if (kind == KernelKind::scan && curves == kernels.end())
    return ElementType::f32;
  bool isFp8 = storage && *storage != type && curves != kernels.end() &&
               curves->second.count(keyOf(*storage, ElementType::fp8_e4m3));
  return isFp8 ? ElementType::fp8_e4m3 : type;
}

std::string Chip::useOf(KernelKind kind, ElementType type,
                        std::optional<ElementType> storage) const {
  std::string key(peakKeyOf(type));
  if (storage && *storage != type)
    key = keyOf(*storage, unitsOf(kind, type, storage));
  return std::string(nameOf(kind)) + "." + key;
}

/// Returns whether there is a curve for `type`; the two 16-bit formats share
/// one.
static bool hasFormat(const std::map<std::string, KernelCurve> &curves,
                      ElementType type) {
  std::string key(peakKeyOf(type));
  bool isHalf = key == "bf16" || key == "fp16";
  return curves.count(key) ||
         (isHalf && (curves.count("bf16") || curves.count("fp16")));
}

const KernelCurve *Chip::curve(KernelKind kind, ElementType type,
                               std::optional<ElementType> storage) const {
  auto curves = kernels.find(kind);
  bool isOther = storage && *storage != type;
  if (curves == kernels.end() ||
      (isOfFormat(kind) && (isOther || !hasFormat(curves->second, type)))) {
    std::optional<KernelKind> other = standInOf(kind);
    return other ? curve(*other, type, storage) : nullptr;
  }
  if (storage && *storage != type) {
    ElementType units = unitsOf(kind, type, storage);
    auto it = curves->second.find(keyOf(*storage, units));
    if (it == curves->second.end() && units == ElementType::f16)
      it = curves->second.find(keyOf(*storage, ElementType::bf16));
    if (it != curves->second.end())
      return &it->second;
  }
  std::vector<std::string_view> keys = fallbacks(type);
  // There are no measurements of fp32 matmuls: they use the curve of a 16-bit
  // format with the peak of fp32.
  keys.insert(keys.end(), {"", "bf16", "fp16"});
  for (std::string_view key : keys) {
    auto it = curves->second.find(std::string(key));
    if (it != curves->second.end())
      return &it->second;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Reading chips from files
//===----------------------------------------------------------------------===//

/// Reads a coefficient of a curve. Its source is that of the curve, unless the
/// coefficient was overridden.
static double readCoefficient(const JsonReader &reader, std::string_view key,
                              UnitRange unit, Source &source) {
  JsonReader object = reader.object(key);
  if (reader.failed())
    return unit.max;
  object.allowOnly({"value", "unit", "source"});
  std::string written = object.string("unit");
  if (!reader.failed() && written != unit.unit)
    object.failAt("unit", "expected \"" + std::string(unit.unit) +
                              "\", found \"" + shorten(written) + "\"");
  if (object.has("source"))
    source = readSource(object);
  return object.number("value", unit.min, unit.max);
}

static void readFit(const JsonReader &reader, KernelCurve &curve) {
  if (!reader.has("fit"))
    return;
  JsonReader fit = reader.object("fit");
  if (reader.failed())
    return;
  fit.allowOnly({"median_error", "p90_error", "rows", "range"});
  curve.medianError = fit.number("median_error", 0, 1e6);
  curve.p90Error = fit.number("p90_error", 0, 1e6);
  fit.integer("rows", 1, INT64_MAX);
  JsonReader range = fit.object("range");
  if (reader.failed())
    return;
  range.allowOnly({"flops", "bytes"});
  std::pair<const char *, double *> bounds[] = {{"flops", &curve.fittedFlops},
                                                {"bytes", &curve.fittedBytes}};
  for (auto [key, largest] : bounds)
    for (const JsonReader &bound : range.array(key).elements())
      *largest = std::max(*largest, bound.asNumber(0, 1e30));
}

/// Sets the errors of a curve with tables for all of its launches to the errors
/// of the worse table.
static void addErrors(KernelKind kernel, KernelCurve &curve) {
  std::optional<double> median, p90;
  for (size_t i = 0; i < shapeKindCount; ++i) {
    if (ShapeTable::namesOf(kernel, static_cast<ShapeKind>(i)).empty())
      continue;
    if (!curve.shapes[i])
      return;
    // An empty optional compares as less than any error.
    median = std::max(median, std::optional(curve.shapes[i]->medianError));
    p90 = std::max(p90, std::optional(curve.shapes[i]->p90Error));
  }
  if (median) {
    curve.medianError = median;
    curve.p90Error = p90;
  }
}

static void readShapes(const JsonReader &reader, KernelKind kernel,
                       KernelCurve &curve) {
  for (size_t i = 0; i < shapeKindCount; ++i) {
    auto kind = static_cast<ShapeKind>(i);
    if (!reader.has(shapeKeys[i]))
      continue;
    if (ShapeTable::namesOf(kernel, kind).empty())
      return reader.failAt(shapeKeys[i], "kernels of kind " +
                                             std::string(nameOf(kernel)) +
                                             " have no such table");
    curve.shapes[i] = readShapeTable(reader.object(shapeKeys[i]), kernel, kind);
  }
  if (!reader.failed())
    addErrors(kernel, curve);
}

static void readTiles(const JsonReader &reader, KernelKind kernel,
                      KernelCurve &curve) {
  if (!reader.has("tiles"))
    return;
  if (kernel != KernelKind::encoder_attention)
    return reader.failAt("tiles", "kernels of kind " +
                                      std::string(nameOf(kernel)) +
                                      " have no tiles that are known");
  JsonReader tiles = reader.object("tiles");
  tiles.allowOnly({"queries", "slots", "keys", "split_slots"});
  constexpr int64_t most = 65536;
  curve.tileQueries = tiles.integer("queries", 1, most);
  curve.tileSlots = tiles.integer("slots", 1, most);
  if (tiles.has("keys"))
    curve.tileKeys = tiles.integer("keys", 1, most);
  if (tiles.has("split_slots") && curve.tileKeys == 0)
    return tiles.failAt("split_slots", "keys are split: it needs keys");
  if (tiles.has("split_slots"))
    curve.tileSplitSlots = tiles.integer("split_slots", 1, most);
}

static KernelCurve readCurve(const JsonReader &reader, KernelKind kernel) {
  static constexpr double exponents[] = {1, 1.5, 2, 3, 4};
  KernelCurve curve;
  std::vector<std::string_view> known = {"floor",
                                         "compute_efficiency",
                                         "memory_efficiency",
                                         "exponent",
                                         "fit",
                                         "tiles",
                                         "source"};
  known.insert(known.end(), std::begin(shapeKeys), std::end(shapeKeys));
  reader.allowOnly(known);
  curve.source = readSource(reader);
  curve.floorUs =
      readCoefficient(reader, "floor", units::microseconds, curve.source);
  // A kernel without matmuls has no compute efficiency.
  if (multiplies(kernel) || reader.has("compute_efficiency"))
    curve.computeEfficiency = readCoefficient(reader, "compute_efficiency",
                                              units::fraction, curve.source);
  curve.memoryEfficiency = readCoefficient(reader, "memory_efficiency",
                                           units::fraction, curve.source);
  curve.exponent = reader.number("exponent", 1, 4);
  if (!reader.failed() && std::find(std::begin(exponents), std::end(exponents),
                                    curve.exponent) == std::end(exponents))
    reader.failAt("exponent", "expected one of 1, 1.5, 2, 3, 4, found " +
                                  formatNumber(curve.exponent));
  readFit(reader, curve);
  readTiles(reader, kernel, curve);
  readShapes(reader, kernel, curve);
  return curve;
}

static std::vector<std::string> kernelNames() {
  std::vector<std::string> names;
  for (KernelKind kind : kernelKinds)
    names.emplace_back(nameOf(kind));
  return names;
}

static const std::vector<std::string> &peakKeys() {
  static const std::vector<std::string> keys = {"bf16", "fp16", "fp8", "fp32",
                                                "tf32", "int8", "fp4"};
  return keys;
}

static bool checkKey(const JsonReader &reader, const std::string &key,
                     const std::vector<std::string> &known,
                     std::string_view what) {
  if (std::find(known.begin(), known.end(), key) != known.end())
    return true;
  reader.fail("unknown " + std::string(what) + " \"" + shorten(key) + "\"",
              "known: " + join(known, ", "));
  return false;
}

static void readKernels(const JsonReader &reader, const std::string &path,
                        KernelCurves &kernels) {
  std::vector<std::string> formats = peakKeys();
  for (const char *key : {"fp4_bf16", "fp4_fp8", "fp8_block", "any"})
    formats.push_back(key);
  for (const auto &[name, curves] : reader.members()) {
    if (!checkKey(curves, name, kernelNames(), "kernel"))
      return;
    size_t index = 0;
    while (nameOf(kernelKinds[index]) != name)
      ++index;
    KernelKind kind = kernelKinds[index];
    for (const auto &[key, curve] : curves.members()) {
      if (!checkKey(curve, key, formats, "format"))
        return;
      KernelCurve &made = kernels[kind][key == "any" ? "" : key];
      made = readCurve(curve, kind);
      made.path = path + "." + name + "." + key;
    }
  }
}

static void checkKernels(const JsonReader &reader, KernelCurves &kernels) {
  for (KernelKind kind : kernelKinds)
    if (!reader.failed() && !standInOf(kind) && !kernels.count(kind))
      reader.fail("missing field \"" + std::string(nameOf(kind)) + "\"");
}

const std::vector<std::string> &autopar::hardware::platforms() {
  static const std::vector<std::string> names = {"cuda", "rocm", "xla", "xpu"};
  return names;
}

bool autopar::hardware::isPlatform(const std::string &name) {
  return std::find(platforms().begin(), platforms().end(), name) !=
         platforms().end();
}

static std::string readPlatform(const JsonReader &reader) {
  std::string name = reader.optionalString("platform").value_or("cuda");
  if (!reader.failed() && !isPlatform(name))
    reader.failAt("platform", "expected " + join(platforms(), ", ") +
                                  ", found \"" + shorten(name) + "\"");
  return name;
}

Chip autopar::hardware::readChip(const JsonReader &reader) {
  Chip chip;
  reader.allowOnly({"schema", "name", "title", "source", "platform",
                    "memory_label", "memory_usable", "memory_bandwidth",
                    "peak_flops", "kernels", "implementations",
                    "sustained_compute", "board_power", "idle_power"});
  checkSchema(reader, "autopar.chip/1");
  chip.name = readName(reader);
  chip.title = reader.string("title");
  chip.platform = readPlatform(reader);
  std::string path = "chips." + chip.name;
  chip.memoryLabel = readFigure(reader, "memory_label", units::memory, path);
  chip.memoryUsable = readFigure(reader, "memory_usable", units::memory, path);
  chip.memoryBandwidth =
      readFigure(reader, "memory_bandwidth", units::bytesPerSecond, path);
  JsonReader peaks = reader.object("peak_flops");
  for (const auto &[key, peak] : peaks.members())
    if (checkKey(peak, key, peakKeys(), "format"))
      chip.peakFlops[key] =
          readFigure(peaks, key, units::flopsPerSecond, path + ".peak_flops");
  if (!reader.failed() && chip.peakFlops.empty())
    peaks.fail("expected at least one format, found none",
               "known: " + join(peakKeys(), ", "));
  chip.sustainedCompute =
      readOptionalFigure(reader, "sustained_compute", units::fraction, path);
  chip.boardPower =
      readOptionalFigure(reader, "board_power", units::watts, path);
  chip.idlePower = readOptionalFigure(reader, "idle_power", units::watts, path);
  JsonReader kernels = reader.object("kernels");
  readKernels(kernels, path + ".kernels", chip.kernels);
  checkKernels(kernels, chip.kernels);
  if (reader.has("implementations"))
    for (const auto &[name, curves] :
         reader.object("implementations").members())
      readKernels(curves, path + ".implementations." + name,
                  chip.implementations[name]);
  return chip;
}
