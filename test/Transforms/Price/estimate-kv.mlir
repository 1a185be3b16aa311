// Two kinds of layers: one that sees all, one with a window.
// RUN: autopar-opt %s --estimate=json | FileCheck %s
// RUN: autopar-opt %s --prompt=8 --estimate=json | FileCheck %s --check-prefix=SHORT

// Of 2 and 3 layers, 2 x 2 x 16 values of 2 bytes each, one more token takes
// (2 + 3) x 128 bytes, and 64 tokens take 2 x 64 x 128 + 3 x 24 x 128.
// CHECK: "kv_bytes_per_token": 640,
// CHECK-NEXT: "kv_bytes_per_token_per_device": 640,
// CHECK-NEXT: "kv_bytes_per_sequence": 25600,
// SHORT: "kv_bytes_per_token": 640,
// SHORT: "kv_bytes_per_sequence": 5120,
!cache = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
transformer.workload(phase = prefill, batch = 3, query = 64, context = 64)
func.func private @full() {
  %c = transformer.kv_cache : !cache
  return
}
func.func private @window() {
  %c = transformer.kv_cache window(24) : !cache
  return
}
func.func @model(%x0: !x) -> !x {
  %x1 = transformer.repeat 2 (%x = %x0) : !x {
    func.call @full() : () -> ()
    transformer.yield %x : !x
  }
  %x2 = transformer.repeat 3 (%x = %x1) : !x {
    func.call @window() : () -> ()
    transformer.yield %x : !x
  }
  return %x2 : !x
}
