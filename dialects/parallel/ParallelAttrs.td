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
    braces for a set; `by` the axes that split it, major first; then the rule.

    | rule | the extent `e` over `n` devices |
    |---|---|
    | none | `e/n`; `n` must divide `e` (the default of numbers) |
    | `pad m` | `e` is rounded up to a multiple of `m`, then of `n` |
    | `cap` | `e/n` up to `n = e`, then one, replicated; one must divide the other |
    | `any` | block `i` is `[i*e/n, (i+1)*e/n)`, rounded down: at most `ceil(e/n)` (the default of symbols) |
    | `ring` | as `any`; the parts go round, so that each device sees all in turn |

    Blocks of `any` over `n*m` devices lie inside those over `n` and do not depend
    on the order of the axes: collectives work on them as on even ones.

    A set of routed tokens says where its rows are: `by [batch by dp, query]` with
    their tokens, as a tensor of those dimensions would be split; `grouped [8 by
    ep*tp]` with their experts, as a weight of 8 experts would be. A row is on
    the devices that are where its token is along the axes of `by`, and where its
    expert is along those of `grouped`. Axes in braces are all that count:
    `grouped {tp} of [8 by ep*tp]` has rows of experts on any device that is at the
    same place along `tp`, whatever its place along `ep`. Where experts were placed
    (`parallel.expert_placement` over these axes), the tables say where they are.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$extent,
    ArrayRefParameter<"::mlir::StringAttr">:$axes,
    "::autopar::SplitRule":$rule,
    "int64_t":$multiple,
    ArrayRefParameter<"::autopar::parallel::DimAttr">:$tokens,
    ArrayRefParameter<"::mlir::StringAttr">:$grouped,
    "::autopar::parallel::DimAttr":$experts);
  let builders = [
    AttrBuilder<(ins "::mlir::StringAttr":$extent,
                     "::llvm::ArrayRef<::mlir::StringAttr>":$axes,
                     "::autopar::SplitRule":$rule, "int64_t":$multiple), [{
      return $_get($_ctxt, extent, axes, rule, multiple,
                   ::llvm::ArrayRef<DimAttr>(),
                   ::llvm::ArrayRef<::mlir::StringAttr>(), DimAttr());
    }]>];
  let extraClassDeclaration = [{
    bool isSymbolic() const { return !getExtent().getValue().empty(); }
    bool isSet() const { return getExtent().getValue().starts_with("{"); }
    bool isWhole() const { return getAxes().empty() && getGrouped().empty(); }
    bool uses(::mlir::StringAttr axis) const {
      return ::llvm::is_contained(getAxes(), axis) ||
             ::llvm::is_contained(getGrouped(), axis);
    }
    /// The same dimension split by other axes; without any, by the rule that
    /// its extent has by default.
    DimAttr withAxes(::llvm::ArrayRef<::mlir::StringAttr> axes) const;
    /// A set that lies as its tokens do along `axes`.
    DimAttr withTokens(::llvm::ArrayRef<::mlir::StringAttr> axes,
                       ::llvm::ArrayRef<DimAttr> tokens) const;
    /// A set that lies as its experts do along `grouped`.
    DimAttr withExperts(::llvm::ArrayRef<::mlir::StringAttr> grouped,
                        DimAttr experts) const;
    DimAttr withGrouped(::llvm::ArrayRef<::mlir::StringAttr> grouped) const {
      return withExperts(grouped, getExperts());
    }
    DimAttr withRule(::autopar::SplitRule rule, int64_t multiple = 1) const;
  }];
  let hasCustomAssemblyFormat = 1;
}

def PAR_ShardingAttr : AttrDef<ParallelDialect, "Sharding", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>,
    DeclareAttrInterfaceMethods<DimensionEncodingInterface,
                                ["getTokens", "getExperts"]>]> {
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
