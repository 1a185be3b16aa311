//===- TransformerAttrs.td - Attributes -------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_ATTRS_TD
#define AUTOPAR_TRANSFORMER_ATTRS_TD

include "transformer/TransformerDialect.td"
include "interfaces/DimensionEncoding.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"

def TF_DimsAttr : AttrDef<TransformerDialect, "Dims", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>,
    DeclareAttrInterfaceMethods<DimensionEncodingInterface>]> {
  let mnemonic = "dims";
  let summary = "names of a tensor's symbolic dimensions";
  let description = [{
    One entry per dimension: a symbol, a product of symbols and numbers
    (`batch*query*8`), or `_` for a dimension whose extent is the number in the
    shape. Braces mark a set, whose elements have no order.

    **Constraints:** as many entries as dimensions; the extent of a named
    dimension prints as `?`, that of `_` as a number; at least one dimension is
    named.

    ```mlir
    func.func private @example(
        tensor<?x?x8192xbf16, #transformer.dims<[batch, query, _]>>,
        tensor<?x4096xbf16, #transformer.dims<[{batch*query*2}, _]>>)
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TF_StorageAttr : AttrDef<TransformerDialect, "Storage"> {
  let mnemonic = "storage";
  let summary = "how a weight lies in the checkpoint";
  let description = [{
    The dimensions of the checkpoint tensor, outermost first, each the product
    of dimensions of the value: a value `[in, heads, head_dim]` that is stored
    as one matrix `[heads*head_dim, in]` has `[1*2, 0]`. A dimension of the value
    that is not mentioned is spread over one tensor per index, whose number
    replaces the `*` of the name. A format follows where the checkpoint's
    differs from the value's.

    **Constraints:** each dimension of the value at most once; the unmentioned
    one exists exactly where the name has a `*`.

    ```mlir
    func.func private @example() {
      %q = transformer.weight "self_attn.q_proj.weight" stored [1*2, 0] : tensor<8192x64x128xbf16>
      %e = transformer.weight "experts.*.w1.weight" stored [2, 1] : tensor<8x4096x14336xbf16>
      return
    }
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$groups,
    OptionalParameter<"::mlir::Type">:$elementType);
  let hasCustomAssemblyFormat = 1;
}

def TF_PhaseAttr : I32EnumAttr<"PhaseKind", "the kind of a step", [
    I32EnumAttrCase<"prefill", 0>, I32EnumAttrCase<"decode", 1>]> {
  let cppNamespace = "::autopar::transformer";
}

def TF_FunctionAttr : I32EnumAttr<"FunctionKind", "an elementwise function", [
    I32EnumAttrCase<"silu", 0>, I32EnumAttrCase<"gelu", 1>,
    I32EnumAttrCase<"gelu_tanh", 2>, I32EnumAttrCase<"relu", 3>,
    I32EnumAttrCase<"relu2", 4>, I32EnumAttrCase<"sigmoid", 5>,
    I32EnumAttrCase<"tanh", 6>, I32EnumAttrCase<"quick_gelu", 7>,
    I32EnumAttrCase<"softplus", 8>, I32EnumAttrCase<"exp", 9>,
    I32EnumAttrCase<"relu6", 10>, I32EnumAttrCase<"leaky_relu", 11>,
    I32EnumAttrCase<"hardswish", 12>, I32EnumAttrCase<"mish", 13>,
    I32EnumAttrCase<"identity", 14>]> {
  let cppNamespace = "::autopar::transformer";
}

#endif // AUTOPAR_TRANSFORMER_ATTRS_TD
