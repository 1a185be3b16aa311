// RUN: autopar-opt %s --split-input-file --verify-diagnostics

parallel.mesh(pp = 2)
// expected-error @+1 {{a range begins with layer 42, expected 41}}
parallel.stages over [pp] layers [0 to 40, 42 to 79] schedule(inference) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{a range begins with layer 1, expected 0}}
parallel.stages over [pp] layers [1 to 40, 41 to 79] schedule(inference) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{a range ends with layer 3, expected 4 to }}
parallel.stages over [pp] layers [0 to 3, 4 to 3] schedule(inference) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{a range ends with layer 9223372036854775807, expected 0 to }}
parallel.stages over [pp] layers [0 to 9223372036854775807] schedule(inference) microbatches(4)

// -----

// Ends alone are the first and the last of several.

parallel.mesh(pp = 3)
// expected-error @+1 {{embedding alone is the first of several ranges}}
parallel.stages over [pp] layers [0 to 3, embedding, 4 to 7] schedule(inference) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{head alone is the last of several ranges}}
parallel.stages over [pp] layers [head, 0 to 3] schedule(inference) microbatches(4)

// -----

parallel.mesh(pp = 3)
// expected-error @+1 {{'parallel.stages' op has a range that ends before layer 4, expected 5 to }}
parallel.stages over [pp] layers [0 to 3, head, 4 to 7] schedule(inference) microbatches(4)

// -----

parallel.mesh(pp = 1)
// expected-error @+1 {{'parallel.stages' op has a range that ends before layer 0, expected 1 to }}
parallel.stages over [pp] layers [embedding] schedule(inference) microbatches(4)

// -----

// Attributes without their text.

parallel.mesh(pp = 2)
// expected-error @+1 {{'parallel.stages' op has a range that ends before layer 3, expected 4 to }}
"parallel.stages"() <{axes = ["pp"], ends = array<i64: 4, 3>, schedule = #parallel.schedule<inference>, microbatches = 1 : i64}> : () -> ()

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{'parallel.stages' op has 0 ranges of layers, expected 1 to 4096}}
"parallel.stages"() <{axes = ["pp"], ends = array<i64>, schedule = #parallel.schedule<inference>, microbatches = 1 : i64}> : () -> ()

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{'parallel.stages' op has 3 ranges of layers, which do not divide by interleave 2}}
parallel.stages over [pp] layers [0 to 1, 2 to 3, 4 to 5] interleave(2) schedule(interleaved) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{'parallel.stages' op has 3 ranges of layers, which do not divide by interleave -1}}
parallel.stages over [pp] layers [0 to 1, 2 to 3, 4 to 5] interleave(-1) schedule(interleaved) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{'parallel.stages' op has 3 ranges of layers with interleave 1 for the 2 devices of axis 'pp', expected 2}}
parallel.stages over [pp] layers [0 to 1, 2 to 3, 4 to 5] schedule(inference) microbatches(4)

// -----

parallel.mesh(tp = 2)
// expected-error @+1 {{'parallel.stages' op is over an axis 'pp' that no mesh of the module has}}
parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(4)

// -----

// expected-error @+1 {{'parallel.stages' op is over an axis 'pp' that no mesh of the module has}}
parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(4)

// -----

parallel.mesh(pp = 2, tp = 2)
// expected-error @+1 {{'parallel.stages' op is over 2 axes, expected one}}
parallel.stages over [pp, tp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(4)

// -----

// expected-error @+1 {{'parallel.stages' op is over 0 axes, expected one; of one stage, training.microbatches divides the batch}}
parallel.stages over [] layers [0 to 3] schedule(one_f_one_b) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{unknown word 'fifo', expected gpipe, one_f_one_b, interleaved, zero_bubble, dual_pipe, inference}}
parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(fifo) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{'parallel.stages' op has interleave 1 with schedule interleaved: the schedule interleaved, and only it, needs more than 1}}
parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(interleaved) microbatches(4)

// -----

parallel.mesh(pp = 2)
// expected-error @+1 {{'parallel.stages' op has 0 microbatches, expected 1 to }}
parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(0)

// -----

parallel.mesh(pp = 2)
// expected-note @+1 {{the first is here}}
parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(1)
// expected-error @+1 {{'parallel.stages' op is a second division of a batch of its module}}
parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(1)

// -----

parallel.mesh(pp = 2)
// expected-note @+1 {{the first is here}}
parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(1)
// expected-error @+1 {{'training.microbatches' op is a second division of a batch of its module}}
training.microbatches(1) schedule(gpipe)

// -----

parallel.mesh(pp = 2)
func.func @f() {
  // expected-error @+1 {{'parallel.stages' op must be directly inside a module}}
  parallel.stages over [pp] layers [0 to 1, 2 to 3] schedule(inference) microbatches(1)
  return
}
