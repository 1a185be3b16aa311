// RUN: autopar-translate --export-dot %s | FileCheck %s --match-full-lines
// RUN: autopar-translate --export-dot %s -o %t.dot
// RUN: autopar-translate --export-json-graph %s -o %t.json
// RUN: %python %S/Inputs/check_dot.py %t.dot %t.json | FileCheck %s --check-prefix=COUNT
// RUN: %python %S/../tools/autopar/Inputs/validate.py %S/../../lib/ModuleGraph/schema/graph.schema.json %t.json

// A layer that a loop runs three times is one cluster. What the next layer reads
// is an edge that goes back; what a loop does itself has a cluster of the loop.

//      CHECK:digraph "m" {
//      CHECK:  subgraph "cluster_0" {
// CHECK-NEXT:    label="model x 1"; style="rounded"; color="#7f7f7f";
// CHECK-NEXT:    n0 [label="%arg0\nargument", tooltip="", shape=ellipse];
// CHECK-NEXT:    n6 [label="%layers\nresult", tooltip="", shape=ellipse];
// CHECK-NEXT:    subgraph "cluster_2" {
// CHECK-NEXT:      label="%layers x 3"; style="dashed"; color="#7f7f7f";
// CHECK-NEXT:      n5 [label="%activation\ntransformer.activation", tooltip="{{.*}}", style=filled, fillcolor="#deebf7"];
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:  subgraph "cluster_1" {
// CHECK-NEXT:    label="layer x 3"; style="rounded"; color="#7f7f7f";
// CHECK-NEXT:    n1 [label="%arg0\nargument", tooltip="", shape=ellipse];
// CHECK-NEXT:    n2 [label="%w\ntransformer.weight\nw.weight", tooltip="transformer.weight name=\"w.weight\"", shape=cylinder, color="#7f7f7f"];
// CHECK-NEXT:    n3 [label="%w_out\ntransformer.linear", tooltip="transformer.linear", style=filled, fillcolor="#deebf7"];
// CHECK-NEXT:    n4 [label="%part\nparallel.reduce_scatter\nover tp", tooltip="parallel.reduce_scatter axes=[\"tp\"] dim=2 : i64", shape=hexagon, style=filled, fillcolor="#f4b183"];
// CHECK-NEXT:  }
//  CHECK-DAG:  n2 -> n3 [label="64 by tp x 64 bf16", tooltip="%w"];
//  CHECK-DAG:  n3 -> n4 [label="batch x query x 64 bf16\nsum over tp", tooltip="%w_out"];
//  CHECK-DAG:  n0 -> n1 [label="batch x query x 64 by tp bf16", tooltip="%arg1"];
//  CHECK-DAG:  n5 -> n1 [label="batch x query x 64 by tp bf16", tooltip="%arg1", style=dashed, constraint=false];

// COUNT: 7 nodes, 7 edges, 3 clusters

!x = tensor<?x?x64xbf16, #parallel.sharding<[batch, query, _ by tp]>>
!whole = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!sum = tensor<?x?x64xbf16, #parallel.sharding<[batch, query, _] partial [tp]>>
!w = tensor<64x64xbf16, #parallel.sharding<[_ by tp, _]>>
module @m {
  parallel.mesh(tp = 2)
  func.func private @layer(%x: !x) -> !x {
    %w = transformer.weight "w.weight" : !w
    %y = transformer.linear %x, %w : !x, !w -> !sum
    %sum = parallel.reduce_scatter %y dim 2 over [tp] : !sum -> !x
    return %sum : !x
  }
  func.func @model(%x: !x) -> !x {
    %layers = transformer.repeat 3 layers "layers" from 0 (%a = %x) : !x {
      %0 = func.call @layer(%a) : (!x) -> !x
      %gelu = transformer.activation %0 gelu : !x
      transformer.yield %gelu : !x
    }
    return %layers : !x
  }
}
