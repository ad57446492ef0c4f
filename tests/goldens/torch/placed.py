"""Cases of what is sorted, found, selected and scattered."""

import itertools

import torch

from lines import FLOATS, INF, SIGNED, UNSIGNED, case, drawn, few, listed, mask, places, quarters

# -- order ---------------------------------------------------------------------------------------

HARD = [
    (FLOATS, [
        ([2, 8], "nan inf -0 1 0 -1 -inf 1 2.5 min nan -0.5 max 0 2.5 -0"), ([1], "nan"),
        ([3, 1, 4], "0 -0 0 -0 2 2 -3 2 nan nan nan nan"), ([0, 3], ""),
        ([5], "1 nan nan -inf nan"),
    ]),
    (SIGNED, [([2, 6], "0 min max -1 1 -1 7 max 0 min -100 7"), ([3, 1], "-1 min 5"), ([0], "")]),
    (UNSIGNED, [([3, 4], "0 max 1 128 127 0 max 7 200 7 7 0"), ([1, 3], "max 0 1")]),
    (["bool"], [([2, 5], "1 0 1 1 0 0 0 1 0 0")]),
]


def by_rank(x, axis, way):
    """torch has NaN first where the largest comes first; here it is last."""
    values, at = torch.sort(x, dim=axis, descending=way == "down", stable=True)
    if way == "down" and x.is_floating_point():
        count = values.isnan().sum(axis, keepdim=True)
        dims = [1] * x.dim()
        dims[axis] = -1
        i = (torch.arange(x.shape[axis]).reshape(dims) + count) % max(x.shape[axis], 1)
        values, at = (t.gather(axis, i.expand(t.shape)) for t in (values, at))
    return values, at


def order():
    def both(x, dtypes, axis, way):
        how = dict(axis=axis, way=way)
        case("sort", lambda x: by_rank(x, axis, way)[0], [x], dtypes, **how)
        case("argsort", lambda x: (by_rank(x, axis, way)[1], "u32"), [x], dtypes, **how)

    def best(x, dtypes, k, axis):
        def top(x):
            count = min(k, x.shape[axis])
            values, at = (t.narrow(axis, 0, count) for t in by_rank(x, axis, "down"))
            return [values, (at, "u32")]

        case("top_k", top, [x], dtypes, k=k, axis=axis)

    for dtypes, lists in HARD:
        for (dims, text), way in itertools.product(lists, ["up", "down"]):
            for axis in range(len(dims)):
                both(listed(dims, text), dtypes, axis, way)
        for k, axis in [(3, 1), (1, 0), (0, 1), (99, 1)]:
            best(listed(*lists[0]), dtypes, k, axis)
    # Longer than what is sorted in one step: many equals, which stay as they came.
    for way in ["up", "down"]:
        long = lambda x: (by_rank(x, 0, way)[1], "u32")
        case("argsort", long, [drawn([300], -3, 7)], ["f32", "i8"], axis=0, way=way)
    best(drawn([3, 1500], -300, 600), ["f32", "i16"], 4, 1)
    best(drawn([1200, 2], -300, 600), ["i32", "f64"], 3, 0)


# -- places in lists, counts, quantiles ----------------------------------------------------------


def sorted_lists(side):
    at = lambda s, v: (torch.searchsorted(s, v, right=side == "right"), "u32")
    for n, dims in [(1, [3]), (2, [2, 3]), (7, [10]), (8, [9]), (33, [12])]:
        row = listed([n], " ".join(f"{v:g}" for v in sorted(drawn([n], 0, 9).values)))
        case("searchsorted", at, [row, drawn(dims, 0, 10)], ["f32", "f16", "i32", "u32"], side=side)
    for row, values, dtypes in [
        (listed([0], ""), few([3]), ["f32", "i32"]),
        (listed([2], "1 2"), few([0, 2]), ["f32"]),
        (listed([2, 4], "-1 0 0 3 1 1 1 2"), few([2, 5]), ["f32", "i32", "i64"]),
        (listed([5], "-inf -1 0 0 inf"), listed([8], "nan -inf inf -0 0 -2 min max"), FLOATS),
        (listed([3], "min -1 max"), listed([5], "min max 0 -1 -2"), SIGNED),
    ]:
        case("searchsorted", at, [row, values], dtypes, side=side)


