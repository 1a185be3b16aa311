// RUN: autopar-opt %s --autopar-print-cost-program -split-input-file -verify-diagnostics -o /dev/null

!x = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x16xbf16, #transformer.dims<[batch, context, _, _]>>
module {
  func.func private @giver(%x: !x, %k: !k) -> !x {
    %c = transformer.kv_cache "full" : !c
    %y = transformer.attention %x, %k, %k cache(%c) causal : !x, !k in !c
    return %y : !x
  }
  func.func private @reader(%x: !x) -> !x {
    // expected-error @+1 {{'transformer.kv_cache' op is read, but no earlier layer appends to a cache of this name}}
    %c = transformer.kv_cache "full" : !c
    %y = transformer.shared_attention %x cache(%c) : !x in !c -> !x
    return %y : !x
  }
  func.func @model(%x: !x, %k: !k) -> !x {
    %a = func.call @reader(%x) : (!x) -> !x
    %b = func.call @giver(%a, %k) : (!x, !k) -> !x
    return %b : !x
  }
}

// -----

!x = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x16xbf16, #transformer.dims<[batch, context, _, _]>>
module {
  func.func private @giver(%x: !x, %k: !k) -> !x {
    // expected-error @+1 {{'transformer.kv_cache' op has one name for 2 layers that append: one cache is appended to once in a step}}
    %c = transformer.kv_cache "full" : !c
    %y = transformer.attention %x, %k, %k cache(%c) causal : !x, !k in !c
    return %y : !x
  }
  func.func @model(%x: !x, %k: !k) -> !x {
    %y = transformer.repeat 2 (%a = %x) : !x {
      %b = func.call @giver(%a, %k) : (!x, !k) -> !x
      transformer.yield %b : !x
    }
    return %y : !x
  }
}

// -----

!x = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x16xbf16, #transformer.dims<[batch, context, _, _]>>
module {
  func.func @model(%x: !x, %k: !k) -> !x {
    // expected-note @+1 {{the earlier cache is here}}
    %c = transformer.kv_cache "full" : !c
    %y = transformer.attention %x, %k, %k cache(%c) causal : !x, !k in !c
    // expected-error @+1 {{'transformer.kv_cache' op is appended to by a second layer}}
    %d = transformer.kv_cache "full" : !c
    %z = transformer.attention %y, %k, %k cache(%d) causal : !x, !k in !c
    return %z : !x
  }
}

// -----

!x = tensor<?x?x4x8xbf16, #transformer.dims<[batch, query, _, _]>>
!k = tensor<?x?x2x8xbf16, #transformer.dims<[batch, query, _, _]>>
!c = !transformer.cache<?x?x2x16xbf16, #transformer.dims<[batch, context, _, _]>>
!d = !transformer.cache<?x?x4x16xbf16, #transformer.dims<[batch, context, _, _]>>
module {
  func.func @model(%x: !x, %k: !k) -> !x {
    // expected-note @+1 {{the earlier cache is here}}
    %c = transformer.kv_cache "full" : !c
    %y = transformer.attention %x, %k, %k cache(%c) causal : !x, !k in !c
    // expected-error @+1 {{'transformer.kv_cache' op has another type or window than an earlier cache of this name}}
    %d = transformer.kv_cache "full" : !d
    %z = transformer.shared_attention %y cache(%d) : !x in !d -> !x
    return %z : !x
  }
}
