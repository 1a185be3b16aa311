// RUN: autopar-opt %s --pass-pipeline='builtin.module(autopar-run-on-module{module=decode pipeline=builtin.module(autopar-bind-workload{phase=decode batch=8},autopar-bind-mesh{axes=tp=4})})' | FileCheck %s
// RUN: autopar-opt %s --pass-pipeline='builtin.module(builtin.module(autopar-bind-mesh{axes=tp=4}))' | FileCheck %s --check-prefix=ALL

// CHECK: module @prefill
// CHECK-NEXT: phase = prefill
// CHECK-NOT: parallel.mesh
// CHECK: module @decode
// CHECK-NEXT: phase = decode, batch = 8
// CHECK-NEXT: parallel.mesh(tp = 4)

// All modules inside at once:
// ALL-COUNT-2: parallel.mesh(tp = 4)

// Dialects that only the pipeline inside needs are loaded.
// RUN: echo 'module { module @a { } }' | autopar-opt --pass-pipeline='builtin.module(autopar-run-on-module{module=a pipeline=builtin.module(autopar-bind-mesh{axes=tp=4})})' | FileCheck %s --check-prefix=LOADED
// LOADED: parallel.mesh

// Errors name the module.
// RUN: not autopar-opt %s --autopar-run-on-module='module=decode pipeline=builtin.module(autopar-bind-mesh{axes=tp})' 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: error: mesh axis 'tp' has no '=size'
// INSIDE: note: in module @decode
// RUN: not autopar-opt %s --autopar-run-on-module='module=other pipeline=builtin.module(cse)' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: has no module @other inside
// RUN: not autopar-opt %s --autopar-run-on-module='module=decode pipeline=builtin.module(no-such-pass)' 2>&1 | FileCheck %s --check-prefix=PARSE
// PARSE: error: cannot parse the pipeline for @decode: {{.*}}'no-such-pass' does not refer to a registered pass

module @tiny {
  module @prefill {
    transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)
  }
  module @decode {
    transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)
  }
}
