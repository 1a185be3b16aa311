// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s

!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!patches = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*4, _]>>
!images = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
!routing = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
!routed = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>

func.func @model(%x: !x, %p: !patches) -> !x {
  %t = transformer.weight "positions" : tensor<512x64xf32>
  %g = transformer.weight "norm" : tensor<64xbf16>
  %w = transformer.weight "router" : tensor<64x8xbf16>
  %rb = transformer.weight "router.bias" : tensor<8xbf16>
  %e = transformer.weight "experts" : tensor<8x64x64xbf16>
  %eb = transformer.weight "experts.bias" : tensor<8x64xbf16>
  // One row of the table per token.
  // CHECK: "name": "model/positioned"
  // CHECK: "kind": "gather"
  // CHECK: "shape": "[batch, query, 64]"
  // CHECK: "shape": "[batch, query, 64]"
  // CHECK-NEXT: "type": "fp32"
  %0 = transformer.position_embedding %x, %t : !x, tensor<512x64xf32>
  // CHECK: "name": "model/merged"
  // CHECK: "shape": "[batch, encoder_tokens*4, 64]"
  // CHECK: "shape": "[batch, encoder_tokens, 64]"
  %1 = transformer.merge_tokens %p mean : !patches -> !images
  // What is there already is not moved.
  // CHECK: "name": "model/inserted"
  // CHECK-NOT: query
  // CHECK: "name": "model/scaled"
  %2 = transformer.insert %0, %1 : !x, !images
  %3 = transformer.scale %2 by(2.0) : !x
  %4 = transformer.rms_norm %3, %g eps(1.0e-6) unit_offset : !x
  // The bias is read.
  // CHECK: "name": "model/router"
  // CHECK: "shape": "[64, 8]"
  // CHECK: "shape": "[8]"
  %5 = transformer.router %4, %w bias(%rb : tensor<8xbf16>) top_k(2) : !x, tensor<64x8xbf16> -> !routing
  %6 = transformer.dispatch %4, %5 : !x, !routing -> !routed
  // Biases are read of the experts that are reached.
  // CHECK: "name": "model/experts_out"
  // CHECK: "shape": "[8, 64, 64]"
  // CHECK: "top_k": 2
  // CHECK: "shape": "[8, 64]"
  // CHECK: "top_k": 2
  // CHECK-NEXT: "rows": "[batch*query*2]"
  %7 = transformer.experts %6, %e bias(%eb : tensor<8x64xbf16>) top_k(2) : !routed, tensor<8x64x64xbf16> -> !routed
  %8 = transformer.combine %7, %5 : !routed, !routing -> !x
  // CHECK: "name": "model/biased"
  // CHECK: "shape": "[8, 64]"
  // CHECK: "top_k": 2
  // CHECK-NEXT: "rows": "[batch, query, 2]"
  %9 = transformer.add_expert_bias %8, %5, %eb : !x, !routing, tensor<8x64xbf16>
  %10 = transformer.softcap %9 at(30.0) : !x
  return %10 : !x
}
