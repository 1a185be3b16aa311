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
    shape. `transformer.workload` gives the symbols their values. Braces mark a
    set, whose elements have no order; `transformer.dispatch` says what they
    are. Every device has the whole tensor.

    **Constraints:** as many entries as dimensions; the extent of a named
    dimension prints as `?`, that of `_` as a number; at least one dimension is
    named.

    ```mlir
    func.func private @example(
        tensor<?x?x8192xbf16, #transformer.dims<[batch, query, _]>>,
        tensor<?x4096xbf16, #transformer.dims<[{batch*query*2}, _]>>)
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::autopar::NamedExtent">:$extents);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

/// An attribute that is printed and parsed by those that contain it.
class TF_AnonymousAttr<string name> : AttrDef<TransformerDialect, name> {
  let attrName = "transformer." # name;
}

/// A dimension of the checkpoint: factors, and the range that the value is.
def TF_StorageGroupAttr : TF_AnonymousAttr<"StorageGroup"> {
  let parameters = (ins
    ArrayRefParameter<"::autopar::transformer::StorageFactor">:$factors,
    DefaultValuedParameter<"int64_t", "0">:$offset,
    DefaultValuedParameter<"int64_t", "0">:$total);
}

def TF_StorageAttr : AttrDef<TransformerDialect, "Storage"> {
  let mnemonic = "storage";
  let summary = "how a weight lies in the checkpoint";
  let description = [{
    The dimensions of the checkpoint tensor, outermost first. Each is a product
    of factors, outermost first:

    - `1`: dimension 1 of the value. A value `[in, heads, head_dim]` that is
      stored as one matrix `[heads*head_dim, in]` has `[1*2, 0]`.
    - `0/3`: index 0 of an extent of 3, which the value does not have.
    - `1 by 8 at 4 of 6`: dimension 1 of the value, in 8 equal parts; each lies
      at 4 and following of an extent of 6, so that the factor is 8*6.

    `at 3072 of 9216` at the end of a dimension says that its factors are a
    range of it, from 3072 on. Together, where element `[i0, i1, ..]` of the
    value lies along a dimension of the checkpoint tensor:

        factor `d`                   index i_d         of extent N_d
        factor `k/t`                 index k           of extent t
        factor `d by n at o of t`    index (i_d div m) * t + o + i_d mod m
                                     of extent n*t, with m = N_d / n
        factors a*b*..               index (index_a * extent_b + index_b) * ..
        `at o of t` behind them      that index + o    of extent t

    Weights of one name that differ are parts of one tensor. A dimension of the
    value that is not mentioned is spread over one tensor per index, whose
    number replaces the `*` of the name. `as` gives the checkpoint's format
    where that differs from the value's: an element type, or
    `#transformer.format`.

    **Constraints:** each dimension of the value at most once; the unmentioned
    one exists exactly where the name has a `*`; indices and ranges lie inside
    their extents; parts of one tensor agree on its shape and format.

    ```mlir
    func.func private @example() {
      %q = transformer.weight "self_attn.q_proj.weight" stored [1*2, 0] : tensor<8192x64x128xbf16>
      %e = transformer.weight "experts.*.w1.weight" stored [2, 1] : tensor<8x4096x14336xbf16>
      %gate = transformer.weight "gate_up_proj.weight" stored [0/2*1, 0] : tensor<64x32xbf16>
      %up = transformer.weight "gate_up_proj.weight" stored [1/2*1, 0] : tensor<64x32xbf16>
      %k = transformer.weight "qkv_proj.weight" stored [1*2 at 64 of 128, 0] : tensor<64x2x16xbf16>
      %v = transformer.weight "wqkv.weight" stored [1 by 2 at 5 of 6 * 2, 0] : tensor<64x2x16xbf16>
      return
    }
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::autopar::transformer::StorageGroupAttr">:$groups,
    OptionalParameter<"::mlir::Attribute">:$format);
  let extraClassDeclaration = [{
    /// The storage whose dimensions are products of whole dimensions.
    static StorageAttr get(::mlir::MLIRContext *context,
                           ::llvm::ArrayRef<::llvm::ArrayRef<int64_t>> groups);
    /// The same with another format.
    StorageAttr withFormat(::mlir::Attribute format) const;
    /// The inside: `[1*2, 0] as f8E4M3FN`.
    static StorageAttr parseBody(::mlir::AsmParser &parser);
    void printBody(::mlir::AsmPrinter &printer) const;
  }];
  let hasCustomAssemblyFormat = 1;
}

/// One tensor of a format. Without dimensions its shape is the plain one.
def TF_FormatTensorAttr : TF_AnonymousAttr<"FormatTensor"> {
  let parameters = (ins
    "::mlir::StringAttr":$suffix,
    "::mlir::Type":$elementType,
    "bool":$plain,
    ArrayRefParameter<"::autopar::program::StoredDim">:$dims);
}

def TF_FormatAttr : AttrDef<TransformerDialect, "Format"> {
  let mnemonic = "format";
  let summary = "the checkpoint tensors that hold one quantized tensor";
  let description = [{
    For each tensor the suffix of its name, its element type and its shape. The
    first holds the values, the others what it takes to read them: scales,
    zeros, tables.

    The suffix replaces the `weight` at the end of the plain name. To a name
    that ends in something else it is appended, without its own `weight` if it
    begins with that: `gate_up_proj` and `weight_scale` make
    `gate_up_proj_scale`, and with `scales` `gate_up_proj.scales`.

    Shapes are in terms of the plain tensor that the format replaces, as
    `#transformer.storage` describes it: `o` is its last dimension but one, `i`
    the last, `all` the product of all. They may be multiplied and divided;
    `i*4/32` is rounded up. The dimensions before `o` and `i` come first, in all
    shapes that do not have `all`. A tensor without a shape has the plain one.

    `compute` is what the matrix units multiply, where that is the format's
    business (fp8 weights times fp8 activations). Without it weights are
    converted as they are read.

    **Constraints:** a name; at least one tensor; distinct suffixes; numbers
    from 1 to 2^40; a weight of this format has at least two dimensions in the
    checkpoint, unless all shapes are plain.

    ```mlir
    #fp8_block = #transformer.format<"fp8-block" compute f8E4M3FN {
      weight : f8E4M3FN, weight_scale_inv : f32 [o/128, i/128]}>
    func.func private @example() {
      %w = transformer.weight "kv_a_proj.weight" stored [1, 0] as(#fp8_block) : tensor<7168x576xbf16>
      return
    }
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    OptionalParameter<"::mlir::Type">:$compute,
    ArrayRefParameter<"::autopar::transformer::FormatTensorAttr">:$tensors);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TF_DefaultAttr : AttrDef<TransformerDialect, "Default"> {
  let mnemonic = "default";
  let summary = "what a model's config leaves open, and what was taken for it";
  let description = [{
    An entry of a module's `transformer.defaults`: a field of the config, the
    value that it has without the config, and who says so. Reports name them.
    Without a value, a remark about the model.

    ```mlir
    module @m attributes {transformer.defaults = [
        #transformer.default<"rope_theta" = "10000.0" from "default of LlamaConfig">]} {
    }
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name,
                        OptionalParameter<"::mlir::StringAttr">:$value,
                        OptionalParameter<"::mlir::StringAttr">:$source);
  let assemblyFormat = [{
    `<` $name (`=` $value^ `from` $source)? `>`
  }];
  let extraClassDeclaration = [{
    /// The name of a module's attribute, an array of these.
    static constexpr ::llvm::StringLiteral moduleAttribute =
        "transformer.defaults";
  }];
}

