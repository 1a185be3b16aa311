// Bad profiles say where, and what would do.

// RUN: echo '{"schema": "autopar.load/1", "layers": [[1, 2, 3, 4], [1, 2, -3, 4], [1, 2, 3, 4]]}' > %t.negative.json
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=balanced load=%t.negative.json' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: {{.*}}negative.json: /layers/1/2: expected {{.*}}, found -3
// RUN: echo '[[1, 2, 3, 4], [1, 2, NaN, 4], [1, 2, 3, 4]]' > %t.nan.json
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=balanced load=%t.nan.json' 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: error: {{.*}}nan.json: /1/2: expected
// RUN: echo '[[1, 2, 3, 4], [1, 2, 3], [1, 2, 3, 4]]' > %t.short.json
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=balanced load=%t.short.json' 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: {{.*}}short.json: /1: expected 4 experts, found 3
// RUN: echo '[[1, 2, 3, 4], [1, 2, 3, 4]]' > %t.rows.json
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=balanced load=%t.rows.json' 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: {{.*}}rows.json: expected 3 rows, found 2
// ROWS-NEXT: note: 3 layers from 1 to 5 have experts
// RUN: echo '{"schema": "autopar.load/1", "layers": {"1": [1, 2, 3, 4], "5": [1, 2, 3, 4]}}' > %t.layer.json
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=balanced load=%t.layer.json' 2>&1 | FileCheck %s --check-prefix=LAYER
// LAYER: error: {{.*}}layer.json: /layers: {{.*}}layer 3
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=balanced load=zipf:9' 2>&1 | FileCheck %s --check-prefix=SKEW
// SKEW: error: loads "zipf:9": skew: expected 0 to 4, found 9

// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=best' 2>&1 | FileCheck %s --check-prefix=POLICY
// POLICY: error: unknown policy 'best', expected block, round_robin, balanced
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=balanced' 2>&1 | FileCheck %s --check-prefix=LOADS
// LOADS: error: experts are balanced by their loads: give load or trace
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp groups-in-node' 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: error: policy block does not keep groups of experts in nodes
// RUN: not autopar-opt %S/../Inputs/layer.mlir --autopar-place-experts=axes=dp 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the model has no routed experts to place
// RUN: not autopar-opt %S/../Inputs/experts.mlir --autopar-place-experts=axes=dpi 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: {{.*}}has experts outside of the layers of the model: they have no number
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-bind-mesh=axes=dp=3 --autopar-place-experts='axes=dp policy=balanced load=even' 2>&1 | FileCheck %s --check-prefix=DEVICES
// DEVICES: error: 4 slots of experts do not lie on 3 devices
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-bind-mesh=axes=dp=? --autopar-place-experts='axes=dp policy=balanced load=even' 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: experts are placed on devices: axis 'dp' of the mesh, or one inside of it, has no size
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-bind-mesh=axes=tp=3 --autopar-place-experts='axes=dp policy=balanced trace=%S/../Inputs/expert-trace.jsonl' 2>&1 | FileCheck %s --check-prefix=NODES
// NODES: error: the 2 devices that share experts do not fill nodes of 8 one after the other
// RUN: not autopar-opt %S/../Inputs/expert-layers.mlir --autopar-shard-experts='axes=dp redundant=3' 2>&1 | FileCheck %s --check-prefix=EVEN
// EVEN: error: 4 experts and 3 redundant ones do not lie evenly on 2 devices
// EVEN: note: numbers that work: 0, 2, 4

// Tables that are not about the module's layers or its slots.

// RUN: autopar-opt %S/../Inputs/expert-layers.mlir --autopar-place-experts='axes=dp policy=balanced load=even' > %t.mlir
// RUN: sed 's/layers . 1, 3, 5./layers [1, 3, 4]/; s/layers .1, 3, 5./layers [1, 3, 4]/' %t.mlir | not autopar-opt --autopar-estimate 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'parallel.expert_placement' op has 3 layers, but not those with experts
// OTHER: note: 3 layers from 1 to 5 have experts
// RUN: autopar-opt %t.mlir --autopar-shard-experts='axes=dp redundant=2' --autopar-insert-collectives | not autopar-opt --autopar-estimate 2>&1 | FileCheck %s --check-prefix=SLOTS
// SLOTS: error: 'parallel.expert_placement' op has 4 slots of 4 experts, but the weights have 6 of 4
