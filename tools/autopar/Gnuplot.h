//===- Gnuplot.h - Pictures by gnuplot --------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_GNUPLOT_H
#define AUTOPAR_TOOLS_AUTOPAR_GNUPLOT_H

#include "autopar/Support/Result.h"

namespace autopar {

/// Returns the path of gnuplot. Fails if gnuplot is not installed.
Result<std::string> findGnuplot();

/// Runs `program`, which must be gnuplot, on `script`. Returns its output.
Result<std::string> runGnuplot(const std::string &program,
                               const std::string &script);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_GNUPLOT_H
