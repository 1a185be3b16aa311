//===- HttpRange.h - Parts of a file on the hub -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_HUB_HTTPRANGE_H
#define AUTOPAR_HUB_HTTPRANGE_H

#include "autopar/Hub/Hub.h"

#include <cstdint>
#include <memory>

namespace autopar::hub {

/// A file on the Hugging Face hub that is read in ranges, such as the header of
/// a checkpoint without its tensors.
class HttpRange {
public:
  HttpRange(HttpRange &&);
  HttpRange &operator=(HttpRange &&);
  ~HttpRange();

  uint64_t size() const;
  /// Returns exactly the `count` bytes from `offset` on. Errors: the range
  /// passes the end of the file, is larger than `limits::maxFileBytes`, or does
  /// not arrive.
  Result<std::string> read(uint64_t offset, uint64_t count);

private:
  friend Result<std::optional<HttpRange>>
  openModelFile(const std::string &argument, const std::string &file,
                const HubOptions &options);
  struct State;
  explicit HttpRange(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Opens `file` ("model.safetensors", "original/consolidated.00.pth") of the
/// model "org/name" or "org/name@revision" on the hub; returns nothing if the
/// model has no such file. Caches are not used.
Result<std::optional<HttpRange>> openModelFile(const std::string &argument,
                                               const std::string &file,
                                               const HubOptions &options);

} // namespace autopar::hub

#endif // AUTOPAR_HUB_HTTPRANGE_H
