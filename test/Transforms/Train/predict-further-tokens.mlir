// Each layer takes what the one before it gives, and the embeddings of what that
// predicts; tables are the model's, and weights have the names of the checkpoint.

// RUN: %roundtrip %s --pass-pipeline='builtin.module(autopar-prepare-training{mtp-layers=2})' | FileCheck %s
// CHECK-LABEL: func.func private @layer_3(
// CHECK: transformer.weight "layers.3.norm.weight"
// CHECK-LABEL: func.func private @next_3(
// CHECK: transformer.weight "layers.3.proj.weight"
// CHECK: call @layer_3(
// CHECK-NOT: transformer.stored
// CHECK-LABEL: func.func @model(%arg0: !bq_int, %arg1: !bq_int, %arg2: !bq_int, %arg3: !bq_int) -> (!bq_float, !bq_float, !bq_float)
// CHECK: %[[TABLE:.*]] = transformer.weight "embed.weight"
// CHECK: transformer.embedding %arg0, %[[TABLE]]
// CHECK: %[[HIDDEN:.*]] = transformer.repeat 3 layers
// CHECK: transformer.logits %[[HIDDEN]], %[[TABLE]]
// CHECK: %[[LOSS:.*]] = training.cross_entropy %{{.*}}, %arg1
// CHECK: %[[NEXT:.*]] = transformer.embedding %arg1, %[[TABLE]]
// CHECK: %[[FIRST:.*]] = call @next_3(%[[HIDDEN]], %[[NEXT]])
// CHECK: transformer.logits %[[FIRST]], %[[TABLE]]
// CHECK: %[[LOSS_1:.*]] = training.cross_entropy %{{.*}}, %arg2
// CHECK: %[[NEXT_1:.*]] = transformer.embedding %arg2, %[[TABLE]]
// CHECK: %[[SECOND:.*]] = call @next_4(%[[FIRST]], %[[NEXT_1]])
// CHECK: %[[LOSS_2:.*]] = training.cross_entropy %{{.*}}, %arg3
// CHECK: return %[[LOSS]], %[[LOSS_1]], %[[LOSS_2]]

// Those that do not train stay stored.

// RUN: autopar-opt %s --pass-pipeline='builtin.module(autopar-prepare-training{mtp-layers=1})' -o %t.one
// RUN: FileCheck %s --check-prefix=ONE < %t.one
// ONE: transformer.repeat 1 layers "layers" from 4
// ONE: transformer.stored @mtp
// ONE: return %{{.*}}, %{{.*}} : !bq_float, !bq_float
// RUN: autopar-opt %t.one --pass-pipeline='builtin.module(autopar-prepare-training{mtp-layers=1})' | diff - %t.one

// RUN: not autopar-opt %s --pass-pipeline='builtin.module(autopar-prepare-training{mtp-layers=3})' 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: mtp_layers = 3: of layers that predict further tokens the model has 2
// RUN: not autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training{mtp-layers=1})' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: mtp_layers = 1: of layers that predict further tokens the model has 0

// What another loss compares cannot go on.

// RUN: sed 's/transformer.logits %last, %embed : !last, tensor<1000x64xbf16>/transformer.linear %last, %wide : !last, tensor<64x1000xbf16>/; s/^    %embed = .*/&\n    %wide = transformer.weight "wide" : tensor<64x1000xbf16>/' %s > %t.linear
// RUN: not autopar-opt %t.linear --pass-pipeline='builtin.module(autopar-prepare-training{mtp-layers=1})' 2>&1 | FileCheck %s --check-prefix=SCORES
// SCORES: error: 'func.func' op looks up no tokens, or compares other scores than a head's with labels

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!last = tensor<?x64xbf16, #transformer.dims<[batch, _]>>
!logits = tensor<?x1000xbf16, #transformer.dims<[batch, _]>>
module @further {
  transformer.workload(phase = train, batch = 16, query = 32, context = 32)
  func.func private @layer(%x: !x) -> !x attributes {no_inline} {
    %norm = transformer.weight "norm.weight" : tensor<64xbf16>
    %y = transformer.rms_norm %x, %norm eps(1.0e-5) : !x
    return %y : !x
  }
  func.func private @mtp(%x: !x, %ids: !ids) -> !x {
    %embed = transformer.weight "layers.3.embed.weight" : tensor<1000x64xbf16>
    %next = transformer.embedding %ids, %embed : !ids, tensor<1000x64xbf16> -> !x
    %y = transformer.repeat 2 layers "layers" from 3 (%h = %x) : !x {
      %z = func.call @next(%h, %next) : (!x, !x) -> !x
      transformer.yield %z : !x
    }
    return %y : !x
  }
  func.func private @next(%x: !x, %next: !x) -> !x attributes {no_inline} {
    %proj = transformer.weight "proj.weight" : tensor<64x64xbf16>
    %y = transformer.linear %next, %proj : !x, tensor<64x64xbf16> -> !x
    %sum = transformer.add %x, %y : !x
    %z = func.call @layer(%sum) : (!x) -> !x
    return %z : !x
  }
  transformer.stored @mtp
  func.func @model(%ids: !ids) -> !logits {
    %embed = transformer.weight "embed.weight" : tensor<1000x64xbf16>
    %x0 = transformer.embedding %ids, %embed : !ids, tensor<1000x64xbf16> -> !x
    %x1 = transformer.repeat 3 layers "layers" from 0 (%x = %x0) : !x {
      %y = func.call @layer(%x) : (!x) -> !x
      transformer.yield %y : !x
    }
    %last = transformer.last_token %x1 : !x -> !last
    %logits = transformer.logits %last, %embed : !last, tensor<1000x64xbf16> -> !logits
    return %logits : !logits
  }
}
