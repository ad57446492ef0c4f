"""Cases of what is computed: products, norms, reductions, convolutions, images, attention."""

import functools
import itertools
import math

import torch
import torch.nn.functional as F

from lines import FLOATS, INF, SIGNED, case, drawn, few, listed, mask, places, quarters

BOTH = itertools.cycle([["f32", "f16", "f64"], ["f32", "bf16", "f64"]])

# -- products ------------------------------------------------------------------------------------

EQUATIONS = [
    ("ij->ji", [2, 3]), ("ij->", [2, 3]), ("ij->j", [3, 2]), ("ii", [3, 3]), ("ii->i", [3, 3]),
    ("iij->j", [2, 2, 3]), ("ijk->kij", [2, 1, 3]), ("iji->j", [2, 3, 2]), ("ba", [2, 3]),
    ("i,i", [5], [5]), ("i,j->ij", [2], [3]), ("i,j->ji", [2], [3]), ("ij,ij->ij", [2, 3], [2, 3]),
    ("ij,ji->", [2, 3], [3, 2]), ("ij,jk", [2, 3], [3, 4]), ("ij,jk->ki", [2, 3], [3, 4]),
    ("ij,kj->ik", [2, 5], [3, 5]), ("bij,bjk->bik", [2, 3, 4], [2, 4, 2]),
    ("bij,bjk->ik", [2, 3, 4], [2, 4, 2]), ("ij,k->ijk", [2, 2], [3]), ("ij,j->i", [3, 4], [4]),
    ("ijk,k->ij", [2, 3, 4], [4]), ("ijk,jl->ikl", [2, 3, 2], [3, 4]),
    ("ijkl,ij->kl", [2, 3, 2, 2], [2, 3]), ("...ij,...jk->...ik", [2, 1, 2, 3], [3, 3, 2]),
    ("...i->...", [2, 3, 4]), ("...ij->...ji", [2, 1, 3]), ("i...,i...->...", [2, 3], [2, 3]),
    ("a...b,b->...a", [2, 3, 4], [4]), ("ij,jk,kl->il", [2, 3], [3, 2], [2, 4]),
    ("i,j,k->kji", [2], [3], [2]), ("bhqd,bhkd->bhqk", [1, 2, 3, 4], [1, 2, 2, 4]),
    ("ij,ik->jk", [4, 2], [4, 3]), ("ij,jk->ik", [1, 5], [5, 1]), ("ij,jk->ik", [2, 0], [0, 3]),
    ("ij,ij,ij->i", [2, 3], [2, 3], [2, 3]), ("iij,jk->ik", [2, 2, 3], [3, 2]),
    ("ij,kk->ijk", [2, 2], [3, 3]), ("abc,abc->", [2, 3, 2], [2, 3, 2]), (",ij->ij", [], [2, 2]),
    ("i,ij,j->", [2], [2, 3], [3]), ("ij,ij->ij", [2, 3], [1, 3]), ("ij,jk->ik", [2, 1], [3, 4]),
    ("...ij,...jk", [2, 2, 3], [3, 2]), ("...ij->ij", [2, 3, 2]), ("Ba,aC", [2, 3], [3, 2]),
    ("a,b...,...->", [2], [2, 3], [3]), ("ij,ij,jk->ik", [2, 3], [2, 3], [3, 2]),
    ("ij,jk->ik", [3, 300], [300, 2]), ("ij,ij->i", [2, 700], [2, 700]),
]


