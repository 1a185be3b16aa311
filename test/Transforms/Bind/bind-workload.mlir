// RUN: autopar-opt %s --autopar-bind-workload | FileCheck %s --check-prefix=KEEP
// RUN: autopar-opt %s --autopar-bind-workload="batch=4" | FileCheck %s --check-prefix=BATCH
// RUN: autopar-opt %s --autopar-bind-workload="prompt=512" | FileCheck %s --check-prefix=PROMPT
// RUN: autopar-opt %s --autopar-bind-workload="prompt=512 context=4096" \
// RUN:   | FileCheck %s --check-prefix=CHUNK
// RUN: autopar-opt %s --autopar-bind-workload="context=8192" | FileCheck %s --check-prefix=CONTEXT
// RUN: autopar-opt %s --autopar-bind-workload="phase=decode batch=8 context=4096" \
// RUN:   --mlir-print-local-scope | FileCheck %s --check-prefix=DECODE
// RUN: autopar-opt %s --autopar-bind-workload="phase=decode" | FileCheck %s --check-prefix=PHASE

// What is not given stays as it was.
// KEEP: transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)
// BATCH: transformer.workload(phase = prefill, batch = 4, query = 2048, context = 2048)
// A prompt is all there is, unless a context is given too.
// PROMPT: transformer.workload(phase = prefill, batch = 1, query = 512, context = 512)
// CHUNK: transformer.workload(phase = prefill, batch = 1, query = 512, context = 4096)
// CONTEXT: transformer.workload(phase = prefill, batch = 1, query = 2048, context = 8192)
// A decode step has one new token.
// DECODE: transformer.workload(phase = decode, batch = 8, query = 1, context = 4096)
// PHASE: transformer.workload(phase = decode, batch = 1, query = 1, context = 2048)
transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)

// No type changes.
// DECODE-NEXT: func.func private @tokens(tensor<?x?xi32, #transformer.dims<[batch, query]>>)
func.func private @tokens(tensor<?x?xi32, #transformer.dims<[batch, query]>>)
