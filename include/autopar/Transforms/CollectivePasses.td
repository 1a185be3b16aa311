//===- CollectivePasses.td - Passes about collectives ------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_COLLECTIVEPASSES_TD
#define AUTOPAR_TRANSFORMS_COLLECTIVEPASSES_TD

def InsertCollectivesPass : ModulePass<"autopar-insert-collectives"> {
  let summary = "implements each reshard by collectives";
  let description = [{
    Turns a `parallel.reshard` into the cheapest sequence of collectives that does
    it: the one in which a device sends the fewest bytes, then that of the fewest
    steps. What one reshard reduces and the next one slices at once becomes a
    `reduce_scatter`; what is gathered and sliced again stays.

    The sizes of the mesh play no part: bytes are counted as if each axis had the
    nominal size 2, and only the axes that operand or result use are considered. On
    the way a dimension is split by some of the operand's or of the result's axes,
    for those divide it; where its rule is `any`, by any; where it is `cap` or
    `pad`, by all of the operand's, all of the result's, or none. A dimension whose
    split changes its rule is gathered first.

    Requires nothing. Guarantees that no reshard is left.

    ```mlir
    !partial = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
    parallel.mesh @pod(tp = 8)
    func.func private @example(%x: !partial) {
      %y = parallel.reshard %x : !partial -> tensor<4x64xbf16>
      // becomes
      %z = parallel.all_reduce %x over [tp] : !partial -> tensor<4x64xbf16>
      return
    }
    ```
  }];
  let dependentDialects = ["::autopar::parallel::ParallelDialect",
                           "::autopar::transformer::TransformerDialect"];
}

def DispatchTokensPass : ModulePass<"autopar-dispatch-tokens"> {
  let summary = "says how routed tokens travel to their experts";
  let description = [{
    Writes on each `all_to_all` of routed tokens how it sends them: `by_node`, with
    the numbers of the router whose tokens they are, and on the way to the experts
    the format; of fp8 with a scale for each 128 values (DeepSeek-V3,
    arXiv:2412.19437, section 3.3.2).

    Requires that no reshard is left. Guarantees that nothing else changes; a
    module without such a collective stays as it is.

    ```mlir
    !tokens = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by ep], _]>>
    !routed = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by ep], _]>>
    parallel.mesh @pod(ep = 32)
    func.func private @example(%x: !tokens) {
      // autopar-dispatch-tokens{format=fp8}
      %y = parallel.all_to_all %x dim 0 to experts over [ep] as f8E4M3FN blocks(128)
          : !tokens -> !routed
      return
    }
    ```
  }];
  let options = [
    Option<"byNode", "by-node", "bool", "false",
           "Send a token once to each node that has one of its experts">,
    Option<"format", "format", "std::string", "\"\"",
           "Format of tokens on their way to experts (empty: keep)">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect",
                           "::autopar::transformer::TransformerDialect"];
}

#endif // AUTOPAR_TRANSFORMS_COLLECTIVEPASSES_TD
