// RUN: autopar-opt %s --split-input-file --verify-diagnostics

module @a {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
}
// expected-error @below {{'parallel.link' op names @b, which is no module beside it}}
parallel.link @a to @b

// -----

func.func private @f()
module @a {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
}
// expected-error @below {{'parallel.link' op names @f, which is no module beside it}}
parallel.link @f to @a

// -----

module @a {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
}
// expected-note @below {{this module}}
module @b {
}
// expected-error @below {{'parallel.link' op names @b, which has no workload}}
parallel.link @a to @b

// -----

module @a {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
}
// expected-error @below {{'parallel.link' op ties @a to itself}}
parallel.link @a to @a

// -----

!c = !transformer.cache<?x?x8x32xbf16, #transformer.dims<[batch, context, _, _]>>
!d = !transformer.cache<?x?x8x32xf16, #transformer.dims<[batch, context, _, _]>>
module @a {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
  func.func @step() {
    // expected-note @below {{in @a}}
    %c = transformer.kv_cache : !c
    return
  }
}
module @b {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
  func.func @step() {
    // expected-note @below {{in @b}}
    %c = transformer.kv_cache : !d
    return
  }
}
// expected-error @below {{'parallel.link' op hands step/cache [batch, context, 8, 32] bf16 to @b, which keeps step/cache [batch, context, 8, 32] fp16}}
parallel.link @a to @b

// -----

!c = !transformer.cache<?x?x8x32xbf16, #transformer.dims<[batch, context, _, _]>>
!d = !transformer.cache<?x?x256xbf16, #transformer.dims<[batch, context, _]>>
module @a {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
  func.func @step() {
    // expected-note @below {{in @a}}
    %c = transformer.kv_cache : !c
    return
  }
}
module @b {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
  func.func @step() {
    // expected-note @below {{in @b}}
    %c = transformer.kv_cache : !d
    return
  }
}
// expected-error @below {{'parallel.link' op hands step/cache [batch, context, 8, 32] bf16 to @b, which keeps step/cache [batch, context, 256] bf16}}
parallel.link @a to @b

// -----

!c = !transformer.cache<?x?x8x32xbf16, #transformer.dims<[batch, context, _, _]>>
module @a {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
  func.func @step() {
    // expected-note @below {{in @a}}
    %c = transformer.kv_cache : !c
    return
  }
}
module @b {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
  func.func @step() {
    // expected-note @below {{in @b}}
    %c = transformer.kv_cache window(4) : !c
    return
  }
}
// expected-error @below {{'parallel.link' op hands step/cache [batch, context, 8, 32] bf16 to @b, which keeps step/cache [batch, context, 8, 32] bf16, window = 4 : i64}}
parallel.link @a to @b

// -----

!c = !transformer.cache<?x?x8x32xbf16, #transformer.dims<[batch, context, _, _]>>
module @a {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
}
module @b {
  transformer.workload(phase = decode, batch = 1, query = 1, context = 8)
  func.func @step() {
    // expected-note @below {{in @b}}
    %c = transformer.kv_cache : !c
    return
  }
}
// expected-error @below {{'parallel.link' op hands nothing more to @b, which keeps step/cache [batch, context, 8, 32] bf16}}
parallel.link @a to @b

// -----

// expected-error @below {{'parallel.pool' is no attribute of the parallel dialect}}
module attributes {parallel.pool = "x"} {
}
