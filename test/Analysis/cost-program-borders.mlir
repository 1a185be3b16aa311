// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s

// What a step launches, how long it takes and what it holds does not depend on
// whether layers are functions. 10 products; the norm of the first layer, 9
// sums with the norm that follows, and the last sum with the last norm.
// RUN: autopar-opt %s --batch=64 --estimate=json -o /dev/null \
// RUN:   | grep -E '"(kernel_launches|activation_bytes|step_time_us)"' > %t.called
// RUN: autopar-opt %s --inline --batch=64 --estimate=json -o /dev/null \
// RUN:   | grep -E '"(kernel_launches|activation_bytes|step_time_us)"' | diff %t.called -
// RUN: FileCheck %s --check-prefix=LAUNCHES --input-file=%t.called
// LAUNCHES: "kernel_launches": 21

// Whatever elementwise ends a layer; but where a product does, no run does.
// RUN: sed 's/%%sum = transformer.add %%x, %%out/%%sum = transformer.activation %%out relu/' %s \
// RUN:   | autopar-opt --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s
// RUN: sed '/%%sum = /d; s/return %%sum/return %%out/' %s \
// RUN:   | autopar-opt --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: "borders": []

// Within an iteration, from the last of one and of a loop to the next, and
// after all.
// CHECK-LABEL: "borders"
// CHECK-NEXT: {
// CHECK-NEXT: "before": "near/[[END:.*]]",
// CHECK-NEXT: "after": "far/norm",
// CHECK-NEXT: "count": 3
// CHECK: "before": "far/[[END]]",
// CHECK-NEXT: "after": "near/norm",
// CHECK-NEXT: "count": 3
// CHECK: "before": "near/[[END]]",
// CHECK-NEXT: "after": "near/norm",
// CHECK-NEXT: "count": 3
// CHECK: "before": "near/[[END]]",
// CHECK-NEXT: "after": "model/norm",
// CHECK-NEXT: "count": 1
// CHECK-NOT: "before"
// CHECK: "collectives"

!x = tensor<?x64xbf16, #transformer.dims<[batch, _]>>

transformer.workload(phase = decode, batch = 1, query = 1, context = 1)

func.func private @near(%x: !x) -> !x {
  %scale = transformer.weight "norm" : tensor<64xbf16>
  %w = transformer.weight "w" : tensor<64x64xbf16>
  %norm = transformer.rms_norm %x, %scale eps(1.0e-05) : !x
  %out = transformer.linear %norm, %w : !x, tensor<64x64xbf16> -> !x
  %sum = transformer.add %x, %out : !x
  return %sum : !x
}

func.func private @far(%x: !x) -> !x {
  %scale = transformer.weight "norm" : tensor<64xbf16>
  %w = transformer.weight "w" : tensor<64x64xbf16>
  %norm = transformer.rms_norm %x, %scale eps(1.0e-05) : !x
  %out = transformer.linear %norm, %w : !x, tensor<64x64xbf16> -> !x
  %sum = transformer.add %x, %out : !x
  return %sum : !x
}

func.func @model(%x0: !x) -> !x {
  %scale = transformer.weight "norm" : tensor<64xbf16>
  %x1 = transformer.repeat 3 layers "pairs" from 0 (%x = %x0) : !x {
    %y = func.call @near(%x) : (!x) -> !x
    %z = func.call @far(%y) : (!x) -> !x
    transformer.yield %z : !x
  }
  %x2 = transformer.repeat 4 layers "singles" from 0 (%x = %x1) : !x {
    %y = func.call @near(%x) : (!x) -> !x
    transformer.yield %y : !x
  }
  %norm = transformer.rms_norm %x2, %scale eps(1.0e-05) : !x
  return %norm : !x
}
