// RUN: autopar-opt %s --autopar-bind-workload | FileCheck %s --check-prefix=KEEP
// RUN: autopar-opt %s --autopar-bind-workload="batch=4 encoder-tokens=288" | FileCheck %s --check-prefix=SOURCE
// RUN: autopar-opt %s --autopar-bind-workload="encoder-tokens=0 cross-tokens=0" | FileCheck %s --check-prefix=TEXT
// RUN: autopar-opt %s --autopar-bind-workload="phase=decode" | FileCheck %s --check-prefix=DECODE
// RUN: autopar-opt %s --autopar-bind-workload="phase=decode encoder-tokens=7 cross-tokens=8" | FileCheck %s --check-prefix=BOTH
// RUN: autopar-opt %s --autopar-bind-workload="phase=decode" | autopar-opt --autopar-bind-workload="phase=prefill encoder-tokens=9" \
// RUN:   | FileCheck %s --check-prefix=BACK
// RUN: not autopar-opt %s --autopar-bind-workload="encoder-tokens=-2" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not autopar-opt %s --autopar-bind-workload="cross-tokens=1099511627777" 2>&1 | FileCheck %s --check-prefix=HUGE

// KEEP: (phase = prefill, batch = 1, query = 640, context = 640, encoder_tokens = 576, cross_tokens = 100)
// SOURCE: (phase = prefill, batch = 4, query = 640, context = 640, encoder_tokens = 288, cross_tokens = 100)
// TEXT: (phase = prefill, batch = 1, query = 640, context = 640)
// What a decode step sees was encoded before.
// DECODE: (phase = decode, batch = 1, query = 1, context = 640, cross_tokens = 100)
// BOTH: (phase = decode, batch = 1, query = 1, context = 640, encoder_tokens = 7, cross_tokens = 8)
// BACK: (phase = prefill, batch = 1, query = 640, context = 640, encoder_tokens = 9, cross_tokens = 100)
// NEGATIVE: error: encoder-tokens = -2: expected 0 to 1099511627776
// HUGE: error: cross-tokens = 1099511627777: expected 0 to 1099511627776
transformer.workload(phase = prefill, batch = 1, query = 640, context = 640, encoder_tokens = 576, cross_tokens = 100)
