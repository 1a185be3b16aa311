// RUN: autopar-opt %s --autopar-convert-formats="compute=fp16" --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=COMPUTE
// RUN: autopar-opt %s --autopar-convert-formats="kv-cache=fp8" --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=CACHE
// RUN: autopar-opt %s --autopar-convert-formats="kv-cache=q8_0" --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=BLOCKS
// RUN: autopar-opt %s --autopar-convert-formats="kv-cache=q8_0" | autopar-opt --autopar-convert-formats="kv-cache=fp8" --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=CACHE
// RUN: not autopar-opt %s --autopar-convert-formats="compute=q8_0" 2>&1 | FileCheck %s --check-prefix=VALUES
// VALUES: compute: unknown format 'q8_0', expected one of bf16, fp16, fp32, fp8 (fp8_e4m3), fp8_e5m2
// BLOCKS: parallel.strategy kv_dtype(!blocks.q8_0)
// RUN: autopar-opt %s > %t && autopar-opt %s --autopar-convert-formats | diff - %t
// RUN: autopar-opt %s --autopar-convert-formats="compute=bf16 kv-cache=bf16" | grep -v parallel.strategy | diff - %t
// RUN: autopar-opt %s --autopar-convert-formats="compute=bf16 kv-cache=fp8" --autopar-convert-formats=compute=fp16 | FileCheck %s --check-prefix=NOTED
// NOTED: parallel.strategy dtype(f16) kv_dtype(f8E4M3FN)

// The checkpoint keeps its formats: the storage says what the value no longer does.
// COMPUTE-LABEL: func @weights
// CACHE-LABEL: func @weights
func.func @weights() {
  // COMPUTE: transformer.weight "g" stored [0] as bf16 : tensor<64xf16>
  // CACHE: transformer.weight "g" : tensor<64xbf16>
  %g = transformer.weight "g" : tensor<64xbf16>
  // COMPUTE: transformer.weight "w" stored [1, 0] as bf16 : tensor<64x32xf16>
  %w = transformer.weight "w" stored [1, 0] : tensor<64x32xbf16>
  // COMPUTE: transformer.weight "q" stored [1, 0] as f8E4M3FN : tensor<64x32xf16>
  %q = transformer.weight "q" stored [1, 0] as f8E4M3FN : tensor<64x32xbf16>
  return
}

// COMPUTE-LABEL: func @tokens_stay_integers
// COMPUTE-SAME: tensor<4xi32>
func.func @tokens_stay_integers(%ids: tensor<4xi32>, %t: tensor<100x64xbf16>) {
  // COMPUTE: -> tensor<4x64xf16>
  %x = transformer.embedding %ids, %t : tensor<4xi32>, tensor<100x64xbf16> -> tensor<4x64xbf16>
  return
}

!q = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!cache = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>

// COMPUTE-LABEL: func @cache
// CACHE-LABEL: func @cache
func.func @cache(%q: !q) {
  // COMPUTE: transformer.kv_cache : <?x?x2x32xbf16
  // CACHE: transformer.kv_cache : <?x?x2x32xf8E4M3FN
  // BLOCKS: transformer.kv_cache : <?x?x2x32x!blocks.q8_0
  %cache = transformer.kv_cache : !cache
  // COMPUTE: cache(%{{.*}}) {{.*}} : tensor<?x?x2x16xf16{{.*}}, tensor<?x?x2x16xf16{{.*}} in !transformer.cache<?x?x2x32xbf16
  // CACHE: cache(%{{.*}}) {{.*}} : tensor<?x?x2x16xbf16{{.*}}, tensor<?x?x2x16xbf16{{.*}} in !transformer.cache<?x?x2x32xf8E4M3FN
  %y = transformer.attention %q, %q, %q cache(%cache) causal : !q, !q, !q in !cache -> !q
  return
}

// Signatures, calls and what repeats carry follow.
// COMPUTE-LABEL: func @body
// COMPUTE-SAME: (%arg0: tensor<4x64xf16>) -> tensor<4x64xf16>
func.func @body(%x: tensor<4x64xbf16>) -> tensor<4x64xbf16> {
  return %x : tensor<4x64xbf16>
}
// COMPUTE-LABEL: func @caller
func.func @caller(%x0: tensor<4x64xbf16>) -> tensor<4x64xbf16> {
  // COMPUTE: transformer.repeat 2 ({{.*}}) : tensor<4x64xf16>
  %x1 = transformer.repeat 2 (%x = %x0) : tensor<4x64xbf16> {
    // COMPUTE-NEXT: call @body({{.*}}) : (tensor<4x64xf16>) -> tensor<4x64xf16>
    %y = func.call @body(%x) : (tensor<4x64xbf16>) -> tensor<4x64xbf16>
    transformer.yield %y : tensor<4x64xbf16>
  }
  return %x1 : tensor<4x64xbf16>
}
