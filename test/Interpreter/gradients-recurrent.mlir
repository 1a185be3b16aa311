// Recurrences in training begin with each sequence: no state is read. Their
// gradients are those of differences of the loss, whole and with heads and
// groups split.

// RUN: autopar-opt %s --autopar-prepare-training --autopar-build-backward -o %t.mlir
// RUN: FileCheck %s --check-prefix=IR --input-file=%t.mlir
// RUN: autopar-run %t.mlir --gradients=4 | FileCheck %s
// RUN: autopar-opt %s --shard-dp=2 --shard-tp=4 --phase=train --batch=2 --prompt=3 -o %t.split.mlir
// RUN: autopar-run %t.split.mlir --directional-derivative | FileCheck %s
// RUN: autopar-opt %s --phase=train --batch=2 --prompt=3 --runtime=ideal --estimate=json -o /dev/null | FileCheck %s --check-prefix=FLOPS
// CHECK: are those of the loss: {{(largest )?}}difference {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}

// IR-NOT: transformer.state :
// IR-DAG: transformer.short_conv %{{.*}}, %conv bias(%conv_bias : tensor<4x4xbf16>) silu
// IR-DAG: transformer.state_space %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %a d(
// IR-DAG: transformer.gated_delta_rule %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %a, %a :
// IR-DAG: transformer.gated_delta_rule %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %a, %channel_bias :
// IR-DAG: transformer.linear_attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} :
// IR: training.linear_attention_backward
// IR: training.gated_delta_rule_backward
// IR: training.sum_tokens %d_decay{{.*}} of %channel_bias
// IR: training.gated_delta_rule_backward
// IR: training.sum_tokens %d_decay{{.*}} of %a
// IR: training.state_space_backward
// IR: training.sum_tokens %d_dt of
// IR: training.short_conv_backward

// Six tokens, four heads of 4 (of two groups, or key heads, of 4): forwards,
// and three times as many in backwards.
// 4 * 6 * (2*3*16 + 5*16*4 + 2*7*4*4*4 + 5*4*4*4)
// FLOPS: "recurrence": 39168

!x = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!h = tensor<?x?x4x4xbf16, #transformer.dims<[batch, query, _, _]>>
!g = tensor<?x?x2x4xbf16, #transformer.dims<[batch, query, _, _]>>
!dt = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!scores = tensor<?x?x11xbf16, #transformer.dims<[batch, query, _]>>
!last = !transformer.state<?x4x4x2xbf16, #transformer.dims<[batch, _, _, _]>>
!s = !transformer.state<?x4x4x4xf32, #transformer.dims<[batch, _, _, _]>>
transformer.workload(phase = train, batch = 2, query = 3, context = 3)
func.func private @mixer(%x: !x) -> !x {
  %wh = transformer.weight "heads" : tensor<8x4x4xbf16>
  %wb = transformer.weight "input" : tensor<8x2x4xbf16>
  %wc = transformer.weight "output" : tensor<8x2x4xbf16>
  %wt = transformer.weight "dt" : tensor<8x4xbf16>
  %a = transformer.weight "a" : tensor<4xf32>
  %h0 = transformer.linear %x, %wh : !x, tensor<8x4x4xbf16> -> !h
  %b = transformer.linear %x, %wb : !x, tensor<8x2x4xbf16> -> !g
  %c = transformer.linear %x, %wc : !x, tensor<8x2x4xbf16> -> !g
  %dt = transformer.linear %x, %wt : !x, tensor<8x4xbf16> -> !dt
  %k = transformer.weight "conv" : tensor<4x4x3xbf16>
  %kb = transformer.weight "conv_bias" : tensor<4x4xbf16>
  %s0 = transformer.state : !last
  %h1 = transformer.short_conv %h0, %k bias(%kb : tensor<4x4xbf16>) state(%s0 : !last) silu
      : !h, tensor<4x4x3xbf16>
  %s1 = transformer.state : !s
  %h2 = transformer.state_space %h1, %dt, %b, %c, %a state(%s1) d(%a : tensor<4xf32>) dt_bias(%a : tensor<4xf32>)
      : !h, !dt, !g, tensor<4xf32>, !s
  %s2 = transformer.state : !s
  %h3 = transformer.gated_delta_rule %b, %c, %h2, %dt, %dt, %a, %a state(%s2)
      : !g, !h, !dt, !dt, tensor<4xf32>, tensor<4xf32>, !s
  %cb = transformer.weight "channel_bias" : tensor<4x4xf32>
  %s4 = transformer.state : !s
  %h5 = transformer.gated_delta_rule %b, %c, %h3, %dt, %h1, %a, %cb state(%s4)
      : !g, !h, !dt, !h, tensor<4xf32>, tensor<4x4xf32>, !s
  %s3 = transformer.state : !s
  %h4 = transformer.linear_attention %h5, %h1, %h0 state(%s3) : !h, !s
  %o = transformer.weight "o" : tensor<4x4x8xbf16>
  %y = transformer.linear %h4, %o : !h, tensor<4x4x8xbf16> -> !x
  %z = transformer.add %x, %y : !x
  return %z : !x
}
func.func @model(%ids: !ids) -> !scores {
  %t = transformer.weight "table" : tensor<11x8xbf16>
  %x = transformer.embedding %ids, %t : !ids, tensor<11x8xbf16> -> !x
  %y = transformer.repeat 1 layers "layers" from 0 (%i = %x) : !x {
    %z = func.call @mixer(%i) : (!x) -> !x
    transformer.yield %z : !x
  }
  %l = transformer.logits %y, %t : !x, tensor<11x8xbf16> -> !scores
  return %l : !scores
}
