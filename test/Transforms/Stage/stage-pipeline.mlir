// Layers lie on stages by cost: what lies before the layers and after them
// counts. The IR changes by one op.

// RUN: split-file %s %t
// RUN: %roundtrip %t/model.mlir --autopar-stage-pipeline | FileCheck %s
// CHECK: parallel.mesh(pp = 2)
// CHECK-NEXT: parallel.stages over [pp] layers [0 to 4, 5 to 7] schedule(inference) microbatches(2)
// CHECK-COUNT-1: repeat 8

// What lies before the layers and after them may have a stage of its own.

// RUN: %roundtrip %t/model.mlir --autopar-stage-pipeline="stages=embedding,0-3,4-7,head interleave=2" | FileCheck %s --check-prefix=ENDS
// ENDS: parallel.stages over [pp] layers [embedding, 0 to 3, 4 to 7, head] interleave(2)
// RUN: autopar-opt %t/model.mlir --autopar-stage-pipeline=stages=embedding,0-7 | FileCheck %s --check-prefix=FIRST
// FIRST: parallel.stages over [pp] layers [embedding, 0 to 7]
// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline="stages=0-2,head,3-7 interleave=3" 2>&1 | FileCheck %s --check-prefix=MIDDLE
// MIDDLE: error: 'head' stands between others: the first stage may have the embedding alone, the last one the head

// Ranges that are given stay; a second run replaces them.

// RUN: autopar-opt %t/model.mlir --autopar-stage-pipeline="stages=0-2,3-7 microbatches=1 schedule=1f1b" | FileCheck %s --check-prefix=GIVEN
// GIVEN: parallel.stages over [pp] layers [0 to 2, 3 to 7] schedule(one_f_one_b) microbatches(1)
// RUN: autopar-opt %t/model.mlir --autopar-stage-pipeline="stages=0-2,3-7 microbatches=1" --autopar-stage-pipeline="interleave=2" | FileCheck %s --check-prefix=AGAIN
// AGAIN-COUNT-1: parallel.stages over [pp] layers [{{.*}}] interleave(2) schedule(interleaved) microbatches(2)

// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline=stages=0-2,3-6 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: stages have the layers 0 to 6, but the model has 8: the last stage ends with 7
// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline=stages=0-2,3-17 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: error: stages have the layers 0 to 17, but the model has 8: the last stage ends with 7
// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline=stages=0-2,3-5,6-7 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: 3 ranges of layers for 2 stages, expected 2
// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline=stages=zero 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: 'zero' is no range of layers
// TEXT: note: write the first and the last layer of each stage, as in 0-19,20-40,41-60
// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline=interleave=5 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: 2 stages with interleave 5 are 10 virtual stages, but the model has 8 layers
// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline=microbatches=3 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: error: a batch of 4 does not divide into 3 microbatches
// BATCH: note: microbatches that work: 1, 2, 4
// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline=schedule=fifo 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: unknown schedule 'fifo', expected gpipe, one_f_one_b,
// RUN: not autopar-opt %t/model.mlir --autopar-stage-pipeline="schedule=gpipe interleave=2" 2>&1 | FileCheck %s --check-prefix=GPIPE
// GPIPE: error: schedule gpipe does not take several virtual stages on a device: interleave is 2

// What has no layers, or layers that are no calls, cannot be divided.

// RUN: not autopar-opt %t/flat.mlir --autopar-stage-pipeline 2>&1 | FileCheck %s --check-prefix=FLAT
// FLAT: error: 'flat' has no layers that stages could divide
// FLAT: note: layers are calls in the last loops of the public function
// RUN: not autopar-opt %t/flat.mlir --autopar-stage-pipeline=stages=0-0,1-1 2>&1 | FileCheck %s --check-prefix=FLAT

// RUN: not autopar-opt %t/no-mesh.mlir --autopar-stage-pipeline 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: error: the mesh has no axis 'pp' for pipeline stages: give --stage-pp=N

//--- model.mlir
!bq_64_bf = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!b_64_bf = tensor<?x64xbf16, #transformer.dims<[batch, _]>>
!b_8192_bf = tensor<?x8192xbf16, #transformer.dims<[batch, _]>>
module @model {
  transformer.workload(phase = prefill, batch = 4, query = 1024, context = 1024)
  parallel.mesh(pp = 2)
  func.func private @layer(%x: !bq_64_bf) -> !bq_64_bf {
    %w = transformer.weight "w" : tensor<64x64xbf16>
    %y = transformer.linear %x, %w : !bq_64_bf, tensor<64x64xbf16> -> !bq_64_bf
    return %y : !bq_64_bf
  }
  func.func @model(%x: !bq_64_bf) -> !b_8192_bf {
    %y = transformer.repeat 8 layers "layers" from 0 (%a = %x) : !bq_64_bf {
      %b = func.call @layer(%a) : (!bq_64_bf) -> !bq_64_bf
      transformer.yield %b : !bq_64_bf
    }
    %last = transformer.last_token %y : !bq_64_bf -> !b_64_bf
    %head = transformer.weight "head" : tensor<8192x64xbf16>
    %logits = transformer.logits %last, %head : !b_64_bf, tensor<8192x64xbf16> -> !b_8192_bf
    return %logits : !b_8192_bf
  }
}

//--- flat.mlir
!bq_64_bf = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
module @flat {
  transformer.workload(phase = prefill, batch = 4, query = 1024, context = 1024)
  parallel.mesh(pp = 2)
  func.func @model(%x: !bq_64_bf) -> !bq_64_bf {
    %w = transformer.weight "w" : tensor<64x64xbf16>
    %y = transformer.repeat 8 (%a = %x) : !bq_64_bf {
      %b = transformer.linear %a, %w : !bq_64_bf, tensor<64x64xbf16> -> !bq_64_bf
      transformer.yield %b : !bq_64_bf
    }
    return %y : !bq_64_bf
  }
}

//--- no-mesh.mlir
!bq_64_bf = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
module @model {
  transformer.workload(phase = prefill, batch = 4, query = 1024, context = 1024)
  func.func @model(%x: !bq_64_bf) -> !bq_64_bf {
    return %x : !bq_64_bf
  }
}
