// The layers of a backward are those of the stack, though an encoder's come
// last: what lies behind them is another layer kind, which stages may have
// elsewhere than what lies before them.

// RUN: autopar-opt %s --autopar-prepare-training --autopar-build-backward --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s
// CHECK: "name": "model_backward"
// CHECK: "name": "layer_backward"
// CHECK: "name": "model_backward"
// CHECK: "name": "eye_backward"
// CHECK-NOT: "name": "model_backward"
// CHECK: "name": "model_update"

// RUN: autopar-opt %s --autopar-prepare-training --autopar-build-backward | autopar-run --holdings | FileCheck %s --check-prefix=HELD
// HELD: device 0: weights 240,
// HELD: device 1: weights 112,

!e = tensor<?x?x4xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!i = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!x = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!v = tensor<?x?x10xbf16, #transformer.dims<[batch, query, _]>>
transformer.workload(phase = train, batch = 2, query = 4, context = 4, encoder_tokens = 2)
parallel.mesh(pp = 2)
parallel.stages over [pp] layers [0 to 0, 1 to 1] schedule(one_f_one_b) microbatches(2)
func.func private @eye(%x: !e) -> !e {
  %w = transformer.weight "eye" : tensor<4x4xbf16>
  %z = transformer.linear %x, %w : !e, tensor<4x4xbf16> -> !e
  return %z : !e
}
func.func private @layer(%x: !x) -> !x {
  %w = transformer.weight "w" : tensor<4x4xbf16>
  %z = transformer.linear %x, %w : !x, tensor<4x4xbf16> -> !x
  return %z : !x
}
func.func @model(%i: !i, %p: !e) -> !v {
  %q = transformer.weight "patches" : tensor<4x4xbf16>
  %e0 = transformer.linear %p, %q : !e, tensor<4x4xbf16> -> !e
  %e1 = transformer.repeat 2 layers "eyes" from 0 (%a = %e0) : !e {
    %b = func.call @eye(%a) : (!e) -> !e
    transformer.yield %b : !e
  }
  %o = transformer.weight "projector" : tensor<4x4xbf16>
  %e = transformer.linear %e1, %o : !e, tensor<4x4xbf16> -> !e
  %t = transformer.weight "t" : tensor<10x4xbf16>
  %x0 = transformer.embedding %i, %t : !i, tensor<10x4xbf16> -> !x
  %x = transformer.insert %x0, %e : !x, !e
  %y = transformer.repeat 2 layers "layers" from 0 (%a = %x) : !x {
    %b = func.call @layer(%a) : (!x) -> !x
    transformer.yield %b : !x
  }
  %h = transformer.weight "h" : tensor<10x4xbf16>
  %z = transformer.logits %y, %h : !x, tensor<10x4xbf16> -> !v
  return %z : !v
}
