// All layers of a decoder read the same encoded tokens: the loop of the backward
// carries their gradient, from zeros on, and hands it to the encoder. A value
// that the loss does not depend on has the gradient zero, and a function that no
// gradient reaches no update.

// RUN: autopar-opt %s --autopar-prepare-training --autopar-build-backward | FileCheck %s
// CHECK-LABEL: func.func private @model_backward
// CHECK: %[[DX:.*]] = training.product_gradient states
// CHECK: %[[ZEROS:.*]] = training.zeros : !bet_64_bf
// CHECK: %{{.*}}, %[[BOTH:.*]] = transformer.repeat 2 layers "decoder" from 0 reversed (%[[X:.*]] = %[[DX]], %[[E:.*]] = %[[ZEROS]])
// CHECK-NEXT: %[[OWN:.*]]:2 = func.call @decoder_backward(%[[X]])
// CHECK-NEXT: %[[SUM:.*]] = transformer.add %[[E]], %[[OWN]]#1
// CHECK-NEXT: transformer.yield %[[OWN]]#0, %[[SUM]]
// CHECK: transformer.repeat 3 layers "encoder" from 0 reversed (%{{.*}} = %[[BOTH]])
// CHECK-LABEL: func.func private @model_update
// CHECK-NOT: @unused
// CHECK: training.iteration

// Split, zeros lie as the loop carries them.

// RUN: autopar-opt %s --phase=train --batch=8 --context=64 --encoder-tokens=16 --shard-dp=2 --shard-tp=2 | FileCheck %s --check-prefix=SPLIT
// SPLIT: training.zeros : !bdp_et_64_bf
// SPLIT-NOT: parallel.reshard

!ids = tensor<?x?xi32, #transformer.dims<[batch, query]>>
!q = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!e = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!eids = tensor<?x?xi32, #transformer.dims<[batch, encoder_tokens]>>
!scores = tensor<?x?x100xbf16, #transformer.dims<[batch, query, _]>>

transformer.workload(phase = train, batch = 8, query = 64, context = 64, encoder_tokens = 16)
func.func private @encoder(%x: !e) -> !e {
  %w = transformer.weight "w" : tensor<64x64xbf16>
  %y = transformer.linear %x, %w : !e, tensor<64x64xbf16> -> !e
  return %y : !e
}
func.func private @unused(%x: !e) -> !e {
  %w = transformer.weight "w" : tensor<64x64xbf16>
  %y = transformer.linear %x, %w : !e, tensor<64x64xbf16> -> !e
  return %y : !e
}
func.func private @decoder(%x: !q, %e: !e) -> !q {
  %w = transformer.weight "w" : tensor<64x64xbf16>
  %v = transformer.linear %e, %w : !e, tensor<64x64xbf16> -> !e
  %y = transformer.insert %x, %v : !q, !e
  return %y : !q
}
func.func @model(%source: !eids, %ids: !ids) -> !scores {
  %table = transformer.weight "table" : tensor<100x64xbf16>
  %e0 = transformer.embedding %source, %table : !eids, tensor<100x64xbf16> -> !e
  %e1 = transformer.repeat 3 layers "encoder" from 0 (%e = %e0) : !e {
    %next = func.call @encoder(%e) : (!e) -> !e
    transformer.yield %next : !e
  }
  %none = transformer.repeat 1 layers "unused" from 0 (%e = %e0) : !e {
    %next = func.call @unused(%e) : (!e) -> !e
    transformer.yield %next : !e
  }
  %x0 = transformer.embedding %ids, %table : !ids, tensor<100x64xbf16> -> !q
  %x1 = transformer.repeat 2 layers "decoder" from 0 (%x = %x0) : !q {
    %next = func.call @decoder(%x, %e1) : (!q, !e) -> !q
    transformer.yield %next : !q
  }
  %logits = transformer.logits %x1, %table : !q, tensor<100x64xbf16> -> !scores
  return %logits : !scores
}
