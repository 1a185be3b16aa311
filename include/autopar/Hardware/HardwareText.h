//===- HardwareText.h - Chips and systems as text ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_HARDWARE_HARDWARETEXT_H
#define AUTOPAR_HARDWARE_HARDWARETEXT_H

#include "autopar/Hardware/Hardware.h"

namespace autopar::hardware {

/// Lists the chips and systems of the library, with their main figures.
Result<std::string> listHardware(const hardware::HardwareLibrary &library);
/// Writes every figure of a chip or a system, with unit and source.
Result<std::string> showHardware(const hardware::HardwareLibrary &library,
                                 const std::string &name);
/// Writes the figures in which two chips, or two systems, differ.
Result<std::string> diffHardware(const hardware::HardwareLibrary &library,
                                 const std::string &first,
                                 const std::string &second);

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_HARDWARETEXT_H
