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

    Each op is defined by a formula over real numbers: how a format rounds is no
    part of it. In formulas indices begin at 0, `t..` stands for any number of
    dimensions, `(..)` around a term for what is there with an optional operand,
    `div` and `mod` are those of whole numbers, logarithms are natural, and a
    sum without bounds is over the whole extent. Ops run in the order of the
    text, and each finds caches and states as those before it left them.

    Where a formula has a position `p`: the token at index `i` of a dimension
    `query` is at position `p = context - query + i` of its sequence, as the
    `context - query` before it are cached. Of any other dimension of tokens
    (`encoder_tokens`, `cross_tokens`, a product, a number) it is `p = i`. Both are indices of
    the whole tensor, whatever part of it a device has.

    ```mlir
    transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)

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
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // AUTOPAR_TRANSFORMER_DIALECT_TD
