// RUN: autopar-opt %s --autopar-shard-tensor="vocabulary-multiple=-1" -verify-diagnostics

// expected-error @+1 {{vocabulary-multiple = -1, expected a positive number}}
module {
  parallel.mesh(tp = 8)
}
