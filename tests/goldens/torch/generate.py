"""Golden cases by PyTorch (CPU): a second opinion that nobody of this project wrote.

    pip install torch numpy && python tests/goldens/torch/generate.py

writes elementwise.txt, casts.txt and shapes.txt beside this file. CI never runs it; the data is
committed. tests/paper/torch.rs judges the oracle by it, tests/gpu/cases/torch.rs the kernels, and the
table in tests/goldens/torch.rs says where wharf means to differ, and why.

elementwise.txt   op dtype | operand | .. | result    one list of elements each, in hexadecimal bits;
                                                      the operands of a line are crossed, the last
                                                      one fastest; results of floats are f64, computed
                                                      in f64 from the operands as they are stored
casts.txt         from to | operands | results
shapes.txt        op | arguments | ..                 a tensor is dtype[dims]=elements, a list is 1,2,3
"""

import itertools
import math
import pathlib
import struct

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
INF, NAN = float("inf"), float("nan")

DTYPES = {
    "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
    "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "bool": torch.bool,
}
WIDTHS = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "i8": 1, "u8": 1, "i16": 2, "i32": 4, "i64": 8, "bool": 1}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def bits(tensor):
    """The elements of a tensor in row-major order, as hexadecimal bits."""
    flat = tensor.detach().contiguous().reshape(-1)
    width = WIDTHS[NAMES[tensor.dtype]]
    if flat.numel() == 0:
        return []
    raw = bytes(flat.view(torch.uint8).tolist())
    return [f"{int.from_bytes(raw[i:i + width], 'little'):x}" for i in range(0, len(raw), width)]


def text(tensor):
    return " ".join(bits(tensor))


# -- elementwise ---------------------------------------------------------------------------------

# No subnormal operands: they may count as zero. Arguments of sin, cos, tan and rem in their domain.
UNARY = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.5, 1e-3, -1e-3, 0.1, 0.9,
         3.140625, 6.0, -6.0, 10.0, -10.0, 20.5, 88.0, -88.0, 100.0, 1000.0, INF, -INF, NAN]
BINARY = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, -7.5, 0.125, 100.0, INF, -INF, NAN]
TERNARY = [0.0, 1.0, -2.5, 3.0, INF, NAN]
INTEGERS = {
    "i8": [0, 1, -1, 2, -3, 7, 100, 127, -127, -128],
    "u8": [0, 1, 2, 7, 100, 127, 128, 255],
    "i16": [0, 1, -1, 7, -300, 32767, -32768],
    "i32": [0, 1, -1, 2, -3, 7, 100000, 2147483647, -2147483647, -2147483648],
    "i64": [0, 1, -1, 7, 1 << 40, (1 << 63) - 1, -(1 << 63)],
}


FLOAT_UNARY = {
    "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "floor": torch.floor,
    "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc,
    "fract": lambda x: x - torch.floor(x), "sqrt": torch.sqrt,
    # torch has none: C's.
    "cbrt": lambda x: torch.tensor([math.cbrt(v) for v in x.tolist()], dtype=x.dtype),
    "rsqrt": torch.rsqrt,
    "recip": torch.reciprocal, "square": torch.square, "exp": torch.exp, "exp2": torch.exp2,
    "expm1": torch.expm1, "ln": torch.log, "log2": torch.log2, "log10": torch.log10,
    "log1p": torch.log1p, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin,
    "acos": torch.acos, "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh,
    "tanh": torch.tanh, "asinh": torch.asinh, "acosh": torch.acosh, "atanh": torch.atanh,
    "erf": torch.erf, "sigmoid": torch.sigmoid, "relu": torch.relu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
    # Its own threshold of 20 is off by e^-20.
    "softplus": lambda x: F.softplus(x, threshold=40),
    "hard_swish": F.hardswish, "mish": F.mish, "is_nan": torch.isnan, "is_inf": torch.isinf,
    "is_finite": torch.isfinite,
}
FLOAT_BINARY = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
    "rem_floor": torch.remainder, "rem_trunc": torch.fmod, "pow": torch.pow,
    "min": torch.minimum, "max": torch.maximum, "atan2": torch.atan2, "hypot": torch.hypot,
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
}
FLOAT_TERNARY = {
    "clamp": torch.clamp, "mul_add": lambda a, b, c: a * b + c, "lerp": torch.lerp,
}
INT_UNARY = {"neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "square": lambda x: x * x,
             "relu": torch.relu, "bit_not": torch.bitwise_not}
