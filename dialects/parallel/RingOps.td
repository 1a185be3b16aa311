//===- RingOps.td - Parts that go round --------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A part of ParallelOps.td, which has the classes of collectives.

#ifndef AUTOPAR_PARALLEL_RINGOPS_TD
#define AUTOPAR_PARALLEL_RINGOPS_TD

def PAR_RingOp
    : PAR_CollectiveOp<"ring", "seen", (ins I64Attr:$dim), PAR_TensorOrHandle> {
  let summary = "passes the parts of a dimension around";
  let description = [{
    The result stands for the operand where it is, and for the parts of the
    others as they pass: what an op on device `d` reads of the result is

        result_d[.., j, ..] = input_e[.., j, ..]    e: any of its group,
                                                    j: all that e has

    In `n - 1` steps each device sends the part that it has to the one at the
    next place, the last to the first, so that its user sees all parts, one
    after the other, and holds two at a time. `result = input` with the split of
    dimension `dim` by the rule `ring`. The parts of a cache go round when all
    devices have appended this step's rows: its user sees the rows of all. What
    an op does with a part can hide the step that brings the next one (ring
    attention, arXiv:2310.01889).

    **Constraints:** `axes` are all axes of the operand's split of `dim`; nothing
    but the rule changes.

    **Example:**
    ```mlir
    parallel.mesh(cp = 8)
    func.func private @example(
        %x: tensor<?x64xbf16, #parallel.sharding<[context by cp, _]>>) {
      %y = parallel.ring %x dim 0 over [cp]
          : tensor<?x64xbf16, #parallel.sharding<[context by cp, _]>>
          -> tensor<?x64xbf16, #parallel.sharding<[context by cp ring, _]>>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<Words>($axes) attr-dict
    `:` type($input) `->` type($result)
  }];
}

def PAR_RingReduceOp
    : PAR_CollectiveOp<"ring_reduce", "part", (ins I64Attr:$dim)> {
  let summary = "brings home what devices add to parts that go round";
  let description = [{
    The gradient of `parallel.ring`: each device has something to add to the part
    of each other one, and the device that has a part gets the sum:

        result_e[.., j, ..] = sum of input_d[.., j, ..] over all d of the group,
                              j: all that e has

    In `n - 1` steps a sum goes from device to device, which adds its own, until
    it is where the part is; with each sum a device holds one more that arrives.
    The steps go beside the attention that makes what is added (ring attention,
    arXiv:2310.01889, section 3). `result = input` with the split of dimension
    `dim` by the rule of the result instead of `ring`.

    **Constraints:** `axes` are all axes of the operand's split of `dim`, whose
    rule is `ring`; nothing but the rule changes.

    **Example:**
    ```mlir
    parallel.mesh(cp = 8)
    func.func private @example(
        %x: tensor<?x64xbf16, #parallel.sharding<[query by cp ring, _]>>) {
      %y = parallel.ring_reduce %x dim 0 over [cp]
          : tensor<?x64xbf16, #parallel.sharding<[query by cp ring, _]>>
          -> tensor<?x64xbf16, #parallel.sharding<[query by cp, _]>>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<Words>($axes) attr-dict
    `:` type($input) `->` type($result)
  }];
}

#endif // AUTOPAR_PARALLEL_RINGOPS_TD
