// RUN: autopar-opt %s --autopar-bind-machine='hardware=h200-sxm-8 nodes=2' | FileCheck %s
// RUN: autopar-opt %s --autopar-clone-module=names=a,b --autopar-bind-machine=hardware=h20-8 | FileCheck %s --check-prefix=EACH
// RUN: not autopar-opt %s --autopar-bind-machine 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not autopar-opt %s --autopar-clone-module=names=a,b --autopar-bind-machine='hardware=x nodes=0' 2>&1 | FileCheck %s --check-prefix=NODES

// CHECK: module @m attributes {parallel.machine = #parallel.machine<"h200-sxm-8" nodes 2>} {
// EACH: module @m {
// EACH-NEXT: module @a attributes {parallel.machine = #parallel.machine<"h20-8">} {
// EACH: module @b attributes {parallel.machine = #parallel.machine<"h20-8">} {
// NONE: error: parallel.machine names no hardware
// NODES: error: parallel.machine has 0 nodes, expected 1 to 1073741824
// NODES: note: in module @a
module @m {
  func.func private @f()
}