INT_BINARY = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "min": torch.minimum,
    "max": torch.maximum, "bit_and": torch.bitwise_and, "bit_or": torch.bitwise_or,
    "bit_xor": torch.bitwise_xor, "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le,
    "gt": torch.gt, "ge": torch.ge,
}
DIVISIONS = {
    "div": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "rem_floor": torch.remainder, "rem_trunc": torch.fmod,
}
BOOL = {
    1: {"not": torch.logical_not},
    2: {"and": torch.logical_and, "or": torch.logical_or, "xor": torch.logical_xor,
        "eq": torch.eq, "ne": torch.ne},
}


def crossed(lists):
    """The operands of every combination, the last one fastest."""
    grids = torch.meshgrid(*lists, indexing="ij")
    return [grid.reshape(-1) for grid in grids]


def elementwise():
    lines = []

    def case(op, name, function, lists, wide):
        operands = crossed([x.to(torch.float64) for x in lists] if wide else lists)
        result = function(*operands)
        if result.dtype not in NAMES:
            raise TypeError(f"{op} of {name} is {result.dtype}")
        lines.append(" | ".join([f"{op} {name}"] + [text(x) for x in lists] + [text(result)]))

    for name in ["f32", "f16", "bf16", "f64"]:
        dtype = DTYPES[name]
        one, two, three = (torch.tensor(v, dtype=dtype) for v in (UNARY, BINARY, TERNARY))
        for op, function in FLOAT_UNARY.items():
            case(op, name, function, [one], True)
        for op, function in FLOAT_BINARY.items():
            case(op, name, function, [two, two], True)
        for op, function in FLOAT_TERNARY.items():
            case(op, name, function, [three] * 3, True)
        slopes = torch.tensor([0.125, 1.5], dtype=dtype)
        for op, function in {"leaky_relu": F.leaky_relu, "elu": F.elu}.items():
            each = lambda x, s, f=function: torch.stack([f(a, b.item()) for a, b in zip(x, s)])
            case(op, name, each, [one, slopes], True)
    for name, values in INTEGERS.items():
        x = torch.tensor(values, dtype=DTYPES[name])
        for op, function in INT_UNARY.items():
            if not (name == "u8" and op in ["neg", "sign", "relu", "abs"]):
                case(op, name, function, [x], False)
        for op, function in INT_BINARY.items():
            case(op, name, function, [x, x], False)
        # Dividing by zero raises an error in torch, and the lowest integer by -1 ends the process.
        by = torch.tensor([v for v in values if v not in (0, -1)], dtype=DTYPES[name])
        for op, function in DIVISIONS.items():
            case(op, name, function, [x, by], False)
        counts = torch.tensor([0, 1, 3, 8 * WIDTHS[name] - 1], dtype=DTYPES[name])
        case("shl", name, torch.bitwise_left_shift, [x, counts], False)
        case("shr", name, torch.bitwise_right_shift, [x, counts], False)
        low, high = x[2:5], x[1:4]
        case("clamp", name, torch.clamp, [x, low, high], False)
    truths = torch.tensor([False, True])
    for arity, ops in BOOL.items():
        for op, function in ops.items():
            case(op, "bool", function, [truths] * arity, False)
    (HERE / "elementwise.txt").write_text("\n".join(lines) + "\n")


# -- casts ---------------------------------------------------------------------------------------


