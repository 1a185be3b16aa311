// What is updated in place lies where the update is: moved first, the update
// would go to a copy.
// RUN: split-file %s %t
// RUN: autopar-opt --autopar-insert-collectives %t/state.mlir | FileCheck %s --check-prefix=STATE
// RUN: autopar-opt --autopar-insert-collectives %t/cache.mlir | FileCheck %s --check-prefix=CACHE
// RUN: not autopar-opt --autopar-insert-collectives %t/gathered.mlir 2>&1 | FileCheck %s --check-prefix=GATHERED
// RUN: autopar-opt --shard-tp=4 --shard-dcp=2 --phase=decode --batch=4 --context=7 %t/selects.mlir | FileCheck %s --check-prefix=SELECTS

// STATE-NOT: parallel.all
// STATE: transformer.state : !btp_8_3_bf
// CACHE-NOT: parallel.all
// CACHE: transformer.kv_cache : !bc_2tp_32_bf
// GATHERED: error: a cache or a state is moved before it is updated
// SELECTS: transformer.kv_cache : !bc_8_bf

//--- state.mlir
!x = tensor<?x?x8xbf16, #parallel.sharding<[batch by tp, query, _]>>
!s = !transformer.state<?x8x3xbf16, #parallel.sharding<[batch, _ by tp, _]>>
!t = !transformer.state<?x8x3xbf16, #parallel.sharding<[batch by tp, _, _]>>
parallel.mesh(tp = 2)
func.func @f(%x: !x, %w: tensor<8x4xbf16>) -> !x {
  %s = transformer.state : !s
  %t = parallel.reshard %s : !s -> !t
  %y = transformer.short_conv %x, %w state(%t : !t) : !x, tensor<8x4xbf16>
  return %y : !x
}
//--- cache.mlir
!q = tensor<?x?x2x16xbf16, #parallel.sharding<[batch, query, _ by tp, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
!d = !transformer.cache<?x?x2x32xbf16, #parallel.sharding<[batch, context, _ by tp, _]>>
parallel.mesh(tp = 2)
func.func @f(%q: !q) -> !q {
  %c = transformer.kv_cache : !c
  %d = parallel.reshard %c : !c -> !d
  %y = transformer.attention %q, %q, %q cache(%d) causal : !q, !q, !q in !d -> !q
  return %y : !q
}
//--- gathered.mlir
!q = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x32xbf16, #parallel.sharding<[batch, context by tp, _, _]>>
!d = !transformer.cache<?x?x2x32xbf16, #transformer.dims<[batch, context, _, _]>>
parallel.mesh(tp = 2)
func.func @f(%q: !q) -> !q {
  %c = transformer.kv_cache : !c
  %d = parallel.reshard %c : !c -> !d
  %y = transformer.attention %q, %q, %q cache(%d) causal : !q, !q, !q in !d -> !q
  return %y : !q
}
//--- selects.mlir
!q = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
!w = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
!c = !transformer.cache<?x?x8xbf16, #transformer.dims<[batch, context, _]>>
!i = tensor<?x?x2xi32, #transformer.dims<[batch, query, _]>>
func.func @f(%q: !q, %k: !k, %w: !w) -> !i {
  %c = transformer.kv_cache : !c
  %i = transformer.indexer %q, %k, %w cache(%c : !c) top_k(2) : !q, !k, !w -> !i
  return %i : !i
}
