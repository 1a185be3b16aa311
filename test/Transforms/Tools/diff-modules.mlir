// RUN: autopar-opt %s --autopar-diff-modules | FileCheck %s
// RUN: autopar-opt %s --autopar-diff-modules=format=json | FileCheck %s --check-prefix=JSON
// RUN: not autopar-opt %s --autopar-diff-modules=format=xml 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: sed 's/tp = 4/tp = 64/' %s | not autopar-opt --autopar-diff-modules 2>&1 | FileCheck %s --check-prefix=SIDE
// RUN: echo 'module { module @a { } }' | not autopar-opt --autopar-diff-modules 2>&1 | FileCheck %s --check-prefix=ONE

// FORMAT: error: unknown report format 'xml', expected text, json or html
// SIDE: error: plan needs 64 devices but h100-sxm-8 with 1 node has 8
// SIDE: note: in module @b
// ONE: error: has 1 modules inside, expected 2 to compare

// A sums and has everything; B scatters, and gathers afterwards.
// CHECK: tiny: prefill of 1 x 16 tokens
// CHECK-NEXT: A  a: on 2 of 8 devices
// CHECK-NEXT: B  b: on 4 of 8 devices
// CHECK:      collectives of a step  in    over  A  B
// CHECK-NEXT: all_reduce             step  tp    1  -
// CHECK-NEXT: reduce_scatter dim 1   step  tp    -  1
// CHECK-NEXT: all_gather dim 1       step  tp    -  1
// CHECK:      weights, caches and states
// CHECK-NEXT: step/w: [_ by tp, _] bf16 -> fp16
// CHECK:      A B B / A
// CHECK:      weights
// CHECK:      step time
// CHECK:      sent in a step for
// CHECK:      all_reduce tp step/sum {{.*}} -
// CHECK:      reduce_scatter tp step/part -
// CHECK:      equal: 0 kinds of collectives, 1 tensor,

// JSON: "schema": "autopar.diff/1"
// JSON: "kind": "all_reduce"
// JSON: "a": {
// JSON-NEXT: "count": 1
// JSON: "b": null
// JSON: "path": "memory.per_device.weight_bytes"

!x = tensor<?x64xbf16, #transformer.dims<[query, _]>>
!s = tensor<?x64xbf16, #parallel.sharding<[query, _ by tp]>>
!p = tensor<?x64xbf16, #parallel.sharding<[query, _] partial [tp]>>
!w = tensor<64x64xbf16, #parallel.sharding<[_ by tp, _]>>
!v = tensor<64x64xbf16, #parallel.sharding<[_, _ by tp]>>
module @tiny {
  module @a {
    transformer.workload(phase = prefill, batch = 1, query = 16, context = 16)
    parallel.mesh(tp = 2)
    func.func @step(%x: !x) -> !x {
      %v = transformer.weight "v" : !v
      %w = transformer.weight "w" : !w
      %y = transformer.linear %x, %v : !x, !v -> !s
      %z = transformer.linear %y, %w : !s, !w -> !p
      %sum = parallel.all_reduce %z over [tp] : !p -> !x
      return %sum : !x
    }
  }
  module @b {
    transformer.workload(phase = prefill, batch = 1, query = 16, context = 16)
    parallel.mesh(tp = 4)
    func.func @step(%x: !x) -> !x {
      %v = transformer.weight "v" : !v
      %w = transformer.weight "w" stored [0, 1] as f16 : !w
      %y = transformer.linear %x, %v : !x, !v -> !s
      %z = transformer.linear %y, %w : !s, !w -> !p
      %part = parallel.reduce_scatter %z dim 1 over [tp] : !p -> !s
      %all = parallel.all_gather %part dim 1 over [tp] : !s -> !x
      return %all : !x
    }
  }
}
