// What context parallelism does about the keys of a step that trains, and about
// their gradients.

// Keys and values are gathered, and sums of their gradients are scattered.

// RUN: sed 's/dp = 2, tp = 4/cp = 2/' %S/../Inputs/trained.mlir | autopar-opt --autopar-prepare-training --autopar-build-backward --autopar-shard-context --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s
// CHECK: parallel.strategy context(all_gather)
// CHECK-LABEL: func.func private @decoder(
// CHECK-COUNT-2: parallel.all_gather %{{.*}} dim 1 over [cp]
// CHECK-NEXT: transformer.attention
// CHECK-LABEL: func.func private @decoder_backward
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = training.attention_backward
// CHECK: parallel.reduce_scatter %[[DV]] dim 1 over [cp]
// CHECK: parallel.reduce_scatter %[[DK]] dim 1 over [cp]

// They go round, for each of the two attentions, and so do their gradients.

// RUN: sed 's/dp = 2, tp = 4/cp = 2/' %S/../Inputs/trained.mlir | autopar-opt --autopar-prepare-training --autopar-build-backward --autopar-shard-context=kind=ring --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s --check-prefix=RING
// RING: parallel.strategy context(ring)
// RING-LABEL: func.func private @decoder(
// RING-COUNT-2: parallel.ring %{{.*}} dim 1 over [cp]
// RING-NOT: parallel.ring
// RING-LABEL: func.func private @decoder_backward
// RING-COUNT-2: parallel.ring %{{.*}} dim 1 over [cp]
// RING-NOT: parallel.ring
// RING: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = training.attention_backward
// RING-SAME: query by cp ring
// RING-DAG: parallel.ring_reduce %[[DK]] dim 1 over [cp]
// RING-DAG: parallel.ring_reduce %[[DV]] dim 1 over [cp]

// Heads are exchanged for tokens, which is kept, and their gradients back.

// RUN: sed 's/dp = 2, tp = 4/cp = 2/' %S/../Inputs/trained.mlir | autopar-opt --autopar-prepare-training --autopar-build-backward --autopar-shard-context=kind=all_to_all --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s --check-prefix=HEADS
// HEADS: parallel.strategy context(all_to_all)
// HEADS-LABEL: func.func private @decoder(
// HEADS-COUNT-3: parallel.all_to_all %{{.*}} dim 1 to 2 over [cp]
// HEADS: transformer.attention %
// HEADS: parallel.all_to_all %{{.*}} dim 2 to 1 over [cp]
// HEADS-LABEL: func.func private @decoder_backward
// HEADS: parallel.all_to_all %{{.*}} dim 1 to 2 over [cp]
// HEADS-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = training.attention_backward
// HEADS-DAG: parallel.all_to_all %[[DQ]] dim 2 to 1 over [cp]
// HEADS-DAG: parallel.all_to_all %[[DK]] dim 2 to 1 over [cp]
// HEADS-DAG: parallel.all_to_all %[[DV]] dim 2 to 1 over [cp]

// A cache would be whole on every device.

// RUN: not autopar-opt %S/../Inputs/layer.mlir --autopar-shard-context=kind=all_gather 2>&1 | FileCheck %s --check-prefix=CACHE
// CACHE: error: 'transformer.kv_cache' op would be whole on every device: all_gather context parallelism gathers keys and values, and a cache keeps them
// CACHE: note: give --cp-kind=ring or --cp-kind=all-to-all, or train (--phase=train), which has no cache
