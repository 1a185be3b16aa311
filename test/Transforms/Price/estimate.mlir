// The report goes to standard output, the IR with it: -o moves the IR away.
// RUN: autopar-opt %s --autopar-estimate=verbose=true -o %t.mlir | FileCheck %s --check-prefix=TEXT
// RUN: autopar-opt %s | diff - %t.mlir
// RUN: autopar-opt %s --autopar-estimate="format=json" -o %t.mlir | FileCheck %s --check-prefix=JSON
// RUN: mkdir -p %t && cd %t && autopar-opt %s --autopar-estimate="verbose=true output=report.txt" | diff - %t.mlir
// RUN: FileCheck %s --check-prefix=TEXT < %t/report.txt
// RUN: autopar-opt %s --autopar-estimate="format=json explain=true" -o %t.mlir \
// RUN:   | FileCheck %s --check-prefix=EXPLAIN
// RUN: autopar-opt %s -o /dev/null --autopar-bind-target="hardware=h200-sxm-8 nodes=2 runtime=ideal" --autopar-bind-workload=batch=2 --autopar-estimate=verbose=true \
// RUN:   | FileCheck %s --check-prefix=GIVEN

// TEXT: tiny: prefill of 2 x 16 tokens
// TEXT: on 4 of 8 devices of h100-sxm-8
// TEXT: fits yes
// TEXT: all_gather model/gathered tp (4) 1

// Everything that nobody chose is an assumption.
// TEXT-LABEL: Assumptions
// TEXT-DAG: hardware: h100-sxm-8 (default; set with --hardware)
// TEXT-DAG: nodes: 1 (default; set with --nodes)
// TEXT-DAG: runtime: vllm (default; set with --runtime)
// TEXT-DAG: workload.phase: prefill (the module's own workload)
// TEXT-DAG: workload.batch: 2 (the module's own workload)
// TEXT-DAG: workload.query: 16 (the module's own workload)
// TEXT-DAG: workload.context: 16 (the module's own workload)
// TEXT-DAG: model.tie_word_embeddings: false (default of a test)

// GIVEN: on 4 of 16 devices of h200-sxm-8 x 2
// GIVEN-LABEL: Assumptions
// GIVEN-NOT: hardware:
// GIVEN-NOT: nodes:
// GIVEN-NOT: runtime:
// GIVEN-NOT: workload.batch
// GIVEN: workload.context: 16

// JSON: "schema": "autopar.report/1"
// JSON: "parameters": 2048
// JSON: "weight_bytes": 1024
// JSON: "total": 131072
// JSON-NOT: "derivations"
// EXPLAIN: "derivations"
module @tiny attributes {
  transformer.defaults = [#transformer.default<"tie_word_embeddings" = "false" from "default of a test">]
} {
  transformer.workload(phase = prefill, batch = 2, query = 16, context = 16)
      assumed [phase, batch, query, context]
  parallel.mesh(tp = 4)
  func.func @model(%x: tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>)
      -> tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>> {
    %w = transformer.weight "w" : tensor<64x32xbf16, #parallel.sharding<[_, _ by tp]>>
    %y = transformer.linear %x, %w
        : tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>,
          tensor<64x32xbf16, #parallel.sharding<[_, _ by tp]>>
          -> tensor<?x?x32xbf16, #parallel.sharding<[batch, query, _ by tp]>>
    %z = parallel.all_gather %y dim 2 over [tp]
        : tensor<?x?x32xbf16, #parallel.sharding<[batch, query, _ by tp]>>
        -> tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
    return %z : tensor<?x?x32xbf16, #transformer.dims<[batch, query, _]>>
  }
}
