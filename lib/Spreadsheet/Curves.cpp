//===- Curves.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Curves.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::spreadsheet;

//===----------------------------------------------------------------------===//
// The sheet of links
//===----------------------------------------------------------------------===//

LinkSheet::LinkSheet(const PricedStep &step, Inputs &inputs)
    : step(step), inputs(inputs), sheet{"Links", {34, 22, 22, 22, 22, 22, 22}},
      slower(step.machine.pools.front()) {
  for (Tier &tier : slower.tiers) {
    tier.bandwidth.source.replaced = tier.bandwidth.fileValue();
    tier.bandwidth.value /= 2;
    scaleCurves(tier);
  }
  sheet.title("Links: what a call takes over each route, in microseconds");
  sheet.note(
      "A step of a route on b bytes of the call takes latency + b * time "
      "of a byte or, where there are knots, what lies between them at "
      "log2(b). Of each knot a share goes with bandwidth and "
      "efficiency, the rest with latency; between group sizes that were "
      "measured the share is an approximation.");
}

/// Returns the route of `link` on the machine with half the bandwidth. If each
/// token goes to a node only once, curves stay unchanged.
Route LinkSheet::slowerRoute(uint32_t link) const {
  const Route &own = step.values.route(link);
  if (own.byNode)
    return own;
  const LinkUse &use = step.strategy.links[link];
  GroupLayout group;
  for (AxisId axis : use.axes)
    group.push_back(step.layout.axes[axis]);
  return Network(slower, step.layout.devices)
      .route(use.kind, group, step.runtime.ideal);
}

std::string LinkSheet::addKnots(const RouteLevel &level,
                                const RouteLevel &slower,
                                const Inputs::TierNames &names) {
  const Tier &tier = *level.tier;
  double reached = tier.bandwidth.value * tier.efficiency.value;
  Formula latency = tier.latency.value > 0
                        ? Formula(names.latency) / exactly(tier.latency.value)
                        : Formula(1);
  Formula bytes =
      exactly(reached) / (Formula(names.bandwidth) * Formula(names.efficiency));
  sheet.header({"  log2 of bytes", "time_us", "share of bandwidth",
                "log2 of time_us now"});
  size_t first = sheet.rows.size();
  for (size_t i = 0; i < level.log2TimeUs.size(); ++i) {
    size_t row = sheet.rows.size();
    double share =
        i < slower.log2TimeUs.size()
            ? std::exp2(slower.log2TimeUs[i] - level.log2TimeUs[i]) - 1
            : 0;
    auto cell = [&](size_t column) { return Formula(sheet.here(row, column)); };
    Formula scale = (Formula(1) - cell(2)) * latency + cell(2) * bytes;
    sheet.rows.push_back({Cell::of(level.firstLog2 + static_cast<double>(i)),
                          Cell::of(std::exp2(level.log2TimeUs[i])),
                          Cell::of(std::min(std::max(share, 0.0), 1.0)),
                          Cell::formula(call("LOG", cell(1) * scale, 2).text,
                                        level.log2TimeUs[i])});
  }
  return sheet.name + "!" + Sheet::range(first, sheet.rows.size(), 3, 4);
}

/// Adds the row of one choice of algorithm and returns its number. A curve has
/// no choices: its row has the bytes that devices send.
size_t LinkSheet::addRow(const RouteLevel &level, const RouteChoice *choice) {
  const Tier &tier = *level.tier;
  Inputs::TierNames names = inputs.tier(tier);
  size_t row = sheet.rows.size();
  Formula atFull = Formula(sheet.here(row, 5)) / Formula(names.bandwidth) *
                   Formula("1000000");
  double sent = choice ? choice->wirePerByte : level.wirePerByte;
  bool isOther = choice && choice != &level.choices.front();
  std::vector<Cell> cells = {
      Cell::of("  " + (isOther ? "or " + choice->algorithm->name : tier.name)),
      Cell::of(static_cast<double>(level.size)),
      Cell(),
      Cell(),
      Cell::formula(atFull.text, sent / tier.bandwidth.value * 1e6),
      Cell::of(sent)};
  if (choice) {
    Formula latency = tier.latency.value > 0
                          ? exactly(choice->latencyUs / tier.latency.value) *
                                Formula(names.latency)
                          : exactly(choice->latencyUs);
    cells[2] = Cell::formula(latency.text, choice->latencyUs);
    cells[3] = Cell::formula(
        (Formula(sheet.here(row, 4)) / Formula(names.efficiency)).text,
        choice->usPerByte);
  }
  sheet.rows.push_back(std::move(cells));
  return row;
}

