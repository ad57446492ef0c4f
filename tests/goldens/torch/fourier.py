"""Cases of Fourier transforms. What is near is counted in the largest magnitude of the row that has the least."""

import torch

from lines import case, drawn

FFT = torch.fft
FLOATS = ["f32", "f16", "bf16"]

# Of which shape, along which axis, at which length: none is that of the axis.
REALS = [([1], 0, None), ([2], 0, None), ([8], 0, None), ([15], 0, None), ([3, 22], 1, None), ([2, 6, 3], 1, None),
         ([2, 5], 1, 8), ([9, 2], 0, 4), ([26], 0, None), ([60], 0, None), ([96], 0, None)]
HALVES = [([1], 0, 1), ([2], 0, 2), ([5], 0, 8), ([8], 0, 15), ([3, 12], 1, 22), ([2, 4, 3], 1, 6), ([2, 3], 1, 8),
          ([9, 2], 0, 7), ([14], 0, 26), ([31], 0, 60)]


def transforms():
    some = lambda dims: drawn(dims, -8, 17, 4)
    whole = lambda x: torch.view_as_complex(x.contiguous())

    def one(op, function, dims, parts, axis, n):
        least = lambda x: function(whole(x) if parts else x).abs().amax(axis)
        result = lambda x: function(whole(x) if parts else x)
        shown = lambda x: torch.view_as_real(y) if (y := result(x)).is_complex() else y
        how = dict(axis=axis, **({} if n is None else {"n": n}))
        # The narrow ones where lines lie apart: how they are read and rounded knows no length.
        dtypes = FLOATS if axis else FLOATS[:1]
        case(op, shown, [some(dims + parts)], dtypes, wide=True, scale=least, **how)

    for dims, axis, n in REALS:
        one("rfft", lambda x: FFT.rfft(x, n, axis), dims, [], axis, n)
        one("fft", lambda x: FFT.fft(x, n, axis), dims, [2], axis, n)
        one("ifft", lambda x: FFT.ifft(x, n, axis), dims, [2], axis, n)
    for dims, axis, n in HALVES:
        one("irfft", lambda x: FFT.irfft(x, n, axis), dims, [2], axis, n)
