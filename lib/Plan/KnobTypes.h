//===- KnobTypes.h - Types of a plan's choices ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each type of a knob defines its text in a flag, and its value in
// `autopar.plan/1`.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLAN_KNOBTYPES_H
#define AUTOPAR_LIB_PLAN_KNOBTYPES_H

#include "autopar/Plan/Plan.h"
#include "autopar/Program/ExpertCapacity.h"
#include "autopar/Support/Count.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace autopar::plan::knobs {

using namespace placement;
using namespace program;
using namespace schedule;
using Json = nlohmann::ordered_json;

/// Returns an error that says what was expected in place of a value.
inline Error expected(std::string what) { return {"", std::move(what), ""}; }

/// Reads a text member with the parser that the flag uses.
template <typename T, typename Codec>
std::optional<T> readText(const JsonReader &object, std::string_view name) {
  std::optional<std::string> text = object.optionalString(name);
  if (!text || object.failed())
    return std::nullopt;
  Result<T> parsed = Codec::parse(*text);
  if (parsed)
    return std::move(*parsed);
  object.failAt(name, "expected " + parsed.error().message + ", found \"" +
                          shorten(*text) + "\"");
  return std::nullopt;
}

struct Flag {
  using Type = bool;
  static Result<bool> parse(std::string_view text) {
    if (text.empty() || text == "true" || text == "1")
      return true;
    if (text == "false" || text == "0")
      return false;
    return expected("true or false");
  }
  static std::optional<bool> read(const JsonReader &object,
                                  std::string_view name) {
    if (!object.has(name))
      return std::nullopt;
    return object.booleanOr(name, false);
  }
  static Json write(bool value) { return value; }
};

template <int64_t least, int64_t most>
struct Count {
  using Type = int64_t;
  static Result<int64_t> parse(std::string_view text) {
    std::optional<int64_t> value = parseCount(text);
    if (value && *value >= least && *value <= most)
      return *value;
    return expected("a number from " + std::to_string(least) + " to " +
                    std::to_string(most));
  }
  static std::optional<int64_t> read(const JsonReader &object,
                                     std::string_view name) {
    return object.optionalInteger(name, least, most);
  }
  static Json write(int64_t value) { return value; }
};

/// The type of a knob that is a count, or `none` for 0.
template <int64_t most>
struct CountOrNone {
  using Type = int64_t;
  static Result<int64_t> parse(std::string_view text) {
    if (text == "none")
      return 0;
    Result<int64_t> count = Count<1, most>::parse(text);
    if (count)
      return count;
    return expected(count.error().message + ", or none");
  }
  static std::optional<int64_t> read(const JsonReader &object,
                                     std::string_view name) {
    if (object.has(name) && object.member(name).isString())
      return readText<int64_t, CountOrNone>(object, name);
    return Count<1, most>::read(object, name);
  }
  static Json write(int64_t value) {
    return value == 0 ? Json("none") : Json(value);
  }
};

/// Parses a number from `least` to `most`; returns nothing if `text` is none.
inline std::optional<double> parseNumber(std::string_view text, double least,
                                         double most) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  bool isNumber = error == std::errc() && end == text.data() + text.size();
  return isNumber && value >= least && value <= most ? std::optional(value)
                                                     : std::nullopt;
}

/// The type of a knob that is a share: of memory, or a tolerance of loads.
template <bool mayBeNone>
struct Share {
  using Type = double;
  static constexpr double least = mayBeNone ? 0 : 1e-6;
  static Result<double> parse(std::string_view text) {
    if (std::optional<double> value = parseNumber(text, least, 1))
      return *value;
    return expected(mayBeNone ? "a share from 0 to 1"
                              : "a share above 0 and up to 1");
  }
  static std::optional<double> read(const JsonReader &object,
                                    std::string_view name) {
    return object.optionalNumber(name, least, 1);
  }
  static Json write(double value) { return value; }
};

struct CapacityFactor {
  using Type = double;
  static Result<double> parse(std::string_view text) {
    if (std::optional<double> value =
            parseNumber(text, ExpertCapacity::least, ExpertCapacity::most))
      return *value;
    return expected("a number above 0 and up to 1000");
  }
  static std::optional<double> read(const JsonReader &object,
                                    std::string_view name) {
    return object.optionalNumber(name, ExpertCapacity::least,
                                 ExpertCapacity::most);
  }
  static Json write(double value) { return value; }
};