LevelCells LinkSheet::add(const RouteLevel &level, const RouteLevel &slower) {
  LevelCells cells;
  sheet.header({"  tier", "devices", "latency_us", "us_per_byte",
                "us_per_byte at full bandwidth", "sent of a byte"});
  cells.boundUsPerByte = sheet.address(sheet.rows.size(), 4);
  for (const RouteChoice &choice : level.choices) {
    size_t row = addRow(level, &choice);
    cells.choices.emplace_back(sheet.address(row, 2), sheet.address(row, 3));
  }
  if (!level.choices.empty())
    return cells;
  addRow(level, nullptr);
  cells.firstLog2 = level.firstLog2;
  cells.last = static_cast<int64_t>(level.log2TimeUs.size()) - 2;
  cells.knots = addKnots(level, slower, inputs.tier(*level.tier));
  return cells;
}

const std::vector<LevelCells> &LinkSheet::levels(uint32_t link) {
  auto [entry, isNew] = known.emplace(link, std::vector<LevelCells>());
  if (!isNew)
    return entry->second;
  const LinkUse &use = step.strategy.links[link];
  const Route &route = step.values.route(link);
  std::vector<std::string> axes;
  for (AxisId axis : use.axes)
    axes.push_back(step.program.axes[axis]);
  sheet.title(std::string(nameOf(use.kind)) + " over " + join(axes, "*") +
              (route.levels.empty() ? ": of one device"
               : route.overlaps     ? ": its steps run at once"
                                    : ": its steps follow each other") +
              (route.ideal ? ", at full bandwidth" : ""));
  Route other = slowerRoute(link);
  for (size_t i = 0; i < route.levels.size(); ++i)
    entry->second.push_back(add(route.levels[i], other.levels[i]));
  return entry->second;
}

//===----------------------------------------------------------------------===//
// The sheet of shapes
//===----------------------------------------------------------------------===//

ShapeSheet::ShapeSheet(const PricedStep &step)
    : step(step), sheet{"Shapes", {40}} {
  sheet.title("Shapes: what kernels take over the roofline of their curve, "
              "measured");
  sheet.note("Rows are the powers of two of what symbols change, and columns "
             "those of the second such size. Between them ratios are linear, "
             "outside constant. What a layout fixes is fixed here.");
}

const GridCells &ShapeSheet::grid(uint32_t shape) {
  auto [entry, isNew] = known.emplace(shape, GridCells());
  const ShapeGrid *grid = step.values.shape(shape);
  if (!isNew || !grid)
    return entry->second;
  const ShapeUse &use = step.strategy.shapes[shape];
  std::string fixed;
  for (uint32_t node : use.fixed)
    fixed += (fixed.empty() ? " with " : ", ") +
             formatNumber(step.values.real(node));
  sheet.title(std::string(nameOf(use.kernel)) + " " +
              std::string(nameOf(use.type)) + fixed);
  size_t width = grid->y.size();
  std::vector<Cell> head = {Cell::of("log2", Cell::Style::header)};
  for (size_t y = 0; y < width; ++y)
    head.push_back(Cell::of(double(grid->y.first) + double(y)));
  sheet.rows.push_back(std::move(head));
  size_t first = sheet.rows.size();
  for (size_t x = 0; x < grid->x.size(); ++x) {
    std::vector<Cell> row = {Cell::of(double(grid->x.first) + double(x))};
    for (size_t y = 0; y < width; ++y)
      row.push_back(Cell::of(grid->ratios[x * width + y]));
    sheet.rows.push_back(std::move(row));
  }
  entry->second = {sheet.name + "!" +
                       Sheet::range(first, sheet.rows.size(), 1, 1 + width),
                   grid->x, grid->y};
  return entry->second;
}
