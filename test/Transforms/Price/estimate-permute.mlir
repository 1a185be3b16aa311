// RUN: autopar-opt %s -o /dev/null --autopar-estimate="format=json explain=true" | FileCheck %s
// RUN: autopar-opt %s -o /dev/null --autopar-print-cost-program 2>&1 | FileCheck %s --check-prefix=PROGRAM

// Each of eight devices sends its block of 4096 * 16 * 2 / 8 bytes, at once.
!xy = tensor<4096x16xbf16, #parallel.sharding<[_ by x*y, _]>>
!yx = tensor<4096x16xbf16, #parallel.sharding<[_ by y*x, _]>>

// CHECK: "kind": "permute"
// CHECK: "group_size": 8
// CHECK: "bytes": 16384
// CHECK: "wire_bytes_per_device": 16384
// CHECK-LABEL: "communication.collectives[0].time_us": {
// CHECK-NEXT: "formula": "latency + wire_bytes_per_device / (bandwidth * efficiency) * 1e6"
// CHECK-LABEL: "communication.collectives[0].wire_bytes_per_device": {
// CHECK-NEXT: "formula": "the input"

// PROGRAM: "name": "main/permuted"
// PROGRAM-NEXT: "kind": "permute"
// PROGRAM: "shape": "[4096 by x*y, 16]"
module @main {
  transformer.workload(phase = prefill, batch = 1, query = 1, context = 1)
  parallel.mesh(x = 2, y = 4)
  func.func @main(%a: !xy) -> !yx {
    %b = parallel.permute %a over [x, y] : !xy -> !yx
    return %b : !yx
  }
}
