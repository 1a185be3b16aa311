// Gradients of attention are those of differences of the loss, whether it keeps
// its probabilities to itself or writes them, and whatever is made again.

// RUN: split-file %s %t
// RUN: autopar-opt %t/model.mlir --autopar-prepare-training --autopar-build-backward -o %t/flash.mlir
// RUN: autopar-run %t/flash.mlir --gradients=3 | FileCheck %s
// RUN: autopar-opt %t/model.mlir --autopar-prepare-training=flash=false --autopar-build-backward -o %t/written.mlir
// RUN: autopar-run %t/written.mlir --gradients=3 | FileCheck %s
// RUN: autopar-opt %t/model.mlir --autopar-prepare-training='flash=false dropout=0.2' --autopar-build-backward -o %t/dropped.mlir
// RUN: autopar-run %t/dropped.mlir --gradients=3 | FileCheck %s
// CHECK: gradients of {{[0-9]+}} elements are those of the loss: largest difference {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}

// The same iterations.
// RUN: autopar-run %t/written.mlir --check=%t/flash.mlir --iterations=2 --outcome | FileCheck %s --check-prefix=SAME
// RUN: autopar-opt %t/model.mlir --autopar-prepare-training='flash=false dropout=0.2' --autopar-build-backward=recompute=selective -o %t/selective.mlir
// RUN: autopar-run %t/selective.mlir --check=%t/dropped.mlir --iterations=2 --outcome | FileCheck %s --check-prefix=SAME
// RUN: autopar-opt %t/model.mlir --autopar-prepare-training='flash=false dropout=0.2' --autopar-build-backward=recompute=full -o %t/full.mlir
// RUN: autopar-run %t/full.mlir --check=%t/dropped.mlir --iterations=2 --outcome | FileCheck %s --check-prefix=SAME
// SAME: the same on 1 devices: largest difference {{[0-9.]+}}e{{-1[4-9]|\+00}}

// Masks follow from places, and not from who has them: on four devices they are
// those of one, where two have the same key-value head, too.
// RUN: autopar-opt %t/model.mlir --autopar-bind-mesh=axes=dp=2,tp=4 --autopar-prepare-training='flash=false dropout=0.2' --autopar-build-backward --autopar-shard-data --autopar-shard-tensor --autopar-insert-collectives -o %t/split.mlir
// RUN: autopar-run %t/split.mlir --check=%t/dropped.mlir | FileCheck %s --check-prefix=SPLIT
// RUN: autopar-run %t/split.mlir --gradients=1 | FileCheck %s
// RUN: autopar-run %t/split.mlir --directional-derivative | FileCheck %s --check-prefix=DIRECTION
// RUN: autopar-run %t/split.mlir --check=%t/dropped.mlir --iterations=2 --directional-derivative | FileCheck %s --check-prefixes=DIRECTION,SPLIT
// DIRECTION: gradients along a random direction are those of the loss: difference {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}
// SPLIT: the same on 8 devices

// A gradient that is added twice is none.
// RUN: sed 's/^ *training.accumulate .* of %q : .*$/&\n&/' %t/split.mlir > %t/twice.mlir
// RUN: not autopar-run %t/twice.mlir --directional-derivative 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: the gradients are not those of the loss: along a random direction they say {{[-0-9.]+}}, expected {{[-0-9.]+}}
// TWICE: note: --gradients=1 says of which weight
// RUN: not autopar-run %t/model.mlir --directional-derivative 2>&1 | FileCheck %s --check-prefix=FORWARD
// FORWARD: error: has no gradients

// Another seed is another mask.
// RUN: sed 's/seed(0)/seed(7)/' %t/dropped.mlir > %t/seed.mlir
// RUN: not autopar-run %t/seed.mlir --check=%t/dropped.mlir 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: is the first value that differs

//--- model.mlir
!x = tensor<?x?x16xbf16, #transformer.dims<[batch, query, _]>>
!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!scores = tensor<?x?x11xbf16, #transformer.dims<[batch, query, _]>>
module {
  transformer.workload(phase = train, batch = 4, query = 6, context = 6)
  func.func private @decoder(%x: !x) -> !x {
    %wq = transformer.weight "q" : tensor<16x4x8xbf16>
    %wk = transformer.weight "k" : tensor<16x2x8xbf16>
    %wv = transformer.weight "v" : tensor<16x2x8xbf16>
    %wo = transformer.weight "o" : tensor<4x8x16xbf16>
    %n = transformer.rms_norm %x eps(1.0e-05) : !x
    %q0 = transformer.linear %n, %wq : !x, tensor<16x4x8xbf16> -> !q
    %k0 = transformer.linear %n, %wk : !x, tensor<16x2x8xbf16> -> !k
    %v = transformer.linear %n, %wv : !x, tensor<16x2x8xbf16> -> !k
    %q1 = transformer.rope %q0 theta(100.0) : !q
    %k1 = transformer.rope %k0 theta(100.0) : !k
    %q2 = transformer.rope %q1 theta(50.0) width(4) last : !q
    %k2 = transformer.rope %k1 theta(50.0) width(4) last : !k
    %q3 = transformer.rope %q2 theta(10.0) width(6) interleaved : !q
    %k3 = transformer.rope %k2 theta(10.0) width(6) interleaved : !k
    %a = transformer.attention %q3, %k3, %v causal : !q, !k
    %o = transformer.linear %a, %wo : !q, tensor<4x8x16xbf16> -> !x
    %r = transformer.add %x, %o : !x
    // All tokens; those of a window; those of a window behind.
    %all = transformer.attention %q0, %k0, %v scale(0.2) : !q, !k
    %near = transformer.attention %q0, %k3, %v window(2) : !q, !k
    %last = transformer.attention %q3, %k0, %v causal window(3) : !q, !k
    %s0 = transformer.add %all, %near : !q
    %s1 = transformer.add %s0, %last : !q
    %p = transformer.linear %s1, %wo : !q, tensor<4x8x16xbf16> -> !x
    %y = transformer.add %r, %p : !x
    return %y : !x
  }
  func.func @model(%ids: !ids) -> !scores {
    %t = transformer.weight "table" : tensor<11x16xbf16>
    %x0 = transformer.embedding %ids, %t : !ids, tensor<11x16xbf16> -> !x
    %x1 = transformer.repeat 2 layers "layers" from 0 (%x = %x0) : !x {
      %y = func.call @decoder(%x) : (!x) -> !x
      transformer.yield %y : !x
    }
    %y = transformer.logits %x1, %t : !x, tensor<11x16xbf16> -> !scores
    return %y : !scores
  }
}