def halves(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def neighbours(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


def products():
    more = itertools.cycle(["f16", "i32", "bf16", "f64", "u32"])
    for letters, *shapes in EQUATIONS:
        other = next(more)
        draw = (lambda dims: drawn(dims, 0, 4)) if other == "u32" else few
        sums = lambda *x: torch.einsum(letters, *x)
        case("einsum", sums, [draw(d) for d in shapes], ["f32", other], whole=True, letters=letters)
    for n in [1, 7, 0, 300]:
        case("dot", torch.dot, [few([n]), few([n])], ["f32", "f16", "i32", "bf16", "f64"], whole=True)
    # Integers that are narrow come to 32 bits.
    for letters in ["ij,kj->ik", "ij,kj->ijk", "i,i->"]:
        for dtypes, low, wider in [(["i8", "i16"], -100, "i32"), (["u8", "u16"], 50, "u32")]:
            sums = lambda *x: (torch.einsum(letters, *(t.long() for t in x)), wider)
            x = [drawn([5] if letters == "i,i->" else [n, 5], low, 200) for n in [2, 3]]
            case("einsum", sums, x, dtypes, letters=letters)
            if letters == "i,i->":
                case("dot", sums, x, dtypes)
    for n, m in [(3, 4), (1, 5), (2, 0)]:
        case("outer", torch.outer, [few([n]), few([m])], ["f32", "f16", "i32"], whole=True)
    case("outer", torch.outer, [listed([3], "inf 0 -2"), listed([4], "0 nan -1 -inf")], FLOATS)
    for op, turn in {"rope": halves, "rope_interleaved": neighbours}.items():
        for dims, angles in [([2, 3, 4], [3, 2]), ([1, 2], [1, 1]), ([2, 2, 3, 6], [3, 3]),
                             ([3, 4], [2]), ([0, 4], [2])]:
            all_ = [quarters(dims), quarters(angles), quarters(angles)]
            case(op, turn, all_, FLOATS, wide=True)


# -- norms ---------------------------------------------------------------------------------------

EPS = 0.125
LONG = [[1, 2, 70], [1, 133]]
GROUPED = [(LONG[0], 1), ([2, 4, 3], 2), ([1, 6, 2, 2], 3), ([3, 2], 1), ([2, 6, 5], 6),
           ([1, 3, 2, 1, 2], 1), ([0, 2, 3], 1)]
ALONG = [(LONG[1], [1]), ([3, 7], [1]), ([2, 3, 4], [1, 2]), ([2, 3, 4], [0, 1]),
         ([2, 3, 4], [0, 2]), ([4, 1], [1]), ([2, 3, 2], [0, 1, 2]), ([5], [0])]


def spread(rows, w=None):
    """What the contract of a norm counts in: max |x| / s of each row, times the weight."""
    s = (rows.var(-1, correction=0) + EPS).sqrt()
    return (rows.abs().amax(-1) / s).min() * (1 if w is None else w.abs().min())


def norms():
    for dims, groups in GROUPED:
        c = dims[1]
        x, w, b = quarters(dims), drawn([c], 2, 6, 4), quarters([c])
        grouped = lambda x, w=None, b=None: F.group_norm(x, groups, w, b, EPS)
        how = dict(wide=True, groups=groups, eps=EPS)
        if 0 in dims:
            case("group_norm", grouped, [x, w, b], ["f32"], **how)
            continue
        rows = lambda x, w=None, b=None: spread(x.reshape(dims[0] * groups, -1), w)
        case("group_norm", grouped, [x, w, b], next(BOTH), scale=rows, **how)
        if dims in LONG:
            continue
        case("group_norm", grouped, [x], ["f32"], scale=rows, **how)
        learned = lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, eps=EPS)
        all_ = [x, quarters([c]), drawn([c], 1, 9, 4), w, b]
        counted = lambda x, m, v, w, b: (w / (v + EPS).sqrt()).min()
        case("batch_norm", learned, all_, next(BOTH), wide=True, eps=EPS, scale=counted)
        if len(dims) > 2:
            own = lambda x, w, b: F.instance_norm(x, weight=w, bias=b, eps=EPS)
            rows = lambda x, w, b: spread(x.reshape(dims[0] * c, -1), w)
            case("instance_norm", own, [x, w, b], next(BOTH), wide=True, eps=EPS, scale=rows)
    for dims, axes in ALONG:
        left = [a for a in range(len(dims)) if a not in axes]
        inner, back = [dims[a] for a in axes], [(left + axes).index(a) for a in range(len(dims))]
        along = lambda x: x.permute(left + axes)
        layer = lambda x, w=None, b=None: F.layer_norm(along(x), inner, w, b, EPS).permute(back)
        rms = lambda x, w=None: F.rms_norm(along(x), inner, w, EPS).permute(back)
        rows = lambda x, w=None, b=None: spread(along(x).reshape(-1, math.prod(inner)), w)
        x, w, b = quarters(dims), drawn(inner, 2, 6, 4), quarters(inner)
        how = dict(wide=True, axes=axes, eps=EPS)
        # Times a weight, plus a bias, as they broadcast; in narrow floats each is rounded.
        if back == list(range(len(dims))) and dims not in LONG:
            case("layer_norm", layer, [x, w, b], ["f32"], scale=rows, **how)
            case("rms_norm", rms, [x, w], ["f32"], **how)
        case("layer_norm", layer, [x], next(BOTH), scale=rows, **how)
        case("rms_norm", rms, [x], next(BOTH), **how)
    last, how = lambda x: F.layer_norm(x, [x.shape[1]], eps=EPS), dict(wide=True, axes=[1], eps=EPS)
    far = listed([2, 4], "1000 1001 999 1000 7 7 7 7")
    case("layer_norm", last, [far], ["f32"], scale=spread, **how)
    case("layer_norm", last, [listed([3, 3], "nan 1 2 inf 1 2 0 -0 0")], ["f32"], **how)
    case("layer_norm", last, [few([0, 3])], ["f32"], **how)


# -- reductions ----------------------------------------------------------------------------------

FOLDS = {
    "sum": lambda x: x.sum(-1), "mean": lambda x: x.mean(-1), "prod": lambda x: x.prod(-1),
    "amax": lambda x: x.amax(-1), "amin": lambda x: x.amin(-1),
    "argmax": lambda x: (x.argmax(-1), "u32"), "argmin": lambda x: (x.argmin(-1), "u32"),
    "any": lambda x: (x != 0).any(-1), "all": lambda x: (x != 0).all(-1),
    "count_nonzero": lambda x: (torch.count_nonzero(x, -1), "u32"),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "var": lambda x: x.var(-1, correction=1), "std": lambda x: x.std(-1, correction=1),
}
# What their contracts count in.
COUNTED = {
    "mean": lambda x: x.abs().mean(-1), "std": lambda x: x.abs().amax(-1),
    "logsumexp": lambda x: torch.logsumexp(x, -1).abs().clamp(min=1),
    "var": lambda x: x.abs().amax(-1) * x.std(-1),
}
REAL = ["mean", "norm", "logsumexp", "var", "std"]
ODD = "3 1 3 -0 0 -1 2 nan nan -inf -inf -inf inf 1 -inf 0 0 -0 inf inf 2 -3 -3 -3"
OVER = [([3, 4, 2], [0], 0), ([3, 4, 2], [1], 1), ([3, 4, 2], [0, 2], 0), ([3, 4, 2], [0, 1, 2], 1),
        ([1, 5], [0], 0), ([300], [0], 0), ([2, 0], [1], 0),
        ([2, 1300], [1], 0), ([700, 3], [0], 0)]
WIDER = [(["i32"], None), (["i8", "i16"], "i32"), (["u32"], None), (["u8", "u16"], "u32"),
         (["bool"], "u32")]


def over(op, x, axes, kept):
    fold, dims = FOLDS[op], x.dims
    left = [a for a in range(len(dims)) if a not in axes]
    outer, count = [dims[a] for a in left], math.prod(dims[a] for a in axes)
    shape = [1 if a in axes else n for a, n in enumerate(dims)] if kept else outer
    rows = lambda x: x.permute(left + axes).reshape(outer + [count])

    def folded(x):
        result = fold(rows(x))
        if isinstance(result, tuple):
            return result[0].reshape(shape), result[1]
        return result.reshape(shape)

    how = dict(axes=axes, kept=kept, **({"correction": 1} if op in ["var", "std"] else {}))
    if op in COUNTED and count > 1 and x.source[0] == "~":
        how["scale"] = lambda x: COUNTED[op](rows(x))
    case(op, folded, [x], next(BOTH), wide=op in REAL, whole=op in ["sum", "prod"], **how)


def reductions():
    for op in FOLDS:
        for dims, axes, kept in OVER:
            if dims == [2, 0] and op in ["amax", "amin", "argmax", "argmin"]:
                continue
            if op == "prod":
                x = drawn(dims, 1, 2 if math.prod(dims) < 100 else 1)
            else:
                x = few(dims) if dims == [300] else quarters(dims)
            over(op, x, axes, kept)
        over(op, listed([8, 3], ODD), [1], 0)
        for correction in [0, 2, 3] if op in ["var", "std"] else []:
            fold = lambda x: getattr(x, op)(-1, correction=correction)
            how = dict(axes=[1], kept=0, correction=correction)
            case(op, fold, [listed([2, 2], "1 3 2 2")], next(BOTH), wide=True, **how)
        summed = op in ["sum", "prod"]
        for dtypes, wider in WIDER if op not in REAL else []:
            if dtypes == ["bool"] and op not in ["any", "all", "count_nonzero", "sum"]:
                continue
            x = few([4, 3]) if dtypes[0][0] == "i" else drawn([4, 3], 0, 4)
            x = mask([4, 3]) if dtypes == ["bool"] else x
            fold = lambda x: (FOLDS[op](x), wider) if wider and summed else FOLDS[op](x)
            case(op, fold, [x], dtypes, whole=summed and not wider, axes=[1], kept=0)


def running():
    before = lambda x, axis: torch.cumsum(x, axis) - x
    after = lambda x, axis: torch.cumsum(x.flip(axis), axis).flip(axis)
    runs = {
        "cumsum": torch.cumsum, "cumsum_exclusive": before, "cumsum_reverse": after,
        "cumprod": torch.cumprod, "cummax": lambda x, axis: torch.cummax(x, axis)[0],
        "cummin": lambda x, axis: torch.cummin(x, axis)[0],
    }
    for op, run in runs.items():
        for dims, axis in [([7], 0), ([3, 5], 0), ([3, 5], 1), ([2, 3, 4], 1), ([1, 1], 1),
                           ([2, 0], 1), ([300], 0)]:
            x = drawn(dims, 1, 2 if dims != [300] else 1) if op == "cumprod" else few(dims)
            along = lambda x: run(x, axis)
            case(op, along, [x], ["f32", "f16", "bf16", "i32", "f64"], whole=True, axis=axis)
        if op[:6] == "cumsum":
            for dtype, low, wider in [("i8", -100, "i32"), ("u16", 9, "u32"), ("bool", 0, "u32")]:
                along = lambda x: (run(x.long(), 1), wider)
                x = mask([2, 5]) if dtype == "bool" else drawn([2, 5], low, 200)
                case(op, along, [x], [dtype], axis=1)
        if op != "cumsum_exclusive":
            along = lambda x: run(x, 0)
            case(op, along, [listed([5], "1 inf nan 0 2")], FLOATS, whole=True, axis=0)


# -- convolutions, pools, sizes ------------------------------------------------------------------

# Input, weight, stride, padding, dilation, groups.
CONVS = [
    ([2, 3, 7], [4, 3, 3], [1], [0], [1], 1), ([1, 2, 8], [2, 2, 3], [2], [1], [2], 1),
    ([1, 4, 5], [4, 1, 2], [1], [1], [1], 4), ([2, 4, 6], [6, 2, 3], [3], [2], [1], 2),
    ([1, 1, 1], [1, 1, 1], [1], [0], [1], 1), ([1, 2, 4], [3, 2, 1], [2], [0], [1], 1),
    ([2, 3, 5, 6], [4, 3, 3, 3], [1, 1], [1, 1], [1, 1], 1),
    ([1, 2, 7, 5], [2, 2, 3, 2], [2, 1], [1, 0], [1, 2], 1),
    ([1, 4, 4, 5], [4, 1, 3, 3], [1, 2], [1, 1], [1, 1], 4),
    ([2, 4, 5, 5], [2, 2, 2, 3], [2, 2], [0, 2], [2, 1], 2),
    ([1, 3, 4, 4], [8, 3, 1, 1], [1, 1], [0, 0], [1, 1], 1),
    ([1, 3, 6, 3], [6, 1, 3, 1], [1, 1], [0, 1], [1, 1], 3),
    ([0, 2, 4, 4], [3, 2, 3, 3], [1, 1], [1, 1], [1, 1], 1),
    ([1, 6, 7, 9], [4, 6, 3, 3], [1, 1], [1, 1], [1, 1], 1),
    ([1, 4, 9, 6], [8, 2, 3, 2], [2, 1], [1, 1], [1, 1], 2),
    ([1, 2, 5, 5], [6, 1, 5, 5], [1, 1], [0, 0], [1, 1], 2),
    ([1, 3, 4, 4], [2, 3, 2, 2], [3, 3], [1, 1], [2, 2], 1),
    ([1, 40, 4, 5], [2, 40, 3, 3], [1, 1], [0, 0], [1, 1], 1),
    ([1, 1, 3, 9], [1, 1, 3, 4], [1, 3], [2, 1], [1, 2], 1),
    ([1, 2, 4, 3, 4], [3, 2, 2, 3, 2], [1, 1, 1], [0, 1, 0], [1, 1, 1], 1),
    ([1, 2, 5, 4, 3], [2, 1, 3, 2, 2], [2, 1, 2], [1, 0, 1], [1, 2, 1], 2),
]
# Further, how much longer the result is.
BACK = [
    ([2, 3, 5], [3, 2, 3], [1], [0], [1], 1, [0]), ([1, 2, 4], [2, 3, 4], [2], [1], [1], 1, [1]),
    ([1, 4, 4], [4, 1, 3], [2], [1], [2], 2, [1]), ([1, 1, 3], [1, 1, 2], [3], [0], [1], 1, [2]),
    ([1, 3, 4], [3, 1, 3], [1], [1], [1], 3, [0]),
    ([1, 2, 3, 4], [2, 3, 3, 3], [2, 2], [1, 1], [1, 1], 1, [1, 1]),
    ([2, 4, 3, 2], [4, 2, 2, 3], [1, 2], [0, 1], [2, 1], 2, [0, 1]),
    ([1, 1, 1, 3], [1, 2, 4, 2], [3, 1], [1, 0], [1, 3], 1, [0, 0]),
    ([1, 3, 2, 2], [3, 1, 3, 3], [2, 1], [0, 1], [1, 1], 3, [1, 0]),
    ([1, 2, 2, 3, 2], [2, 1, 2, 3, 2], [2, 2, 1], [0, 1, 1], [1, 1, 1], 1, [0, 1, 0]),
]
# Input, window, stride, padding, dilation.
POOLS = [
    ([2, 7], [2], [2], [0], [1]), ([1, 2, 8], [3], [1], [1], [2]),
    ([2, 5, 6], [2, 3], [2, 1], [1, 1], [1, 1]), ([1, 2, 5, 5], [3, 3], [2, 2], [1, 1], [1, 1]),
    ([1, 1, 7, 4], [2, 2], [1, 2], [0, 1], [3, 1]), ([2, 3, 1, 1], [1, 1], [1, 1], [0, 0], [1, 1]),
    ([1, 2, 4, 3, 5], [2, 2, 3], [2, 1, 2], [1, 0, 1], [1, 1, 1]),
    ([0, 1, 4, 4], [2, 2], [2, 2], [0, 0], [1, 1]), ([1, 1, 6, 6], [3, 2], [1, 1], [1, 1], [1, 1]),
]
SIZES = [
    ([1, 2, 5], [8]), ([2, 1, 6], [3]), ([1, 1, 1], [4]), ([1, 1, 4], [1]), ([1, 2, 4, 5], [7, 3]),
    ([1, 1, 3, 3], [6, 6]), ([1, 1, 2, 6], [1, 9]), ([1, 1, 5, 4], [5, 10]),
    ([1, 1, 2, 3, 4], [3, 5, 2]), ([1, 1, 7, 1], [3, 3]), ([0, 1, 3], [5]), ([1, 1, 26], [13]),
    ([1, 1, 3, 7], [1, 1]), ([2, 1, 4, 6], [2, 3]),
]


def convolutions():
    plain = [F.conv1d, F.conv2d, F.conv3d]
    back = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d]
    more = itertools.cycle(["f16", "i32", "bf16", "f64"])
    for x, w, stride, padding, dilation, groups in CONVS:
        d = len(stride)
        how = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
        conv = lambda *all_: plain[d - 1](*all_, **how)
        all_ = [few(x), few(w), few([w[0]])]
        case(f"conv{d}d", conv, all_, ["f32", next(more)], whole=True, **how)
        if groups > 1 or d == 1:
            case(f"conv{d}d", conv, all_[:2], ["f32"], whole=True, **how)
    for dtypes, wider in [(["i8", "i16"], "i32"), (["u8", "u16"], "u32")]:
        low, how = 0 if wider == "u32" else -100, dict(stride=[1, 2], padding=[1, 0])
        how.update(dilation=[1, 1], groups=1)
        conv = lambda x, w: (F.conv2d(x.double(), w.double(), **how).long(), wider)
        all_ = [drawn([1, 2, 3, 4], low, 200), drawn([2, 2, 2, 2], low, 128)]
        case("conv2d", conv, all_, dtypes, **how)
    odd = [listed([1, 1, 5], "1 inf 0 nan 2"), listed([1, 1, 2], "1 -1")]
    how = dict(stride=[1], padding=[0], dilation=[1], groups=1)
    case("conv1d", lambda x, w: F.conv1d(x, w, **how), odd, ["f32"], whole=True, **how)
    for x, w, stride, padding, dilation, groups, longer in BACK:
        d = len(stride)
        how = dict(stride=stride, padding=padding, dilation=dilation, groups=groups,
                   output_padding=longer)
        all_ = [few(x), few(w), few([w[1] * groups])]
        spread_ = lambda x, w, b: back[d - 1](x, w, b, **how)
        case(f"conv_transpose{d}d", spread_, all_, ["f32", next(more)], whole=True, **how)


