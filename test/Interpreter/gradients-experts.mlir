// Gradients of routed tokens, of their experts and of what chooses them are
// those of differences of the loss.

// RUN: split-file %s %t
// RUN: autopar-opt %t/softmax.mlir --autopar-prepare-training --autopar-build-backward | autopar-run --gradients=4 | FileCheck %s
// RUN: autopar-opt %t/softmax.mlir --autopar-prepare-training --autopar-build-backward=recompute=full | autopar-run --gradients=4 | FileCheck %s
// RUN: sed 's/top_k(2) normalized/top_k(2) sigmoid groups(3) keep(2) normalized scaled(2.5)/' %t/softmax.mlir > %t/sigmoid.mlir
// RUN: autopar-opt %t/sigmoid.mlir --autopar-prepare-training --autopar-build-backward | autopar-run --gradients=4 | FileCheck %s
// RUN: sed 's/top_k(2) normalized/top_k(2)/' %t/softmax.mlir > %t/plain.mlir
// RUN: autopar-opt %t/plain.mlir --autopar-prepare-training --autopar-build-backward -o %t/trained.mlir
// RUN: autopar-run %t/trained.mlir --gradients=4 | FileCheck %s
// CHECK: gradients of {{[0-9]+}} elements are those of the loss: largest difference {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}

// Experts on two devices, which have half of the tokens each.
// RUN: autopar-opt %t/plain.mlir --autopar-bind-mesh=axes=dp=2 --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-shard-experts=axes=dp --autopar-insert-collectives -o %t/split.mlir
// RUN: autopar-run %t/split.mlir --check=%t/trained.mlir --iterations=2 | FileCheck %s --check-prefix=SAME
// RUN: autopar-run %t/split.mlir --gradients=2 | FileCheck %s
// SAME: the same on 2 devices

// What experts are chosen by alone has no update.
// RUN: FileCheck %s --check-prefix=UPDATE < %t/trained.mlir
// UPDATE: func.func private @model_update
// UPDATE-NOT: "correction"

//--- softmax.mlir
!x = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!w = tensor<?x?xbf16, #transformer.dims<[batch, query]>>
!r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!t = tensor<?x8xbf16, #transformer.dims<[{batch*query*2}, _]>>
!u = tensor<?x4xbf16, #transformer.dims<[{batch*query*2}, _]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!scores = tensor<?x?x11xbf16, #transformer.dims<[batch, query, _]>>
module {
  transformer.workload(phase = train, batch = 4, query = 3, context = 3)
  func.func @model(%ids: !ids) -> !scores {
    %table = transformer.weight "table" : tensor<11x8xbf16>
    %x0 = transformer.embedding %ids, %table : !ids, tensor<11x8xbf16> -> !x
    %router = transformer.weight "router.weight" : tensor<8x6xbf16>
    %bias = transformer.weight "router.bias" : tensor<6xbf16>
    %correction = transformer.weight "correction" : tensor<6xbf16>
    %up = transformer.weight "up" : tensor<6x8x4xbf16>
    %up_bias = transformer.weight "up.bias" : tensor<6x4xbf16>
    %down = transformer.weight "down" : tensor<6x4x8xbf16>
    %r = transformer.router %x0, %router bias(%bias : tensor<6xbf16>) correction(%correction : tensor<6xbf16>) top_k(2) normalized
        : !x, tensor<8x6xbf16> -> !r
    %t = transformer.dispatch %x0, %r : !x, !r -> !t
    %u = transformer.experts %t, %up bias(%up_bias : tensor<6x4xbf16>) top_k(2) : !t, tensor<6x8x4xbf16> -> !u
    %a = transformer.activation %u silu : !u
    %d = transformer.experts %a, %down top_k(2) : !u, tensor<6x4x8xbf16> -> !t
    %x1 = transformer.combine %d, %r : !t, !r -> !x
    // A gate of each token.
    %gate = transformer.weight "gate" : tensor<8xbf16>
    %g = transformer.linear %x0, %gate : !x, tensor<8xbf16> -> !w
    %shared = transformer.weight "shared" : tensor<8x8xbf16>
    %s0 = transformer.linear %x0, %shared : !x, tensor<8x8xbf16> -> !x
    %s1 = transformer.weigh %s0, %g sigmoid : !x, !w
    %x2 = transformer.add %x1, %s1 : !x
    %y = transformer.logits %x2, %table : !x, tensor<11x8xbf16> -> !scores
    return %y : !scores
  }
}
