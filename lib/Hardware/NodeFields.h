//===- NodeFields.h - What a file of autopar.node/1 says --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HARDWARE_NODEFIELDS_H
#define AUTOPAR_LIB_HARDWARE_NODEFIELDS_H

#include "Readers.h"

namespace autopar {

inline constexpr const char *nodeSchema = "autopar.node/1";

/// Of a device, in the units of the file: GiB, GB/s, TFLOP/s, W, USD/h.
struct NodeFields {
  std::string name, title;
  Source source;
  /// A chip or a system of the library.
  std::optional<std::string> like;
  std::optional<double> memory, bandwidth, link, betweenNodes, power, idlePower,
      price;
  /// By format; empty where the file has none.
  std::map<std::string, double> peaks;
  int64_t devices = 1;
  /// Whether the file says how many.
  bool count = false;
};

/// Says which chips and systems there are in place of `name`.
Error unknownBase(const HardwareLibrary &library, const std::string &name,
                  std::string where);

/// Errors: a field that is missing and that nothing else says, or out of range,
/// with what a usual one looks like.
Result<NodeFields> readNode(const JsonDocument &document);

} // namespace autopar

#endif // AUTOPAR_LIB_HARDWARE_NODEFIELDS_H