def casts():
    """Between all dtypes, where torch defines it: integers that wrap there saturate here, and what
    lies outside an integer's range is undefined there."""
    lines = []
    floats = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 100.3, 126.9, -127.5, 1e-7,
              3e4, 65519.0, 65520.0, 1e6, 16777217.0, 1e20, 1e38, -1e38, INF, -INF, NAN]
    for a, b in itertools.permutations(DTYPES, 2):
        source = INTEGERS.get(a, [False, True] if a == "bool" else floats)
        x = torch.tensor(source, dtype=DTYPES[a])
        if b in INTEGERS and a != "bool":
            low, high = torch.iinfo(DTYPES[b]).min, torch.iinfo(DTYPES[b]).max
            fits = lambda v: v == v and abs(v) != INF and low <= int(v) <= high
            x = torch.tensor([v for v in x.tolist() if fits(v)], dtype=DTYPES[a])
        lines.append(f"{a} {b} | {text(x)} | {text(x.to(DTYPES[b]))}")
    (HERE / "casts.txt").write_text("\n".join(lines) + "\n")


# -- shapes: indexing and reductions -------------------------------------------------------------


def tensor(x):
    dims = ",".join(map(str, x.shape))
    return f"{NAMES[x.dtype]}[{dims}]=" + ",".join(bits(x))


def shapes():
    torch.manual_seed(1)
    lines = []

    def case(op, *arguments):
        def field(a):
            if isinstance(a, torch.Tensor):
                return tensor(a)
            return ",".join(map(str, a)) if isinstance(a, (list, tuple)) else str(a)
        lines.append(" | ".join([op] + [field(a) for a in arguments]))

    a = torch.arange(12, dtype=torch.float32).reshape(3, 4) - 5
    a[1, 2] = NAN
    b = torch.randn(2, 4)
    for axis, parts in [(0, [a, b, a]), (1, [a, a[:, :1], a[:, 1:4]]), (0, [a[:0], a])]:
        case("concat", axis, *parts, torch.cat(parts, axis))
    for axis in range(3):
        case("stack", axis, a, -a, torch.stack([a, -a], axis))
    for axis, shift in [(0, 1), (1, -3), (1, 5)]:
        case("roll", axis, shift, a, torch.roll(a, shift, axis))
    for k in [-2, 0, 1, 5]:
        case("tril", k, a, torch.tril(a, k))
        case("triu", k, a, torch.triu(a, k))
    for before, after in [(0, 2), (1, 1), (3, 2)]:
        pads = [0, 0, before, after]
        row = a.unsqueeze(0)
        case("pad_constant", pads, a, F.pad(a, (before, after), value=7.0))
        case("pad_reflect", pads, a, F.pad(row, (before, after), mode="reflect")[0])
        case("pad_replicate", pads, a, F.pad(row, (before, after), mode="replicate")[0])
        case("pad_wrap", pads, a, F.pad(row, (before, after), mode="circular")[0])
    i = torch.tensor([[2, 0, 1, 2], [0, 0, 2, 1]])
    case("gather", 0, a, i, torch.gather(a, 0, i))
    j = torch.tensor([[3, 0], [1, 1], [2, 3]])
    case("gather", 1, a, j, torch.gather(a, 1, j))
    k = torch.tensor([2, 2, 0, 1, 0])
    case("index_select", 0, a, k, torch.index_select(a, 0, k))
    case("index_select", 1, a, k, torch.index_select(a, 1, k))
    case("index_select", 0, a, k[:0], torch.index_select(a, 0, k[:0]))
    case("embedding", a, i, F.embedding(i, a))
    case("take", a, i * 5, torch.take(a, i * 5))
    one_each = torch.tensor([[2, 0, 1, 2], [0, 1, 2, 1]])
    source = torch.randint(-9, 9, (2, 4)).float()
    case("scatter", 0, a, one_each, source, a.scatter(0, one_each, source))
    for dtype in [torch.float32, torch.float16, torch.int32, torch.int8, torch.uint8]:
        own, more = torch.ones(3, 4, dtype=dtype), torch.randint(0, 60, (2, 4)).to(dtype)
        case("scatter_add", 0, own, i, more, own.scatter_add(0, i, more))
    case("one_hot", 4, k, F.one_hot(k, 4).float())
    case("eye", 3, 5, torch.eye(3, 5))
    case("full", (2, 3), 2.5, torch.full((2, 3), 2.5))
    for axis, sizes in [(0, (1, 2)), (1, (3, 0, 1))]:
        for which, part in enumerate(torch.split(a, sizes, axis)):
            case("split", axis, sizes, which, a, part)
    case("where", torch.tensor([True, False, False, True]), a, -a.flip(0),
         torch.where(torch.tensor([True, False, False, True]), a, -a.flip(0)))
    for start, end, step in [(0, 10, 3), (5, -5, -2), (2, 2, 1)]:
        row = torch.arange(start, end, step, dtype=torch.int32)
        case("arange", start, end, step, row)
    case("arange", -1.5, 2.0, 0.25, torch.arange(-1.5, 2.0, 0.25))
    for start, end, n in [(0.0, 1.0, 5), (-3.0, 10.0, 7), (2.0, 2.0, 1), (1.0, 0.0, 0)]:
        case("linspace", start, end, n, torch.linspace(start, end, n))
    reductions(case)
    rows(case)
    products(case)
    attention(case)
    losses(case)
    (HERE / "shapes.txt").write_text("\n".join(lines) + "\n")


