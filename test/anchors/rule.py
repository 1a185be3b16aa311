# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The random numbers of autopar-run, as include/autopar/Interpreter/Execution.h
gives their rule."""

import numpy
import xxhash


def numbers(name, count):
    """u(name, i) for i from 0 to before `count`."""
    u64 = numpy.uint64
    bits = u64(xxhash.xxh3_64_intdigest(name.encode())) + u64(0x9E3779B97F4A7C15) * numpy.arange(1, count + 1, dtype=u64)
    bits = (bits ^ (bits >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> u64(27))) * u64(0x94D049BB133111EB)
    bits ^= bits >> u64(31)
    return (bits >> u64(11)).astype(numpy.float64) * 2.0**-52 - 1


def weight(name, shape):
    """The checkpoint tensor `name`."""
    scale = 1.0 if len(shape) == 1 else 0.3
    return (scale * numbers(name, int(numpy.prod(shape)))).reshape(shape)


def experts(drawn, count):
    """What a table of experts by words has where its numbers are drawn: the first of a row says which is the first."""
    first = ((drawn[:, :1] + 1) / 2 * count).long()
    return (first + drawn.new_ones(drawn.shape).cumsum(1).long() - 1) % count


def tokens(batch, query, context, vocabulary):
    """The token ids of a step."""
    drawn = numbers(f"input 0 {context}", batch * query)
    return numpy.floor((drawn + 1) / 2 * vocabulary).astype(numpy.int64).reshape(batch, query)
