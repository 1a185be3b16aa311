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

/// Returns a list of the library's chips and systems, with their main figures.
Result<std::string> listHardware(const hardware::HardwareLibrary &library);
/// Returns every figure of a chip or a system, with unit and source.
Result<std::string> showHardware(const hardware::HardwareLibrary &library,
                                 const std::string &name);
/// Returns the figures in which two chips, or two systems, differ.
Result<std::string> diffHardware(const hardware::HardwareLibrary &library,
                                 const std::string &first,
                                 const std::string &second);

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_HARDWARETEXT_H
