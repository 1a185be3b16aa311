// Tokens that are split go to the devices of their experts and back; over axes
// that do not split them, each device takes its share, and the parts are summed.

// RUN: %roundtrip %S/../Inputs/experts.mlir --pass-pipeline='builtin.module(autopar-shard-data{axes=dpo,dpi},autopar-shard-experts{axes=dpi,tp},autopar-insert-collectives)' > %t.mlir
// RUN: FileCheck %s < %t.mlir
// CHECK-DAG: !bq2dpo_to_dpi_tp_64_bf = tensor<?x64xbf16, #parallel.sharding<[{batch*query*2} by {dpo} of [batch by dpo*dpi, query] grouped [8 by dpi*tp], _]>>
// CHECK: transformer.weight "up" : !w8dpitp_64_32_bf
// CHECK: transformer.dispatch {{.*}} -> !bq2dpodpi_64_bf
// CHECK-NEXT: parallel.all_slice {{.*}} dim experts over [tp]
// CHECK-NEXT: parallel.all_to_all {{.*}} dim 0 to experts over [dpi] : {{.*}} -> !bq2dpo_to_dpi_tp_64_bf
// CHECK-NEXT: transformer.experts
// CHECK: parallel.all_to_all {{.*}} dim experts to 0 over [dpi] : {{.*}} -> !bq2dpodpi_to_tp_64_bf
// CHECK-NEXT: transformer.combine {{.*}} -> !bdpodpi_q_64_sum_tp
// CHECK-NEXT: parallel.all_reduce {{.*}} over [tp]

// In any order; widths of experts over tp beside it.

// RUN: autopar-opt %S/../Inputs/experts.mlir --pass-pipeline='builtin.module(autopar-shard-experts{axes=dpi,tp},autopar-shard-data{axes=dpo,dpi},autopar-insert-collectives)' | diff %t.mlir -
// RUN: autopar-opt %S/../Inputs/experts.mlir --autopar-shard-experts=axes=dpi --autopar-shard-tensor | FileCheck %s --check-prefix=WIDTHS
// WIDTHS: transformer.weight "up" : !w8dpi_64_32tp_bf
// WIDTHS: transformer.weight "down" : !w8dpi_32tp_64_bf

// RUN: not autopar-opt %S/../Inputs/layer.mlir --autopar-shard-experts=axes=dp 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the model has no routed experts to split over dp
