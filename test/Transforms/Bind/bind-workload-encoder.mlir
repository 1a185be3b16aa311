// RUN: autopar-opt %s --autopar-bind-workload | FileCheck %s --check-prefix=KEEP
// RUN: autopar-opt %s --autopar-bind-workload="batch=4 source=288" | FileCheck %s --check-prefix=SOURCE
// RUN: autopar-opt %s --autopar-bind-workload="source=0 memory=0" | FileCheck %s --check-prefix=TEXT
// RUN: autopar-opt %s --autopar-bind-workload="phase=decode" | FileCheck %s --check-prefix=DECODE
// RUN: autopar-opt %s --autopar-bind-workload="phase=decode source=7 memory=8" | FileCheck %s --check-prefix=BOTH
// RUN: autopar-opt %s --autopar-bind-workload="phase=decode" | autopar-opt --autopar-bind-workload="phase=prefill source=9" \
// RUN:   | FileCheck %s --check-prefix=BACK
// RUN: not autopar-opt %s --autopar-bind-workload="source=-2" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not autopar-opt %s --autopar-bind-workload="memory=1099511627777" 2>&1 | FileCheck %s --check-prefix=HUGE

// KEEP: (phase = prefill, batch = 1, query = 640, context = 640, source = 576, memory = 100)
// SOURCE: (phase = prefill, batch = 4, query = 640, context = 640, source = 288, memory = 100)
// TEXT: (phase = prefill, batch = 1, query = 640, context = 640)
// What a decode step sees was encoded before.
// DECODE: (phase = decode, batch = 1, query = 1, context = 640, memory = 100)
// BOTH: (phase = decode, batch = 1, query = 1, context = 640, source = 7, memory = 8)
// BACK: (phase = prefill, batch = 1, query = 640, context = 640, source = 9, memory = 100)
// NEGATIVE: error: source = -2: expected 0 to 1099511627776
// HUGE: error: memory = 1099511627777: expected 0 to 1099511627776
transformer.workload @w(phase = prefill, batch = 1, query = 640, context = 640, source = 576, memory = 100)
