// RUN: %roundtrip %s | autopar-opt | FileCheck %s
// RUN: autopar-opt %s --mlir-print-op-generic | autopar-opt | FileCheck %s

// Layouts, meshes, workloads and machines may differ; caches stay the same.
// CHECK: module @prefill {
// CHECK: module @decode {
// CHECK-NEXT: parallel.target hardware("h200-sxm-8")
// CHECK: module @far {
// CHECK-NEXT: parallel.target hardware("my.json") nodes(2)
// CHECK: parallel.link @prefill to @decode
// CHECK: parallel.link @prefill to @far by_layer {note = "x"}

module @prefill {
  transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)
  parallel.mesh(tp = 4)
  func.func @step() {
    %c = transformer.kv_cache window(128)
        : !transformer.cache<?x?x8x32xbf16, #parallel.sharding<[batch, context, _ by tp cap, _]>>
    return
  }
}
module @decode {
  parallel.target hardware("h200-sxm-8")
  transformer.workload(phase = decode, batch = 8, query = 1, context = 2048)
  func.func @step() {
    %c = transformer.kv_cache window(128)
        : !transformer.cache<?x?x8x32xbf16, #transformer.dims<[batch, context, _, _]>>
    return
  }
}
module @far {
  parallel.target hardware("my.json") nodes(2)
  transformer.workload(phase = decode, batch = 8, query = 1, context = 2048)
  func.func @step() {
    %c = transformer.kv_cache window(128)
        : !transformer.cache<?x?x8x32xbf16, #transformer.dims<[batch, context, _, _]>>
    return
  }
}
parallel.link @prefill to @decode
parallel.link @prefill to @far by_layer {note = "x"}
