// RUN: autopar-opt %s --autopar-shard-tensor --mlir-print-local-scope | FileCheck %s
// RUN: autopar-opt %s --autopar-shard-tensor="axes=dp" --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=AXIS
// RUN: autopar-opt %s --autopar-shard-tensor="vocabulary-multiple=128" --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=PAD
// RUN: autopar-opt %s --autopar-shard-tensor="axes=dp" --autopar-shard-tensor \
// RUN:   --mlir-print-local-scope | FileCheck %s --check-prefix=BOTH

// A size that is not given stays open: the split does not need it.
// CHECK: parallel.mesh(dp = 2, tp = ?)
parallel.mesh(dp = 2, tp = ?)

func.func @vocabulary(%ids: tensor<4xi32>) -> tensor<4x64xbf16> {
  // CHECK: transformer.weight "embed" : tensor<1000x64xbf16, #parallel.sharding<[_ by tp pad 64, _]>>
  // AXIS: transformer.weight "embed" : tensor<1000x64xbf16, #parallel.sharding<[_ by dp pad 64, _]>>
  // PAD: transformer.weight "embed" : tensor<1000x64xbf16, #parallel.sharding<[_ by tp pad 128, _]>>
  // BOTH: transformer.weight "embed" : tensor<1000x64xbf16, #parallel.sharding<[_ by dp*tp pad 64, _]>>
  %table = transformer.weight "embed" : tensor<1000x64xbf16>
  %x = transformer.embedding %ids, %table : tensor<4xi32>, tensor<1000x64xbf16> -> tensor<4x64xbf16>
  return %x : tensor<4x64xbf16>
}
