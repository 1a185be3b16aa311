// Between row and column products tokens are split: a reduce_scatter and an
// all_gather take the place of each all_reduce.

// RUN: %roundtrip %S/../Inputs/layer.mlir --autopar-shard-tensor --autopar-shard-sequence --autopar-insert-collectives > %t.mlir
// RUN: FileCheck %s --implicit-check-not=all_reduce < %t.mlir
// CHECK: func.func private @layer(%{{.*}}: !bqtp_64_bf) -> !bqtp_64_bf
// CHECK: transformer.rms_norm {{.*}} : !bqtp_64_bf
// CHECK-NEXT: parallel.all_gather {{.*}} dim 1 over [tp] : !bqtp_64_bf -> !bq_64_bf
// CHECK: %[[O:.*]] = transformer.linear {{.*}} -> !bq_64_sum_tp
// CHECK-NEXT: parallel.reduce_scatter %[[O]] dim 1 over [tp] : !bq_64_sum_tp -> !bqtp_64_bf
// CHECK-NEXT: transformer.add {{.*}} : !bqtp_64_bf
// CHECK-NEXT: parallel.all_gather
// CHECK: parallel.reduce_scatter

// The model's own arguments and results stay as they were.

// CHECK: func.func @model(%{{.*}}: !bq_64_bf) -> !bq_64_bf
// CHECK-NEXT: parallel.all_slice %{{.*}} dim 1 over [tp]
// CHECK-NEXT: transformer.repeat 2 layers {{.*}} : !bqtp_64_bf
// CHECK: parallel.all_gather %{{.*}} dim 1 over [tp]

// Passes compose in any order.

// RUN: autopar-opt %S/../Inputs/layer.mlir --autopar-shard-sequence --autopar-shard-tensor --autopar-insert-collectives | diff %t.mlir -
// RUN: autopar-opt %t.mlir --autopar-shard-data --autopar-insert-collectives > %t.after.mlir
// RUN: autopar-opt %S/../Inputs/layer.mlir --autopar-shard-data --autopar-shard-tensor --autopar-shard-sequence --autopar-insert-collectives | diff %t.after.mlir -
