//===- ParallelAttrs.td - Attributes ----------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PARALLEL_ATTRS_TD
#define AUTOPAR_PARALLEL_ATTRS_TD

include "parallel/ParallelDialect.td"
include "interfaces/DimensionEncoding.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

def PAR_DimAttr : AttrDef<ParallelDialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "name and split of one dimension";
  let description = [{
    An entry of `#parallel.sharding`: a symbol, a product, or `_` for a number;
    braces for a set; `by` the axes that split it, major first; then the rule:

    | rule | the extent `e` over `n` devices |
    |---|---|
    | none | `e/n`; `n` must divide `e` (the default of numbers) |
    | `pad m` | `e` is rounded up to a multiple of `m`, then of `n` |
    | `cap` | `e/n` up to `n = e`, then one, replicated; one must divide the other |
    | `any` | at most `ceil(e/n)` (the default of symbols) |
  }];
  let parameters = (ins
    "::mlir::StringAttr":$extent,
    ArrayRefParameter<"::mlir::StringAttr">:$axes,
    "::autopar::SplitRule":$rule,
    "int64_t":$multiple);
  let extraClassDeclaration = [{
    bool isSymbolic() { return !getExtent().getValue().empty(); }
    /// The same dimension split by other axes.
    DimAttr withAxes(::llvm::ArrayRef<::mlir::StringAttr> axes);
  }];
  let hasCustomAssemblyFormat = 1;
}

def PAR_ShardingAttr : AttrDef<ParallelDialect, "Sharding", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>,
    DeclareAttrInterfaceMethods<DimensionEncodingInterface>]> {
  let mnemonic = "sharding";
  let summary = "how a tensor lies over the mesh";
  let description = [{
    One entry per dimension (`#parallel.dim`) and the axes over which the
    elements are partial sums. Something is split or partial: a tensor that is
    whole has `#transformer.dims`, or no encoding.

    **Constraints:** as many entries as dimensions; an axis appears once; the
    extent of a named dimension prints as `?`, that of `_` as a number.

    ```mlir
    parallel.mesh @pod(tp = 8)
    func.func private @example(
        tensor<?x?x64x128xbf16, #parallel.sharding<[batch, query, _ by tp, _]>>,
        tensor<?x?x8x128xbf16, #parallel.sharding<[batch, query, _ by tp cap, _]>>,
        tensor<128256x8192xbf16, #parallel.sharding<[_ by tp pad 64, _]>>,
        tensor<?x?x8192xbf16, #parallel.sharding<[batch, query, _] partial [tp]>>)
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::autopar::parallel::DimAttr">:$dims,
    ArrayRefParameter<"::mlir::StringAttr">:$partial);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def PAR_MachineAttr : AttrDef<ParallelDialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "the devices that a module has to itself";
  let description = [{
    As `parallel.machine` of a module: a system of the hardware library or a
    file, and how many nodes of it. A module without one runs on the machine of
    the flags.

    **Constraints:** at least one node.

    ```mlir
    module @decode attributes {parallel.machine = #parallel.machine<"h200-sxm-8" nodes 2>} {
    }
    ```
  }];
  let parameters = (ins StringRefParameter<>:$hardware,
                        DefaultValuedParameter<"int64_t", "1">:$nodes);
  let assemblyFormat = "`<` $hardware (`nodes` $nodes^)? `>`";
  let extraClassDeclaration = [{
    /// The name of a module's attribute.
    static constexpr ::llvm::StringLiteral moduleAttribute = "parallel.machine";
  }];
  let genVerifyDecl = 1;
}

#endif // AUTOPAR_PARALLEL_ATTRS_TD
