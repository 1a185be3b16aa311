//===- PlanOps.td - What a module runs on, and how it was split -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PARALLEL_PLANOPS_TD
#define AUTOPAR_PARALLEL_PLANOPS_TD

include "parallel/ParallelAttrs.td"

/// What caches of keys and values may be kept in.
def PAR_CacheFormat : Type<CPred<"::autopar::isRounded($_self)">,
                           "floating-point or block format">;

def PAR_TargetOp : PAR_Op<"target"> {
  let summary = "the machine and the software that the module runs on";
  let description = [{
    `hardware` is a system of the hardware library or a file, of which there are
    `nodes`; `runtime` one of the runtime library or a file;
    `memory_utilization` the share of device memory that the runtime takes;
    `prefill_chunk` the tokens of prompts that it computes in one step of a
    replica, or `none` where a step has all; `max_num_seqs` the sequences that it
    runs at once; with `enforce_eager` it captures no graphs;
    `set` replaces `figures` of these libraries, by their paths, by the `values`
    of the user. No value of a tensor depends on any; costs do. What is not given is that of the module around, or else
    estimates take a default and say so.

    The modules of a deployment share the devices of the module that holds them;
    one whose own target names hardware has that to itself, and the `nodes` that
    are named with it. Without, its `nodes` count where those around it are not
    given.

    **Constraints:** one per module; names are not empty; `nodes` is positive;
    the share is above 0 and up to 1; a chunk has tokens; `max_num_seqs` is positive; a figure is set once, to a finite number.

    **Example:**
    ```mlir
    parallel.target hardware("h200-sxm-8") nodes(2) runtime("vllm")
        set("chips.h200-sxm.memory_bytes" = 1.2e11)
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$hardware,
                       OptionalAttr<I64Attr>:$nodes,
                       OptionalAttr<StrAttr>:$runtime,
                       OptionalAttr<F64Attr>:$memory_utilization,
                       OptionalAttr<I64Attr>:$prefill_chunk,
                       OptionalAttr<I64Attr>:$max_num_seqs,
                       UnitAttr:$enforce_eager,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$figures,
                       DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$values);
  let assemblyFormat = [{
    (`hardware` `(` $hardware^ `)`)? (`nodes` `(` $nodes^ `)`)?
    (`runtime` `(` $runtime^ `)`)?
    (`memory_utilization` `(` custom<Number>($memory_utilization)^ `)`)?
    (`prefill_chunk` `(` custom<CountOrNone>($prefill_chunk)^ `)`)?
    (`max_num_seqs` `(` $max_num_seqs^ `)`)? (`enforce_eager` $enforce_eager^)?
    (`set` `` custom<Figures>($figures, $values)^)? attr-dict
  }];
  let hasVerifier = 1;
  // `prefill_chunk` is of version 2, `max_num_seqs` and `enforce_eager` of 6.
  let useCustomPropertiesEncoding = 1;
}

def PAR_StrategyOp : PAR_Op<"strategy"> {
  let summary = "the choices that the module was split by";
  let description = [{
    What the mesh does not say of a plan, as passes were asked for it:
    `sequence_parallel` splits tokens between products, `fsdp` gathers weights
    before their use, `context` is the way of context parallelism (`ring`,
    `all_to_all` or `all_gather`: `context_kind`), `zero` what optimizers split over replicas (1:
    their states, 2: gradients, too, 3: weights, too), `dtype` and `kv_dtype` are the formats that values and caches were converted to. The
    types have what came of it; reports name the choices. `knobs` has those that
    neither types nor ops show, by the names of their flags: numbers, texts, or
    nothing behind one that is set alone.

    **Constraints:** one per module; formats are of floating point; `zero` is 0
    to 3; `knobs` are numbers, texts, or set alone.

    **Example:**
    ```mlir
    parallel.strategy sequence_parallel context(ring) kv_dtype(f8E4M3FN) knobs {dropout = 1.0e-01 : f64}
    ```
  }];
  let arguments = (ins UnitAttr:$sequence_parallel, UnitAttr:$fsdp,
                       OptionalAttr<PAR_ContextKindAttr>:$context_kind,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<3>]>>:$zero,
                       OptionalAttr<TypeAttrOf<AnyFloat>>:$dtype,
                       OptionalAttr<TypeAttrOf<PAR_CacheFormat>>:$kv_dtype,
                       OptionalAttr<DictionaryAttr>:$knobs);
  let assemblyFormat = [{
    (`sequence_parallel` $sequence_parallel^)? (`fsdp` $fsdp^)?
    (`context` `(` $context_kind^ `)`)? (`zero` `(` $zero^ `)`)? (`dtype` `(` $dtype^ `)`)?
    (`kv_dtype` `(` $kv_dtype^ `)`)? (`knobs` $knobs^)? attr-dict
  }];
  let useCustomPropertiesEncoding = 1;
  let hasVerifier = 1;
}

#endif // AUTOPAR_PARALLEL_PLANOPS_TD
