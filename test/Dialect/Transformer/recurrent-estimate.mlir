// One Mamba-2 layer (hidden 4096, 128 heads of 64, 8 groups of 128 states, a
// convolution of 4 tokens), without its norms.
// RUN: autopar-opt %s --shard-tp=2 --batch=4 --context=2048 --phase=decode --estimate=json --explain -o %t.mlir | FileCheck %s --check-prefix=DECODE
// RUN: FileCheck %s --check-prefix=IR --input-file=%t.mlir
// RUN: autopar-opt %s --shard-tp=2 --phase=prefill --batch=1 --prompt=1000 --estimate=json -o /dev/null | FileCheck %s --check-prefix=PREFILL
// RUN: autopar-opt %s --shard-tp=16 --nodes=2 --estimate=json -o /dev/null | FileCheck %s --check-prefix=TP16
// RUN: autopar-opt %s --shard-tp=2 --dtype=fp8 --estimate=json -o /dev/null | FileCheck %s --check-prefix=FP8
// RUN: autopar-opt %s --shard-tp=2 --estimate -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: autopar-opt %s --shard-tp=2 --hardware=tpu-v5e-4x4 --estimate=json -o /dev/null | FileCheck %s --check-prefix=TPU

!x = tensor<?x?x4096xbf16, #transformer.dims<[batch, query, _]>>
!heads = tensor<?x?x128x64xbf16, #transformer.dims<[batch, query, _, _]>>
!group = tensor<?x?x8x128xbf16, #transformer.dims<[batch, query, _, _]>>
!dt = tensor<?x?x128xbf16, #transformer.dims<[batch, query, _]>>
!ssm = !transformer.state<?x128x64x128xf32, #transformer.dims<[batch, _, _, _]>>
!conv_x = !transformer.state<?x128x64x3xbf16, #transformer.dims<[batch, _, _, _]>>
!conv_g = !transformer.state<?x8x128x3xbf16, #transformer.dims<[batch, _, _, _]>>

// A sequence keeps 128*64*128 * 4 B + (8192 + 2*8*128)*3 * 2 B = 4,255,744 B,
// half of it on each of two devices. A token takes 5*128*64*128 = 5,242,880
// FLOPs in the state space and 2*4*(8192 + 2*8*128) = 81,920 in convolutions.

// Four sequences: 4 * 4255744 / 2 bytes, 4 * 5324800 FLOPs.
// DECODE: "state_bytes": 8511488
// DECODE: "state_bytes_per_sequence": 4255744
// DECODE: "recurrence": 21299200
// DECODE: "name": "FLOPs of recurrences"
// DECODE: "name": "scans",
// DECODE-NEXT: state spaces and linear attention are priced at the rates of gated delta rules: chips.h100-sxm.kernels.scan
// DECODE: "memory.per_device.state_bytes"
// DECODE: "states/model/state": 8388608

// PREFILL: "state_bytes": 2127872
// PREFILL: "state_bytes_per_sequence": 4255744
// PREFILL: "recurrence": 5324800000

// Eight groups on sixteen devices: each has one, held twice.
// 128/16*64*128*4 + (8192/16 + 2*128)*3*2 bytes.
// TP16: "state_bytes": 266752
// TP16: "state_bytes_per_sequence": 4255744

// States keep their format.
// FP8: "state_bytes_per_sequence": 4255744

// TEXT: states {{.*}} 2,127,872
// TEXT: states per sequence: 4,255,744 B in all
// TEXT: recurrence (all devices) 5.32 MFLOP 5,324,800

// TPU: "value": "state spaces and linear attention are priced at the rates of gated delta rules: chips.tpu-v5e.kernels.scan"

transformer.workload(phase = decode, batch = 1, query = 1, context = 1)

// IR: transformer.state : !b_128tp_64_128_float
// IR: %[[Z:.*]] = transformer.linear %{{.*}}, %in_proj_z
// IR: %[[X:.*]] = transformer.short_conv %{{.*}}, %{{.*}} state(%{{.*}} : !b_128tp_64_3_bf) silu
// IR: %[[B:.*]] = transformer.short_conv %{{.*}}, %{{.*}} state(%{{.*}} : !b_8tp_cap_128_3_bf) silu
// IR: %[[Y:.*]] = transformer.state_space %[[X]], %{{.*}}, %[[B]], %{{.*}} state(
// IR: %[[G:.*]] = transformer.gated %[[Z]], %[[Y]] silu : !bq_128tp_64_bf
// IR: transformer.linear %[[G]], %out_proj {{.*}}-> !bq_4096_sum_tp
// IR: parallel.all_reduce
func.func @model(%x: !x) -> !x {
  %wz = transformer.weight "in_proj_z.weight" stored [1*2, 0] : tensor<4096x128x64xbf16>
  %wx = transformer.weight "in_proj_x.weight" stored [1*2, 0] : tensor<4096x128x64xbf16>
  %wb = transformer.weight "in_proj_b.weight" stored [1*2, 0] : tensor<4096x8x128xbf16>
  %wc = transformer.weight "in_proj_c.weight" stored [1*2, 0] : tensor<4096x8x128xbf16>
  %wdt = transformer.weight "in_proj_dt.weight" stored [1, 0] : tensor<4096x128xbf16>
  %kx = transformer.weight "conv1d_x.weight" stored [0*1, 2] : tensor<128x64x4xbf16>
  %kb = transformer.weight "conv1d_b.weight" stored [0*1, 2] : tensor<8x128x4xbf16>
  %kc = transformer.weight "conv1d_c.weight" stored [0*1, 2] : tensor<8x128x4xbf16>
  %a = transformer.weight "A_log" : tensor<128xf32>
  %d = transformer.weight "D" : tensor<128xf32>
  %bias = transformer.weight "dt_bias" : tensor<128xf32>
  %wo = transformer.weight "out_proj.weight" stored [2, 0*1] : tensor<128x64x4096xbf16>
  %s = transformer.state : !ssm
  %sx = transformer.state : !conv_x
  %sb = transformer.state : !conv_g
  %sc = transformer.state : !conv_g
  %z = transformer.linear %x, %wz : !x, tensor<4096x128x64xbf16> -> !heads
  %x0 = transformer.linear %x, %wx : !x, tensor<4096x128x64xbf16> -> !heads
  %b0 = transformer.linear %x, %wb : !x, tensor<4096x8x128xbf16> -> !group
  %c0 = transformer.linear %x, %wc : !x, tensor<4096x8x128xbf16> -> !group
  %dt = transformer.linear %x, %wdt : !x, tensor<4096x128xbf16> -> !dt
  %x1 = transformer.short_conv %x0, %kx state(%sx : !conv_x) silu : !heads, tensor<128x64x4xbf16>
  %b1 = transformer.short_conv %b0, %kb state(%sb : !conv_g) silu : !group, tensor<8x128x4xbf16>
  %c1 = transformer.short_conv %c0, %kc state(%sc : !conv_g) silu : !group, tensor<8x128x4xbf16>
  %y = transformer.state_space %x1, %dt, %b1, %c1, %a state(%s) d(%d : tensor<128xf32>) dt_bias(%bias : tensor<128xf32>)
      : !heads, !dt, !group, tensor<128xf32>, !ssm
  %g = transformer.gated %z, %y silu : !heads
  %o = transformer.linear %g, %wo : !heads, tensor<128x64x4096xbf16> -> !x
  return %o : !x
}
