//===- HttpRange.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hub/HttpRange.h"

#include "Environment.h"
#include "Remote.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <charconv>

using namespace autopar;
using namespace autopar::hub;

/// The bytes of the first request: they contain the header of most checkpoint
/// files.
constexpr uint64_t firstBytes = uint64_t(128) << 10;

struct HttpRange::State {
  Remote remote;
  std::string file;
  uint64_t size = 0;
  /// The first bytes of the file, which were requested at once.
  std::string first;

  Error wrong(const std::string &message) const {
    return Error{remote.addressOf(file), message, ""};
  }
  Result<std::optional<std::string>> ask(uint64_t offset, uint64_t count);
};

HttpRange::HttpRange(std::unique_ptr<State> state) : state(std::move(state)) {}
HttpRange::HttpRange(HttpRange &&) = default;
HttpRange &HttpRange::operator=(HttpRange &&) = default;
HttpRange::~HttpRange() = default;

uint64_t HttpRange::size() const { return state->size; }

/// Returns the size of the file from a header such as "bytes 0-99/1234";
/// nothing if the range does not begin at `offset` or is not as long as `body`.
static std::optional<uint64_t>
sizeIn(const std::string &header, uint64_t offset, const std::string &body) {
  std::string expected = "bytes " + std::to_string(offset) + "-" +
                         std::to_string(offset + body.size() - 1) + "/";
  if (body.empty() || header.compare(0, expected.size(), expected) != 0)
    return std::nullopt;
  uint64_t size = 0;
  const char *end = header.data() + header.size();
  auto [rest, error] =
      std::from_chars(header.data() + expected.size(), end, size);
  if (error != std::errc() || rest != end || size < offset + body.size())
    return std::nullopt;
  return size;
}

/// Requests `count` bytes and checks that the answer has them, or all bytes up
/// to the end of the file. Returns nothing if there is no file.
Result<std::optional<std::string>> HttpRange::State::ask(uint64_t offset,
                                                         uint64_t count) {
  std::string range =
      std::to_string(offset) + "-" + std::to_string(offset + count - 1);
  Result<std::optional<HttpAnswer>> answer = remote.get(file, count, range);
  if (!answer)
    return answer.error();
  if (!*answer)
    return std::optional<std::string>();
  std::optional<uint64_t> total =
      sizeIn((*answer)->contentRange, offset, (*answer)->body);
  if ((*answer)->status != 206 || !total ||
      (*answer)->body.size() != std::min(count, *total - offset))
    return wrong("the server does not answer with the range " + range);
  if (size && size != *total)
    return wrong("the file has changed while it was read");
  size = *total;
  return std::optional<std::string>(std::move((*answer)->body));
}

Result<std::string> HttpRange::read(uint64_t offset, uint64_t count) {
  if (offset > state->size || count > state->size - offset)
    return state->wrong("the file has " + std::to_string(state->size) +
                        " bytes, and " + std::to_string(count) + " at offset " +
                        std::to_string(offset) + " are wanted");
  if (count > limits::maxFileBytes)
    return state->wrong("a range of " + std::to_string(count) +
                        " bytes is larger than " +
                        std::to_string(limits::maxFileBytes));
  if (offset + count <= state->first.size())
    return state->first.substr(offset, count);
  if (count == 0)
    return std::string();
  Result<std::optional<std::string>> bytes = state->ask(offset, count);
  if (!bytes)
    return bytes.error();
  if (!*bytes)
    return state->wrong("the file has gone while it was read");
  return std::move(**bytes);
}

Result<std::optional<HttpRange>>
autopar::hub::openModelFile(const std::string &argument,
                            const std::string &file,
                            const HubOptions &options) {
  Result<Repository> repository =
      parseRepository(nameOfAddress(argument), options.revision);
  if (!repository)
    return repository.error();
  if (Result<bool> valid = checkFileName(file); !valid)
    return valid.error();
  if (options.offline || isOffline())
    return Error{argument + "/" + file, "no network is to be used", ""};
  Result<Remote> remote = Remote::open(*repository, options);
  if (!remote)
    return remote.error();
  auto state = std::make_unique<HttpRange::State>(
      HttpRange::State{std::move(*remote), file, 0, ""});
  Result<std::optional<std::string>> first = state->ask(0, firstBytes);
  if (!first)
    return first.error();
  if (!*first)
    return std::optional<HttpRange>();
  state->first = std::move(**first);
  return std::optional<HttpRange>(HttpRange(std::move(state)));
}
