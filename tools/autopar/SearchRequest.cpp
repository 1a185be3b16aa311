//===- SearchRequest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchRequest.h"

#include "autopar/Hub/Hub.h"
#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Support/Count.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace autopar;
using namespace mlir;

/// Combinations of flags with several values.
static constexpr size_t maxVariants = 256;

static LogicalResult refuse(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return failure();
}

/// "64", "8|16,32", "8..512": from the first number, each twice the one before.
static Result<std::vector<int64_t>>
readNumbers(const char *flag, const std::string &text, int64_t most) {
  std::vector<int64_t> numbers;
  for (const std::string &word : wordsOf(text, "|,")) {
    size_t dots = word.find("..");
    std::optional<int64_t> first = parseCount(word.substr(0, dots));
    std::optional<int64_t> last =
        dots == word.npos ? first : parseCount(word.substr(dots + 2));
    if (!first || !last || *first < 1 || *last < *first || *last > most)
      return Error{"",
                   std::string(flag) + "=" + shorten(text) +
                       ": expected numbers from 1 to " + std::to_string(most),
                   "as in 64, 8|64|512 or 8..512, each twice the one before"};
    for (int64_t number = *first; number <= *last; number *= 2)
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

namespace {

class SearchReader {
public:
  SearchReader(const SearchArgument &search, PlanFlags &flags,
               const PlanValues &values)
      : search(search), flags(flags), values(values) {}

  Result<SearchRequest> read();

private:
  std::vector<std::string> &valuesOf(StringRef name);
  std::string valueOf(StringRef name) {
    std::vector<std::string> &all = valuesOf(name);
    return all.empty() ? "" : all.back();
  }
  std::optional<Error> readRequests();
  std::optional<Error> readLimits();
  std::optional<Error> readSizes();
  std::optional<Error> addVariants(size_t flag);
  std::optional<Error> addVariant();

  const SearchArgument &search;
  PlanFlags &flags;
  PlanValues values;
  SearchRequest request;
  /// Of the variant that is made.
  std::string weightFormat;
};

} // namespace

std::vector<std::string> &SearchReader::valuesOf(StringRef name) {
  for (size_t i = 0; i < values.size(); ++i)
    if (flags.all()[i].name == name)
      return values[i];
  llvm_unreachable("no such flag");
}

/// A request is both phases: steps that decode, with prompts beside them.
std::optional<Error> SearchReader::readRequests() {
  std::string phase = valueOf("phase");
  if (!phase.empty() && phase != "request" && !parsePhase(phase))
    return Error{"", "--phase=" + shorten(phase) + ": no such phase",
                 "decode, prefill or request"};
  if (phase != "request") {
    if (search.answer.empty())
      return std::nullopt;
    return Error{"", "--output-tokens is of requests",
                 "add --phase=request, or leave it out"};
  }
  auto prompt = parseCount(valueOf("prompt"));
  auto answer = parseCount(search.answer);
  for (const auto &[name, count, text] :
       {std::tuple("--prompt", prompt, valueOf("prompt")),
        std::tuple("--output-tokens", answer, search.answer)})
    if (!count || *count < 1 || *count > limits::maxTokens / 2)
      return Error{"",
                   text.empty() ? "--phase=request needs " + std::string(name)
                                : std::string(name) + "=" + shorten(text) +
                                      ": expected a number from 1 to " +
                                      std::to_string(limits::maxTokens / 2),
                   "as in --prompt=2000 --output-tokens=500"};
  if (!valueOf("context").empty())
    return Error{"", "--context is of steps",
                 "that of a request is its prompt and what it answered"};
  request.requests = RequestTokens{*prompt, *answer};
  valuesOf("phase") = {std::string(nameOf(Phase::decode))};
  valuesOf("prompt").clear();
  valuesOf("context") = {std::to_string(*prompt + *answer)};
  return std::nullopt;
}

std::optional<Error> SearchReader::readLimits() {
  Phase phase = parsePhase(valueOf("phase")).value_or(Phase::decode);
  Result<ServiceLimits> limits = parseServiceLimits(
      search.sla, request.requests ? std::nullopt : std::optional(phase));
  if (!limits)
    return limits.error();
  request.limits = *limits;
  return std::nullopt;
}

std::optional<Error> SearchReader::readSizes() {
  Result<SearchSpace> space = parseSearchSpace(search.space);
  if (!space)
    return space.error();
  request.space = *space;
  if (!search.devices.empty()) {
    auto devices = readNumbers("--devices", search.devices, limits::maxDevices);
    if (!devices)
      return devices.error();
    request.devices = *devices;
  }
  auto batches = readNumbers(
      "--batch", search.batches.empty() ? "1..32768" : search.batches,
      limits::maxTokens);
  if (!batches)
    return batches.error();
  request.batches = *batches;
  return std::nullopt;
}

/// The flags of which a search has several.
static bool mayBeSeveral(const std::string &name) {
  constexpr const char *several[] = {
      "hardware",      "runtime",           "dtype", "kv-format", "kv-dtype",
      "prefill-chunk", "memory-utilization"};
  return std::find(std::begin(several), std::end(several), name) !=
         std::end(several);
}

std::optional<Error> SearchReader::addVariant() {
  if (request.variants.size() == maxVariants)
    return Error{"",
                 "more than " + std::to_string(maxVariants) +
                     " combinations of machines, runtimes and formats",
                 "give fewer values of a flag"};
  llvm::cl::ResetAllOptionOccurrences();
  if (!flags.setAll(values, "autopar"))
    return Error();
  FailureOr<PlanRequest> base = readPlanRequest(flags.options(), refuse);
  if (failed(base))
    return Error();
  if (!base->workload.phase)
    base->workload.phase = Phase::decode;
  if (base->plan.prefillChunk == 0)
    return Error{"", "--prefill-chunk=none: a search needs a number",
                 "give one that holds the prompts, as --prefill-chunk=1M"};
  SearchVariant variant{std::move(*base), weightFormat, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string &name = flags.all()[i].name;
    // Made of those of requests.
    if (request.requests && (name == "phase" || name == "context"))
      continue;
    for (const std::string &value : values[i])
      variant.flags.push_back({name, value});
  }
  if (!weightFormat.empty())
    variant.flags.push_back({"weight-format", weightFormat});
  request.variants.push_back(std::move(variant));
  return std::nullopt;
}

/// Of each value that flags from the one at `flag` on have.
std::optional<Error> SearchReader::addVariants(size_t flag) {
  if (flag == values.size())
    return addVariant();
  std::vector<std::string> given = values[flag];
  std::vector<std::string> words;
  if (mayBeSeveral(flags.all()[flag].name) && !given.empty())
    words = wordsOf(given.back(), ",|");
  if (words.empty())
    return addVariants(flag + 1);
  for (const std::string &word : words) {
    values[flag] = {word};
    if (std::optional<Error> error = addVariants(flag + 1))
      return error;
  }
  values[flag] = given;
  return std::nullopt;
}

Result<SearchRequest> SearchReader::read() {
  for (auto reader : {&SearchReader::readRequests, &SearchReader::readLimits,
                      &SearchReader::readSizes})
    if (std::optional<Error> error = (this->*reader)())
      return *error;
  std::vector<std::string> formats = wordsOf(search.model.weightFormat, ",|");
  if (formats.empty())
    formats.emplace_back();
  for (const std::string &format : formats) {
    weightFormat = format;
    if (std::optional<Error> error = addVariants(0))
      return *error;
  }
  request.verify = search.verify;
  request.goal = parseGoal(search.goal).value_or(Goal::throughput);
  request.cacheDirectory = cacheDirectory() + "/strategies";
  return std::move(request);
}

Result<SearchRequest> autopar::readSearchRequest(const SearchArgument &search,
                                                 PlanFlags &flags,
                                                 const PlanValues &values) {
  return SearchReader(search, flags, values).read();
}
