// RUN: autopar-opt %s --autopar-bind-target='hardware=h200-sxm-8 nodes=2' | FileCheck %s
// RUN: autopar-opt %s --autopar-bind-target='hardware=h200-sxm-8 set=chips.a=1,systems.d=2.5e9' \
// RUN:   --autopar-bind-target='nodes=3 runtime=ideal memory-utilization=0.5 set=chips.a=4' \
// RUN:   | FileCheck %s --check-prefix=MORE
// RUN: autopar-opt %s --autopar-bind-target='max-num-seqs=64 enforce-eager' \
// RUN:   --autopar-bind-target=nodes=2 | FileCheck %s --check-prefix=LAUNCH
// RUN: not autopar-opt %s --autopar-bind-target=max-num-seqs=-1 2>&1 | FileCheck %s --check-prefix=SEQUENCES
// RUN: autopar-opt %s --autopar-clone-module=names=a,b --autopar-bind-target=hardware=h20-8 | FileCheck %s --check-prefix=SHARED
// RUN: autopar-opt %s --autopar-bind-target | FileCheck %s --check-prefix=EMPTY
// RUN: not autopar-opt %s --autopar-bind-target='hardware=x nodes=-1' 2>&1 | FileCheck %s --check-prefix=NODES
// RUN: not autopar-opt %s --autopar-bind-target='memory-utilization=1.5' 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: not autopar-opt %s --autopar-bind-target='set=chips' 2>&1 | FileCheck %s --check-prefix=SET

// CHECK: module @m {
// CHECK-NEXT: parallel.target hardware("h200-sxm-8") nodes(2){{$}}
// MORE: parallel.target hardware("h200-sxm-8") nodes(3) runtime("ideal") memory_utilization(0.5) set("chips.a" = 4.0, "systems.d" = 2.5e+09)
// LAUNCH: parallel.target nodes(2) max_num_seqs(64) enforce_eager{{$}}
// SEQUENCES: error: 'parallel.target' op has max_num_seqs -1, expected 1 to 1099511627776
// SHARED: module @m {
// SHARED-NEXT: parallel.target hardware("h20-8")
// SHARED-NEXT: module @a {
// SHARED-NOT: parallel.target
// EMPTY: parallel.target{{$}}
// NODES: error: 'parallel.target' op has -1 nodes, expected 1 to 1073741824
// SHARE: error: 'parallel.target' op has memory_utilization 1.5, expected a share above 0 and up to 1
// SET: error: override "chips" is not path=value
module @m {
  func.func private @f()
}