PARTED = [
    (4, -2, 2, "-2 -1 0 1 2 1.5 -3 2.5 -0 0.75 -1.25 2"), (1, 0, 1, "0 1 1 2 -1"),
    (8, 0, 1, "0.125 0.25 0.37109375 0.375 0.9921875 1 0 -0 inf -inf"),
    (3, 5, 11, "4 5 6 7 8 9 10 11 12"),
]


def ranks():
    for side in ["left", "right"]:
        sorted_lists(side)
    for dims, bins in [([20], 6), ([2, 7], 5), ([1], 9), ([0], 3), ([60, 50], 6)]:
        count = lambda x: (torch.bincount(x.reshape(-1), minlength=bins), "u32")
        dtypes = ["i32", "u8", "u32", "i64", "i16", "u64"]
        case("bincount", count, [drawn(dims, 0, 5)], dtypes, bins=bins)
    for bins, low, high, text in PARTED:
        count = lambda x: (torch.histc(x, bins, low, high), "u32")
        x, how = listed([len(text.split())], text), dict(bins=bins, low=low, high=high)
        case("histogram", count, [x], FLOATS, wide=True, **how)
    every = lambda x: (torch.histc(x, 5, -2, 1), "u32")
    case("histogram", every, [quarters([40, 50])], ["f32"], wide=True, bins=5, low=-2, high=1)
    nothing = lambda x: (torch.histc(x, 3, 0, 1), "u32")
    case("histogram", nothing, [listed([0], "")], ["f32"], bins=3, low=0, high=1)
    among = [([0], 0), ([2], 1), ([1, 2], 0), ([0, 2], 0), ([0, 1, 2], 0)]
    parts = [("quantile", part) for part in [0, 1, 0.25, 0.9]] + [("median", 0.5)]
    whole = quarters([3, 4, 5])
    for (op, part), (axes, kept) in itertools.product(parts, among):
        def at(x):
            left = [a for a in range(3) if a not in axes]
            rows = x.permute(left + axes).reshape([x.shape[a] for a in left] + [-1])
            y = torch.quantile(rows, part, dim=-1)
            return y.unsqueeze(axes[0]) if kept else y
        how = dict(axes=axes, kept=kept, **({"part": part} if op == "quantile" else {}))
        most = lambda x: x.abs().amax()
        case(op, at, [whole], FLOATS, wide=True, scale=most, **how)
    for part in [0.5, 0.375]:
        at, how = lambda x: torch.quantile(x, part, dim=1), dict(part=part, axes=[1], kept=0)
        x = drawn([2, 1025], -700, 1400, 4)
        case("quantile", at, [x], ["f32", "f64"], wide=True, scale=lambda x: x.abs().amax(), **how)
    # An odd number of them: the element in the middle, as torch's own median has it.
    middle = lambda x: torch.where(x.isnan().any(1), torch.nan, torch.median(x, 1)[0])
    odd = listed([5, 3], "1 nan 2 -inf 0 inf inf inf 1 -inf -inf 3 -0 0 7")
    case("median", middle, [odd], FLOATS, wide=True, axes=[1], kept=0)


# -- what is found, selected and scattered -------------------------------------------------------


def once(x):
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    return [values, (inverse, "u32"), (counts, "u32")]


def found():
    for dims in [[17], [3, 4], [1], [2, 0]]:
        case("unique", once, [few(dims)], ["f32", "f16", "i32", "i64", "i8"])
    case("unique", once, [listed([6], "max 0 3 max 3 3")], UNSIGNED)
    case("unique", once, [listed([8], "inf nan -1 -inf nan -1 inf min")], FLOATS)
    case("unique", once, [mask([7])], ["bool"])
    where = lambda x: (torch.nonzero(x), "u32")
    for dims in [[9], [3, 4], [2, 3, 2], [1, 1], [0, 2]]:
        case("nonzero", where, [drawn(dims, 0, 3)], ["f32", "u8", "i32"])
    case("nonzero", where, [drawn([300], 0, 3)], ["i32"])
    case("nonzero", where, [listed([2, 3], "nan 0 -0 inf -inf 1")], FLOATS)
    case("nonzero", where, [mask([3, 3])], ["bool"])
    sevens, lowest = lambda x, m: x.masked_fill(m, 7), lambda x, m: x.masked_fill(m, -INF)
    for dims, over in [([7], [7]), ([3, 4], [3, 4]), ([3, 4], [4]), ([4], [3, 4]), ([2, 1], [1, 3]),
                       ([0], [0])]:
        case("masked_select", torch.masked_select, [few(dims), mask(over)], ["f32", "bf16", "i32", "f64"])
        if len(over) <= len(dims) and dims != [2, 1]:
            both = [few(dims), mask(over)]
            case("masked_fill", sevens, both, ["f32", "f16", "i32"], value=7)
    case("masked_fill", sevens, [few([0, 4]), mask([4])], ["f32"], value=7)
    odd = listed([4], "nan -0 inf -inf")
    case("masked_select", torch.masked_select, [odd, listed([4], "1 1 0 1", "bool")], FLOATS)
    case("masked_fill", lowest, [odd, listed([4], "0 1 0 1", "bool")], FLOATS, value="-inf")


