"""Measured shapes that a fit does not see, and how far it is from them.

A fifth of the shapes is kept apart: those whose SHA-256, the fields written in
decimals with slashes between them, begins with a 64-bit number that 5 divides.
No seed, no order and no other shape changes which these are.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import hashlib

SHARE = 5


def is_kept(*shape):
    digest = hashlib.sha256("/".join(map(str, shape)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % SHARE == 0


def split(rows):
    """Those that are kept apart, and the others."""
    kept = [row for row in rows if is_kept(*row.shape)]
    return kept, [row for row in rows if not is_kept(*row.shape)]


def quantiles(errors):
    """Median and 90th percentile."""
    errors = sorted(errors)
    return errors[len(errors) // 2], errors[len(errors) * 9 // 10]


def percents(errors):
    """The same as text, in percent."""
    median, p90 = quantiles(errors)
    return f"{100 * median:7.1f} {100 * p90:7.1f}"
