//===- TensorView.h - Dimensions of a tensor type ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_TENSORVIEW_H
#define AUTOPAR_INTERFACES_TENSORVIEW_H

#include "autopar/Interfaces/NamedExtent.h"
#include "autopar/Program/Dim.h"
#include "autopar/Support/ElementType.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace autopar {

/// One dimension as an encoding describes it. `axes` split it: a set of routed
/// tokens by where its tokens are. It may be `grouped` too: split over those
/// axes by which of their devices have the experts of its rows.
struct DimRef {
  NamedExtent extent;
  llvm::ArrayRef<mlir::StringAttr> axes;
  program::SplitRule rule = program::SplitRule::plain;
  int64_t multiple = 1;
  llvm::ArrayRef<mlir::StringAttr> grouped;

  bool isSet() const { return extent.isSet(); }
  bool isWhole() const { return axes.empty() && grouped.empty(); }
  bool operator==(const DimRef &other) const {
    return extent == other.extent && axes == other.axes && rule == other.rule &&
           multiple == other.multiple && grouped == other.grouped;
  }
};

/// The rule of a dimension for which none is written.
inline program::SplitRule defaultRule(NamedExtent extent) {
  return extent.isSymbolic() ? program::SplitRule::any
                             : program::SplitRule::plain;
}

} // namespace autopar

#include "autopar/Interfaces/DimensionEncoding.h.inc"
#include "autopar/Interfaces/TensorHandle.h.inc"

namespace autopar {

/// The tensor type that `type` is, or that a handle of this type refers to;
/// null of other types.
mlir::RankedTensorType tensorOf(mlir::Type type);
/// Returns `type` with another tensor, in itself or behind its handle.
mlir::Type withTensor(mlir::Type type, mlir::RankedTensorType tensor);

/// A tensor type, or that of a handle, read through any encoding.
class TensorView {
public:
  explicit TensorView(mlir::Type type);
  explicit TensorView(mlir::Value value) : TensorView(value.getType()) {}

  mlir::RankedTensorType getType() const { return type; }
  unsigned rank() const { return type.getRank(); }
  DimRef dim(unsigned index) const;
  /// For a set: the splits of its tokens and of its experts, if it follows
  /// them.
  llvm::SmallVector<DimRef> tokens(unsigned index) const;
  DimRef experts(unsigned index) const;
  llvm::ArrayRef<mlir::StringAttr> partialAxes() const;
  /// The extent of a dimension, a number of the shape too.
  NamedExtent extent(unsigned index) const;
  /// "8192", "batch", "{batch*query*8}".
  std::string extentText(unsigned index) const;
  bool isSymbolic(unsigned index) const {
    return dim(index).extent.isSymbolic();
  }
  /// Whether its rows are a set of routed tokens.
  bool isSet() const { return rank() > 0 && dim(0).isSet(); }

private:
  mlir::RankedTensorType type;
  DimensionEncodingInterface encoding;
};

/// The numeric format of an element type, nothing where costs know none.
std::optional<ElementType> toElementType(mlir::Type type);
mlir::Type fromElementType(mlir::MLIRContext *context, ElementType type);

/// A short name for a tensor type, made of its contents: symbols by their
/// initials, numbers followed by the axes that split them, then the format or
/// "sum" with the axes still to be reduced: `bq_64tp_128_bf`, `bq_64_sum_tp`.
std::string aliasOf(mlir::RankedTensorType type);

/// Verifies the common rules of tensor encodings: one entry per dimension, a
/// `?` for each symbol and a number for each `_`.
mlir::LogicalResult
verifyDimensions(DimensionEncodingInterface encoding,
                 llvm::ArrayRef<int64_t> shape,
                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_TENSORVIEW_H
