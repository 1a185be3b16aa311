//===- RequestTrace.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/RequestTrace.h"

#include "autopar/Support/Count.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Table.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <tuple>
#include <unordered_set>

using namespace autopar;
using namespace autopar::program;

namespace {

/// A column of a trace as we use it, with the names that files give it.
struct Column {
  const char *what;
  std::vector<std::string> names;
};

class TraceReader {
public:
  explicit TraceReader(const DataTable &table) : table(table) {}

  Result<std::vector<Request>> read();

private:
  std::optional<Error> findColumns();
  std::optional<Error> add(const DataTable::Row &row);
  std::optional<double> readTime(const std::string &cell) const;
  int64_t seenTokens(const DataTable::Row &row);
  Error at(const DataTable::Row &row, const std::string &column,
           const std::string &expected) const {
    return {table.where(row),
            column + " is \"" + shorten(std::string(table.cell(row, column))) +
                "\": expected " + expected,
            ""};
  }

  const DataTable &table;
  std::string arrival, prompt, answer;
  double unitUs = 1e6;
  /// The hashes of blocks that earlier prompts contained.
  std::unordered_set<std::string> seen;
  std::vector<Request> requests;
};

} // namespace

static const Column arrivalColumn = {
    "when each came",
    {"arrival", "arrival_s", "arrival_ms", "arrival_us", "arrival_time",
     "arrived_at", "timestamp", "TIMESTAMP", "Timestamp"}};
static const Column promptColumn = {"the tokens of its prompt",
                                    {"input", "input_tokens", "prompt_tokens",
                                     "input_length", "ContextTokens",
                                     "num_prefill_tokens", "Request tokens"}};
static const Column answerColumn = {"the tokens of its output",
                                    {"output", "output_tokens", "output_length",
                                     "GeneratedTokens", "num_decode_tokens",
                                     "Response tokens"}};
static const char *const hashColumn = "hash_ids";

static bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::optional<Error> TraceReader::findColumns() {
  for (auto [column, name] :
       {std::pair(&arrivalColumn, &arrival), std::pair(&promptColumn, &prompt),
        std::pair(&answerColumn, &answer)}) {
    auto found =
        std::find_if(column->names.begin(), column->names.end(),
                     [&](const std::string &one) { return table.has(one); });
    if (found == column->names.end())
      return Error{table.name(), std::string("no column says ") + column->what,
                   "expected one of " + join(column->names, ", ")};
    *name = *found;
  }
  bool isMooncake = arrival == "timestamp" && prompt == "input_length";
  if (endsWith(arrival, "_ms") || isMooncake)
    unitUs = 1e3;
  else if (endsWith(arrival, "_us"))
    unitUs = 1;
  return std::nullopt;
}

/// Parses a date such as "2023-11-16 18:15:46.6805900", also with a "T" between
/// date and time or with the zone UTC.
static std::optional<double> readDate(const std::string &cell) {
  std::tm date = {};
  std::string text = cell;
  std::replace(text.begin(), text.end(), 'T', ' ');
  const char *rest = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &date);
  if (!rest)
    return std::nullopt;
  double fraction = 0;
  const char *end = text.c_str() + text.size();
  if (*rest == '.') {
    auto [after, error] = std::from_chars(rest, end, fraction);
    if (error != std::errc())
      return std::nullopt;
    rest = after;
  }
  std::string_view zone(rest, end - rest);
  if (!zone.empty() && zone != "Z" && zone != "+00:00")
    return std::nullopt;
  return (static_cast<double>(timegm(&date)) + fraction) * 1e6;
}

/// Parses a time. Returns it in us.
std::optional<double> TraceReader::readTime(const std::string &cell) const {
  /// The longest time: a hundred years.
  constexpr double mostUs = 3.2e15;
  double value = 0;
  auto [end, error] =
      std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc() && end == cell.data() + cell.size())
    return value >= 0 && value * unitUs <= mostUs
               ? std::optional(value * unitUs)
               : std::nullopt;
  return readDate(cell);
}

