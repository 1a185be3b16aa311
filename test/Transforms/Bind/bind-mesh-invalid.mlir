// RUN: not autopar-opt %s --autopar-bind-mesh 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not autopar-opt %s --autopar-bind-mesh="axes=tp" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not autopar-opt %s --autopar-bind-mesh="axes=tp=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not autopar-opt %s --autopar-bind-mesh="axes=tp=2,tp=4" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not autopar-opt %s --autopar-bind-mesh="axes=t-p=2" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not autopar-opt %s --autopar-bind-mesh="axes=devices=2" 2>&1 | FileCheck %s --check-prefix=RESERVED
// RUN: not autopar-opt %s --autopar-bind-mesh="axes=a=65536,b=65536" 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: autopar-opt %s --autopar-bind-mesh="axes=tp=7" -verify-diagnostics

// EMPTY: error: mesh axis '' has no '=size'
// SIZE: error: mesh axis 'tp' has no '=size'
// SIZE: note: write axes outermost first, then products of them, as in 'pp=4,tp=8'
// ZERO: error: size of mesh axis 'tp' is not an integer from 1 to 1073741824 or '?', found '0'
// TWICE: error: axis 'tp' is given twice
// NAME: error: axis name 't-p' is not an identifier of 1 to 32 letters, digits and '_'
// RESERVED: error: axis name 'devices' is reserved
// HUGE: error: the mesh has more than 1,073,741,824 devices

parallel.mesh(tp = ?)

// What is split must allow the size.
!x = tensor<64xbf16, #parallel.sharding<[_ by tp]>>
func.func @split(%x: !x) {
  // expected-error @+2 {{'transformer.add' op tp = 7 does not divide 64, dimension 0}}
  // expected-note @+1 {{tp that works here: 1, 2, 4, 8, 16, 32, 64}}
  %y = transformer.add %x, %x : !x
  return
}
