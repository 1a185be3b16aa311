// Iterations of training over pipeline stages, against the unsplit model.

// RUN: split-file %s %t
// RUN: autopar-opt %t/model.mlir --autopar-prepare-training --autopar-build-backward -o %t/whole.mlir
// RUN: cat %t/model.mlir %t/two.stages | autopar-opt --autopar-prepare-training --autopar-build-backward -o %t/two.mlir

// Each stage has its layers' weights alone, sends what it computed there and
// back, and the ends sum the gradients of the table that both have.

// RUN: autopar-run %t/two.mlir --check=%t/whole.mlir --iterations=3 --holdings --directional-derivative | FileCheck %s
// CHECK: gradients along a random direction are those of the loss
// CHECK-NEXT: the same on 2 devices: largest difference {{[0-9.]+e(-1[5-9]|.00)}}
// CHECK-NEXT: device 0: weights 112, caches 0, states 0, sent 96, summed 160
// CHECK-NEXT: device 1: weights 176, caches 0, states 0, sent 96, summed 160

// Without anything to compare with, the losses are those of all microbatches.

// RUN: autopar-run %t/two.mlir | diff - %t/losses

// No order changes them: virtual stages, gradients of weights apart, a schedule
// that enters at both ends, whose devices have copies of all they have.

// RUN: sed 's/layers \[.*/layers [0 to 0, 1 to 1, 2 to 2, 3 to 3] interleave(2) schedule(interleaved) microbatches(2)/' %t/two.mlir > %t/rounds.mlir
// RUN: autopar-run %t/rounds.mlir --check=%t/whole.mlir --iterations=2 | FileCheck %s --check-prefix=SAME
// RUN: sed 's/one_f_one_b/zero_bubble/' %t/two.mlir > %t/apart.mlir
// RUN: autopar-run %t/apart.mlir --check=%t/whole.mlir --iterations=2 | FileCheck %s --check-prefix=SAME
// RUN: sed 's/one_f_one_b/dual_pipe/' %t/two.mlir > %t/folded.mlir
// RUN: autopar-run %t/folded.mlir --check=%t/whole.mlir --iterations=2 --holdings | FileCheck %s --check-prefixes=SAME,FOLDED
// SAME: the same on 2 devices
// FOLDED-NEXT: device 0: weights 208, caches 0, states 0, sent 96, summed 416
// FOLDED-NEXT: device 1: weights 208, caches 0, states 0, sent 96, summed 416

// A stage that leaves its addend of the table's gradient out; a backward that
// another layer has written.

// RUN: sed '/accumulate %dt of/d' %t/two.mlir > %t/lost.mlir
// RUN: not autopar-run %t/lost.mlir --check=%t/whole.mlir --outcome 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: lost.mlir:[[#]]:1: error: the gradient of t: element {{[0-9]+}} is
// RUN: sed 's/activation_backward \(.*\) silu/activation_backward \1 relu/' %t/two.mlir > %t/other.mlir
// RUN: not autopar-run %t/other.mlir --check=%t/whole.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: other.mlir:[[#]]:{{[0-9]+}}: error: is the first value that differs, in layers.3, on stage 1: element

// A value that was computed on another stage than it is saved by.

// RUN: sed '/training.save %layers "layers"/d; s/^    %layers = transformer.repeat/    training.save %embedding "layers" : !bq_4_bf\n&/' %t/two.mlir > %t/first.mlir
// RUN: not autopar-run %t/first.mlir 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: first.mlir:[[#]]:{{[0-9]+}}: error: reads what this layer has not saved, or has read

// Layers that the backward runs in the order of the forward; ops between them;
// updates across stages; a schedule without backwards.