def pools():
    largest = [F.max_pool1d, F.max_pool2d, F.max_pool3d]
    means = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d]
    adaptive = [F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d]
    for dims, size, stride, padding, dilation in POOLS:
        d, how = len(size), dict(size=size, stride=stride, padding=padding)
        most = lambda x: largest[d - 1](x, size, stride, padding, dilation)
        whole = lambda x: most(x.double()).to(x.dtype)
        case("max_pool", most, [quarters(dims)], next(BOTH), dilation=dilation, **how)
        case("max_pool", whole, [few(dims)], ["i32", "i8"], whole=True, dilation=dilation, **how)
        for counted in [1, 0] if dilation == [1] * d else []:
            mean = lambda x: means[d - 1](x, size, stride, padding, False, counted == 1)
            case("avg_pool", mean, [few(dims)], next(BOTH), wide=True, counted=counted, **how)
    odd, low = listed([1, 8], "nan 1 -inf -inf -inf -0 inf 2"), listed([1, 4], "-inf -inf min -3")
    how = dict(size=[2], stride=[1], padding=[0])
    case("max_pool", lambda x: F.max_pool1d(x, 2, 1), [odd], FLOATS, dilation=[1], **how)
    mean = lambda x: F.avg_pool1d(x, 2, 1)
    case("avg_pool", mean, [odd], ["f32"], wide=True, counted=1, **how)
    how = dict(size=[3], stride=[1], padding=[1])
    case("max_pool", lambda x: F.max_pool1d(x, 3, 1, 1), [low], FLOATS, dilation=[1], **how)
    whole = lambda x: F.max_pool1d(x.double(), 3, 1, 1).to(x.dtype)
    case("max_pool", whole, [drawn([1, 6], 0, 9)], ["u8", "u32", "i16"], dilation=[1], **how)
    for dims, to in SIZES:
        covered = lambda x: adaptive[len(to) - 1](x, to)
        counted = lambda x: covered(x.abs())
        some = {} if 0 in dims else {"scale": counted}
        case("adaptive_avg_pool", covered, [few(dims)], next(BOTH), wide=True, to=to, **some)


