// Gradients of products, norms, tables and functions are those of differences
// of the loss.

// RUN: split-file %s %t
// RUN: autopar-opt %t/norms.mlir --autopar-prepare-training --autopar-build-backward | autopar-run --gradients=4 | FileCheck %s
// RUN: autopar-opt %t/products.mlir --autopar-prepare-training --autopar-build-backward | autopar-run --gradients=4 | FileCheck %s
// RUN: autopar-opt %t/functions.mlir --autopar-prepare-training --autopar-build-backward | autopar-run --gradients=2 | FileCheck %s
// RUN: autopar-opt %t/tables.mlir --autopar-prepare-training --autopar-build-backward | autopar-run --gradients=6 | FileCheck %s
// CHECK: gradients of {{[0-9]+}} elements are those of the loss: largest difference {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}

// A gradient that is something else.
// RUN: autopar-opt %t/norms.mlir --autopar-prepare-training --autopar-build-backward | sed 's/norm_backward \(.*\) eps(1.0e-05)/norm_backward \1 eps(2.0)/' | not autopar-run --gradients=2 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: the gradient of {{[a-z.]+}} is not that of the loss: element {{[0-9]+}} is {{[-0-9.]+}}, expected

// A module that does not train.
// RUN: not autopar-run %t/tables.mlir --gradients=2 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: has no gradients: no training.iteration says what runs after its forward

//--- norms.mlir
!x = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!h = tensor<?x?x2x4xbf16, #transformer.dims<[batch, query, _, _]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!scores = tensor<?x?x11xbf16, #transformer.dims<[batch, query, _]>>
module {
  transformer.workload(phase = train, batch = 2, query = 3, context = 3)
  func.func @model(%ids: !ids) -> !scores {
    %t = transformer.weight "table" : tensor<11x8xbf16>
    %x0 = transformer.embedding %ids, %t : !ids, tensor<11x8xbf16> -> !x
    %g1 = transformer.weight "rms.weight" : tensor<8xbf16>
    %b1 = transformer.weight "rms.bias" : tensor<8xbf16>
    %x1 = transformer.rms_norm %x0, %g1 bias(%b1 : tensor<8xbf16>) eps(1.0e-05) unit_offset : !x
    %g2 = transformer.weight "layer.weight" : tensor<8xbf16>
    %b2 = transformer.weight "layer.bias" : tensor<8xbf16>
    %x2 = transformer.layer_norm %x1, %g2 bias(%b2 : tensor<8xbf16>) eps(1.0e-05) : !x
    %x3 = transformer.rms_norm %x2 eps(1.0e-05) groups(2) : !x
    %w = transformer.weight "w" : tensor<8x2x4xbf16>
    %h0 = transformer.linear %x3, %w : !x, tensor<8x2x4xbf16> -> !h
    %g4 = transformer.weight "heads.weight" : tensor<4xbf16>
    %h1 = transformer.rms_norm %h0, %g4 eps(1.0e-05) : !h
    %g5 = transformer.weight "both.weight" : tensor<2x4xbf16>
    %h2 = transformer.rms_norm %h1, %g5 over(2) eps(1.0e-05) : !h, tensor<2x4xbf16>
    %g6 = transformer.weight "each.weight" : tensor<2x4xbf16>
    %h3 = transformer.rms_norm %h2, %g6 eps(1.0e-05) : !h, tensor<2x4xbf16>
    %h4 = transformer.layer_norm %h3 eps(1.0e-05) : !h
    %o = transformer.weight "o" : tensor<2x4x8xbf16>
    %x5 = transformer.linear %h4, %o : !h, tensor<2x4x8xbf16> -> !x
    %x6 = transformer.add %x5, %x0 : !x
    %y = transformer.logits %x6, %t : !x, tensor<11x8xbf16> -> !scores
    return %y : !scores
  }
}

