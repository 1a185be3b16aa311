//===- TransformerDialect.td - What is computed -----------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_DIALECT_TD
#define AUTOPAR_TRANSFORMER_DIALECT_TD

include "mlir/IR/OpBase.td"

def TransformerDialect : Dialect {
  let name = "transformer";
  let cppNamespace = "::autopar::transformer";
  let summary = "what a transformer computes, one function per layer kind";
  let description = [{
    The logical model. Weights are values with the names they have in the
    checkpoint; heads and experts are dimensions; a dimension is a number or a
    named symbol to which `transformer.workload` gives a value, so that one text
    serves prefill, decode and training.

    ```mlir
    transformer.workload @w(phase = prefill, batch = 1, query = 2048, context = 2048)

    func.func private @mlp(%x: tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>)
        -> tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>> {
      %w = transformer.weight "mlp.fc.weight" stored [1, 0] : tensor<64x64xbf16>
      %y = transformer.linear %x, %w
          : tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>, tensor<64x64xbf16>
          -> tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
      return %y : tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

#endif // AUTOPAR_TRANSFORMER_DIALECT_TD
