// A model that encodes images, and has a predictor that no step runs.
// RUN: autopar-opt %s --estimate | FileCheck %s --check-prefix=PREFILL
// RUN: autopar-opt %s --phase=decode --shard-tp=2 --estimate | FileCheck %s --check-prefix=DECODE --implicit-check-not=encoder
// RUN: autopar-opt %s --encoder-tokens=0 --estimate=json | FileCheck %s --check-prefix=JSON
// RUN: autopar-opt %s --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROGRAM

// PREFILL: vision: prefill of 2 x 16 tokens, encoding 4 positions each
// PREFILL: Time of a step (5 kernels)
// PREFILL: encoder 1
// PREFILL-LABEL: Model
// PREFILL: parameters 16,384
// PREFILL-NEXT: checkpoint bytes 57,344
// PREFILL-NEXT: stored only, not loaded 12,288
// PREFILL-LABEL: Assumptions
// PREFILL-NOT: workload.
// PREFILL-NOT: images

// DECODE: vision: decode of 2 sequences at context 16
// DECODE: Time of a step (3 kernels)
// DECODE: stored only, not loaded 12,288
// DECODE: images or other encoder input: not part of the step: nothing is encoded (workload:
// DECODE-NEXT: encoder_tokens = 0; set with --encoder-tokens)

// JSON: "stored_only_parameters": 12288
// JSON: "encoder_tokens": 0,
// JSON-NEXT: "cross_tokens": 0
// JSON: "kv_bytes_per_sequence": 0

// What is only stored is held by no device, whole or split.
// PROGRAM-LABEL: "layers"
// PROGRAM: "name": "mtp",
// PROGRAM-NEXT: "count": 0
// PROGRAM-LABEL: "residents"
// PROGRAM: "name": "mtp.head"
// PROGRAM: "layer": "mtp"
// PROGRAM: "stored": true
// PROGRAM: "name": "w"
// PROGRAM-NEXT: "kind": "weight"
// PROGRAM-NEXT: "layer": "layer"
// PROGRAM-NEXT: "count": 2
// PROGRAM-NEXT: "shape"
// PROGRAM-NEXT: "type"
// PROGRAM-NEXT: "stored": true
!hidden = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!patches = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
module @vision {
  transformer.workload(phase = prefill, batch = 2, query = 16, context = 16, encoder_tokens = 4)
  func.func private @encoder(%p: !patches) -> !patches {
    %w = transformer.weight "patch.weight" : tensor<64x64xbf16>
    %y = transformer.linear %p, %w : !patches, tensor<64x64xbf16> -> !patches
    %a = transformer.activation %y relu : !patches
    return %a : !patches
  }
  func.func private @layer(%x: !hidden) -> !hidden {
    %w = transformer.weight "w" : tensor<64x64xbf16>
    %y = transformer.linear %x, %w : !hidden, tensor<64x64xbf16> -> !hidden
    return %y : !hidden
  }
  func.func private @mtp(%x: !hidden) -> !hidden {
    %h = transformer.weight "mtp.head" : tensor<64x64xbf16>
    %x1 = transformer.linear %x, %h : !hidden, tensor<64x64xbf16> -> !hidden
    %y = transformer.repeat 2 layers "mtp.layers" from 3 (%c = %x1) : !hidden {
      %z = func.call @layer(%c) : (!hidden) -> !hidden
      transformer.yield %z : !hidden
    }
    return %y : !hidden
  }
  transformer.stored @mtp
  func.func @model(%x: !hidden, %p: !patches) -> (!hidden, !patches) {
    %q = func.call @encoder(%p) : (!patches) -> !patches
    %y = transformer.repeat 3 layers "layers" from 0 (%c = %x) : !hidden {
      %z = func.call @layer(%c) : (!hidden) -> !hidden
      transformer.yield %z : !hidden
    }
    return %y, %q : !hidden, !patches
  }
}
