"""How far curves are from kernels that no curve was fitted to.

Prints, by family and chip, the median and the 90th percentile of |predicted /
measured - 1| and the median of predicted / measured: of the curve that the cost
program prices the family by, and of a curve of its own, fitted to four fifths
of the shapes. Rows are the fifth that scripts/calibration/kept_apart.py keeps apart.

Of attn_encoder.csv, indexer.csv, mhc.csv, mla_bmm.csv and quantize.csv
of ai-dynamo/aiconfigurator (Apache-2.0).
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import fit_kernels
import fit_shapes
import hardware_files as files
import kept_apart
import kernel_rows
import mixer_rows

INDEX_HEADS, INDEX_DIM, TOP_K = 64, 128, 2048
# Rows of an operation that waits for the host say nothing about the chip.
LEAST_ROWS = 20


class Family(kernel_rows.Row):
    """A measured launch of a family."""

    __slots__ = ("shape",)

    def __init__(self, launches, row, *shape):
        super().__init__(launches, float(row["latency_us"]))
        self.shape = shape


def quantise(row):
    m, k = mixer_rows.numbers(row, "m", "k")
    return Family([(0, m * k * (2 + 1))], row, m, k)


def sizes(row):
    return mixer_rows.numbers(row, "batch", "isl", "prefix", "compress")


def scores(row, written=0):
    """As of the indexer: queries, weights, cache, what it selects, and the new
    key. `written`: bytes of a score that leaves the chip."""
    b, q, prefix, compress = sizes(row)
    all_pairs = b * mixer_rows.pairs(q, prefix, q + prefix) // compress
    context = b * (q + prefix) // compress
    return Family(
        [(2 * all_pairs * INDEX_HEADS * INDEX_DIM,
          b * q * INDEX_HEADS * (INDEX_DIM + 4) + context * INDEX_DIM +
          b * q * (min(TOP_K, q + prefix) * 4 + INDEX_DIM) +
          all_pairs * written)],
        row, b, q, prefix, compress)


def written_scores(row):
    return scores(row, written=4)


def top_k(row):
    """Scores in, indices out."""
    b, q, prefix, _ = sizes(row)
    seen = b * mixer_rows.pairs(q, prefix, q + prefix)
    return Family([(0, seen * 4 + b * q * TOP_K * 4)], row, b, q, prefix,
                  row["score_mode"])


# Name, file, the kind and the format of the curve, what a row is, which rows.
FAMILIES = (
    ("encoder, TensorRT-LLM", "attn_encoder.csv", "encoder_attention", "bf16",
     mixer_rows.encoder, {"source": "trtllm/1.3.0rc20"}),
    ("encoder, SGLang", "attn_encoder.csv", "encoder_attention", "bf16",
     mixer_rows.encoder, {"source": "sglang/0.5.14"}),
    ("absorbed, TensorRT-LLM", "mla_bmm.csv", "batched_matmul", "bf16",
     mixer_rows.absorbed, {"source": "trtllm/1.3.0rc20", "dtype": "bfloat16"}),
    ("absorbed, SGLang fp8", "mla_bmm.csv", "matmul", "fp8",
     mixer_rows.absorbed, {"source": "sglang/0.5.14", "dtype": "fp8"}),
    ("quantise, vLLM", "quantize.csv", "elementwise", "any", quantise,
     {"source": "vllm/0.24.0", "op": "static_quant"}),
    ("quantise, SGLang", "quantize.csv", "elementwise", "any", quantise,
     {"source": "sglang/0.5.14", "op": "static_quant"}),
    ("quantise, TensorRT-LLM", "quantize.csv", "elementwise", "any", quantise,
     {"source": "trtllm/1.3.0rc20", "op": "static_quant"}),
    ("hyper-connections, SGLang pre", "mhc.csv", "hyper_pre", "bf16",
     mixer_rows.before_block, {"source": "sglang/0.5.14", "op": "mhc_pre"}),
    ("hyper-connections, SGLang post", "mhc.csv", "hyper_post", "bf16",
     mixer_rows.after_block, {"source": "sglang/0.5.14", "op": "mhc_post"}),
    ("the same, TensorRT-LLM pre", "mhc.csv", "hyper_pre", "bf16",
     mixer_rows.before_block, {"source": "trtllm/1.3.0rc20", "op": "mhc_pre"}),
    ("the same, TensorRT-LLM post", "mhc.csv", "hyper_post", "bf16",
     mixer_rows.after_block, {"source": "trtllm/1.3.0rc20", "op": "mhc_post"}),
    ("indexer scores, attention bf16", "indexer.csv", "attention", "bf16",
     scores, {"op": "glm5_mqa_logits"}),
    ("indexer scores, attention fp8", "indexer.csv", "attention", "fp8",
     scores, {"op": "glm5_mqa_logits"}),
    ("the same, scores written", "indexer.csv", "attention", "fp8",
     written_scores, {"op": "glm5_mqa_logits"}),
    ("the same, matmul fp8", "indexer.csv", "matmul", "fp8",
     written_scores, {"op": "glm5_mqa_logits"}),
    ("scores of DeepSeek-V4, vLLM", "indexer.csv", "attention", "fp8",
     written_scores, {"op": "dsv4_paged_mqa_logits", "source": "vllm/0.24.0"}),
    ("top-k", "indexer.csv", "elementwise", "any", top_k,
     {"op": "glm5_topk", "score_mode": "flat"}),
)


def predicted(prepared, point):
    """Over what was measured."""
    return [fit_kernels.predict(launches, *point) / time
            for launches, time in prepared]


def of_table(chip, kind, key, rows):
    """The same with the table of the curve; None where it has none."""
    made = chip["kernels"][kind][key]
    for table in fit_shapes.TABLES:
        if table.kind == kind and table.phase is None and table.field in made:
            curve = fit_shapes.Curve(chip, kind, key, rows)
            ratios = fit_shapes.ratios_of(made[table.field])
            return [curve.case(row, table).predict(ratios) / row.time
                    for row in rows]
    return None


def errors(ratios):
    ratios = sorted(ratios)
    return (f"{kept_apart.percents(abs(x - 1) for x in ratios)} "
            f"{ratios[len(ratios) // 2]:6.2f}")


def report(name, chip, kind, key, rows):
    curve = chip["kernels"].get(kind, {}).get(key)
    if not curve or len(rows) < LEAST_ROWS:
        return
    peak = chip["peak_flops"].get(fit_kernels.peak_key(key),
                                  chip["peak_flops"]["bf16"])["value"]
    kept, others = kept_apart.split(rows)
    prepared, others = (fit_kernels.prepare(part, peak,
                                            chip["memory_bandwidth"]["value"])
                        for part in (kept, others))
    has_table = kind in mixer_rows.KINDS
    ratios = (has_table and of_table(chip, kind, key, kept) or
              predicted(prepared, fit_kernels.point_of(curve)))
    own = fit_kernels.best_fit([], others)
    figures = " ".join(f"{files.rounded(x):6}" for x in own)
    print(f"{name:31} {kind + '.' + key:21} {chip['name']:19} {len(kept):4} "
          f"{errors(ratios)} {errors(predicted(prepared, own))} {figures}",
          flush=True)


def report_families(data, library):
    """Prints a line for each family and measured chip."""
    print(f"{'family':31} {'curve':21} {'chip':19} {'rows':>4} "
          f"{'of that curve':>15} {'bias':>6} {'of its own':>15} {'bias':>6} "
          f"{'floor':>6} {'ec':>6} {'eb':>6} {'q':>6}")
    for name, file, kind, key, make, wanted in FAMILIES:
        rows = {}
        for r in kernel_rows.table(data, file):
            if all(r[field] == value for field, value in wanted.items()):
                rows.setdefault(r["gpu"], []).append(make(r))
        for gpu, chip in fit_kernels.of_measured(library).items():
            report(name, chip, kind, key, rows.get(gpu, ()))
