// RUN: autopar-opt %s --autopar-bind-workload="context=1024" -verify-diagnostics
// RUN: not autopar-opt %s --autopar-bind-workload="phase=decode prompt=4" 2>&1 | FileCheck %s --check-prefix=PROMPT
// RUN: not autopar-opt %s --autopar-bind-workload="phase=training" 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not autopar-opt %s --autopar-bind-workload="batch=-1" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not autopar-opt %s --autopar-bind-workload="context=1099511627777" 2>&1 | FileCheck %s --check-prefix=HUGE

// PROMPT: error: a prompt is given for a decode step, which has one new token: give the context instead
// PHASE: error: unknown phase 'training', expected prefill, decode or train
// BATCH: error: batch = -1: expected 1 to 1099511627776
// HUGE: error: context = 1099511627777: expected 1 to 1099511627776

// expected-error @+1 {{context = 1024 is below the 2048 new tokens, which it counts: give a prompt of at most 1024}}
module {
  transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)
}