def TF_LengthsKind : I32EnumAttr<"LengthsKind", "a distribution of lengths", [
    I32EnumAttrCase<"fixed", 0>, I32EnumAttrCase<"uniform", 1>,
    I32EnumAttrCase<"lognormal", 2>, I32EnumAttrCase<"histogram", 3>]> {
  let cppNamespace = "::autopar::transformer";
  let genSpecializedAttr = 0;
}

def TF_LengthsAttr : AttrDef<TransformerDialect, "Lengths"> {
  let mnemonic = "lengths";
  let summary = "how many tokens prompts, or answers, have";
  let description = [{
    One number of tokens; two between which all are alike (`uniform`, both
    included); the mean, and the standard deviation of the logarithm
    (`lognormal`); or numbers with their weights (`histogram`). `fixed` is the
    word for the first, which is not written.

    **Constraints:** numbers of tokens from 1 to 2^40, the first of `uniform` not
    above the second; a deviation up to 3; weights from 0, not all 0.

    ```mlir
    module @a {
      transformer.requests(rate = 20, prompt = lognormal(2000, 0.8), output = 300)
    }
    module @b {
      transformer.requests(concurrency = 8, prompt = uniform(100, 500), output = histogram(128 : 3.0, 4096 : 1.0))
    }
    ```
  }];
  let parameters = (ins "::autopar::transformer::LengthsKind":$kind,
                        ArrayRefParameter<"int64_t">:$tokens,
                        "::mlir::DenseF64ArrayAttr":$numbers);
  let extraClassDeclaration = [{
    static LengthsAttr get(::mlir::MLIRContext *context,
                           const ::autopar::program::TokenLengths &lengths);
    /// Of an attribute that was verified.
    ::autopar::program::TokenLengths getLengths() const;
    /// The inside: `lognormal(2000, 0.8)`.
    static ::mlir::Attribute parseBody(::mlir::AsmParser &parser);
    void printBody(::mlir::AsmPrinter &printer) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TF_LimitsAttr : AttrDef<TransformerDialect, "Limits"> {
  let mnemonic = "limits";
  let summary = "the longest times that requests may take";
  let description = [{
    From a request to its first token (`ttft_us`), and from token to token
    (`tpot_us`), in microseconds; without one, any.

    **Constraints:** at least one; above 0.

    ```mlir
    transformer.requests(rate = 20, prompt = 2000, output = 300) sla(ttft_us = 500000.0, tpot_us = 30000.0)
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::FloatAttr">:$ttft_us,
                        OptionalParameter<"::mlir::FloatAttr">:$tpot_us);
  let extraClassDeclaration = [{
    static LimitsAttr get(::mlir::MLIRContext *context,
                          const ::autopar::program::ServiceLimits &limits);
    ::autopar::program::ServiceLimits getLimits() const;
    /// The inside: `ttft_us = 500000.0, tpot_us = 30000.0`.
    static ::mlir::Attribute parseBody(::mlir::AsmParser &parser);
    void printBody(::mlir::AsmPrinter &printer) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

/// An attribute of an op that was a text in files of earlier versions: bytecode
/// reads either, and what is read is upgraded before it is verified.
class TF_UpgradedAttr<string cppClass, string summary>
    : Attr<CPred<"::llvm::isa<" # cppClass # ">($_self)">, summary> {
  let storageType = "::mlir::Attribute";
  let returnType = cppClass;
  let convertFromStorage = "::llvm::cast<" # cppClass # ">($_self)";
  let constBuilderCall = "$0";
}
def TF_LengthsOfRequests : TF_UpgradedAttr<
    "::autopar::transformer::LengthsAttr", "lengths, as in lognormal(2000, 0.8)">;
def TF_LimitsOfRequests : TF_UpgradedAttr<
    "::autopar::transformer::LimitsAttr", "limits, as in tpot_us = 30000.0">;

def TF_PhaseAttr : I32EnumAttr<"PhaseKind", "the kind of a step", [
    I32EnumAttrCase<"prefill", 0>, I32EnumAttrCase<"decode", 1>,
    I32EnumAttrCase<"train", 2>]> {
  let cppNamespace = "::autopar::transformer";
}

/// How a config stretches the angles of a rotary embedding, by the names of
/// Hugging Face's `rope_type`.
def TF_RopeScaling : I32EnumAttr<"RopeScaling", "a way to stretch angles", [
    I32EnumAttrCase<"default_", 0, "default">, I32EnumAttrCase<"linear", 1>,
    I32EnumAttrCase<"dynamic", 2>, I32EnumAttrCase<"yarn", 3>,
    I32EnumAttrCase<"longrope", 4>, I32EnumAttrCase<"su", 5>,
    I32EnumAttrCase<"llama3", 6>, I32EnumAttrCase<"mrope", 7>,
    I32EnumAttrCase<"proportional", 8>]> {
  let cppNamespace = "::autopar::transformer";
  let genSpecializedAttr = 0;
}
def TF_RopeScalingAttr
    : EnumAttr<TransformerDialect, TF_RopeScaling, "rope_scaling"> {
  let description = "Reads as the word alone where `transformer.rope` has it.";
  let assemblyFormat = "`<` $value `>`";
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
