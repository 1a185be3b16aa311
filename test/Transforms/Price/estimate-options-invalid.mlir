// RUN: not autopar-opt %s --autopar-estimate="format=xml" 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not autopar-opt %s --autopar-bind-target="memory-utilization=2" --autopar-estimate 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: not autopar-opt %s --autopar-bind-target="hardware=h1000" --autopar-estimate 2>&1 | FileCheck %s --check-prefix=HARDWARE
// RUN: not autopar-opt %s --autopar-bind-target="runtime=vlm" --autopar-estimate 2>&1 | FileCheck %s --check-prefix=RUNTIME
// RUN: not autopar-opt %s --autopar-bind-target="set=chips" --autopar-estimate 2>&1 | FileCheck %s --check-prefix=SET
// RUN: not autopar-opt %s --autopar-bind-target="set=chips.h200-sxm.memory_bandwidth=1e12" --autopar-estimate 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNUSED
// RUN: not autopar-opt %s --autopar-estimate=output=no/such/folder 2>&1 | FileCheck %s --check-prefix=OUTPUT

// FORMAT: error: unknown report format 'xml', expected text, json, html or xlsx
// SHARE: error: 'parallel.target' op has memory_utilization 2.0, expected a share above 0 and up to 1
// HARDWARE: error: unknown system "h1000"
// RUNTIME: error: unknown runtime "vlm"
// SET: error: override "chips" is not path=value
// UNUSED: error: override "chips.h200-sxm.memory_bandwidth" has no effect
// OUTPUT: error: no/such/folder: cannot write: No such file or directory
module {
  transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
  func.func @model() {
    return
  }
}