def reductions(case):
    x = torch.randn(3, 5, 2)
    ties = torch.tensor([[3.0, 1.0, 3.0], [-0.0, 0.0, -1.0], [2.0, NAN, NAN], [-INF, -INF, -INF],
                         [INF, 1.0, -INF], [1e30, 1e30, -1e30]])
    whole = torch.randint(-5, 6, (4, 3), dtype=torch.int32)
    table = {
        "sum": lambda x, d: torch.sum(x, d), "mean": lambda x, d: torch.mean(x, d),
        "amax": lambda x, d: torch.amax(x, d), "amin": lambda x, d: torch.amin(x, d),
        "norm": lambda x, d: torch.linalg.vector_norm(x, dim=d),
        "logsumexp": lambda x, d: torch.logsumexp(x, d),
        "var": lambda x, d: torch.var(x, d, correction=1),
        "std": lambda x, d: torch.std(x, d, correction=1),
    }
    for op, function in table.items():
        for axes in [(0,), (1,), (0, 2), (0, 1, 2)]:
            case(op, axes, x, function(x, axes))
        case(op, (1,), ties, function(ties, (1,)))
    for op, function in {"sum": torch.sum, "amax": torch.amax, "amin": torch.amin}.items():
        case(op, (0,), whole, function(whole, 0).to(torch.int32))
    for op, function in {"prod": torch.prod, "argmax": torch.argmax, "argmin": torch.argmin}.items():
        for axis in range(3):
            result = function(x, axis)
            case(op, (axis,), x, result.to(torch.int32) if op != "prod" else result)
        result = function(ties, 1)
        case(op, (1,), ties, result.to(torch.int32) if op != "prod" else result)
    for op, function in {"any": torch.any, "all": torch.all}.items():
        case(op, (1,), ties, function(ties != 0, 1))
        case(op, (0,), whole, function(whole != 0, 0))
    case("count_nonzero", (1,), ties, torch.count_nonzero(ties, 1).to(torch.int32))
    none = torch.zeros(2, 0)
    for op in ["sum", "prod", "mean"]:
        case(op, (1,), none, getattr(torch, op)(none, 1))


def rows(case):
    x = torch.randn(4, 7) * 3
    hard = torch.tensor([[1e4, -1e4, 0.0], [-INF, 2.0, 1.0], [NAN, 1.0, 2.0], [-INF, -INF, -INF],
                         [5.0, 5.0, 5.0], [-0.0, 0.0, 3.0]])
    for op, function in {"softmax": torch.softmax, "log_softmax": torch.log_softmax}.items():
        for axis in range(2):
            case(op, axis, x, function(x, axis))
        case(op, 1, hard, function(hard, 1))
    case("layer_norm", 1, 1e-5, x, F.layer_norm(x, (7,)))
    case("rms_norm", 1, 1e-5, x, F.rms_norm(x, (7,), eps=1e-5))
    whole = torch.randint(-3, 4, (5, 4)).float()
    whole[2, 1], whole[1, 3], whole[3, 0] = NAN, INF, -0.0
    for axis in range(2):
        case("cumsum", axis, whole, torch.cumsum(whole, axis))
        case("cumprod", axis, whole, torch.cumprod(whole, axis))
        case("cummax", axis, whole, torch.cummax(whole, axis)[0])
        case("cummin", axis, whole, torch.cummin(whole, axis)[0])


