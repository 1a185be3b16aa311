// RUN: autopar-opt %s --autopar-list-tensors -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --match-full-lines --strict-whitespace

#fp8 = #transformer.format<"fp8" {weight : f8E4M3FN, weight_scale_inv : f32 [o/128, i/128], scalar : f32 []}>
#gptq = #transformer.format<"gptq" {qweight : i32 [i*4/32, o], scales : f16 [i/128, o], g_idx : i32 [i]}>
#mxfp4 = #transformer.format<"mxfp4" {_blocks : ui8 [i, o/32, 16], _scales : f8E8M0FNU [i, o/32]}>
#nf4 = #transformer.format<"nf4" {weight : ui8 [all/2, 1], weight.absmax : ui8 [all/64], weight_shape : i64 [2]}>

func.func @model(%x0: tensor<8xbf16>) -> tensor<8xbf16> {
  %x1 = transformer.repeat 1 layers "layers" from 3 (%x = %x0) : tensor<8xbf16> {
    %y = func.call @layer(%x) : (tensor<8xbf16>) -> tensor<8xbf16>
    transformer.yield %y : tensor<8xbf16>
  }
  return %x1 : tensor<8xbf16>
}

func.func private @layer(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  // DeepSeek-V3's kv_a_proj_with_mqa: 576 x 7168, whose last block of rows is half a block.
  //     CHECK:layers.3.kv_a.weight	[576, 7168]	F8_E4M3	4128768
  // CHECK-NEXT:layers.3.kv_a.weight_scale_inv	[5, 56]	F32	1120
  // CHECK-NEXT:layers.3.kv_a.scalar	[]	F32	4
  %a = transformer.weight "kv_a.weight" stored [1, 0] as(#fp8) : tensor<7168x576xbf16>

  // Three values, one tensor: listed once.
  // CHECK-NEXT:layers.3.qkv.qweight	[32, 256]	I32	32768
  // CHECK-NEXT:layers.3.qkv.scales	[2, 256]	F16	1024
  // CHECK-NEXT:layers.3.qkv.g_idx	[256]	I32	1024
  %q = transformer.weight "qkv.weight" stored [1*2 at 0 of 256, 0] as(#gptq) : tensor<256x8x16xbf16>
  %k = transformer.weight "qkv.weight" stored [1*2 at 128 of 256, 0] as(#gptq) : tensor<256x4x16xbf16>
  %v = transformer.weight "qkv.weight" stored [1*2 at 192 of 256, 0] as(#gptq) : tensor<256x4x16xbf16>

  // gpt-oss: no "weight" in the name, gate and up interleaved, inputs before outputs.
  // CHECK-NEXT:layers.3.experts.gate_up_proj_blocks	[4, 64, 2, 16]	U8	8192
  // CHECK-NEXT:layers.3.experts.gate_up_proj_scales	[4, 64, 2]	F8_E8M0	512
  %g = transformer.weight "experts.gate_up_proj" stored [0, 1, 2*0/2] as(#mxfp4) : tensor<4x64x32xbf16>
  %u = transformer.weight "experts.gate_up_proj" stored [0, 1, 2*1/2] as(#mxfp4) : tensor<4x64x32xbf16>

  // A tensor per expert.
  // CHECK-NEXT:layers.3.experts.0.w1.weight	[1024, 1]	U8	1024
  // CHECK-NEXT:layers.3.experts.1.w1.weight	[1024, 1]	U8	1024
  // CHECK-NEXT:layers.3.experts.0.w1.weight.absmax	[32]	U8	32
  // CHECK-NEXT:layers.3.experts.1.w1.weight.absmax	[32]	U8	32
  // CHECK-NEXT:layers.3.experts.0.w1.weight_shape	[2]	I64	16
  // CHECK-NEXT:layers.3.experts.1.w1.weight_shape	[2]	I64	16
  %n = transformer.weight "experts.*.w1.weight" stored [2, 1] as(#nf4) : tensor<2x64x32xbf16>

  // Experts in one tensor carry their dimension over.
  // CHECK-NEXT:layers.3.experts.down_proj	[4, 256, 128]	F8_E4M3	131072
  // CHECK-NEXT:layers.3.experts.down_proj_scale_inv	[4, 2, 1]	F32	32
  // CHECK-NEXT:layers.3.experts.down_proj.scalar	[4]	F32	16
  %d = transformer.weight "experts.down_proj" stored [0, 1, 2] as(#fp8) : tensor<4x256x128xbf16>

  // internlm2: 2 KV heads, each with 4 query heads, a key and a value.
  // CHECK-NEXT:layers.3.wqkv.weight	[192, 64]	BF16	24576
  %wq = transformer.weight "wqkv.weight" stored [1 by 2 at 0 of 6 * 2, 0] : tensor<64x8x16xbf16>
  %wk = transformer.weight "wqkv.weight" stored [1 by 2 at 4 of 6 * 2, 0] : tensor<64x2x16xbf16>

  // CHECK-NEXT:layers.3.scale	[]	F32	4
  %s = transformer.weight "scale" stored [] as f32 : tensor<bf16>
  return %x : tensor<8xbf16>
}

// Nothing calls it: stored all the same.
// CHECK-NEXT:mtp.norm.weight	[8]	BF16	16
func.func private @mtp() {
  %w = transformer.weight "mtp.norm.weight" : tensor<8xbf16>
  return
}
transformer.stored @mtp
// CHECK-NOT:{{.}}
