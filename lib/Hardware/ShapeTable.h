//===- ShapeTable.h - Tables of shapes in files of chips --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HARDWARE_SHAPETABLE_H
#define AUTOPAR_LIB_HARDWARE_SHAPETABLE_H

#include "autopar/Hardware/Hardware.h"

namespace autopar::hardware {

/// The keys of a curve's tables in the file, by `ShapeKind`.
inline constexpr const char *shapeKeys[program::shapeKindCount] = {
    "shapes", "decode_shapes", "prefill_shapes"};

/// Reads the table of a curve for kernels of kind `kernel`. Returns null after
/// an error.
std::shared_ptr<const ShapeTable> readShapeTable(const JsonReader &reader,
                                                 program::KernelKind kernel,
                                                 program::ShapeKind kind);

} // namespace autopar::hardware

#endif // AUTOPAR_LIB_HARDWARE_SHAPETABLE_H
