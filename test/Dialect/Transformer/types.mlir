// RUN: autopar-opt %s | autopar-opt | FileCheck %s
// RUN: autopar-opt %s --mlir-print-op-generic | autopar-opt | FileCheck %s
// RUN: autopar-opt %s --emit-bytecode | autopar-opt --trust-bytecode | FileCheck %s
// RUN: autopar-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL

// CHECK-DAG: !bc_2tp_32_bf = !transformer.cache<?x?x2x32xbf16, #parallel.sharding<[batch, context, _ by tp, _]>>
// CHECK-DAG: !b_8_3_bf = !transformer.state<?x8x3xbf16, #transformer.dims<[batch, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #parallel.sharding<[batch, context, _ by tp, _]>>
!s = !transformer.state<?x8x3xbf16, #transformer.dims<[batch, _, _]>>
parallel.mesh(tp = 2)

// CHECK: func private @handles(%arg0: !bc_2tp_32_bf, %arg1: !b_8_3_bf, %arg2: !transformer.state<4x8xf32>, %arg3: !transformer.state<f32>)
func.func private @handles(%c: !c, %s: !s, %plain: !transformer.state<4x8xf32>, %scalar: !transformer.state<f32>) {
  // CHECK: transformer.kv_cache : !bc_2tp_32_bf
  // LOCAL: transformer.kv_cache : <?x?x2x32xbf16, #parallel.sharding<[batch, context, _ by tp, _]>>
  %new = transformer.kv_cache : !c
  // CHECK: transformer.state : !b_8_3_bf
  // LOCAL: transformer.state : <?x8x3xbf16, #transformer.dims<[batch, _, _]>>
  %kept = transformer.state : !s
  return
}
