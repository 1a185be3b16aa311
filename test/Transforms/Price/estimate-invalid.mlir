// RUN: autopar-opt %s --autopar-estimate -split-input-file -verify-diagnostics -o /dev/null

// expected-error @+1 {{the module has no workload: give --phase, --batch, --prompt or --context}}
module {
  func.func @model() {
    return
  }
}

// -----

// expected-error @+2 {{axis 'tp' of the mesh has no size}}
// expected-note @+1 {{give --mesh=tp=8 or --shard-tp=8}}
module {
  transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
  parallel.mesh(dp = 2, tp = ?)
  func.func @model() {
    return
  }
}

// -----

!sum = tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>
transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
parallel.mesh(tp = 4)
func.func @reshard_that_is_not_lowered(%x: !sum) -> tensor<64xbf16> {
  // expected-error @+1 {{'parallel.reshard' op has no cost before autopar-insert-collectives has chosen its collectives}}
  %y = parallel.reshard %x : !sum -> tensor<64xbf16>
  return %y : tensor<64xbf16>
}

// -----

// expected-error @+2 {{plan needs 16 devices but h100-sxm-8 with 1 node has 8}}
// expected-note @+1 {{--nodes=2}}
module {
  transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
  parallel.mesh(tp = 16)
  func.func @model() {
    return
  }
}

// -----

// expected-error @+1 {{parallel.strategy: knob colour: there is none of this name}}
module {
  parallel.strategy knobs {colour = 1 : i64}
  transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
  func.func @model() {
    return
  }
}

// -----

// expected-error @+1 {{parallel.strategy: knob dropout: expected a share from 0 to 1}}
module {
  parallel.strategy knobs {dropout = 2.0 : f64}
  transformer.workload(phase = prefill, batch = 1, query = 8, context = 8)
  func.func @model() {
    return
  }
}
