//===- NodeFields.h - Fields of an autopar.node/1 file ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HARDWARE_NODEFIELDS_H
#define AUTOPAR_LIB_HARDWARE_NODEFIELDS_H

#include "Readers.h"

#include <nlohmann/json_fwd.hpp>

namespace autopar::hardware {

/// Measurements of links, in the units of the file: GB/s, us, shares.
struct LinkFields {
  /// Bus bandwidth of nccl-tests by bytes of an all-reduce over all devices of
  /// a node, ascending; a single value is that of large messages (0).
  std::map<int64_t, double> busBandwidth;
  std::optional<double> efficiency, latency, outerEfficiency, outerLatency;
  /// Whether the driver lets devices write to each other's memory; absent if
  /// the file does not say.
  std::optional<bool> peerToPeer;

  /// Whether the file says anything of the links of a node.
  bool saysInner() const {
    return !busBandwidth.empty() || efficiency || latency || peerToPeer;
  }
};

inline constexpr const char *nodeSchema = "autopar.node/1";

/// Values per device, in the units of the file: GiB, GB/s, TFLOP/s, W, USD/h.
struct NodeFields {
  std::string name, title;
  Source source;
  /// A chip or a system of the library.
  std::optional<std::string> like;
  std::optional<double> memory, bandwidth, link, betweenNodes, power, idlePower,
      price;
  /// Peaks by format; empty if the file has none.
  std::map<std::string, double> peaks;
  LinkFields links;
  int64_t devices = 1;
  /// Whether the file says how many.
  bool count = false;
};

/// The error for the unknown `name`; it lists the chips and systems.
Error unknownBase(const HardwareLibrary &library, const std::string &name,
                  std::string where);

/// Reads a node. Errors: a value out of range, or a missing field that cannot
/// be derived; the error has an example.
Result<NodeFields> readNode(const JsonDocument &document);

/// Writes the links of `fields` into the tier of a node, whose bandwidth is
/// set. Figures of the file have the source `given`. Returns the figures that
/// come from `base`, in words; "" if there are none.
std::string writeLinkFields(const NodeFields &fields,
                            const nlohmann::json &given,
                            const std::string &base, nlohmann::json &tier);

} // namespace autopar::hardware

#endif // AUTOPAR_LIB_HARDWARE_NODEFIELDS_H
