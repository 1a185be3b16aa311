// How routed tokens travel is said on both of their collectives; the format on
// the way to the experts.

// RUN: autopar-opt %S/../Inputs/experts.mlir --pass-pipeline='builtin.module(autopar-shard-data{axes=dpo,dpi},autopar-shard-experts{axes=dpi,tp},autopar-insert-collectives)' > %t.mlir
// RUN: %roundtrip %t.mlir --autopar-dispatch-tokens="by-node=true format=fp8" > %t.both.mlir
// RUN: FileCheck %s < %t.both.mlir
// CHECK: parallel.all_to_all {{.*}} dim 0 to experts over [dpi] by_node top_k(2) as f8E4M3FN blocks(128) :
// CHECK: parallel.all_to_all {{.*}} dim experts to 0 over [dpi] by_node top_k(2) :

// RUN: autopar-opt %t.mlir --autopar-dispatch-tokens=format=fp16 | FileCheck %s --check-prefix=FORMAT
// FORMAT: dim 0 to experts over [dpi] as f16 :
// FORMAT: dim experts to 0 over [dpi] :

// As they are: nothing is said.

// RUN: autopar-opt %t.mlir --autopar-dispatch-tokens=format=bf16 | diff %t.mlir -
// RUN: autopar-opt %t.mlir --autopar-dispatch-tokens | diff %t.mlir -
// RUN: not autopar-opt %t.mlir --autopar-dispatch-tokens=format=int3 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: format: unknown format 'int3', expected

// The program has what prices follow from.

// RUN: autopar-opt %t.both.mlir --autopar-print-cost-program -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: "name": "{{.*}}exchanged"
// PROGRAM: "type": "fp8"
// PROGRAM-NEXT: "scale_block": 128
// PROGRAM-NEXT: "routed": true
// PROGRAM-NEXT: "by_node": {
// PROGRAM-NEXT: "top_k": 2
// PROGRAM-NEXT: "experts": 8
// PROGRAM: "axes": [
// PROGRAM-NEXT: "dpi"
// PROGRAM-NEXT: "tp"

// RUN: split-file %s %t
// RUN: autopar-opt %t/groups.mlir --autopar-dispatch-tokens=by-node=true | FileCheck %s --check-prefix=GROUPS
// GROUPS: by_node top_k(2) groups(4) keep(2) :
// RUN: not autopar-opt %t/no-router.mlir --autopar-dispatch-tokens=by-node=true 2>&1 | FileCheck %s --check-prefix=ROUTER
// ROUTER: error: 'parallel.all_to_all' op moves tokens of no router that could be found, whose choices say to how many nodes they go

//--- groups.mlir
!x = tensor<?x64xbf16, #parallel.sharding<[batch by ep, _]>>
!r = tensor<?x2xbf16, #parallel.sharding<[batch by ep, _]>>
!t = tensor<?x64xbf16, #parallel.sharding<[{batch*2} by [batch by ep], _]>>
!e = tensor<?x64xbf16, #parallel.sharding<[{batch*2} grouped [8 by ep], _]>>
parallel.mesh(ep = 4)
func.func @moe(%x: !x, %gate: tensor<64x8xbf16>) -> !e {
  %r = transformer.router %x, %gate top_k(2) groups(4) keep(2) : !x, tensor<64x8xbf16> -> !r
  %t = transformer.dispatch %x, %r : !x, !r -> !t
  %e = parallel.all_to_all %t dim 0 to experts over [ep] : !t -> !e
  return %e : !e
}
//--- no-router.mlir
!t = tensor<?x64xbf16, #parallel.sharding<[{batch*2} by [batch by ep], _]>>
!e = tensor<?x64xbf16, #parallel.sharding<[{batch*2} grouped [8 by ep], _]>>
parallel.mesh(ep = 4)
func.func @moe(%t: !t) -> !e {
  %e = parallel.all_to_all %t dim 0 to experts over [ep] : !t -> !e
  return %e : !e
}
