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

/// Measurements of links, in the units of the file: bandwidth in GB/s, latency
/// in us, efficiency as a share.
struct LinkFields {
  /// The bus bandwidth that nccl-tests measure, in GB/s, by the bytes of an
  /// all-reduce over all devices of a node, ascending. A single value is that
  /// of large messages and has the key 0.
  std::map<int64_t, double> busBandwidth;
  std::optional<double> efficiency, latency, outerEfficiency, outerLatency;
  /// Whether the driver lets devices write to each other's memory; absent if
  /// the file does not say so.
  std::optional<bool> peerToPeer;

  /// Returns whether the file says anything about the links inside a node.
  bool saysInner() const {
    return !busBandwidth.empty() || efficiency || latency || peerToPeer;
  }
};

inline constexpr const char *nodeSchema = "autopar.node/1";

/// The fields of a node. Values are per device, in the units of the file: GiB,
/// GB/s, TFLOP/s, W, USD/h.
struct NodeFields {
  std::string name, title;
  Source source;
  /// The chip or system of the library from which missing figures are borrowed.
  std::optional<std::string> like;
  std::optional<double> memory, bandwidth, link, betweenNodes, power, idlePower,
      price;
  /// The peaks by format, in TFLOP/s; empty if the file has none.
  std::map<std::string, double> peaks;
  LinkFields links;
  int64_t devices = 1;
  /// Whether the file gives the number of devices.
  bool count = false;
};

/// Returns the error for the unknown chip or system `name`. The error lists
/// those that exist.
Error unknownBase(const HardwareLibrary &library, const std::string &name,
                  std::string where);

/// Reads the fields of a node. Fails if a value is out of range or if a field
/// is missing that cannot be derived; the error shows an example.
Result<NodeFields> readNode(const JsonDocument &document);

/// Writes the links of `fields` into a tier of a node, whose bandwidth is set
/// already. Figures of the file get the source `given`. Returns in words which
/// figures come from `base`; "" if none does.
std::string writeLinkFields(const NodeFields &fields,
                            const nlohmann::json &given,
                            const std::string &base, nlohmann::json &tier);

} // namespace autopar::hardware

#endif // AUTOPAR_LIB_HARDWARE_NODEFIELDS_H
