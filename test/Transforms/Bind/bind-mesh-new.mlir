// RUN: autopar-opt %s --autopar-bind-mesh="axes=pp=4,tp=8" | FileCheck %s

// A module without a mesh gets one, after its workload.
// CHECK: transformer.workload
// CHECK-NEXT: parallel.mesh(pp = 4, tp = 8)
// CHECK-NEXT: func.func private @f
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
func.func private @f()
