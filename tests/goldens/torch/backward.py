"""Cases of what goes back: gradients of convolutions and pools, by autograd."""

import itertools

import torch
import torch.nn.functional as F

from computed import CONVS, POOLS
from lines import case, few, quarters

CONV = [F.conv1d, F.conv2d, F.conv3d]
LARGEST = [F.max_pool1d, F.max_pool2d, F.max_pool3d]
MEANS = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d]


def back(forward, leaf, arrives):
    """What a leaf gets of what arrives at the result."""
    leaf = leaf.double().requires_grad_()
    return torch.autograd.grad(forward(leaf), leaf, arrives.double())[0].to(arrives.dtype)


def convolutions():
    more = itertools.cycle(["f16", "i32", "bf16", "f64"])
    for x, w, stride, padding, dilation, groups in CONVS:
        d = len(stride)
        how = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
        conv = lambda x, w: CONV[d - 1](x.double(), w.double(), **how)
        y = list(conv(torch.zeros(x), torch.zeros(w)).shape)
        of_input = lambda g, w: back(lambda x: conv(x, w), torch.zeros(x), g)
        of_weight = lambda g, x: back(lambda w: conv(x, w), torch.zeros(w), g)
        dtypes = ["f32", next(more)]
        case("conv_input_grad", of_input, [few(y), few(w)], dtypes, whole=True, size=x[2:], **how)
        case("conv_weight_grad", of_weight, [few(y), few(x)], dtypes, whole=True, size=w[2:], **how)


def pools():
    more, halves = itertools.cycle(["f16", "bf16", "f64"]), itertools.cycle(["f16", "bf16"])
    for dims, size, stride, padding, dilation in POOLS + [
        # Windows that leave some elements out, and more windows than are looked up one by one.
        ([1, 2, 9, 8], [2, 2], [3, 4], [1, 0], [1, 1]), ([2, 11], [3], [5], [1], [2]),
        ([1, 1, 12, 11], [9, 8], [1, 1], [4, 1], [1, 1]),
    ]:
        d, how = len(size), dict(size=size, stride=stride, padding=padding)
        pool = lambda x: LARGEST[d - 1](x, size, stride, padding, dilation)
        y, dtypes = list(pool(torch.zeros(dims)).shape), ["f32", next(more)]
        of_input = lambda g, x: back(pool, x, g)
        both = [few(y), quarters(dims)]
        case("max_pool_grad", of_input, both, dtypes, whole=True, dilation=dilation, **how)
        # Of few different numbers: the first of equals.
        both = [few(y), few(dims)]
        case("max_pool_grad", of_input, both, ["f32"], whole=True, dilation=dilation, **how)
        for counted in [1, 0] if dilation == [1] * d else []:
            mean = lambda x: MEANS[d - 1](x, size, stride, padding, False, counted == 1)
            of_input = lambda g: back(mean, torch.zeros(dims), g)
            shares = lambda g: back(mean, torch.zeros(dims), g.abs())
            least = {} if 0 in dims else {"scale": lambda g: shares(g).amax()}
            case("avg_pool_grad", of_input, [few(y)], ["f32", next(halves), "f64"], wide=True, counted=counted,
                 to=dims[len(dims) - d:], **least, **how)
