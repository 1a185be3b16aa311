//===- Dim.h - Dimensions that know symbols and splits ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_DIM_H
#define AUTOPAR_PROGRAM_DIM_H

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace autopar::program {

/// Indices into `CostProgram::symbols` and `CostProgram::axes`.
using SymbolId = uint16_t;
using AxisId = uint16_t;

/// How an extent is divided over the `n` devices of its axes.
enum class SplitRule : uint8_t {
  /// The number `n` of devices must divide the extent.
  plain,
  /// The extent is rounded up to a multiple of `Dim::multiple`, and then of
  /// `n`.
  pad,
  /// The extent is split into at most as many parts as it has elements, and
  /// then replicated; one of extent and `n` must divide the other.
  cap,
  /// The parts may be uneven; the largest has the ceiling of extent / `n`.
  any,
  /// Like `any`, and devices pass their parts around a ring, so that each
  /// device sees all parts, one after the other.
  ring,
};

/// The extent of a dimension in the whole model: `factor` times the product of
/// `symbols`; at most `limit` times the product of `limitSymbols` if `limit` is
/// not 0 (a sliding window limits `context`; so do selected tokens per
/// `query`); at most `ceiling` if that is not 0.
struct Extent {
  int64_t factor = 1;
  std::vector<SymbolId> symbols;
  int64_t limit = 0;
  std::vector<SymbolId> limitSymbols = {};
  int64_t ceiling = 0;

  bool operator==(const Extent &other) const {
    return factor == other.factor && symbols == other.symbols &&
           limit == other.limit && limitSymbols == other.limitSymbols &&
           ceiling == other.ceiling;
  }
};

/// One dimension of a tensor: its extent in the whole model, and the mesh axes
/// (major first) that split it. The sizes of symbols and axes are given when it
/// is evaluated.
struct Dim {
  Extent extent;
  std::vector<AxisId> axes;
  SplitRule rule = SplitRule::plain;
  int64_t multiple = 1;
  /// The layer kind whose experts split this dimension unevenly, as an index
  /// into `CostProgram::layers`: the most loaded device has more than an even
  /// part, by `PlacedExperts`.
  std::optional<uint32_t> sharedBy = std::nullopt;
  /// The layer kind whose experts drop tokens beyond their capacity
  /// (`CostProgram::capacity`): the dimension counts the rows that these
  /// experts compute.
  std::optional<uint32_t> limitedBy = std::nullopt;

  bool operator==(const Dim &other) const {
    return extent == other.extent && axes == other.axes && rule == other.rule &&
           multiple == other.multiple && sharedBy == other.sharedBy &&
           limitedBy == other.limitedBy;
  }
};

/// A shape, or any product of dimensions; an empty one means 1. Copies share
/// memory until one of them is changed, because many records have the same
/// shape.
class Dims {
public:
  Dims() = default;
  Dims(std::vector<Dim> dims)
      : all(dims.empty()
                ? nullptr
                : std::make_shared<std::vector<Dim>>(std::move(dims))) {}
  Dims(std::initializer_list<Dim> dims) : Dims(std::vector<Dim>(dims)) {}

  size_t size() const { return all ? all->size() : 0; }
  bool empty() const { return size() == 0; }
  const Dim *begin() const & { return all ? all->data() : nullptr; }
  const Dim *end() const & { return begin() + size(); }
  const Dim &operator[](size_t i) const & { return (*all)[i]; }
  const Dim &front() const & { return all->front(); }
  const Dim &back() const & { return all->back(); }

  Dim *begin() & { return change().data(); }
  Dim *end() & { return begin() + size(); }
  Dim &operator[](size_t i) & { return change()[i]; }
  Dim &front() & { return change().front(); }
  Dim &back() & { return change().back(); }
  void clear() { all.reset(); }
  void push_back(Dim dim) { change().push_back(std::move(dim)); } // NOLINT
  template <typename It>
  void insert(const Dim *at, It first, It last) {
    auto place = at - begin();
    all->insert(all->begin() + place, first, last);
  }

  friend bool operator==(const Dims &a, const Dims &b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }
  template <typename IO>
  friend void bytesOf(IO &io, Dims &dims) {
    io(dims.all);
  }

private:
  std::vector<Dim> &change() {
    if (!all)
      all = std::make_shared<std::vector<Dim>>();
    else if (all.use_count() != 1)
      all = std::make_shared<std::vector<Dim>>(*all);
    return *all;
  }

  std::shared_ptr<std::vector<Dim>> all;
};

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_DIM_H
