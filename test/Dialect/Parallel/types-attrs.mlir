// RUN: %roundtrip %s --mlir-print-local-scope | FileCheck %s
// RUN: autopar-opt %s | FileCheck %s --check-prefix=ALIAS

// Types have short names that say what is split and what is a partial sum.
// ALIAS-DAG: !bdp_q_64_bf = tensor<?x?x64xbf16, #parallel.sharding<[batch by dp, query, _]>>
// ALIAS-DAG: !w64tp_bf = tensor<64xbf16, #parallel.sharding<[_ by tp]>>
// ALIAS-DAG: !w64dptp_bf = tensor<64xbf16, #parallel.sharding<[_ by dp*tp]>>
// ALIAS-DAG: !w64_sum_tp = tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>

// CHECK-LABEL: func private @split_number
// CHECK-SAME: #parallel.sharding<[_ by tp]>
func.func private @split_number(tensor<64xbf16, #parallel.sharding<[_ by tp]>>)

// CHECK-LABEL: func private @split_symbol
// CHECK-SAME: #parallel.sharding<[batch by dp, query, _]>
func.func private @split_symbol(
    tensor<?x?x64xbf16, #parallel.sharding<[batch by dp, query, _]>>)

// CHECK-LABEL: func private @split_by_two_axes
// CHECK-SAME: #parallel.sharding<[_ by dp*tp]>
func.func private @split_by_two_axes(tensor<64xbf16, #parallel.sharding<[_ by dp*tp]>>)

// CHECK-LABEL: func private @split_set
// CHECK-SAME: #parallel.sharding<[{batch*query*2} by [batch by dp, query by tp], _]>
func.func private @split_set(
    tensor<?x64xbf16, #parallel.sharding<[{batch*query*2} by [batch by dp, query by tp], _]>>)

// CHECK-LABEL: func private @rule_cap
// CHECK-SAME: #parallel.sharding<[_ by tp cap]>
func.func private @rule_cap(tensor<8xbf16, #parallel.sharding<[_ by tp cap]>>)

// CHECK-LABEL: func private @rule_pad
// CHECK-SAME: #parallel.sharding<[_ by tp pad 64]>
func.func private @rule_pad(tensor<1000xbf16, #parallel.sharding<[_ by tp pad 64]>>)

// CHECK-LABEL: func private @rule_any_of_a_number
// CHECK-SAME: #parallel.sharding<[_ by tp any]>
func.func private @rule_any_of_a_number(tensor<1000xbf16, #parallel.sharding<[_ by tp any]>>)

// CHECK-LABEL: func private @rule_plain_of_a_symbol
// CHECK-SAME: #parallel.sharding<[batch by dp plain]>
func.func private @rule_plain_of_a_symbol(
    tensor<?xbf16, #parallel.sharding<[batch by dp plain]>>)

// Defaults do not print.
// CHECK-LABEL: func private @rules_by_default
// CHECK-SAME: #parallel.sharding<[batch by dp, _ by tp]>
func.func private @rules_by_default(
    tensor<?x64xbf16, #parallel.sharding<[batch by dp any, _ by tp plain]>>)

// CHECK-LABEL: func private @partial
// CHECK-SAME: #parallel.sharding<[_] partial [tp]>
func.func private @partial(tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>)

// CHECK-LABEL: func private @split_and_partial
// CHECK-SAME: #parallel.sharding<[batch by dp, _] partial [tp, ep]>
func.func private @split_and_partial(
    tensor<?x64xbf16, #parallel.sharding<[batch by dp, _] partial [tp, ep]>>)

// CHECK-LABEL: func private @dim
// CHECK-SAME: a = #parallel.dim<batch by dp>
// CHECK-SAME: b = #parallel.dim<_ by tp pad 64>
// CHECK-SAME: c = #parallel.dim<{batch*query} by [batch by dp*tp, query]>
// CHECK-SAME: d = #parallel.dim<_>
func.func private @dim() attributes {
  a = #parallel.dim<batch by dp>, b = #parallel.dim<_ by tp pad 64>,
  c = #parallel.dim<{batch*query} by [batch by dp*tp, query]>, d = #parallel.dim<_>
}
