//===- TrainingBase.td - What all operations share ---------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_BASE_TD
#define AUTOPAR_TRAINING_BASE_TD

include "parallel/ParallelAttrs.td"
include "training/TrainingAttrs.td"
include "training/TrainingDialect.td"
include "transformer/TransformerBase.td"

/// What a forward leaves for its backward, and what backwards add up.
def TRN_SavedMemory : Resource<"::autopar::training::SavedMemory">;
def TRN_GradientMemory : Resource<"::autopar::training::GradientMemory">;

class TRN_Op<string mnemonic, list<Trait> traits = []>
    : Op<TrainingDialect, mnemonic, traits>;
class TRN_ComputeOp<string mnemonic, list<Trait> traits = []>
    : ComputeOp<TrainingDialect, mnemonic, traits>;
class TRN_NamedOp<string mnemonic, string name, list<Trait> traits = []>
    : NamedOp<TrainingDialect, mnemonic, name, traits>;

#endif // AUTOPAR_TRAINING_BASE_TD
