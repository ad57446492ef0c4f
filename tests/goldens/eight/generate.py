#!/usr/bin/env python3
"""What ml_dtypes makes of floats of 8 bits: `pip install ml_dtypes`, and `generate.py > ends.txt`.

A line is a code without its sign, the bits of the f32 that it stands for, and the bits of the
first f32 that is rounded to it. Rounding never falls, so that those say what becomes of every f32;
all of f16 and many others are held to that here.
"""

import numpy
import ml_dtypes

FORMATS = [("f8e4m3", ml_dtypes.float8_e4m3fn, 0x7F), ("f8e5m2", ml_dtypes.float8_e5m2, 0x7C)]
INFINITY = 0x7F800000


def rounded(bits, dtype):
    """The codes of f32 with these bits."""
    with numpy.errstate(all="ignore"):
        values = numpy.asarray(bits, dtype=numpy.uint32).view(numpy.float32)
        return values.astype(dtype).view(numpy.uint8)


def first(code, dtype):
    low, high = -1, INFINITY
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rounded([middle], dtype)[0] >= code else (middle, high)
    return high


def check(dtype, beyond, firsts):
    """Holds the list to f32 of every kind, with both signs."""
    halves = numpy.arange(0x7C01, dtype=numpy.uint16).view(numpy.float16).astype(numpy.float32)
    random = numpy.random.default_rng(8)
    near = numpy.array(firsts)[:, None] + numpy.arange(-3, 4)[None, :]
    bits = numpy.concatenate([
        halves.view(numpy.uint32), random.integers(0, INFINITY + 1, 1 << 20, dtype=numpy.uint32),
        random.integers(0x34000000, 0x48000000, 1 << 20, dtype=numpy.uint32),
        near[(near >= 0) & (near <= INFINITY)].astype(numpy.uint32),
    ])
    want = numpy.searchsorted(firsts, bits, side="right") - 1
    got = rounded(bits, dtype)
    assert (got == want).all() and want.max() == beyond
    assert (rounded(bits | 0x80000000, dtype) == want + 128).all()
    assert numpy.isnan(numpy.array([numpy.nan], dtype=numpy.float32).astype(dtype).astype(float))[0]


for name, dtype, beyond in FORMATS:
    firsts = [first(code, dtype) for code in range(beyond + 1)]
    check(dtype, beyond, firsts)
    for code in range(128):
        value = numpy.array([code], dtype=numpy.uint8).view(dtype).astype(numpy.float32)
        negative = numpy.array([code + 128], dtype=numpy.uint8).view(dtype).astype(numpy.float32)
        assert numpy.isnan(value[0]) or negative[0] == -value[0]
        stands = "nan" if numpy.isnan(value[0]) else f"{value.view(numpy.uint32)[0]:08x}"
        begins = f"{firsts[code]:08x}" if code <= beyond else "-"
        print(name, f"{code:02x}", stands, begins)
