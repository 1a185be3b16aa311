// FSDP: each weight is split over the replicas in its largest dimension that is
// whole, and gathered before its first use.

// RUN: %roundtrip %S/../Inputs/layer.mlir --autopar-shard-tensor --autopar-shard-data --autopar-shard-parameters --autopar-insert-collectives --mlir-print-local-scope | FileCheck %s
// CHECK: %[[O:.*]] = transformer.weight "o" : tensor<8x16x64xbf16, #parallel.sharding<[_ by tp, _, _ by dp any]>>
// CHECK: %[[NORM:.*]] = transformer.weight "norm" : tensor<64xbf16, #parallel.sharding<[_ by dp any]>>
// CHECK-NEXT: %[[WHOLE:.*]] = parallel.all_gather %[[NORM]] dim 0 over [dp]
// CHECK-NEXT: transformer.rms_norm %{{.*}}, %[[WHOLE]]
// CHECK: transformer.attention
// CHECK-NEXT: parallel.all_gather %[[O]] dim 2 over [dp] : {{.*}} -> tensor<8x16x64xbf16, #parallel.sharding<[_ by tp, _, _]>>
// CHECK-NEXT: transformer.linear

// Weights of experts, over the copies that there are.

// RUN: autopar-opt %S/../Inputs/experts.mlir --pass-pipeline='builtin.module(autopar-shard-experts{axes=tp},autopar-shard-parameters{axes=dpo,dpi expert-axes=dpi})' --mlir-print-local-scope | FileCheck %s --check-prefix=EXPERTS
// EXPERTS: transformer.weight "gate" : tensor<64x8xbf16, #parallel.sharding<[_ by dpo*dpi any, _]>>
// EXPERTS: transformer.weight "up" : tensor<8x64x32xbf16, #parallel.sharding<[_ by tp, _ by dpi any, _]>>
