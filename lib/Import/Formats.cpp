//===- Formats.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/Formats.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

FormatAttr autopar::importer::toAttr(MLIRContext *context,
                                     const Format &format) {
  SmallVector<FormatTensorAttr> tensors;
  for (const FormatTensor &tensor : format.tensors)
    tensors.push_back(FormatTensorAttr::get(
        context, StringAttr::get(context, tensor.suffix),
        fromElementType(context, tensor.type), tensor.plain, tensor.shape));
  Type compute =
      format.compute ? fromElementType(context, *format.compute) : Type();
  return FormatAttr::get(context, StringAttr::get(context, format.name),
                         compute, tensors);
}
