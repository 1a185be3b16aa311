// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s

// Kernels, collectives and residents, with neither sizes nor seconds.
// CHECK: "schema": "autopar.program/1"
// CHECK: "model": "tiny"
module @tiny {
  transformer.workload(phase = prefill, batch = 3, query = 5, context = 7)
  parallel.mesh(tp = 4)
  func.func @model(%x: tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>)
      -> tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>> {
    // CHECK-LABEL: "kernels"
    // CHECK: "name": "model/w_out"
    // CHECK: "op": "linear"
    // CHECK: "kind": "matmul"
    // CHECK: "shape": "[batch, query, 64]"
    // CHECK: "role": "weight"
    // CHECK: "shape": "[64, 32 by tp]"
    // CHECK: "shape": "[batch, query, 32 by tp]"
    %w = transformer.weight "w" : tensor<64x32xbf16, #parallel.sharding<[_, _ by tp]>>
    %y = transformer.linear %x, %w
        : tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>,
          tensor<64x32xbf16, #parallel.sharding<[_, _ by tp]>>
          -> tensor<?x?x32xbf16, #parallel.sharding<[batch, query, _ by tp]>>
    // CHECK-LABEL: "collectives"
    // CHECK: "name": "model/gathered"
    // CHECK: "kind": "all_gather"
    // CHECK: "tp"
    // CHECK: "shape": "[batch, query, 32 by tp]"
    %z = parallel.all_gather %y dim 2 over [tp]
        : tensor<?x?x32xbf16, #parallel.sharding<[batch, query, _ by tp]>>
        -> tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
    // CHECK-LABEL: "residents"
    // CHECK: "name": "w"
    // CHECK: "shape": "[64, 32 by tp]"
    return %z : tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
  }
}
