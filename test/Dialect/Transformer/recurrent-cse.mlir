// RUN: autopar-opt %s --cse --canonicalize | FileCheck %s

// Equal states are different memory, and what writes one is not removed.
// CHECK-LABEL: func @two_states
// CHECK-COUNT-2: transformer.state :
// CHECK-COUNT-2: transformer.linear_attention
!x = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
!s = !transformer.state<?x8x16x16xf32, #transformer.dims<[batch, _, _, _]>>
func.func @two_states(%q: !x) {
  %s0 = transformer.state : !s
  %s1 = transformer.state : !s
  %y0 = transformer.linear_attention %q, %q, %q state(%s0) : !x, !s
  %y1 = transformer.linear_attention %q, %q, %q state(%s1) : !x, !s
  return
}