FOLDS = {"scatter_max": "amax", "scatter_min": "amin", "scatter_mul": "prod", "scatter_add": "sum"}
# Into what, along which axis, how many.
INTO = [([5], 0, 8), ([3, 4], 0, 2), ([3, 4], 1, 6), ([2, 3, 2], 1, 5), ([3], 0, 0), ([1], 0, 4),
        ([5], 0, 2000), ([2, 3], 1, 700)]
ADDED = [([3, 4], 0, 5), ([3, 4], 1, 2), ([4], 0, 9), ([2, 3, 2], 1, 4), ([2, 3], 0, 0),
         ([3, 4], 0, 900)]
# Of what, how many places, of how many axes.
NAMED = [([4], [5], 1), ([3, 4], [6], 1), ([3, 4], [2, 3], 2), ([2, 3, 4], [5], 2),
         ([2, 3, 4], [2, 2], 3), ([3, 2], [0], 1)]
# Which of several values stays torch leaves open: each place is named once.
PUT = [([5], [3, 1], "4 0 2"), ([3, 4], [2, 1], "2 0"), ([3, 4], [2, 2, 2], "0 1 2 3 1 1 0 0"),
       ([2, 3, 2], [3, 2], "1 2 0 0 1 0"), ([2, 2], [0, 1], "")]


def scattered():
    for op, fold in FOLDS.items():
        def into(x, i, s, axis=0):
            return x.scatter_reduce(axis, i.long(), s, fold, include_self=True)
        computed = op in ["scatter_mul", "scatter_add"]
        dtypes = ["f32", "f64", "f16", "i32", "bf16" if computed else "i8"]
        for dims, axis, length in INTO:
            more = dims[:axis] + [length] + dims[axis + 1:]
            # Of products of many nothing would be left but 0, or too much.
            source = drawn(more, -1, 1) if op == "scatter_mul" and length > 9 else few(more)
            all_ = [few(dims), places(more, dims[axis]), source]
            along = lambda x, i, s: into(x, i, s, axis)
            case(op, along, all_, dtypes, axis=axis, whole=computed)
        odd = [listed([6], "0 nan 1 -inf 2 3"), listed([7], "0 0 1 3 4 5 4", "i32"),
               listed([7], "inf 1 2 inf nan -inf 1")]
        case(op, into, odd, FLOATS, axis=0)
        for dtypes, text in [(SIGNED, "min max 0 -1 5"), (UNSIGNED, "0 max 3 1 max")]:
            ends = [listed([3], "0 1 max"), listed([5], "0 0 1 2 1", "i32"), listed([5], text)]
            if not computed:
                case(op, into, ends, dtypes, axis=0)
    for dims, axis, length in ADDED:
        more = dims[:axis] + [length] + dims[axis + 1:]
        all_ = [few(dims), places([length], dims[axis]), few(more)]
        add = lambda x, i, s: x.index_add(axis, i.long(), s)
        case("index_add", add, all_, ["f32", "f16", "i32", "i8", "f64"], axis=axis, whole=True)
    for dims, outer, k in NAMED:
        # Of each axis a place below its length: all below the shortest.
        at = places(outer + [k], min(dims[:k]))
        named = lambda x, i: x[tuple(i.long().unbind(-1))]
        case("gather_nd", named, [few(dims), at], ["f32", "bf16", "i32", "f64"], whole=True)
    put = lambda x, i, s: x.index_put(tuple(i.long().unbind(-1)), s)
    for dims, index, text in PUT:
        source = drawn(index[:-1] + dims[index[-1]:], 10, 90)
        all_ = [few(dims), listed(index, text, "i32"), source]
        case("scatter_nd", put, all_, ["f32", "i32", "f16"])
    odd = [few([4]), listed([3, 1], "3 0 1", "i32"), listed([3], "nan -0 inf")]
    case("scatter_nd", put, odd, FLOATS)
