// Of each weight a replica updates a part: gradients are scattered, what the
// optimizer keeps is split, and new elements are gathered.

// RUN: %roundtrip %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-shard-tensor --autopar-shard-optimizer --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s
// CHECK: parallel.strategy zero(1)
// CHECK-LABEL: func.func private @decoder_backward
// CHECK: transformer.accumulate %{{.*}} : tensor<256x64xf32, #parallel.sharding<[_ by tp, _] partial [dp]>>
// CHECK-LABEL: func.func private @decoder_update
// CHECK: %[[W:.*]] = transformer.weight "q_proj.weight"
// CHECK: %[[G:.*]] = transformer.gradient %[[W]]
// CHECK: %[[PART:.*]] = parallel.all_slice %[[W]] dim 0 over [dp]
// CHECK-NEXT: %[[SUM:.*]] = parallel.reduce_scatter %[[G]] dim 0 over [dp]
// CHECK-NEXT: %[[NEW:.*]] = transformer.update %[[PART]], %[[SUM]]
// CHECK-NEXT: %[[GATHERED:.*]] = parallel.all_gather %[[NEW]] dim 0 over [dp]
// CHECK-NEXT: transformer.assign %[[GATHERED]] to %[[W]]

// Without it replicas sum gradients and update all of a weight.

// RUN: autopar-opt %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-insert-collectives | FileCheck %s --check-prefix=ALL
// ALL-LABEL: func.func private @decoder_update
// ALL: %[[G:.*]] = transformer.gradient
// ALL-NEXT: %[[SUM:.*]] = parallel.all_reduce %[[G]] over [dp]
// ALL-NEXT: %[[NEW:.*]] = transformer.update %{{.*}}, %[[SUM]]
// ALL-NEXT: transformer.assign %[[NEW]]

// Parameters that are split have gradients that are: they are scattered as they
// are made, and updates need nothing of others.

// RUN: autopar-opt %S/../Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward --autopar-shard-data --autopar-shard-parameters --autopar-insert-collectives | FileCheck %s --check-prefix=FSDP
// FSDP-LABEL: func.func private @decoder_backward
// FSDP: %[[WHOLE:.*]] = parallel.all_gather %down_proj
// FSDP: %[[DW:.*]] = transformer.product_gradient %{{.*}}, %{{.*}} of %[[WHOLE]]
// FSDP-NEXT: %[[OWN:.*]] = parallel.reduce_scatter %[[DW]] dim 0 over [dp]
// FSDP-NEXT: transformer.accumulate %[[OWN]] of %[[WHOLE]]
// FSDP-LABEL: func.func private @decoder_update
// FSDP-NOT: parallel.
// FSDP: return

// RUN: autopar-opt %S/../Inputs/layer.mlir --autopar-shard-optimizer | FileCheck %s --check-prefix=NONE
// NONE-NOT: parallel.strategy