//--- products.mlir
!x = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!h = tensor<?x?x2x4xbf16, #transformer.dims<[batch, query, _, _]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!scores = tensor<?x?x11xbf16, #transformer.dims<[batch, query, _]>>
module {
  transformer.workload(phase = train, batch = 2, query = 3, context = 3)
  func.func @model(%ids: !ids) -> !scores {
    %t = transformer.weight "table" : tensor<11x8xbf16>
    %x0 = transformer.embedding %ids, %t : !ids, tensor<11x8xbf16> -> !x
    // A bias, several dimensions on either side.
    %w1 = transformer.weight "in.weight" : tensor<8x2x4xbf16>
    %b1 = transformer.weight "in.bias" : tensor<2x4xbf16>
    %h = transformer.linear %x0, %w1 bias(%b1 : tensor<2x4xbf16>) : !x, tensor<8x2x4xbf16> -> !h
    %w2 = transformer.weight "out.weight" : tensor<2x4x8xbf16>
    %x1 = transformer.linear %h, %w2 : !h, tensor<2x4x8xbf16> -> !x
    %b2 = transformer.weight "out.bias" : tensor<8xbf16>
    %x2 = transformer.add_bias %x1, %b2 : !x, tensor<8xbf16>
    // One factor, one for each element.
    %f1 = transformer.weight "factor" : tensor<1xbf16>
    %x3 = transformer.multiply %x2, %f1 : !x, tensor<1xbf16>
    %f8 = transformer.weight "factors" : tensor<8xbf16>
    %x4 = transformer.multiply %x3, %f8 : !x, tensor<8xbf16>
    %x5 = transformer.scale %x4 by(0.5) : !x
    %head = transformer.weight "head" : tensor<11x8xbf16>
    %y = transformer.logits %x5, %head : !x, tensor<11x8xbf16> -> !scores
    %z = transformer.softcap %y at(2.0) : !scores
    return %z : !scores
  }
}

//--- functions.mlir
!x = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!scores = tensor<?x?x11xbf16, #transformer.dims<[batch, query, _]>>
module {
  transformer.workload(phase = train, batch = 2, query = 3, context = 3)
  func.func @model(%ids: !ids) -> !scores {
    %t = transformer.weight "table" : tensor<11x8xbf16>
    %w = transformer.weight "w" : tensor<8x8xbf16>
    %x = transformer.embedding %ids, %t : !ids, tensor<11x8xbf16> -> !x
    %v = transformer.linear %x, %w : !x, tensor<8x8xbf16> -> !x
    %silu = transformer.activation %v silu : !x
    %gelu = transformer.activation %v gelu : !x
    %gelu_tanh = transformer.activation %v gelu_tanh : !x
    %relu2 = transformer.activation %v relu2 : !x
    %sigmoid = transformer.activation %v sigmoid : !x
    %tanh = transformer.activation %v tanh : !x
    %quick = transformer.activation %v quick_gelu : !x
    %softplus = transformer.activation %v softplus : !x
    %exp = transformer.activation %v exp : !x
    %hardswish = transformer.activation %v hardswish : !x
    %mish = transformer.activation %v mish : !x
    %relu = transformer.activation %v relu : !x
    %relu6 = transformer.activation %v relu6 : !x
    %leaky = transformer.activation %v leaky_relu : !x
    %s0 = transformer.add %silu, %gelu : !x
    %s1 = transformer.add %s0, %gelu_tanh : !x
    %s2 = transformer.add %s1, %relu2 : !x
    %s3 = transformer.add %s2, %sigmoid : !x
    %s4 = transformer.add %s3, %tanh : !x
    %s5 = transformer.add %s4, %quick : !x
    %s6 = transformer.add %s5, %softplus : !x
    %s7 = transformer.add %s6, %exp : !x
    %s8 = transformer.add %s7, %hardswish : !x
    %s9 = transformer.add %s8, %mish : !x
    %s10 = transformer.add %s9, %relu : !x
    %s11 = transformer.add %s10, %relu6 : !x
    %s12 = transformer.add %s11, %leaky : !x
    // Some elements are held by the limit, some are not.
    %g0 = transformer.gated %s12, %v silu : !x
    %g1 = transformer.gated %g0, %s12 gelu unit_offset limit(0.7) : !x
    %y = transformer.logits %g1, %t : !x, tensor<11x8xbf16> -> !scores
    return %y : !scores
  }
}

//--- tables.mlir
!x = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!scores = tensor<?x?x11xbf16, #transformer.dims<[batch, query, _]>>
module {
  transformer.workload(phase = train, batch = 2, query = 3, context = 3)
  func.func @model(%ids: !ids) -> !scores {
    %t = transformer.weight "table" : tensor<11x8xbf16>
    %p = transformer.weight "positions" : tensor<6x8xbf16>
    %s = transformer.weight "segments" : tensor<2x8xbf16>
    %x0 = transformer.embedding %ids, %t : !ids, tensor<11x8xbf16> -> !x
    %x1 = transformer.position_embedding %x0, %p first(2) : !x, tensor<6x8xbf16>
    %x2 = transformer.position_embedding %x1, %s same : !x, tensor<2x8xbf16>
    %w = transformer.weight "w" stored [1, 0] : tensor<8x8xbf16>
    %x3 = transformer.linear %x2, %w : !x, tensor<8x8xbf16> -> !x
    // The table once more.
    %again = transformer.weight "table" : tensor<11x8xbf16>
    %y = transformer.logits %x3, %again : !x, tensor<11x8xbf16> -> !scores
    return %y : !scores
  }
}
