// The cache is split by tokens. Queries of all heads see each part; the partial
// results, weighted by normalisers, are summed and split by heads again.

// RUN: %roundtrip %S/../Inputs/layer.mlir --autopar-shard-decode-context=axes=tp --autopar-shard-tensor=key-axes=none --autopar-insert-collectives > %t.mlir
// RUN: FileCheck %s < %t.mlir
// CHECK: transformer.weight "q" : !w64_8tp_16_bf
// CHECK: transformer.weight "k" : tensor<64x2x16xbf16>
// CHECK: transformer.kv_cache : !bctp_2_32_bf
// CHECK-NEXT: %[[Q:.*]] = parallel.all_gather {{.*}} dim 2 over [tp] : !bq_8tp_16_bf -> !bq_8_16_bf
// CHECK-NEXT: %[[A:.*]] = transformer.attention %[[Q]]{{.*}} -> !bq_8_16_sum_tp
// CHECK-NEXT: parallel.reduce_scatter %[[A]] dim 2 over [tp] : !bq_8_16_sum_tp -> !bq_8tp_16_bf

// The normalisers: a float per token and head, of every device.

// RUN: autopar-opt %t.mlir --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=COST
// COST: "collectives": [
// COST: "name": "layer/attn
// COST: "kind": "all_gather"
// COST: "type": "fp32"
