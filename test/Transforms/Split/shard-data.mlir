// Sequences are split in all that crosses a function, a loop or a step; weights
// are not.

// RUN: %roundtrip %S/../Inputs/layer.mlir --autopar-shard-data | FileCheck %s --implicit-check-not=parallel.reshard
// CHECK: func.func private @layer(%{{.*}}: !bdp_q_64_bf) -> !bdp_q_64_bf
// CHECK: transformer.weight "q" : tensor<64x8x16xbf16>
// CHECK: transformer.kv_cache : !bdp_c_2_32_bf
// CHECK: transformer.attention {{.*}} : !bdp_q_8_16_bf, 
// CHECK: func.func @model(%{{.*}}: !bdp_q_64_bf) -> !bdp_q_64_bf
// CHECK: transformer.repeat 2 layers {{.*}} : !bdp_q_64_bf

// The axes of a dimension are in the order of the mesh, whatever that of the
// passes; what is split so already stays.

// RUN: autopar-opt %S/../Inputs/layer.mlir --autopar-shard-data=axes=cp --autopar-shard-data --autopar-shard-data | FileCheck %s --check-prefix=BOTH
// BOTH: transformer.kv_cache : !bdpcp_c_2_32_bf

// Attention data parallelism: sequences are split over axes that weights use
// elsewhere, and gathered before those.

// RUN: autopar-opt %S/../Inputs/layer.mlir --autopar-shard-tensor=attention-axes=none --autopar-shard-data=axes=tp --autopar-insert-collectives | FileCheck %s --check-prefix=ATTENTION
// ATTENTION: transformer.weight "q" : tensor<64x8x16xbf16>
// ATTENTION: transformer.weight "gate" : !w64_256tp_bf
// ATTENTION: transformer.kv_cache : !btp_c_2_32_bf
// ATTENTION: %[[ALL:.*]] = parallel.all_gather {{.*}} dim 0 over [tp] : !btp_q_64_bf -> !bq_64_bf
// ATTENTION-NEXT: transformer.linear %[[ALL]]
// ATTENTION: parallel.reduce_scatter {{.*}} dim 0 over [tp] : !bq_64_sum_tp -> !btp_q_64_bf

// RUN: not autopar-opt %S/../Inputs/layer.mlir --autopar-shard-data=axes=pods 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: the module has no mesh axis 'pods' to split over
// AXIS: note: declare it: parallel.mesh(pods = ?), or give --shard-dp=N