def sizes():
    for dims, to in SIZES:
        x = quarters(dims)
        nearest = lambda x: F.interpolate(x, to, mode="nearest")
        case("interpolate", nearest, [x], next(BOTH), how="nearest", to=to)
        modes = [("linear", ["linear", "bilinear", "trilinear"][len(to) - 1])]
        modes += [("cubic", "bicubic")] if len(to) == 2 else []
        for (how, mode), corners in itertools.product(modes, [False, True]):
            resized = lambda x: F.interpolate(x, to, mode=mode, align_corners=corners)
            settings = dict(wide=True, how=how, corners=int(corners), to=to)
            settings.update({} if 0 in dims else {"scale": lambda x: x.abs().amax()})
            # In f64 the places that torch works out are off by more than a result may be.
            case("interpolate", resized, [x], next(BOTH)[:2], **settings)


# -- attention -----------------------------------------------------------------------------------


def attention(sizes, dtypes=("f32",), lengths=None, masked=None, causal=0, rank=4, **more):
    """Sizes: batches, heads, shared heads, queries, keys, lengths of keys and of values."""
    batch, heads, shared, queries, keys, d, e = sizes
    # Axes of length 1 come first, or are left out.
    dims = lambda heads, rows, columns: ([1] * (rank - 4) + [batch, heads, rows, columns])[-rank:]
    given = [quarters(dims(heads, queries, d)), quarters(dims(shared, keys, d)),
             quarters(dims(shared, keys, e))]
    given += [listed([batch], lengths, "i32")] if lengths else []
    given += [masked] if masked else []
    window, softcap = more.get("window"), more.get("softcap")
    how = dict(scaled=0.5, causal=causal, lengths=int(lengths is not None), **more)

    def attend(*all_, weighs=False):
        groups = zip(all_, [heads, shared, shared])
        q, k, v = (x.reshape(batch, n, *x.shape[-2:]) for x, n in groups)
        result, weights = attended(q, k, v, list(all_[3:]), weighs)
        result = result.reshape(dims(heads, queries, e))
        return [result, weights.reshape(dims(heads, queries, keys))] if weighs else result

    def attended(q, k, v, beside, weighs):
        key = torch.arange(keys).reshape(1, 1, 1, -1)
        apart = key - (torch.arange(queries) + keys - queries).reshape(1, 1, -1, 1)
        seen = torch.ones(batch, heads, queries, keys, dtype=torch.bool)
        if lengths:
            seen = seen & (key < beside.pop(0).reshape(-1, 1, 1, 1))
        if window:
            seen = seen & (apart >= -window[0]) & (apart <= window[1])
        if causal:
            seen = seen & (apart <= 0)
        added = torch.zeros(seen.shape, dtype=q.dtype)
        if beside:
            m = beside.pop(0)
            added = added.masked_fill(~m, -INF) if m.dtype == torch.bool else added + m
        added = added.masked_fill(~seen, -INF)
        if not softcap and not weighs:
            return F.scaled_dot_product_attention(
                q, k, v, attn_mask=added, scale=0.5, enable_gqa=heads != shared), None
        k, v = (t.repeat_interleave(heads // shared, 1) for t in (k, v))
        scores = q @ k.mT * 0.5
        scores = softcap * torch.tanh(scores / softcap) if softcap else scores
        weights = torch.nan_to_num(torch.softmax(scores + added, -1), nan=0.0)
        return weights @ v, weights

    most = lambda q, k, v, *_: v.abs().amax(-2)
    how.update({"scale": most} if keys else {})
    case("attention", attend, given, dtypes, wide=True, **how)
    if queries * keys < 100:
        how.update({"scale": lambda *all_: most(*all_).clamp(max=1)} if keys else {})
        weighed = lambda *all_: attend(*all_, weighs=True)
        case("attention_with_weights", weighed, given, dtypes, wide=True, **how)


def attentions():
    both = ("f32", "f16")
    attention([2, 2, 2, 3, 5, 4, 4], both, lengths="5 3")
    attention([3, 2, 1, 2, 4, 4, 3], lengths="0 4 1")
    attention([1, 2, 2, 6, 6, 4, 4], both, window=[2, 1])
    attention([1, 1, 1, 3, 7, 4, 4], window=[1, 0])
    attention([1, 2, 2, 5, 5, 4, 4], window=[0, 2], causal=1)
    attention([1, 1, 1, 4, 4, 8, 4], window=[9, 9])
    attention([1, 2, 2, 4, 6, 4, 4], both, softcap=1.5)
    attention([1, 2, 1, 4, 4, 4, 5], softcap=0.5, causal=1)
    attention([2, 4, 2, 3, 6, 4, 4], ("f32", "bf16"), lengths="6 2", window=[3, 3], softcap=3.0)
    attention([1, 4, 2, 5, 7, 6, 4], causal=1)
    attention([1, 6, 2, 1, 9, 4, 4])
    attention([2, 4, 1, 1, 5, 4, 4], both, lengths="1 5")
    none = listed([3, 5], "1 0 1 1 0 1 1 1 1 1 0 0 0 0 0", "bool")
    attention([1, 2, 2, 3, 5, 4, 4], masked=none)
    attention([1, 2, 2, 3, 5, 4, 4], masked=none, softcap=1.0)
    attention([2, 2, 1, 3, 4, 4, 4], both, masked=mask([2, 1, 3, 4]), lengths="2 4")
    attention([1, 2, 2, 3, 4, 4, 4], masked=mask([1, 2, 1, 4]), softcap=2.0)
    attention([1, 2, 2, 3, 4, 4, 4], masked=quarters([1, 2, 3, 4], "f32"), window=[1, 1])
    attention([1, 1, 1, 20, 20, 8, 2], causal=1, window=[4, 0])
    attention([1, 2, 1, 3, 70, 8, 2], both)
    attention([1, 1, 1, 33, 65, 4, 1], causal=1)
    attention([1, 2, 1, 9, 80, 4, 1], window=[20, 5], softcap=2.0)
    attention([2, 1, 1, 2, 130, 4, 2], lengths="129 66")
    attention([1, 1, 1, 3, 4, 4, 4], rank=2)
    attention([1, 4, 2, 3, 4, 4, 4], rank=3, causal=1)
    attention([2, 2, 1, 3, 4, 4, 2], rank=5, window=[1, 1])
    attention([1, 2, 2, 3, 0, 4, 4])
    attention([1, 2, 1, 0, 3, 4, 4])
    attention([1, 2, 2, 7, 4, 4, 4], causal=1)
    attention([1, 2, 1, 7, 4, 4, 4], window=[2, 0], softcap=1.0)
    attention([2, 3, 1, 2, 3, 1, 1], both, lengths="3 1", causal=1)
    attention([1, 8, 2, 1, 12, 8, 8], softcap=2.0, window=[5, 0])


# -- rows, losses, and what is made of others ----------------------------------------------------


def others():
    at_least_1 = lambda x: torch.clamp(x.abs(), min=1)
    floats = functools.partial(case, dtypes=FLOATS, wide=True)

    for dims, axis in [([4, 5], 1), ([3, 4], 0), ([2, 3, 4], 1), ([1, 1], 1), ([0, 3], 1),
                       ([1, 132], 1)]:
        rows = dims[:axis] + dims[axis + 1:]

        def loss(x, t):
            logits = x.movedim(axis, -1).reshape(-1, dims[axis])
            return F.cross_entropy(logits, t.long().reshape(-1), reduction="none").reshape(rows)

        most = lambda x, *_: at_least_1(x).amax(axis)
        both = [quarters(dims), places(rows, dims[axis])]
        some = {} if 0 in dims else {"scale": most}
        floats("cross_entropy", loss, both, **some, axis=axis)
        floats("softmax", lambda x: torch.softmax(x, axis), [quarters(dims)], axis=axis)
        logs = lambda x: torch.log_softmax(x, axis)
        floats("log_softmax", logs, [quarters(dims)], **some, axis=axis)
    hard = listed([6, 3], "1000 -1000 0 -inf 2 1 5 5 5 -inf -inf -inf nan 1 2 inf 1 2")
    floats("softmax", lambda x: torch.softmax(x, 1), [hard], axis=1)
    logs = lambda x: torch.log_softmax(x, 1)
    floats("log_softmax", logs, [hard], axis=1, scale=lambda x: torch.ones(1))
    sums = lambda x: torch.logsumexp(x, 1)
    few_sums = [listed([2, 3], "0.5 -1 2 1000 999 -3")]
    case("logsumexp", sums, few_sums, ["f64"], axes=[1], kept=0, scale=lambda x: torch.ones(1))
    for axis, count in [(0, 2), (1, 3)]:
        each = lambda x: torch.repeat_interleave(x, count, axis)
        case("repeat_interleave", each, [few([2, 3])], [*FLOATS, *SIGNED], axis=axis, count=count)
    twice = lambda x: x.repeat(2, 3)
    case("repeat", twice, [few([2, 3])], [*FLOATS, *SIGNED], counts=[2, 3])
    for k, dims in itertools.product([-1, 0, 2], [[3], [3, 4]]):
        case("diag", lambda x: torch.diag(x, k), [few(dims)], [*FLOATS, *SIGNED], k=k)
    case("trace", torch.trace, [few([3, 4])], [*FLOATS, "i32", "i64"], whole=True)
    grid = lambda *lists: list(torch.meshgrid(*lists, indexing="ij"))
    case("meshgrid", grid, [few([2]), few([3]), few([1])], [*FLOATS, *SIGNED])
    for axis, size, step in [(0, 3, 2), (1, 2, 1), (1, 4, 9)]:
        how = dict(axis=axis, size=size, step=step)
        case("windows", lambda x: x.unfold(axis, size, step), [few([7, 4])], [*FLOATS, *SIGNED], **how)
    hard = "0 -0 1 -1 0.5 -3 3 -8 20 inf -inf nan"
    floats("glu", lambda x: F.glu(x, 1), [quarters([2, 6])], axis=1)
    gates = {"selu": F.selu, "softsign": F.softsign, "hard_sigmoid": F.hardsigmoid}
    for op, function in gates.items():
        floats(op, function, [listed([12], hard)])
    floats("prelu", F.prelu, [quarters([2, 3, 4]), listed([3], "0.25 -1 2")])
    for axis in [0, 1]:
        alike = lambda x, y: F.cosine_similarity(x, y, axis, eps=0)
        length = lambda x: torch.linalg.vector_norm(x, 1, axis)
        pair = [quarters([3, 5]), quarters([3, 5])]
        floats("cosine_similarity", alike, pair, axis=axis)
        floats("l1_norm", length, pair[:1], axis=axis)
