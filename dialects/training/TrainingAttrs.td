//===- TrainingAttrs.td - Attributes -----------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_ATTRS_TD
#define AUTOPAR_TRAINING_ATTRS_TD

include "training/TrainingDialect.td"
include "training/TrainingEnums.td"
include "transformer/TransformerAttrs.td"

def TRN_RecomputationAttr : AttrDef<TrainingDialect, "Recomputation"> {
  let mnemonic = "recomputation";
  let summary = "what backwards make again instead of having it saved";
  let description = [{
        none                    nothing
        norms + mlp             `parts` of layers: attention_core, norms,
                                mlp_activation, mlp, experts, shared_experts,
                                mla_up; attention_core alone is the selective
                                recomputation of arXiv:2205.05198, section 5
        save_products           all of a layer but what products with weights and
                                attention give (grouped products of experts are
                                made again)
        save_products one in 2  the same, and one product in 2 (`every`) is saved
        full                    all of a layer but its input
        full one in 2           that of one layer in 2
        full first 8            that of the first 8 layers of each stage
                                (`layers_of_stage`)

    These words are its `kind`.

    **Constraints:** each part once; numbers from 1, of `one in` from 2.

    ```mlir
    #r = #training.recomputation<full first 8>
    ```
  }];
  let parameters = (ins "::autopar::program::Recomputation::Kind":$kind,
                        ArrayRefParameter<"::autopar::program::LayerPart">:$parts,
                        "int64_t":$every, "int64_t":$layers_of_stage);
  let extraClassDeclaration = [{
    static RecomputationAttr get(::mlir::MLIRContext *context,
                                 const ::autopar::program::Recomputation &what);
    ::autopar::program::Recomputation getRecomputation() const;
    /// The inside: `norms + mlp`.
    static ::mlir::Attribute parseBody(::mlir::AsmParser &parser);
    void printBody(::mlir::AsmPrinter &printer) const;
  }];
  let hasCustomAssemblyFormat = 1;
}

def TRN_RecomputationOfIteration : TF_UpgradedAttr<
    "::autopar::training::RecomputationAttr", "a recomputation, as in norms + mlp">;

#endif // AUTOPAR_TRAINING_ATTRS_TD