// RUN: sed 's/from 0 reversed/from 0/' %t/two.mlir > %t/forwards.mlir
// RUN: not autopar-run %t/forwards.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: forwards.mlir:[[#]]:3: error: cannot be executed over stages: it does not run the backwards of 4 layers from the last one on
// RUN: autopar-opt %t/loops.mlir --autopar-prepare-training --autopar-build-backward -o %t/loops.train.mlir
// RUN: autopar-run %t/loops.train.mlir | FileCheck %s --check-prefix=LOOPS
// LOOPS: {{^}}[2, 3] 
// RUN: sed 's/^    %layers_2 = /    %between = transformer.scale %layers_1 by(1.0) : !bq_4_bf\n&/' %t/loops.train.mlir > %t/between.mlir
// RUN: not autopar-run %t/between.mlir 2>&1 | FileCheck %s --check-prefix=BETWEEN
// BETWEEN: between.mlir:[[#]]:{{[0-9]+}}: error: cannot be executed over stages: it lies between layers, and is of no stage
// RUN: sed 's/update %h, %gradient_0/update %h, %gradient/' %t/loops.train.mlir > %t/across.mlir
// RUN: not autopar-run %t/across.mlir 2>&1 | FileCheck %s --check-prefix=ACROSS
// ACROSS: across.mlir:[[#]]:{{[0-9]+}}: error: cannot be executed: it combines weights of several stages
// RUN: sed 's/one_f_one_b/inference/' %t/two.mlir > %t/without.mlir
// RUN: not autopar-run %t/without.mlir 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: without.mlir:[[#]]:3: error: stage 0 never runs the backward of microbatch 0

//--- model.mlir
!i = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!v = tensor<?x?x10xbf16, #transformer.dims<[batch, query, _]>>
transformer.workload(phase = train, batch = 4, query = 3, context = 3)
func.func private @layer(%x: !x) -> !x {
  %w = transformer.weight "w" : tensor<4x4xbf16>
  %y = transformer.linear %x, %w : !x, tensor<4x4xbf16> -> !x
  %a = transformer.activation %y silu : !x
  %z = transformer.add %x, %a : !x
  return %z : !x
}
func.func @model(%i: !i) -> !v {
  %t = transformer.weight "t" : tensor<10x4xbf16>
  %x = transformer.embedding %i, %t : !i, tensor<10x4xbf16> -> !x
  %y = transformer.repeat 4 layers "layers" from 0 (%a = %x) : !x {
    %b = func.call @layer(%a) : (!x) -> !x
    transformer.yield %b : !x
  }
  %z = transformer.logits %y, %t : !x, tensor<10x4xbf16> -> !v
  return %z : !v
}
//--- loops.mlir
!i = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!v = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
transformer.workload(phase = train, batch = 2, query = 3, context = 3)
parallel.mesh(pp = 2)
parallel.stages over [pp] layers [0 to 0, 1 to 1] schedule(one_f_one_b) microbatches(2)
func.func private @layer(%x: !x) -> !x {
  %z = transformer.activation %x silu : !x
  return %z : !x
}
func.func @model(%i: !i) -> !v {
  %t = transformer.weight "t" : tensor<4x4xbf16>
  %h = transformer.weight "h" : tensor<4x4xbf16>
  %x = transformer.embedding %i, %t : !i, tensor<4x4xbf16> -> !x
  %y = transformer.repeat 1 layers "layers" from 0 (%a = %x) : !x {
    %b = func.call @layer(%a) : (!x) -> !x
    transformer.yield %b : !x
  }
  %y1 = transformer.repeat 1 layers "layers" from 1 (%a = %y) : !x {
    %b = func.call @layer(%a) : (!x) -> !x
    transformer.yield %b : !x
  }
  %z = transformer.logits %y1, %h : !x, tensor<4x4xbf16> -> !v
  return %z : !v
}
//--- two.stages
parallel.mesh(pp = 2)
parallel.stages over [pp] layers [0 to 0, 1 to 3] schedule(one_f_one_b) microbatches(4)
//--- losses
[4, 3] 2.21224564571 2.30851836015 2.28011994034 2.27261562502 2.43349283555 2.40817318577 2.33712194207 2.34305471962 2.26480122962 2.33585203901 2.29811775648 2.27031143152
