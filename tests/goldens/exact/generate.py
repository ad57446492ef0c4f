"""Golden cases by mpmath, in 400 bits: what the f64 oracle itself is judged by.

    pip install mpmath && python tests/goldens/exact/generate.py

writes elementwise.txt beside this file, in the format of ../torch/generate.py: `op dtype | operand | .. | result`
in hexadecimal bits, of f32 and of f64, the operands of a line crossed, the last one fastest; results are the nearest
f64. CI never
runs it; the data is committed. tests/paper/exact.rs judges the oracle by it, tests/gpu/cases/accuracy.rs the kernels.
"""

import pathlib
import random
import struct

from mpmath import mp, mpf

mp.prec = 400
HERE = pathlib.Path(__file__).parent
RANDOM = random.Random(20)


def f32(x):
    return struct.unpack("<f", struct.pack("<f", float(x)))[0]


def bits32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def of_bits(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def bits64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def of_bits64(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def f64(x):
    """The nearest f64. mpmath's own `float` truncates."""
    with mp.workprec(53):
        return float(+mpf(x))


def hexed(x):
    return f"{bits64(f64(x)):x}"


ANCHORS = [1.2e-38, 1e-30, 1e-20, 1e-10, 1e-8, 1e-4, 1e-2, 0.125, 0.3465736, 0.41421357, 0.5, 0.70710677, 0.9277344, 1,
           1.4142135, 2, 2.5, 3, 5, 10, 14, 20, 40, 64, 87.3, 88.7, 103, 127, 1000, 8191, 1e6, 1e19, 3.4028234e38]


# Of f64: beside its own ends, where one polynomial takes over from another.
DOUBLES = [2.3e-308, 1e-200, 1e-100, 1e-20, 1e-16, 1e-10, 1e-8, 1e-4, 1e-2, 0.125, 0.29, 0.34657359027997264, 0.41,
           0.41421356237309503, 0.5, 0.7071067811865476, 0.9277, 1, 1.4142135623730951, 2, 2.5, 3, 5, 6, 10, 14, 20, 21,
           27, 40, 64, 87.3, 300, 700, 708.3, 709.7, 1000, 8191, 1e6, 1e9, 1e19, 1e154, 1e300, 1.797e308]


def doubles():
    near = [of_bits64(bits64(float(x)) + step) for x in DOUBLES for step in (-1, 0, 1)]
    some = [RANDOM.uniform(0, size) for size in (1, 1, 4, 10, 90, 700, 8000) for _ in range(6)]
    some += [2.0 ** RANDOM.uniform(-1000, 1000) for _ in range(10)]
    return [sign * x for i, x in enumerate(near + some) for sign in ((1, -1) if i % 2 else (-1, 1))][::2] + \
        [-1.0, 1.0, 0.5, -0.5]


def numbers():
    """Every anchor between its neighbours, then random ones, of either sign."""
    near = [of_bits(bits32(f32(x)) + step) for x in ANCHORS for step in (-1, 0, 1)]
    some = [RANDOM.uniform(0, size) for size in (1, 1, 4, 10, 90, 8000) for _ in range(6)]
    some += [2.0 ** RANDOM.uniform(-120, 120) for _ in range(10)]
    return [sign * f32(x) for i, x in enumerate(near + some) for sign in ((1, -1) if i % 2 else (-1, 1))][::2] + \
        [-1.0, 1.0, 0.5, -0.5]


def hardest(count, rounded):
    """The numbers below 8192 that lie nearest to multiples of a quarter turn, odd ones and even ones."""
    def part(x, quarter):
        return abs(mpf(x) - quarter * mp.pi / 2) / mpf(x)
    with mp.workprec(120):
        quarters = [(q, q * mp.pi / 2) for q in range(1, 5216)]
        near = [(part(rounded(turn), q), q % 2, rounded(turn)) for q, turn in quarters]
    lists = [[x for _, odd, x in sorted(near) if odd == parity][:count] for parity in (0, 1)]
    # 177 units off by three parts of pi / 2.
    return lists[0] + lists[1] + [rounded(7748.74)]


def gelu(x):
    return x * mp.ncdf(x)


def gelu_tanh(x):
    return x / (1 + mp.exp(-2 * mp.sqrt(2 / mp.pi) * (x + mpf(0.044715) * x**3)))


UNARY = {
    "fract": lambda x: x - mp.floor(x), "sqrt": mp.sqrt, "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "rsqrt": lambda x: 1 / mp.sqrt(x), "recip": lambda x: 1 / x, "square": lambda x: x * x, "exp": mp.exp,
    "exp2": lambda x: mpf(2) ** x, "expm1": mp.expm1, "ln": mp.log, "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": lambda x: mp.log(x) / mp.log(10), "log1p": mp.log1p, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh,
    "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh, "erf": mp.erf,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)), "gelu": gelu, "gelu_tanh": gelu_tanh,
    "silu": lambda x: x / (1 + mp.exp(-x)), "softplus": lambda x: mp.log1p(mp.exp(x)),
    "hard_swish": lambda x: x * min(max(x + 3, 0), 6) / 6, "mish": lambda x: x * mp.tanh(mp.log1p(mp.exp(x))),
}
TURNED = ("sin", "cos", "tan")


def rem_trunc(a, b):
    return mp.sign(a) * mp.fmod(abs(a), abs(b))


def rem_floor(a, b):
    return a - b * mp.floor(a / b)


BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "rem_floor": rem_floor, "rem_trunc": rem_trunc, "pow": lambda a, b: abs(a) ** b,
    "atan2": mp.atan2, "hypot": lambda a, b: mp.sqrt(a * a + b * b),
    "leaky_relu": lambda x, slope: x if x > 0 else x * slope,
    "elu": lambda x, alpha: x if x > 0 else alpha * mp.expm1(x),
}
TERNARY = {"mul_add": lambda a, b, c: a * b + c, "lerp": lambda a, b, t: a + t * (b - a)}
OPERANDS = [1.0, -1.0, 0.3, -2.7, 7.25, -33.3, 1e-5, 123.456, 0.99999994, -1.0000001, 4097.0, 3e9]
FEWER = [1.0, -1.0000001, 0.3, -2.7, 1e-5, 123.456]


def is_between(y):
    """Whether the nearest f64 hangs on more than twice its digits."""
    return f64(y * (1 + mpf(2) ** -100)) != f64(y * (1 - mpf(2) ** -100))


# What generates operands, their dtype, their bits, and the results that are told: of f64 those of which twice the
# digits are normal.
KINDS = {
    "f32": (numbers, f32, bits32, "1.2e-38", "3.4e38"),
    "f64": (doubles, f64, bits64, "1e-290", "1.79e308"),
}


def unary(name, function, dtype):
    numbers, rounded, bits, low, high = KINDS[dtype]
    pairs = []
    for x in hardest(30, rounded) + numbers() if name in TURNED else numbers():
        if name in TURNED and abs(x) > 8192:
            continue
        # Results that are no real number, or none that f32 has.
        try:
            y = function(mpf(x))
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if dtype == "f64" and isinstance(y, mpf) and is_between(y):
            continue
        if isinstance(y, mpf) and mp.isfinite(y) and (y == 0 or mpf(low) < abs(y) < mpf(high)):
            pairs.append((x, y))
    operands = " ".join(f"{bits(x):x}" for x, _ in pairs)
    return f"{name} {dtype} | {operands} | {' '.join(hexed(y) for _, y in pairs)}"


def crossed(name, function, operands, arity, dtype):
    _, rounded, bits, _, _ = KINDS[dtype]
    lists = [[rounded(x) for x in operands] for _ in range(arity)]
    if name == "pow":
        lists[0] = [abs(x) for x in lists[0]]
    rows = [[]]
    for values in lists:
        rows = [row + [x] for row in rows for x in values]
    results = [hexed(mpf(function(*map(mpf, row)))) for row in rows]
    columns = " | ".join(" ".join(f"{bits(x):x}" for x in values) for values in lists)
    return f"{name} {dtype} | {columns} | {' '.join(results)}"


def main():
    lines = []
    for dtype in KINDS:
        lines += [unary(name, function, dtype) for name, function in UNARY.items()]
        lines += [crossed(name, function, OPERANDS, 2, dtype) for name, function in BINARY.items()]
        lines += [crossed(name, function, FEWER, 3, dtype) for name, function in TERNARY.items()]
    (HERE / "elementwise.txt").write_text("\n".join(lines) + "\n")


main()
