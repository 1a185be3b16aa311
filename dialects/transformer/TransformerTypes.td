//===- TransformerTypes.td - Handles -----------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_TYPES_TD
#define AUTOPAR_TRANSFORMER_TYPES_TD

include "transformer/TransformerDialect.td"
include "interfaces/TensorHandle.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class TF_HandleType<string name, string typeMnemonic>
    : TypeDef<TransformerDialect, name, [TensorHandleInterface]> {
  let mnemonic = typeMnemonic;
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$tensor),
                                   "return $_get(tensor.getContext(), tensor);">
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
}

def TF_CacheType : TF_HandleType<"Cache", "cache"> {
  let summary = "a handle to what is kept of cached tokens";
  let description = [{
    Refers to the memory of one `transformer.kv_cache`. Between the brackets is
    what a tensor type has: shape, elements, encoding.

    ```mlir
    !c = !transformer.cache<?x?x8x256xbf16, #transformer.dims<[batch, context, _, _]>>
    ```
  }];
}

def TF_StateType : TF_HandleType<"State", "state"> {
  let summary = "a handle to what a recurrence remembers";
  let description = [{
    Refers to the memory of one `transformer.state`.

    ```mlir
    !s = !transformer.state<?x128x64x128xf32, #transformer.dims<[batch, _, _, _]>>
    ```
  }];
}

#endif // AUTOPAR_TRANSFORMER_TYPES_TD
