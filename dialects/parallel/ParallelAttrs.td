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
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

def PAR_DimAttr : AttrDef<ParallelDialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "name and split of one dimension";
  let description = [{
    An entry of `#parallel.sharding`: a symbol, a product, or `_` for a number;
    braces for a set; `by` the axes that split it, major first; then the rule.

    Of the indices below the extent `e`, the device at place `i` of `n` over the
    axes (see the dialect) has those from `begin(i)` to below `begin(i + 1)`:

    | rule | `begin(i)` | |
    |---|---|---|
    | `plain` | `i*e/n` | `n` must divide `e` (the default of numbers) |
    | `pad m` | `i*f/n` | `f`: `e` up to a multiple of `m`, then of `n` |
    | `cap` | `i*e/n` | `n` must divide `e`, or `e` must divide `n`: see below |
    | `any` | `i*e div n` | at most `e/n`, rounded up (the default of symbols) |
    | `ring` | `i*e div n` | and, in turn, the others' parts: `parallel.ring` |

    `pad`: the indices from `e` on have no value. They may be of any content,
    which nothing may depend on: a sum over them is refused, and what puts the
    dimension together leaves them out.

    `cap`: where `n` is above `e`, the device has the one index `i div (n/e)`,
    so that `n/e` neighbours have copies. A sum over them is refused, as each
    would count.

    `any`: the blocks over `a*b` lie inside those over `a`, and `b*a` has the
    same ones, on other devices: collectives work on them as on even ones. Of
    two dimensions the blocks say how many, and not which:

    * `context` of a cache grows, and a row stays where it was appended.
      `transformer.kv_cache` says where; of the rule only `n` counts.
    * Which tokens of a step are those of a block of `query` changes no value,
      as ops know a token by its position. Here it is those of its indices. An
      engine deals a prompt that is split over context parallelism in `2*n`
      chunks, of which device `i` has `i` and `2*n - 1 - i` (Llama 3,
      arXiv:2407.21783, section 3.3.2), and costs count what that gives: an
      equal share of the causal pairs for each.

    A set of routed tokens says where its rows are: `by [batch by dp, query]` with
    their tokens, as a tensor of those dimensions would be split; `grouped [8 by
    ep*tp]` with their experts, as a weight of 8 experts would be. A row is on
    the devices that are where its token is along the axes of `by`, and where its
    expert is along those of `grouped`. Axes in braces are all that count:
    `grouped {tp} of [8 by ep*tp]` has rows of experts on any device that is at the
    same place along `tp`, whatever its place along `ep`. Where
    `parallel.expert_placement` has tables, they say which experts a place has,
    and to which copy of one a row goes.
  }];
  let parameters = (ins
    "::autopar::NamedExtent":$extent,
    ArrayRefParameter<"::mlir::StringAttr">:$axes,
    "::autopar::program::SplitRule":$rule,
    "int64_t":$multiple,
    ArrayRefParameter<"::autopar::parallel::DimAttr">:$tokens,
    ArrayRefParameter<"::mlir::StringAttr">:$grouped,
    "::autopar::parallel::DimAttr":$experts);
  let builders = [
    AttrBuilder<(ins "::autopar::NamedExtent":$extent,
                     "::llvm::ArrayRef<::mlir::StringAttr>":$axes,
                     "::autopar::program::SplitRule":$rule, "int64_t":$multiple), [{
      return $_get($_ctxt, extent, axes, rule, multiple,
                   ::llvm::ArrayRef<DimAttr>(),
                   ::llvm::ArrayRef<::mlir::StringAttr>(), DimAttr());
    }]>];
  let extraClassDeclaration = [{
    bool isSymbolic() const { return getExtent().isSymbolic(); }
    bool isSet() const { return getExtent().isSet(); }
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
    DimAttr withRule(::autopar::program::SplitRule rule, int64_t multiple = 1) const;
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
    elements are partial sums: the tensor is the sum of what the devices of a
    group over `partial` have. Over axes that it does not name all devices have
    the same. Something is split or partial: a tensor that is whole has
    `#transformer.dims`, or no encoding. `[_ by tp]` of `n` devices has `n`
    different parts, `partial [tp]` has `n` addends of the whole:

        [_ by tp]       V[j] = x_d[j]          d: the device that has index j
        partial [tp]    V[j] = sum_d x_d[j]    d: all devices along tp

    **Constraints:** as many entries as dimensions; an axis appears once; the
    extent of a named dimension prints as `?`, that of `_` as a number.

    ```mlir
    parallel.mesh(tp = 8)
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

/// A word of an enumeration that costs know: `AttrWords.h` parses and prints it.
class PAR_WordAttr<string name, string word, string meaning, string enum>
    : AttrDef<ParallelDialect, name> {
  let mnemonic = word;
  let summary = meaning;
  let description = "Reads as the word alone where an op has it.";
  let parameters = (ins enum:$value);
  let assemblyFormat = "`<` $value `>`";
  let returnType = enum;
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::autopar::parallel::" # name #
                         "Attr::get($_builder.getContext(), $0)";
}
def PAR_ScheduleAttr
    : PAR_WordAttr<"Schedule", "schedule", "an order of the parts of a batch",
                   "::autopar::schedule::ScheduleKind">;
def PAR_PlacementPolicyAttr
    : PAR_WordAttr<"PlacementPolicy", "policy", "a way to place experts",
                   "::autopar::placement::PlacementPolicy">;

def PAR_ContextKindAttr
    : I32EnumAttr<"ContextKind", "the way of context parallelism", [
        I32EnumAttrCase<"ring", 0>, I32EnumAttrCase<"all_to_all", 1>,
        I32EnumAttrCase<"all_gather", 2>]> {
  let cppNamespace = "::autopar::parallel";
}

#endif // AUTOPAR_PARALLEL_ATTRS_TD
