//===- TokenLengths.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Requests.h"

#include "autopar/Support/Count.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::program;

//===----------------------------------------------------------------------===//
// Lengths as text
//===----------------------------------------------------------------------===//

static constexpr std::string_view uniformWord = "uniform:",
                                  lognormalWord = "lognormal:",
                                  histogramWord = "histogram:";

static Error expected(const std::string &text) {
  return {
      "",
      shorten(text) + ": expected tokens, from 1 to " +
          std::to_string(limits::maxTokens),
      "one of 2000, uniform:100..500, lognormal:2000,0.8 (mean, and standard "
      "deviation of the logarithm), histogram:128x3,4096x1 (tokens x weight)"};
}

static std::optional<int64_t> readTokens(std::string_view text) {
  std::optional<int64_t> count = parseCount(text);
  if (count && *count >= 1 && *count <= limits::maxTokens)
    return count;
  return std::nullopt;
}

static std::optional<double> readNumber(std::string_view text, double most) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(value >= 0 && value <= most))
    return std::nullopt;
  return value;
}

/// Splits "a,b" or "a..b" into its two halves, at the first occurrence of
/// `between`.
static std::pair<std::string_view, std::string_view>
halvesOf(std::string_view text, std::string_view between) {
  size_t at = text.find(between);
  if (at == std::string_view::npos)
    return {text, {}};
  return {text.substr(0, at), text.substr(at + between.size())};
}

static bool startsWith(const std::string &text, std::string_view word) {
  return text.compare(0, word.size(), word) == 0;
}

Result<TokenLengths> TokenLengths::parse(const std::string &text) {
  /// A deviation of 3 means a factor of exp(3) = 20 between one deviation and
  /// the median.
  constexpr double maxDeviation = 3, maxWeight = 1e15;
  TokenLengths lengths;
  auto restOf = [&](std::string_view word) {
    return std::string_view(text).substr(word.size());
  };
  if (startsWith(text, uniformWord)) {
    auto [low, high] = halvesOf(restOf(uniformWord), "..");
    auto least = readTokens(low), most = readTokens(high);
    if (!least || !most || *least > *most)
      return expected(text);
    lengths.kind = *least == *most ? Kind::fixed : Kind::uniform;
    lengths.first = static_cast<double>(*least);
    lengths.second = static_cast<double>(*most);
    return lengths;
  }
  if (startsWith(text, lognormalWord)) {
    auto [middle, spread] = halvesOf(restOf(lognormalWord), ",");
    auto mean = readTokens(middle);
    auto deviation = readNumber(spread, maxDeviation);
    if (!mean || !deviation)
      return expected(text);
    lengths.kind = *deviation == 0 ? Kind::fixed : Kind::lognormal;
    lengths.first = static_cast<double>(*mean);
    lengths.second = *deviation;
    return lengths;
  }
  if (startsWith(text, histogramWord)) {
    lengths.kind = Kind::histogram;
    double sum = 0;
    for (const std::string &bin :
         wordsOf(std::string(restOf(histogramWord)), ",")) {
      auto [tokens, weight] = halvesOf(bin, "x");
      auto count = readTokens(tokens);
      auto share = readNumber(weight, maxWeight);
      if (!count || !share)
        return expected(text);
      lengths.bins.emplace_back(*count, sum += *share);
    }
    if (!(sum > 0))
      return expected(text);
    return lengths;
  }
  auto tokens = readTokens(text);
  if (!tokens)
    return expected(text);
  lengths.first = static_cast<double>(*tokens);
  return lengths;
}

TokenLengths TokenLengths::of(std::vector<int64_t> tokens) {
  constexpr size_t parts = 24;
  std::sort(tokens.begin(), tokens.end());
  std::map<int64_t, double> weights;
  for (size_t part = 0; part < parts; ++part) {
    size_t begin = part * tokens.size() / parts,
           end = (part + 1) * tokens.size() / parts;
    double sum = 0;
    for (size_t i = begin; i < end; ++i)
      sum += static_cast<double>(tokens[i]);
    auto count = static_cast<double>(end - begin);
    if (end > begin)
      weights[std::llround(sum / count)] += count;
  }
  TokenLengths lengths;
  lengths.kind = Kind::histogram;
  double sum = 0;
  for (auto [value, count] : weights)
    lengths.bins.emplace_back(value, sum += count);
  return lengths;
}

