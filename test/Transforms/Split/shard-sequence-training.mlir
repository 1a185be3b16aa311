// Gradients of norms are sums over the tokens that a device has: nothing is
// gathered for them, and replicas of the weight add up over tp, too.

// RUN: %roundtrip %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-shard-tensor --autopar-shard-sequence --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s
// CHECK-LABEL: func.func private @decoder_backward
// CHECK: %[[PART:.*]] = parallel.reduce_scatter %{{.*}} dim 1 over [tp]
// CHECK: %[[PART:.*]] = parallel.reduce_scatter %{{.*}} dim 1 over [tp]
// CHECK-NEXT: %[[DW:.*]] = training.norm_gradient %[[PART]], %x of %norm
// CHECK-SAME: -> tensor<64xf32, #parallel.sharding<[_] partial [dp, tp]>>
// CHECK-NEXT: training.accumulate %[[DW]] of %norm
// CHECK-NEXT: training.norm_backward %[[PART]], %x, %norm
// CHECK-LABEL: func.func private @decoder_update
// CHECK: training.gradient %{{.*}} -> tensor<64xf32, #parallel.sharding<[_] partial [dp, tp]>>
// CHECK-NEXT: parallel.all_reduce %{{.*}} over [dp, tp]

// So are those of values, whose gradients are sums over cp.

// RUN: sed 's/dp = 2/cp = 2/' %S/../Inputs/trained.mlir | autopar-opt --autopar-prepare-training --autopar-build-backward --autopar-shard-context --autopar-shard-tensor --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s --check-prefix=CONTEXT
// CONTEXT-LABEL: func.func private @decoder_backward
// CONTEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = training.attention_backward
// CONTEXT-NEXT: %[[PART:.*]] = parallel.reduce_scatter %[[DV]] dim 1 over [cp]
// CONTEXT-NEXT: training.product_gradient weight %{{.*}}, %[[PART]] of %v_proj
// CONTEXT-NEXT: training.accumulate

// Each device multiplies its own tokens for the gradient of what the product
// had, too, where the gradient of values could stay a sum and be scattered
// behind it: that would multiply all tokens on all devices.

// CONTEXT: training.product_gradient input %[[PART]], %v_proj
