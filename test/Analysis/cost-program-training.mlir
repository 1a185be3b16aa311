// Backwards of products of one input (q, k, v) are one group, and so are those
// whose results are added up; what adds them, or adds to a kept gradient, says
// to which product. Operands of products are quantized once, where they are
// made; heads multiply as scores are.

// RUN: autopar-opt %S/../Transforms/Inputs/trained.mlir --autopar-prepare-training --autopar-build-backward=products=fp8_e4m3 --autopar-shard-data --autopar-shard-tensor --autopar-shard-sequence --autopar-insert-collectives \
// RUN:   | autopar-opt --autopar-print-cost-program -o /dev/null 2>&1 | %python %S/Inputs/records.py | FileCheck %s

// CHECK: decoder/norm#2 quantize
// CHECK: decoder/attn attention {{.*}}key_heads=
// CHECK: decoder/attn#2 quantize
// CHECK: model_backward/dw product_gradient compute=bf16
// CHECK: model_backward/accumulate accumulate {{.*}}epilogue_of=model_backward/dw
// CHECK: decoder_backward/gathered quantize

// CHECK: decoder_backward/dw#4 product_gradient compute=fp8 fusion_group=[[DW:[0-9]+]]
// CHECK: decoder_backward/accumulate#4 {{.*}}epilogue_of=decoder_backward/dw#4
// CHECK: decoder_backward/dx#6 linear_backward compute=fp8 fusion_group=[[DX:[0-9]+]]
// CHECK: decoder_backward/dw#5 product_gradient compute=fp8 fusion_group=[[DW]]
// CHECK: decoder_backward/dx#7 linear_backward compute=fp8 fusion_group=[[DX]]
// CHECK: decoder_backward/add#3 {{.*}}epilogue_of=decoder_backward/dx#6
// CHECK: decoder_backward/dw#6 product_gradient compute=fp8 fusion_group=[[DW]]
// CHECK: decoder_backward/dx#8 linear_backward compute=fp8 fusion_group=[[DX]]
// CHECK: decoder_backward/add#4 {{.*}}epilogue_of=decoder_backward/dx#6
// A residual is no sum of products.
// CHECK: decoder_backward/add#5 add
// CHECK-NOT: epilogue_of

// Gathers of the forward send what products multiply, sums what they make.
// CHECK: decoder/gathered all_gather type=fp8
// CHECK: decoder/part reduce_scatter type=bf16
// Backwards gather the output's gradient for two products, the input for one
// of them alone.
// CHECK: model_backward/gathered all_gather of_inputs=True type=bf16
// CHECK: decoder_backward/gathered#2 all_gather type=fp8
// CHECK: decoder_backward/gathered#3 all_gather of_inputs=True type=fp8
// CHECK: decoder_backward/part reduce_scatter of_inputs=True type=bf16
