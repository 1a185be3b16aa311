//===- TensorHandle.td - Types that refer to a tensor ------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_TENSORHANDLE_TD
#define AUTOPAR_INTERFACES_TENSORHANDLE_TD

include "mlir/IR/OpBase.td"

def TensorHandleInterface : TypeInterface<"TensorHandleInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    The type of a handle: what it refers to has the shape, the elements and the
    split of a tensor, but is no value. Ops with a handle as operand read and
    write what is there, in the order of the text.
  }];
  let methods = [
    InterfaceMethod<"The shape, elements and split of what it refers to.",
                    "::mlir::RankedTensorType", "getTensor">,
    InterfaceMethod<"A handle of the same kind to another tensor.",
                    "::mlir::Type", "withTensor",
                    (ins "::mlir::RankedTensorType":$tensor), "",
                    "return ConcreteType::get(tensor);">,
  ];
}

#endif // AUTOPAR_INTERFACES_TENSORHANDLE_TD
