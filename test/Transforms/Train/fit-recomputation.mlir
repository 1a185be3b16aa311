// What is made again is the least that fits; what did not is said.

// RUN: autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-bind-target{hardware=h100-sxm-8},autopar-prepare-training,autopar-fit-recomputation{pipeline=builtin.module(autopar-build-backward{recompute=auto},autopar-stage-pipeline)})' | FileCheck %s
// CHECK: training.microbatches({{[0-9]+}}) schedule(one_f_one_b) assumed [microbatches, schedule]
// CHECK: training.iteration {{.*}} recompute(none){{$}}

// RUN: autopar-translate --import-hf llama-3.1-8b -o %t.mlir
// RUN: autopar-opt --phase=train --batch=8 --context=4096 --shard-dp=8 --fsdp --hardware=h100-sxm-8 --runtime=fsdp2 --set=chips.h100-sxm.memory_usable=40e9 --recompute=auto %t.mlir -o %t.fit.mlir
// RUN: FileCheck %s --check-prefix=FIT < %t.fit.mlir
// FIT: training.iteration {{.*}} recompute(norms + mlp_activation) tried [none, norms, full first 7] missing [{{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}]
// RUN: autopar-opt --estimate --set=chips.h100-sxm.memory_usable=40e9 %t.fit.mlir -o /dev/null | FileCheck %s --check-prefix=SAID
// SAID: fits yes
// SAID: recompute norms+mlp_activation, {{.*}} left; none is short by {{.*}}, norms is short by
// RUN: autopar-opt --estimate=json --set=chips.h100-sxm.memory_usable=40e9 %t.fit.mlir -o /dev/null | FileCheck %s --check-prefix=JSON
// JSON: "recompute": "norms+mlp_activation"
// JSON: "tried": [
// JSON-NEXT: {
// JSON-NEXT: "recompute": "none",
// JSON-NEXT: "missing_bytes": {{[0-9]+}}

// Where nothing fits, all is made again.

// RUN: autopar-opt --phase=train --batch=8 --context=4096 --hardware=h100-sxm-8 --runtime=fsdp2 --recompute=auto %t.mlir --estimate -o /dev/null | FileCheck %s --check-prefix=NEVER
// NEVER: fits NO
// NEVER: recompute full, short by

// RUN: not autopar-opt %S/../Inputs/trained.mlir --pass-pipeline='builtin.module(autopar-prepare-training,autopar-fit-recomputation{pipeline=builtin.module(nothing)})' 2>&1 | FileCheck %s --check-prefix=PARSE
// PARSE: error: cannot parse the pipeline
