// RUN: autopar-opt %s --autopar-clone-module=names=prefill,decode | FileCheck %s
// RUN: not autopar-opt %s --autopar-clone-module 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not autopar-opt %s --autopar-clone-module=names=a,a 2>&1 | FileCheck %s --check-prefix=TWICE

// RUN: autopar-opt %s --autopar-clone-module='names=a,b,c link=true' | FileCheck %s --check-prefix=LINK

// LINK: parallel.link @a to @b
// LINK-NEXT: parallel.link @b to @c
// CHECK-NOT: parallel.link
// NONE: error: autopar-clone-module has no names, expected names=prefill,decode
// TWICE: error: names of autopar-clone-module must be distinct and not empty, found 'a'

// What the module says of itself stays with it and with its copies.
// CHECK: module @tiny attributes {transformer.defaults = [#transformer.default<"head_dim">]} {
// CHECK-NEXT: module @prefill attributes {transformer.defaults = [#transformer.default<"head_dim">]} {
// CHECK-NEXT: transformer.workload
// CHECK-NEXT: func.func @model
// CHECK: module @decode attributes
// CHECK-NEXT: transformer.workload
// CHECK-NEXT: func.func @model
// CHECK-NOT: func.func
module @tiny attributes {transformer.defaults = [#transformer.default<"head_dim">]} {
  transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)
  func.func @model(%x: tensor<4x64xbf16>) -> tensor<4x64xbf16> {
    return %x : tensor<4x64xbf16>
  }
}
