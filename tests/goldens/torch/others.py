"""Cases of what torch has under other names: extremes with their places, cross products, complex numbers, transforms
of several axes, gradients of transposed convolutions."""

import itertools

import torch
import torch.nn.functional as F

from backward import back
from computed import BACK
from lines import case, drawn, few, listed

CONV = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d]


def extremes():
    # Each number once: of equals torch does not say which.
    lists = [([7], "3 -1 7 0 2 -5 4"), ([3, 4], "5 1 -3 8 0 2 9 -7 4 -2 6 10"), ([2, 3, 1], "4 -6 1 -2 7 0")]
    for dims, text in lists:
        for axis in range(len(dims)):
            for op, which in [("max_with_index", torch.max), ("min_with_index", torch.min)]:
                found = lambda x: [which(x, axis).values, (which(x, axis).indices, "u32")]
                case(op, found, [listed(dims, text)], ["f32", "f16", "bf16", "f64", "i32", "i8", "i64"], axis=axis)


def vectors():
    for a, b, axis in [([3], [3], 0), ([4, 3], [4, 3], 1), ([3, 2, 5], [3, 2, 5], 0), ([2, 3, 1], [2, 3, 4], 1)]:
        cross = lambda x, y: torch.linalg.cross(x, y, dim=axis)
        case("cross", cross, [few(a), few(b)], ["f32", "f16", "bf16", "f64", "i32", "i16"], whole=True, axis=axis)


def complex_numbers():
    of = lambda x: torch.view_as_complex(x.contiguous())
    for a, b in [([5, 2], [5, 2]), ([2, 3, 2], [3, 2]), ([0, 2], [2])]:
        product = lambda x, y: torch.view_as_real(of(x) * of(y))
        case("complex_mul", product, [few(a), few(b)], ["f32", "f16", "bf16", "f64"], whole=True)
        conj = lambda x: torch.view_as_real(of(x).conj().resolve_conj())
        case("complex_conj", conj, [few(a)], ["f32", "f64"])


def transforms():
    of = lambda x: torch.view_as_complex(x.contiguous())
    for dims, axes in [([4, 6], [0, 1]), ([3, 5, 2], [0, 2]), ([2, 9, 8], [1, 2])]:
        for op, parts, function in [("rfft", [], lambda x: torch.fft.rfftn(x, dim=axes)),
                                    ("fft", [2], lambda x: torch.fft.fftn(of(x), dim=axes)),
                                    ("ifft", [2], lambda x: torch.fft.ifftn(of(x), dim=axes))]:
            shown = lambda x: torch.view_as_real(function(x))
            least = lambda x: function(x).abs().amax()
            case(op, shown, [drawn(dims + parts, -8, 17, 4)], ["f32", "f16"], wide=True, scale=least, axes=axes)


def convolutions():
    more = itertools.cycle(["f16", "i32", "bf16", "f64"])
    for x, w, stride, padding, dilation, groups, longer in BACK:
        d = len(stride)
        how = dict(stride=stride, padding=padding, dilation=dilation, groups=groups, output_padding=longer)
        conv = lambda x, w: CONV[d - 1](x.double(), w.double(), **how)
        y = list(conv(torch.zeros(x), torch.zeros(w)).shape)
        of_input = lambda g, w: back(lambda x: conv(x, w), torch.zeros(x), g)
        of_weight = lambda g, x: back(lambda w: conv(x, w), torch.zeros(w), g)
        dtypes = ["f32", next(more)]
        case("conv_transpose_input_grad", of_input, [few(y), few(w)], dtypes, whole=True, **how)
        case("conv_transpose_weight_grad", of_weight, [few(y), few(x)], dtypes, whole=True, size=w[2:], **how)
