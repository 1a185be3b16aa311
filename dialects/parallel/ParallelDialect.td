//===- ParallelDialect.td - Where it is computed ----------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PARALLEL_DIALECT_TD
#define AUTOPAR_PARALLEL_DIALECT_TD

include "mlir/IR/OpBase.td"

def ParallelDialect : Dialect {
  let name = "parallel";
  let cppNamespace = "::autopar::parallel";
  let summary = "where it is computed, and every collective";
  let description = [{
    The parallel model. A mesh names axes; the encoding of a tensor type says
    which axes split each dimension, by which rule, and over which axes the
    values are still to be summed. Types keep global shapes. Collectives are
    explicit, and each is one equation between two encodings.

    ```mlir
    parallel.mesh @pod(dp = 2, tp = 8)

    func.func private @example(
        %x: tensor<?x64xbf16, #parallel.sharding<[batch by dp any, _] partial [tp]>>) {
      %y = parallel.all_reduce %x over [tp]
          : tensor<?x64xbf16, #parallel.sharding<[batch by dp any, _] partial [tp]>>
          -> tensor<?x64xbf16, #parallel.sharding<[batch by dp any, _]>>
      return
    }
    ```

    A module may hold the modules of one deployment, each with a mesh and a
    workload of its own, tied by `parallel.link`. Passes and flags then work on
    each of them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

#endif // AUTOPAR_PARALLEL_DIALECT_TD
