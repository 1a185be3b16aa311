//===- DimensionEncoding.td - Names and splits of dimensions -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_DIMENSIONENCODING_TD
#define AUTOPAR_INTERFACES_DIMENSIONENCODING_TD

include "mlir/IR/OpBase.td"

def DimensionEncodingInterface : AttrInterface<"DimensionEncodingInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    What a tensor encoding says of the tensor's dimensions: which symbol names
    an extent, which mesh axes split it and by which rule, and which axes the
    values are still to be summed over. A tensor without an encoding has
    numbers for extents, and is whole.
  }];
  let methods = [
    InterfaceMethod<"Number of dimensions described.", "unsigned", "getRank">,
    InterfaceMethod<"Dimension `index`.", "::autopar::DimRef", "getDim",
                    (ins "unsigned":$index)>,
    InterfaceMethod<"Of a set, how its tokens are split: one entry per dimension "
                    "of tokens, or none.",
                    "::llvm::SmallVector<::autopar::DimRef>", "getTokens",
                    (ins "unsigned":$index), "", "return {};">,
    InterfaceMethod<"Of a set that is grouped, how its experts are split; their "
                    "number is the extent.",
                    "::autopar::DimRef", "getExperts", (ins "unsigned":$index),
                    "", "return {};">,
    InterfaceMethod<"The same encoding with another extent of dimension `index`.",
                    "::mlir::Attribute", "withExtent",
                    (ins "unsigned":$index, "::autopar::NamedExtent":$extent)>,
    InterfaceMethod<"Axes over which the values are partial sums.",
                    "::llvm::ArrayRef<::mlir::StringAttr>", "getPartialAxes">,
  ];
}

#endif // AUTOPAR_INTERFACES_DIMENSIONENCODING_TD