def products(case):
    """Whole numbers, whose products are exact in every order."""
    for left, right in [((3, 5), (5, 4)), ((1, 9), (9, 1)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
                        ((4,), (4, 3)), ((3, 4), (4,)), ((4,), (4,)), ((3, 0), (0, 2)), ((0, 3), (3, 2))]:
        for dtype in [torch.float32, torch.float16, torch.int32]:
            a, b = (torch.randint(-4, 5, dims).to(dtype) for dims in (left, right))
            case("matmul", a, b, torch.matmul(a.double(), b.double()).to(dtype))
    a = torch.ones(3, 4)
    a[0, 0], a[1, 1], a[2, 2] = INF, NAN, -INF
    b = torch.ones(4, 2)
    b[0, 0] = 0.0
    case("matmul", a, b, torch.matmul(a, b))
    x, w, bias = (torch.randint(-4, 5, dims).float() for dims in ((2, 3, 6), (5, 6), (5,)))
    case("linear", x, w, bias, F.linear(x, w, bias))
    case("linear_relu", x, w, bias, F.relu(F.linear(x, w, bias)))


def attention(case):
    """`is_causal` of torch aligns the first query with the first key, here it is the last with the
    last: where there are as many of both that is the same, elsewhere a mask says it."""
    def one(causal, scale, q, k, v, mask=None, said=None):
        result = F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask if said is None else said, is_causal=causal == 1 and said is None,
            scale=scale, enable_gqa=q.shape[-3] != k.shape[-3])
        case("attention", causal, scale, q, k, v, *([] if mask is None else [mask]), result)

    def inputs(batch, heads, shared, queries, keys, d, e):
        dims = [(batch, heads, queries, d), (batch, shared, keys, d), (batch, shared, keys, e)]
        return [torch.randn(x) for x in dims]

    one(0, 0.5, *inputs(1, 1, 1, 1, 1, 4, 4))
    one(0, 0.35, *inputs(2, 2, 2, 3, 5, 8, 4))
    one(0, 0.4, *inputs(1, 2, 2, 4, 9, 6, 5))
    one(1, 0.5, *inputs(1, 2, 2, 6, 6, 4, 4))
    lower_right = torch.ones(3, 7, dtype=torch.bool).tril(diagonal=7 - 3)
    one(1, 0.5, *inputs(1, 2, 2, 3, 7, 4, 4), said=lower_right)
    one(0, 0.5, *inputs(1, 4, 2, 3, 9, 4, 4))
    one(1, 0.5, *inputs(1, 4, 1, 5, 5, 8, 8))
    added = torch.randn(3, 5)
    added[0, 2], added[1, :4] = -INF, -INF
    one(0, 0.5, *inputs(1, 2, 2, 3, 5, 4, 4), mask=added)
    seen = torch.tensor([[True, False, True, True, False], [True] * 5, [False] * 5])
    one(0, 0.5, *inputs(1, 2, 2, 3, 5, 4, 4), mask=seen)
    one(0, 0.5, *inputs(1, 2, 1, 3, 5, 4, 4), mask=torch.randn(1, 2, 1, 5))
    q, k, v = inputs(1, 1, 1, 3, 4, 4, 4)
    q[0, 0, 1, 2], k[0, 0, 2] = NAN, 1e4
    # For a score of NaN torch's fused kernel gives 0, and its composed form NaN.
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        one(0, 0.5, q, k, v)


def losses(case):
    x = torch.randn(5, 4) * 3
    hard = torch.tensor([[1e4, -1e4, 0.0], [-INF, 2.0, 1.0], [NAN, 1.0, 2.0], [5.0, 5.0, 5.0]])
    deep = torch.randn(2, 4, 3)
    for axis, x, t in [(1, x, torch.tensor([0, 3, 1, 2, 2])), (1, hard, torch.tensor([0, 1, 2, 2])),
                       (1, deep, torch.tensor([[0, 3, 1], [2, 2, 0]]))]:
        case("cross_entropy", axis, x, t, F.cross_entropy(x, t, reduction="none"))


if __name__ == "__main__":
    elementwise()
    casts()
    shapes()