struct File {
  using Type = std::string;
  static Result<std::string> parse(std::string_view text) {
    return std::string(text);
  }
  static std::optional<std::string> read(const JsonReader &object,
                                         std::string_view name) {
    return object.optionalString(name);
  }
  static Json write(const std::string &value) { return value; }
};

/// The type of a knob that is a word of a closed list.
template <typename T, std::optional<T> (*find)(std::string_view),
          std::string (*choices)()>
struct Word {
  using Type = T;
  static Result<T> parse(std::string_view text) {
    if (std::optional<T> value = find(text))
      return *value;
    return expected(choices());
  }
  static std::optional<T> read(const JsonReader &object,
                               std::string_view name) {
    return readText<T, Word>(object, name);
  }
  static Json write(T value) { return nameOf(value); }
};

inline std::string contextKindChoices() {
  return "ring, all_to_all or all_gather";
}
inline std::string optimizerChoices() {
  return "adamw, adamw-8bit, adafactor, muon, sgd or sgd-without-momentum";
}
inline std::string formatChoices() { return std::string(elementTypeChoices()); }
inline std::string formatOfProductsChoices() {
  return std::string(productFormatChoices());
}
using Loss = Word<LossForm, parseLossForm, lossFormChoices>;
using Context = Word<ContextKind, parseContextKind, contextKindChoices>;
using Schedule = Word<ScheduleKind, parseScheduleKind, scheduleChoices>;
using Optimizing = Word<Optimizer, parseOptimizer, optimizerChoices>;
using Policy = Word<PlacementPolicy, parsePlacementPolicy, policyChoices>;
using Format = Word<ElementType, parseElementType, formatChoices>;
using FormatOfProducts =
    Word<ElementType, parseProductFormat, formatOfProductsChoices>;

inline std::string formatOfCachesChoices() {
  return std::string(cacheFormatChoices());
}
using FormatOfCaches =
    Word<ElementType, parseCacheFormat, formatOfCachesChoices>;

/// The type of a knob that is a format of caches, or `auto` to leave the format
/// open.
struct FormatOrAuto {
  using Type = std::optional<ElementType>;
  static Result<Type> parse(std::string_view text) {
    if (text == "auto")
      return Type();
    Result<ElementType> format = FormatOfCaches::parse(text);
    if (format)
      return Type(*format);
    return expected(format.error().message + ", or auto");
  }
  static std::optional<Type> read(const JsonReader &object,
                                  std::string_view name) {
    return readText<Type, FormatOrAuto>(object, name);
  }
  static Json write(const Type &value) {
    return value ? FormatOfCaches::write(*value) : Json();
  }
};

struct Recomputing {
  using Type = Recomputation;
  static Result<Type> parse(std::string_view text) {
    Result<Type> parsed = Recomputation::parse(text);
    if (parsed)
      return parsed;
    return expected(recomputationChoices());
  }
  static std::optional<Type> read(const JsonReader &object,
                                  std::string_view name) {
    return readText<Type, Recomputing>(object, name);
  }
  static Json write(const Type &value) { return value.str(); }
};

/// The type of a knob that is a format, or `none`.
struct NamedFormatOrNone {
  using Type = FormatOrNone;
  static Result<Type> parse(std::string_view text) {
    if (text == "none")
      return Type();
    Result<ElementType> format = Format::parse(text);
    if (format)
      return Type{*format};
    return expected(format.error().message + ", or none");
  }
  static std::optional<Type> read(const JsonReader &object,
                                  std::string_view name) {
    return readText<Type, NamedFormatOrNone>(object, name);
  }
  static Json write(const Type &value) {
    return value.format ? Format::write(*value.format) : Json("none");
  }
};

struct Ranges {
  using Type = std::vector<LayerRange>;
  static Result<Type> parse(std::string_view text) {
    Result<Type> ranges = parseRanges(text);
    if (ranges)
      return ranges;
    return expected("ranges of layers: " + ranges.error().str());
  }
  static std::optional<Type> read(const JsonReader &object,
                                  std::string_view name) {
    return readText<Type, Ranges>(object, name);
  }
  static Json write(const Type &value) { return rangesText(value); }
};

} // namespace autopar::plan::knobs

#endif // AUTOPAR_LIB_PLAN_KNOBTYPES_H
