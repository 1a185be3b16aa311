//===- UpdateFormulas.cpp - Copies of gradients ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of DeepSpeed's optimizers beyond parameters, gradients and states
// (deepspeed/runtime/zero/stage_1_and_2.py and bf16_optimizer.py of 2022). The
// caching allocator returns none of it, and reuses free blocks where they fit.
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

using Kind = Resident::Kind;
using Use = FigureUse::Kind;

namespace {

/// Describes gradients that have the format of the weights: the number of
/// elements of all gradients (`all`), of the largest gradient (`largest`) and
/// of the part that a device updates (`updated`), and the type of the elements.
struct NarrowGradients {
  Expr all, largest, updated;
  ElementType type = ElementType::f16;
};

} // namespace

/// Returns the first resident of `kind` for the same weight as `resident`, out
/// of those with the most dimensions: averages over some dimensions have fewer.
static const Resident *partnerOf(const CostProgram &program,
                                 const Resident &resident, Kind kind) {
  const Resident *found = nullptr;
  for (const Resident &other : program.residents)
    if (other.kind == kind && other.layer == resident.layer &&
        other.name == resident.name &&
        (!found || other.shape.size() > found->shape.size()))
      found = &other;
  return found;
}

static Expr elementsOf(Formulas &formulas, const Resident &resident) {
  return formulas.localPaged(resident.shape, -1, formulas.step);
}

/// Returns the bytes of one reduction bucket. A gradient larger than the bucket
/// has a buffer of its own.
static Expr bucketBytes(Formulas &formulas, const NarrowGradients &gradients) {
  Expr bucket = formulas.whole(Use::reduction_bucket);
  Expr elements = max(min(bucket, gradients.all), gradients.largest);
  return select(bucket, formulas.bytes(elements, gradients.type),
                formulas.number(0));
}

/// Returns the bytes of temporary copies of gradients. Norms convert the
/// largest gradient to fp32, then to fp64. The updated gradients are copied
/// into one flat tensor, and this tensor into fp32.
static Expr copiedBytes(Formulas &formulas, const NarrowGradients &gradients,
                        Expr bucket) {
  Expr none = formulas.number(0);
  Expr largest = min(gradients.largest, gradients.updated);
  Expr single = formulas.bytes(largest, ElementType::f32),
       twofold = single * formulas.number(2);
  Expr norms =
      select(above(twofold, bucket),
             twofold + select(above(single, bucket), single, none), none);
  Expr free = max(bucket, twofold);
  Expr flat = formulas.bytes(gradients.updated, gradients.type),
       wide = formulas.bytes(gradients.updated, ElementType::f32);
  Expr flats = select(above(wide, free),
                      wide + select(above(flat, free), flat, none), none);
  return norms + flats;
}

void autopar::cost::addUpdateFormulas(Formulas &formulas) {
  const CostProgram &program = formulas.program;
  Expr none = formulas.number(0), wider = none;
  formulas.strategy.total.updateBytes = none.node();
  if (!program.trains())
    return;
  NarrowGradients narrow{none, none, none};
  for (const Resident &gradient : program.residents) {
    const Resident *weight = partnerOf(program, gradient, Kind::weight);
    if (gradient.kind != Kind::gradient || !weight)
      continue;
    Expr count = formulas.countOf(gradient);
    Expr elements = elementsOf(formulas, gradient);
    // The gradients of the last microbatch stay, and all gradients are cast
    // before the reduction.
    if (bitsOf(gradient.type) > bitsOf(weight->type)) {
      wider +=
          count * formulas.number(2) * formulas.bytes(elements, weight->type);
      continue;
    }
    narrow.type = gradient.type;
    narrow.all += count * elements;
    narrow.largest = max(narrow.largest, select(count, elements, none));
    if (const Resident *kept = partnerOf(program, gradient, Kind::optimizer))
      narrow.updated += count * elementsOf(formulas, *kept);
  }
  Expr bucket = bucketBytes(formulas, narrow);
  Expr copies = formulas.whole(Use::copies_gradients);
  formulas.strategy.total.updateBytes =
      (bucket + copies * (wider + copiedBytes(formulas, narrow, bucket)))
          .node();
}
