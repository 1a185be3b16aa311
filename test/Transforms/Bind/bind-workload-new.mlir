// RUN: autopar-opt %s --autopar-bind-workload="phase=decode batch=8 context=4096" | FileCheck %s

// A module without a workload gets one, at its head.
// CHECK: module
// CHECK-NEXT: transformer.workload(phase = decode, batch = 8, query = 1, context = 4096)
// CHECK-NEXT: func.func private @f
func.func private @f()
