//===- Curves.h - Tables that formulas look things up in -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_CURVES_H
#define AUTOPAR_LIB_SPREADSHEET_CURVES_H

#include "Formula.h"
#include "Inputs.h"

namespace autopar::spreadsheet {

/// A step of a route, as addresses of cells: the latency and the time of a byte
/// for each algorithm that the step may use, or a measured curve.
struct LevelCells {
  std::vector<std::pair<std::string, std::string>> choices;
  std::string boundUsPerByte;
  /// For a curve, the range of the cells that have log2 of the time in us at
  /// each knot; empty if there is no curve.
  std::string knots;
  double firstLog2 = 0;
  /// The number of the last knot but one, minus one, as an argument of `INDEX`.
  int64_t last = 0;
};

/// The sheet of links: it tells how long a call takes over each route.
/// Bandwidths and latencies are inputs of the book.
class LinkSheet {
public:
  LinkSheet(const evaluation::PricedStep &step, Inputs &inputs);

  const std::vector<LevelCells> &levels(uint32_t link);
  Sheet take() { return std::move(sheet); }
  bool isEmpty() const { return known.empty(); }

private:
  LevelCells add(const cost::RouteLevel &level, const cost::RouteLevel &slower);
  size_t addRow(const cost::RouteLevel &level, const cost::RouteChoice *choice);
  std::string addKnots(const cost::RouteLevel &level,
                       const cost::RouteLevel &slower,
                       const Inputs::TierNames &names);
  cost::Route slowerRoute(uint32_t link) const;

  const evaluation::PricedStep &step;
  Inputs &inputs;
  Sheet sheet;
  /// The same machine, but with half the bandwidth.
  hardware::Pool slower;
  std::map<uint32_t, std::vector<LevelCells>> known;
};

/// A grid of ratios of times, as addresses of cells.
struct GridCells {
  /// The range of the ratios; empty if the shape was not measured, so that the
  /// ratio is 1.
  std::string ratios;
  hardware::ShapeGrid::Side x, y;
};

/// The sheet that has, for each shape, the ratio of its time to the roofline.
class ShapeSheet {
public:
  explicit ShapeSheet(const evaluation::PricedStep &step);

  const GridCells &grid(uint32_t shape);
  Sheet take() { return std::move(sheet); }
  bool isEmpty() const { return known.empty(); }

private:
  const evaluation::PricedStep &step;
  Sheet sheet;
  std::map<uint32_t, GridCells> known;
};

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_CURVES_H