/// Returns how many leading tokens of the prompt are in blocks that an earlier
/// prompt contained.
int64_t TraceReader::seenTokens(const DataTable::Row &row) {
  constexpr int64_t blockTokens = 512;
  if (!table.has(hashColumn))
    return 0;
  int64_t count = 0;
  bool isPrefix = true;
  for (const std::string &hash :
       wordsOf(std::string(table.cell(row, hashColumn)), "[], ")) {
    bool isNew = seen.insert(hash).second;
    isPrefix = isPrefix && !isNew;
    count += isPrefix ? blockTokens : 0;
  }
  return count;
}

std::optional<Error> TraceReader::add(const DataTable::Row &row) {
  Request request;
  std::optional<double> us = readTime(std::string(table.cell(row, arrival)));
  if (!us)
    return at(row, arrival,
              "a time from 0, or a date as 2023-11-16 18:15:46.68");
  request.arrivalUs = *us;
  for (auto [column, tokens] : {std::pair(&prompt, &request.promptTokens),
                                std::pair(&answer, &request.answerTokens)}) {
    auto count = parseCount(std::string(table.cell(row, *column)));
    if (!count || *count < 1 || *count > limits::maxTokens)
      return at(row, *column, "tokens, at least 1");
    *tokens = *count;
  }
  // The last token of a prompt is always computed.
  request.cachedTokens = std::min(seenTokens(row), request.promptTokens - 1);
  requests.push_back(request);
  return std::nullopt;
}

Result<std::vector<Request>> TraceReader::read() {
  if (auto error = findColumns())
    return *error;
  for (const DataTable::Row &row : table.rows())
    if (auto error = add(row))
      return *error;
  if (requests.empty())
    return Error{table.name(), "there are no requests", ""};
  std::sort(requests.begin(), requests.end(),
            [](const Request &a, const Request &b) {
              return std::tie(a.arrivalUs, a.promptTokens, a.answerTokens) <
                     std::tie(b.arrivalUs, b.promptTokens, b.answerTokens);
            });
  double firstUs = requests.front().arrivalUs;
  for (Request &request : requests)
    request.arrivalUs -= firstUs;
  return std::move(requests);
}

Result<std::vector<Request>>
autopar::program::parseRequestTrace(std::string text, const std::string &name) {
  Result<DataTable> table = parseTable(std::move(text), name);
  if (!table)
    return table.error();
  return TraceReader(*table).read();
}

Result<std::vector<Request>>
autopar::program::readRequestTrace(const std::string &path) {
  Result<DataTable> table = readTable(path);
  if (!table)
    return table.error();
  return TraceReader(*table).read();
}

Requests autopar::program::requestsOf(const std::vector<Request> &trace) {
  std::vector<int64_t> prompts, answers;
  double cached = 0, read = 0;
  for (const Request &request : trace) {
    prompts.push_back(request.promptTokens);
    answers.push_back(request.answerTokens);
    cached += static_cast<double>(request.cachedTokens);
    read += static_cast<double>(request.promptTokens);
  }
  Requests requests;
  double lastUs = trace.back().arrivalUs;
  requests.ratePerS =
      lastUs > 0 ? static_cast<double>(trace.size() - 1) / lastUs * 1e6 : 1;
  requests.prompt = TokenLengths::of(std::move(prompts));
  requests.answer = TokenLengths::of(std::move(answers));
  requests.cachedShare = cached / read;
  return requests;
}

std::vector<Request> autopar::program::drawRequests(const Requests &requests,
                                                    int64_t count,
                                                    uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Request> drawn;
  double nowUs = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (requests.concurrency == 0)
      nowUs += std::exponential_distribution<double>(requests.ratePerS /
                                                     1e6)(random);
    Request request;
    request.arrivalUs = nowUs;
    request.promptTokens = requests.prompt.draw(random);
    request.answerTokens = requests.answer.draw(random);
    double cached =
        requests.cachedShare * static_cast<double>(request.promptTokens);
    request.cachedTokens = std::min(request.promptTokens - 1,
                                    static_cast<int64_t>(std::round(cached)));
    drawn.push_back(request);
  }
  return drawn;
}
