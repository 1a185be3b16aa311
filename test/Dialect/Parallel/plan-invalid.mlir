// RUN: autopar-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'parallel.target' op names no hardware}}
parallel.target hardware("")

// -----

// expected-error @+1 {{'parallel.target' op names no runtime}}
parallel.target runtime("")

// -----

// expected-error @+1 {{'parallel.target' op has 0 nodes, expected 1 to 1073741824}}
parallel.target nodes(0)

// -----

// expected-error @+1 {{'parallel.target' op has a prefill_chunk of -1 tokens, expected 1 to 1099511627776 or none}}
parallel.target prefill_chunk(-1)

// -----

// expected-error @+1 {{'parallel.target' op has max_num_seqs 0, expected 1 to 1099511627776}}
parallel.target max_num_seqs(0)

// -----

// expected-error @+1 {{'parallel.target' op has memory_utilization 0.0, expected a share above 0 and up to 1}}
parallel.target memory_utilization(0.0)

// -----

// expected-error @+1 {{'parallel.target' op sets figure 'a', which it sets before}}
parallel.target set("a" = 1.0, "a" = 2.0)

// -----

// expected-error @+1 {{'parallel.target' op sets figure '', which has no name}}
parallel.target set("" = 1.0)

// -----

// expected-error @+1 {{'parallel.target' op sets figure 'a' to no finite number}}
parallel.target set("a" = 0x7FF0000000000000)

// -----

// expected-error @+1 {{'parallel.target' op sets 1 figures to 2 numbers}}
"parallel.target"() {figures = ["a"], values = array<f64: 1.0, 2.0>} : () -> ()

// -----

// expected-note @+1 {{the first is here}}
parallel.target
// expected-error @+1 {{'parallel.target' op is a second target of its module}}
parallel.target

// -----

// expected-note @+1 {{the first is here}}
parallel.strategy
// expected-error @+1 {{'parallel.strategy' op is a second strategy of its module}}
parallel.strategy

// -----

func.func @inside() {
  // expected-error @+1 {{'parallel.strategy' op must be directly inside a module}}
  parallel.strategy
  return
}

// -----

// expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'context_kind' [ring, all_to_all, all_gather]}}
parallel.strategy context(rings)

// -----

// expected-error @+1 {{'parallel.strategy' op has knob "dropout" = [1], expected a number, a text, or nothing}}
parallel.strategy knobs {dropout = [1]}

// -----

// expected-error @+1 {{attribute 'dtype' failed to satisfy constraint}}
parallel.strategy dtype(i8)

// -----

// expected-error @+1 {{'transformer.workload' op assumes 'source', expected some of phase, batch, query, context}}
transformer.workload(phase = decode, batch = 1, query = 1, context = 8) assumed [source]

// -----

// expected-error @+1 {{'transformer.workload' op assumes 'batch' twice}}
transformer.workload(phase = decode, batch = 1, query = 1, context = 8) assumed [batch, batch]

// -----

parallel.mesh(pp = 1)
// expected-error @+1 {{'parallel.stages' op assumes 'interleave', expected some of schedule, microbatches}}
parallel.stages over [pp] layers [0 to 0] schedule(inference) microbatches(1) assumed [interleave]
