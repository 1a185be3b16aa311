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

/// One dimension of a tensor as its encoding describes it. `axes` are the mesh
/// axes that split it; in a set of routed tokens, they split it by where its
/// tokens are. A set may also be `grouped`: split over those axes by which of
/// their devices have the experts of its rows.
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

/// Returns the split rule of a dimension that states none.
inline program::SplitRule defaultRule(NamedExtent extent) {
  return extent.isSymbolic() ? program::SplitRule::any
                             : program::SplitRule::plain;
}

} // namespace autopar

#include "autopar/Interfaces/DimensionEncoding.h.inc"
#include "autopar/Interfaces/TensorHandle.h.inc"

namespace autopar {

/// Returns `type` if it is a tensor type, or the tensor type to which a handle
/// refers; null for other types.
mlir::RankedTensorType tensorOf(mlir::Type type);
/// Returns `type` with its tensor type, or that behind its handle, replaced by
/// `tensor`.
mlir::Type withTensor(mlir::Type type, mlir::RankedTensorType tensor);

/// A view of a tensor type, or of the tensor type behind a handle, that hides
/// which encoding it has.
class TensorView {
public:
  explicit TensorView(mlir::Type type);
  explicit TensorView(mlir::Value value) : TensorView(value.getType()) {}

  mlir::RankedTensorType getType() const { return type; }
  unsigned rank() const { return type.getRank(); }
  DimRef dim(unsigned index) const;
  /// For a dimension that is a set of routed tokens: `tokens` returns how its
  /// tokens are split, `experts` how its experts are, if the set is grouped by
  /// them.
  llvm::SmallVector<DimRef> tokens(unsigned index) const;
  DimRef experts(unsigned index) const;
  llvm::ArrayRef<mlir::StringAttr> partialAxes() const;
  /// Returns the extent of a dimension; a number of the shape counts as one.
  NamedExtent extent(unsigned index) const;
  /// Returns the extent of a dimension as text: "8192", "batch",
  /// "{batch*query*8}".
  std::string extentText(unsigned index) const;
  bool isSymbolic(unsigned index) const {
    return dim(index).extent.isSymbolic();
  }
  /// Whether the first dimension is a set of routed tokens.
  bool isSet() const { return rank() > 0 && dim(0).isSet(); }

private:
  mlir::RankedTensorType type;
  DimensionEncodingInterface encoding;
};

/// Returns the number format of an MLIR element type; nothing if cost formulas
/// do not know it.
std::optional<ElementType> toElementType(mlir::Type type);
mlir::Type fromElementType(mlir::MLIRContext *context, ElementType type);

/// Returns a short name for a tensor type: the initials of symbols, numbers
/// followed by the axes that split them, then the number format, or "sum" with
/// the axes still to be reduced: `bq_64tp_128_bf`, `bq_64_sum_tp`.
std::string aliasOf(mlir::RankedTensorType type);

/// Verifies what all tensor encodings must obey: one entry per dimension, a `?`
/// in the shape for each symbol, and a number for each `_`.
mlir::LogicalResult
verifyDimensions(DimensionEncodingInterface encoding,
                 llvm::ArrayRef<int64_t> shape,
                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_TENSORVIEW_H
