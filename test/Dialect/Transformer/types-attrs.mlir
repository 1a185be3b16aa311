// RUN: %roundtrip %s --mlir-print-local-scope | FileCheck %s
// RUN: autopar-opt %s | FileCheck %s --check-prefix=ALIAS

// Types have short names: dimensions by their first letters, then the format.
// ALIAS-DAG: !bq_64_bf = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
// ALIAS-DAG: !bq2_64_bf = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
// ALIAS-DAG: !w2_bc_8_bf = tensor<2x?x?x8xbf16, #transformer.dims<[_, batch, context, _]>>
// ALIAS-DAG: !b_float = tensor<?xf32, #transformer.dims<[batch]>>
// ALIAS-DAG: !b_half = tensor<?xf16, #transformer.dims<[batch]>>
// ALIAS-DAG: !b_fp8e = tensor<?xf8E4M3FN, #transformer.dims<[batch]>>
// ALIAS-DAG: !b_fp8m = tensor<?xf8E5M2, #transformer.dims<[batch]>>
// ALIAS-DAG: !b_int = tensor<?xi32, #transformer.dims<[batch]>>
// ALIAS-DAG: !b_byte = tensor<?xi8, #transformer.dims<[batch]>>

// CHECK-LABEL: func private @dims_of_symbols
// CHECK-SAME: tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
func.func private @dims_of_symbols(tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>)

// CHECK-LABEL: func private @dims_of_products
// CHECK-SAME: tensor<?x64xbf16, #transformer.dims<[batch*query*8, _]>>
func.func private @dims_of_products(tensor<?x64xbf16, #transformer.dims<[batch*query*8, _]>>)

// CHECK-LABEL: func private @dims_of_sets
// CHECK-SAME: tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
func.func private @dims_of_sets(tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>)

// CHECK-LABEL: func private @dims_around_numbers
// CHECK-SAME: tensor<2x?x?x8xbf16, #transformer.dims<[_, batch, context, _]>>
func.func private @dims_around_numbers(
    tensor<2x?x?x8xbf16, #transformer.dims<[_, batch, context, _]>>)

// Without a workload any symbol will do.
// CHECK-LABEL: func @dims_of_other_symbols
func.func @dims_of_other_symbols(%x: tensor<?xbf16, #transformer.dims<[patches]>>) {
  // CHECK: tensor<?xbf16, #transformer.dims<[patches]>>
  %y = transformer.add %x, %x : tensor<?xbf16, #transformer.dims<[patches]>>
  return
}

// CHECK-LABEL: func private @storage
// CHECK-SAME: a = #transformer.storage<[1*2, 0]>
// CHECK-SAME: b = #transformer.storage<[0] as f8E4M3FN>
func.func private @storage() attributes {
  a = #transformer.storage<[1*2, 0]>,
  b = #transformer.storage<[0] as f8E4M3FN>
}

// CHECK-LABEL: func private @formats
func.func private @formats(
    tensor<?xf32, #transformer.dims<[batch]>>,
    tensor<?xf16, #transformer.dims<[batch]>>,
    tensor<?xf8E4M3FN, #transformer.dims<[batch]>>,
    tensor<?xf8E5M2, #transformer.dims<[batch]>>,
    tensor<?xi32, #transformer.dims<[batch]>>,
    tensor<?xi8, #transformer.dims<[batch]>>)

// A type that is only a shape is short enough.
// ALIAS: func private @shape(tensor<64x32xbf16>)
func.func private @shape(tensor<64x32xbf16>)
