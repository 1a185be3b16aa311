// The layers that have experts, by the numbers of their repeat.

// RUN: %roundtrip %S/../Inputs/expert-layers.mlir --pass-pipeline='builtin.module(autopar-shard-data{axes=dp},autopar-shard-experts{axes=dp redundant=2},autopar-insert-collectives,autopar-place-experts{axes=dp policy=balanced load=%S/../Inputs/expert-loads.csv})' > %t.mlir
// RUN: FileCheck %s < %t.mlir
// CHECK: !w4dp_pad6_64_64_bf = tensor<4x64x64xbf16, #parallel.sharding<[_ by dp pad 6, _, _]>>
// CHECK: parallel.expert_placement over [dp] policy balanced layers [1, 3, 5]
// CHECK-SAME: slots dense_resource<expert_slots> : tensor<3x6xi32>
// CHECK-SAME: loads dense_resource<expert_loads> : tensor<3x4xf64>
// CHECK-NOT: node_sends
// CHECK-SAME: redundant = 2

// Rows and what is sent follow the tables; the program has no sizes.

// RUN: autopar-opt %t.mlir --autopar-print-cost-program -o /dev/null 2> %t.json
// RUN: FileCheck %s --check-prefix=PROGRAM < %t.json
// PROGRAM: "rows": "[batch*query*2 by dp any shared by the experts of moe]"
// PROGRAM: "top_k": 2
// PROGRAM-NEXT: "rows": "[batch*query*2]"
// PROGRAM: "shared_by": "moe"
// PROGRAM: "placement": {
// PROGRAM: "slots": 6
// PROGRAM: "layer": 5,
// PROGRAM-NEXT: "kind": "moe"
// RUN: autopar-opt %t.mlir --autopar-bind-mesh=axes=dp=3 --autopar-print-cost-program -o /dev/null 2>&1 | diff %t.json -

// A report computes everything from the tables, and from the sizes of the mesh.

// RUN: autopar-opt %t.mlir --autopar-estimate -o /dev/null | FileCheck %s --check-prefix=REPORT
// REPORT: 3 routed experts of a layer on each
// REPORT: Expert placement (balanced)
// REPORT-NEXT: 4 experts on 2 ranks of 3 slots, 1 node
// REPORT-NEXT: most loaded rank / mean: block 1.28, now 1.000 over 3 layers, worst 1.000
// REPORT: expert loads: {{.*}}expert-loads.csv
// RUN: autopar-opt %t.mlir --autopar-bind-mesh=axes=dp=3 --autopar-estimate -o /dev/null | FileCheck %s --check-prefix=THREE
// THREE: 4 experts on 3 ranks of 2 slots, 1 node

// Tables by hand: 8 of 10, half, and 5 of 6 on one of two devices: 1.6, 1 and 1.67 times the mean.

// RUN: autopar-opt %S/../Inputs/expert-layers.mlir --pass-pipeline='builtin.module(autopar-shard-data{axes=dp},autopar-shard-experts{axes=dp},autopar-insert-collectives)' > %t.plain.mlir
// RUN: sed '/^module/d; /^}$/d' %t.plain.mlir > %t.body.mlir
// RUN: cat %t.body.mlir %S/../Inputs/expert-tables.mlir > %t.hand.mlir
// RUN: autopar-opt %t.hand.mlir --autopar-estimate="format=json explain=true" -o /dev/null | FileCheck %s --check-prefix=HAND
// HAND: "expert_placement": {}
// HAND: "placement": {
// HAND: "mean_imbalance": 1.422222222222222
// HAND: "worst_imbalance": 1.6666666666666667
// HAND: "name": "expert loads"
// HAND-NEXT: "value": "tables of the module"
// HAND: "collectives/moe/exchanged": "ceil((4 by dp(2) any) x 2 x 64 x 64 x 1.422223 (most loaded device)) x 2 B"

// Sends to other nodes, where the devices fill them.

// RUN: autopar-opt %S/../Inputs/expert-layers.mlir --pass-pipeline='builtin.module(autopar-bind-mesh{axes=dp=2,tp=8,ep=dp},autopar-place-experts{axes=dp policy=balanced trace=%S/../Inputs/expert-trace.jsonl groups-in-node})' | FileCheck %s --check-prefix=TRACE
// TRACE: node_sends dense_resource<expert_sends> : tensor<3x3xf64> {groups = 2 : i64, groups_in_node, trace_from =

// A word without loads writes no tables, and a second run replaces the first.

// RUN: autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp load=even policy=balanced' --autopar-place-experts='axes=dp policy=round_robin' | FileCheck %s --check-prefix=WORD
// WORD: parallel.expert_placement over [dp] policy round_robin{{$}}
// WORD-NOT: parallel.expert_placement