std::string TokenLengths::str() const {
  switch (kind) {
  case Kind::fixed:
    return formatNumber(first);
  case Kind::uniform:
    return std::string(uniformWord) + formatNumber(first) + ".." +
           formatNumber(second);
  case Kind::lognormal:
    return std::string(lognormalWord) + formatNumber(first) + "," +
           formatNumber(second);
  case Kind::histogram:
    break;
  }
  std::vector<std::string> words;
  std::vector<double> weights = numbers();
  for (size_t i = 0; i < bins.size(); ++i)
    words.push_back(std::to_string(bins[i].first) + "x" +
                    formatNumber(weights[i]));
  return std::string(histogramWord) + join(words, ",");
}

std::vector<int64_t> TokenLengths::tokens() const {
  if (kind == Kind::uniform)
    return {static_cast<int64_t>(first), static_cast<int64_t>(second)};
  if (kind != Kind::histogram)
    return {static_cast<int64_t>(first)};
  std::vector<int64_t> counts;
  for (const auto &bin : bins)
    counts.push_back(bin.first);
  return counts;
}

std::vector<double> TokenLengths::numbers() const {
  if (kind == Kind::lognormal)
    return {second};
  std::vector<double> weights;
  double before = 0;
  for (const auto &bin : bins) {
    weights.push_back(bin.second - before);
    before = bin.second;
  }
  return weights;
}

//===----------------------------------------------------------------------===//
// Means, quantiles and random lengths
//===----------------------------------------------------------------------===//

/// Returns the mean of `value` over the bins, weighted by their shares.
template <typename Value>
static double meanOf(const std::vector<std::pair<int64_t, double>> &bins,
                     Value value) {
  double sum = 0, before = 0;
  for (auto [tokens, upTo] : bins) {
    sum += value(static_cast<double>(tokens)) * (upTo - before);
    before = upTo;
  }
  return sum / before;
}

double TokenLengths::mean() const {
  switch (kind) {
  case Kind::fixed:
  case Kind::lognormal:
    return first;
  case Kind::uniform:
    return (first + second) / 2;
  case Kind::histogram:
    break;
  }
  return meanOf(bins, [](double tokens) { return tokens; });
}

double TokenLengths::meanSquare() const {
  switch (kind) {
  case Kind::fixed:
    return first * first;
  case Kind::uniform: {
    // The variance of a uniform distribution of integers.
    double count = second - first + 1;
    return mean() * mean() + (count * count - 1) / 12;
  }
  case Kind::lognormal:
    return first * first * std::exp(second * second);
  case Kind::histogram:
    break;
  }
  return meanOf(bins, [](double tokens) { return tokens * tokens; });
}

double TokenLengths::squaredVariation() const {
  double average = mean();
  return std::max(0.0, meanSquare() / (average * average) - 1);
}

double TokenLengths::atDeviations(double deviations) const {
  double share = std::erfc(-deviations / std::sqrt(2.0)) / 2;
  switch (kind) {
  case Kind::fixed:
    return first;
  case Kind::uniform:
    return first + share * (second - first);
  case Kind::lognormal:
    return first * std::exp(second * deviations - second * second / 2);
  case Kind::histogram:
    break;
  }
  for (auto [tokens, upTo] : bins)
    if (upTo >= share * bins.back().second)
      return static_cast<double>(tokens);
  return static_cast<double>(bins.back().first);
}

int64_t TokenLengths::draw(std::mt19937_64 &random) const {
  auto whole = [](double value) {
    constexpr auto most = static_cast<double>(limits::maxTokens);
    return static_cast<int64_t>(std::clamp(std::round(value), 1.0, most));
  };
  switch (kind) {
  case Kind::fixed:
    return whole(first);
  case Kind::uniform:
    return std::uniform_int_distribution<int64_t>(whole(first),
                                                  whole(second))(random);
  case Kind::lognormal: {
    double middle = std::log(first) - second * second / 2;
    return whole(std::lognormal_distribution<double>(middle, second)(random));
  }
  case Kind::histogram:
    break;
  }
  double at =
      std::uniform_real_distribution<double>(0, bins.back().second)(random);
  auto bin = std::upper_bound(
      bins.begin(), bins.end() - 1, at,
      [](double value, const auto &one) { return value < one.second; });
  return bin->first;
}
