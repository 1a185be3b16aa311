//===- NodeFields.h - What a file of autopar.node/1 says --------*- C++ -*-===//
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

/// What was measured of links, in the units of the file: GB/s, us, shares.
struct LinkFields {
  /// Bus bandwidth of nccl-tests by bytes of an all-reduce over all devices of
  /// a node, ascending; one that is given alone is of large messages (0).
  std::map<int64_t, double> busBandwidth;
  std::optional<double> efficiency, latency, outerEfficiency, outerLatency;
  /// Whether the driver lets devices write to each other's memory; absent
  /// where the file does not say.
  std::optional<bool> peerToPeer;

  /// Whether the file says anything of the links of a node.
  bool saysInner() const {
    return !busBandwidth.empty() || efficiency || latency || peerToPeer;
  }
};

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
  LinkFields links;
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

/// Puts what `fields` says of links into the tier of a node, whose bandwidth is
/// set. What the file gives has `given` as its source. Says what was not given:
/// those figures, of `base` where nothing says better; "" where all was.
std::string writeLinkFields(const NodeFields &fields,
                            const nlohmann::json &given,
                            const std::string &base, nlohmann::json &tier);

} // namespace autopar::hardware

#endif // AUTOPAR_LIB_HARDWARE_NODEFIELDS_H
