"""Kernels of chips that aiconfigurator's tables lack, as others published them.

Of AITER (ROCm/aiter, MIT licence), whose configuration tables say what the best
kernel of each shape took on AMD's chips.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import statistics

import kernel_rows

AITER = "ROCm/aiter, aiter/configs/"
# Products of fp8 with scales of blocks on 304 compute units (gfx942: MI300X,
# MI325X): columns and contraction of each column, rows and microseconds.
DENSE = ((1536, 7168), (3072, 1536), (576, 7168), (7168, 256), (7168, 2048),
         (4608, 7168), (7168, 2304), (512, 7168), (4096, 512))
DENSE_US = {
    16: (19.30, 6.37, 18.45, 3.68, 8.42, 20.14, 8.59, 18.37, 4.09),
    32: (19.36, 7.73, 18.34, 3.95, 8.63, 20.02, 9.24, 18.29, 4.09),
    64: (18.73, 7.67, 17.81, 4.10, 11.45, 22.06, 10.58, 17.90, 4.29),
    128: (18.28, 8.19, 17.39, 4.29, 13.59, 28.39, 13.55, 17.34, 4.03),
    256: (26.14, 9.31, 17.59, 5.44, 20.36, 35.11, 21.37, 17.35, 5.53),
    512: (29.05, 15.44, 19.92, 9.24, 32.16, 63.17, 34.58, 18.70, 8.94),
    1024: (51.33, 23.73, 26.36, 14.80, 58.87, 118.3, 61.10, 26.31, 15.32),
    1536: (62.56, 31.40, 30.48, 20.37, 86.65, 168.7, 90.24, 29.35, 20.83),
    2048: (85.18, 43.04, 33.81, 26.03, 100.1, 195.6, 104.2, 32.93, 24.74),
    4096: (159.9, 74.20, 60.97, 47.01, 179.9, 380.4, 191.1, 57.65, 44.16),
    8192: (287.8, 130.6, 121.0, 90.87, 339.0, 752.3, 363.7, 106.7, 78.68),
    16384: (529.0, 239.5, 231.3, 179.3, 662.7, 1497, 701.2, 188.7, 147.6),
}
# DeepSeek-V3's experts of one device of 8, 32 and the shared one, of which a
# token has 9: tokens and microseconds of both products.
EXPERTS, TOP_K, HIDDEN, INTERMEDIATE = 33, 9, 7168, 2048
EXPERTS_US = {
    1: 99.21, 2: 169.7, 4: 220.9, 8: 327.9, 16: 354.3, 32: 355.3, 64: 363.5,
    128: 407.8, 256: 470.8, 512: 671.6, 1024: 1091, 2048: 1857, 4096: 3549,
}


def dense():
    return [kernel_rows.Row([(2 * m * n * k, m * k + n * k + 2 * m * n)], time)
            for m, times in DENSE_US.items()
            for (n, k), time in zip(DENSE, times)]


def experts():
    """Experts that no token chose are not read."""
    weights = 3 * HIDDEN * INTERMEDIATE
    rows = []
    for tokens, time in EXPERTS_US.items():
        reached = EXPERTS * (1 - (1 - TOP_K / EXPERTS) ** tokens)
        moved = reached * weights + tokens * HIDDEN * (TOP_K + 4)
        rows.append(kernel_rows.Row([(2 * tokens * TOP_K * weights, moved)],
                                    time))
    return rows


# SGLang multiplies them on CDNA3 with AITER's kernel in Triton, whose programs
# walk the contraction in turns of 128. A product of 2,112 columns and a
# contraction of 7,168 took the mean of 128.8, 127.3 and 117.5 us untuned and of
# 68.5, 43.0 and 45.2 us tuned, for 64 to 256 rows (ROCm/aiter, PR 1232), and 110
# us less once tuned in served steps (PR 1930: 6.7 ms of 61 layers).
UNTUNED_US, TUNED_US, GAINED_US, CONTRACTION = 124.5, 52.2, 110, 7168
# Contractions of DeepSeek-V3's products at TP 8: both latents, queries, output,
# the shared expert's two.
CONTRACTIONS = (7168, 1536, 2048, 7168, 256)


def triton_floor():
    """Mean time of those products: the median of no, one and all of them
    tuned, as versions differ."""
    share = sum(CONTRACTIONS) / CONTRACTION / len(CONTRACTIONS)
    return statistics.median(
        (UNTUNED_US * share, UNTUNED_US * share - GAINED_US / len(CONTRACTIONS),
         TUNED_US * share))


# (kind, format) -> rows, and where they are.
CDNA3 = {
    ("matmul", "fp8_block"): (dense, AITER + "a8w8_blockscale_tuned_gemm.csv"),
    ("grouped_matmul", "fp8_block"): (
        experts, AITER + "model_configs/a8w8_blockscale_tuned_fmoe_ds_v3.csv"),
}
# Chip -> the measured chip of whose peaks its efficiencies are shares, kernels.
# Of MI355X, AITER has products of a few rows, and of experts those of which each
# device has a part, both with other kernels than the rest.
KERNELS = {"mi300x": ("mi300x", CDNA3), "mi325x": ("mi300x", CDNA3)}
