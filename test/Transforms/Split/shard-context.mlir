// Ring attention: tokens are split everywhere, and the parts of the cache go round.

// RUN: %roundtrip %S/../Inputs/layer.mlir --autopar-shard-context --autopar-insert-collectives | FileCheck %s
// CHECK: func.func private @layer(%{{.*}}: !bqcp_64_bf) -> !bqcp_64_bf
// CHECK: %[[CACHE:.*]] = transformer.kv_cache : !bccp_2_32_bf
// CHECK-NEXT: %[[SEEN:.*]] = parallel.ring %[[CACHE]] dim 1 over [cp] : !bccp_2_32_bf -> !bccp_ring_2_32_bf
// CHECK-NEXT: transformer.attention {{.*}} cache(%[[SEEN]])
// CHECK-NOT: parallel.{{[a-z]}}
// CHECK: func.func @model(%{{.*}}: !bqcp_64_bf)

// Ulysses: inside attention heads are split instead, inside of the split of
// tensor parallelism, and back.

// RUN: %roundtrip %S/../Inputs/layer.mlir --autopar-shard-tensor --autopar-shard-context=kind=all_to_all --autopar-insert-collectives | FileCheck %s --check-prefix=HEADS
// HEADS: transformer.kv_cache : !bc_2tpcp_cap_32_bf
// HEADS-COUNT-3: parallel.all_to_all {{.*}} dim 1 to 2 over [cp]
// HEADS-NEXT: transformer.attention {{.*}} : !bq_8tpcp_16_bf, 
// HEADS-NEXT: parallel.all_to_all {{.*}} dim 2 to 1 over [cp] : !bq_8tpcp_16_bf -> !bqcp_8tp_16_bf

// RUN: not autopar-opt %S/../Inputs/layer.mlir --autopar-shard-context=kind=star 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: kind = star, expected ring, all_to_all or all_gather
