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

    Devices differ in their place `i_a` along each axis `a`, from 0 to below
    its size `s_a`. Along a list of axes, major first:

        place over [a, b, c] = (i_a * s_b + i_b) * s_c + i_c

    of `n = s_a*s_b*s_c`; the place over all axes of the mesh, in its order, is
    the number of the device. Its group over [a, b, c] are the `n` devices that
    differ from it in these axes alone, in the order of their places.

    A value stands for one tensor `V` of its global shape. Of each dimension a
    device has the indices that `#parallel.dim` gives it, so that its part is
    their product; devices that have the same elements have equal ones. Without
    `partial` axes the part has the elements of `V`; with them, `V` is the sum
    of the parts of a group over these axes, and which device has what of it
    matters to nobody.

    An op of `transformer` is computed by each device from its own parts, by
    the op's formula, with the indices of the whole tensors for heads,
    positions, experts and rows of tables. A sum over a dimension that is split
    is over the device's own indices: its result is a partial sum over the axes
    of that dimension. An op that is linear in an operand makes partial sums of
    partial sums. What an op needs of other devices beyond that, its text says.

    A collective changes no value: `V` of its result is `V` of its operand, in
    the layout of its own type. What a device gets, and from whom, is the
    formula of each.

    ```mlir
    parallel.mesh(dp = 2, tp = 8)

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
