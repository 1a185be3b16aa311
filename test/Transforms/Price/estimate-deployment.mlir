// RUN: autopar-opt %s --estimate --nodes=2 | FileCheck %s
// RUN: autopar-opt %s --autopar-bind-target=nodes=2 --autopar-estimate=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: autopar-opt %s --pass-pipeline='builtin.module(builtin.module(autopar-estimate))' -o /dev/null | FileCheck %s --check-prefix=NESTED

// A request of 4,096 tokens: 3 layers x 4,096 x 8 heads x 32 x 2 B = 6,291,456 B,
// of which a device of @prefill holds a quarter and one of @decode an eighth. All
// share two nodes: 4 + 8 devices, which only the scale-out joins. 10 us and
// 1,572,864 B at 40 GB/s.
// CHECK: == prefill ==
// CHECK-NEXT: tiny: prefill of 2 x 1,024 tokens at context 4,096
// CHECK-NEXT: on 4 of 16 devices of h100-sxm-8 x 2
// CHECK: == decode ==
// CHECK-NEXT: tiny: decode of 64 sequences at context 512
// CHECK: == links ==
// CHECK: Link prefill -> decode, a request of 4,096 tokens
// CHECK-NEXT: KV cache 6.00 MiB
// CHECK-NEXT: sent per device 1.50 MiB
// CHECK-NEXT: received per device 768.00 KiB
// CHECK-NEXT: time 49.3 us
// CHECK-NEXT: Over scale_out of the source: 10.0 us latency, 40 GB/s per device.

// JSON: "schema": "autopar.deployment/1"
// JSON-NEXT: "model": "tiny"
// JSON-NEXT: "modules": [
// JSON-NEXT: {
// JSON-NEXT: "name": "prefill"
// JSON-NEXT: "report": {
// JSON-NEXT: "schema": "autopar.report/1"
// JSON-LABEL: "links": [
// JSON: "from": "prefill"
// JSON-NEXT: "to": "decode"
// JSON-NEXT: "context_length": 4096
// JSON-NEXT: "kv_bytes_per_request": 6291456
// JSON-NEXT: "state_bytes_per_request": 0
// JSON-NEXT: "bytes_per_source_device": 1572864
// JSON-NEXT: "bytes_per_destination_device": 786432
// JSON-NEXT: "tier": "scale_out"
// JSON-NEXT: "bound": "source"
// JSON-NEXT: "bandwidth_bytes_per_s": 40000000000.0
// JSON-NEXT: "latency_us": 10.0
// JSON-NEXT: "time_us": 49.3216

// NESTED-DAG: tiny: prefill
// NESTED-DAG: tiny: decode

!c = !transformer.cache<?x?x8x32xbf16, #parallel.sharding<[batch, context, _ by tp, _]>>
!x = tensor<?x64xbf16, #transformer.dims<[query, _]>>
module @tiny {
  module @prefill {
    transformer.workload(phase = prefill, batch = 2, query = 1024, context = 4096)
    parallel.mesh(tp = 4)
    func.func @step(%x: !x) -> !x {
      %y = transformer.repeat 3 (%z = %x) : !x {
        %c = transformer.kv_cache : !c
        %a = transformer.activation %z relu : !x
        transformer.yield %a : !x
      }
      return %y : !x
    }
  }
  module @decode {
    transformer.workload(phase = decode, batch = 64, query = 1, context = 512)
    parallel.mesh(tp = 8)
    func.func @step(%x: !x) -> !x {
      %y = transformer.repeat 3 (%z = %x) : !x {
        %c = transformer.kv_cache : !c
        %a = transformer.activation %z relu : !x
        transformer.yield %a : !x
      }
      return %y : !x
    }
  }
  parallel.link @prefill to @decode
}
