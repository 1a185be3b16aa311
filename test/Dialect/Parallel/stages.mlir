// RUN: %roundtrip %s --split-input-file | FileCheck %s

// CHECK: parallel.stages over [pp] layers [0 to 40, 41 to 79] schedule(inference) microbatches(4)
parallel.mesh(pp = 2, tp = 8)
parallel.stages over [pp] layers [0 to 40, 41 to 79] schedule(inference) microbatches(4)

// -----

// Virtual stages, of one layer too; an axis without a size; another name.

// CHECK: parallel.stages over [pipe] layers [0 to 0, 1 to 3, 4 to 4, 5 to 9] interleave(2) schedule(interleaved) microbatches(2) {note = "mine"}
parallel.mesh(pipe = ?, tp = 8)
parallel.stages over [pipe] layers [0 to 0, 1 to 3, 4 to 4, 5 to 9] interleave(2) schedule(interleaved) microbatches(2) {note = "mine"}
