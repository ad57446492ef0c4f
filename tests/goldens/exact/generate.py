"""Golden cases by mpmath, in 400 bits: what the f64 oracle itself is judged by.

    pip install mpmath && python tests/goldens/exact/generate.py

writes elementwise.txt beside this file, in the format of ../torch/generate.py: `op f32 | operand | .. | result`
in hexadecimal bits, the operands of a line crossed, the last one fastest; results are the nearest f64. CI never
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


def hexed(x):
    """The nearest f64, in bits. mpmath's own `float` truncates."""
    with mp.workprec(53):
        near = +x
    return f"{struct.unpack('<Q', struct.pack('<d', float(near)))[0]:x}"


ANCHORS = [1.2e-38, 1e-30, 1e-20, 1e-10, 1e-8, 1e-4, 1e-2, 0.125, 0.3465736, 0.41421357, 0.5, 0.70710677, 0.9277344, 1,
           1.4142135, 2, 2.5, 3, 5, 10, 14, 20, 40, 64, 87.3, 88.7, 103, 127, 1000, 8191, 1e6, 1e19, 3.4028234e38]


def numbers():
    """Every anchor between its neighbours, then random ones, of either sign."""
    near = [of_bits(bits32(f32(x)) + step) for x in ANCHORS for step in (-1, 0, 1)]
    some = [RANDOM.uniform(0, size) for size in (1, 1, 4, 10, 90, 8000) for _ in range(6)]
    some += [2.0 ** RANDOM.uniform(-120, 120) for _ in range(10)]
    return [sign * f32(x) for i, x in enumerate(near + some) for sign in ((1, -1) if i % 2 else (-1, 1))][::2] + \
        [-1.0, 1.0, 0.5, -0.5]


def hardest(count):
    """The f32 below 8192 that lie nearest to multiples of a quarter turn, odd ones and even ones."""
    def part(x, quarter):
        return abs(mpf(x) - quarter * mp.pi / 2) / mpf(x)
    with mp.workprec(120):
        near = [(part(f32(q * mp.pi / 2), q), q % 2, f32(q * mp.pi / 2)) for q in range(1, 5216)]
    lists = [[x for _, odd, x in sorted(near) if odd == parity][:count] for parity in (0, 1)]
    # 177 units off by three parts of pi / 2.
    return lists[0] + lists[1] + [f32(7748.74)]


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


def unary(name, function):
    pairs = []
    for x in hardest(30) + numbers() if name in TURNED else numbers():
        if name in TURNED and abs(x) > 8192:
            continue
        # Results that are no real number, or none that f32 has.
        try:
            y = function(mpf(x))
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if isinstance(y, mpf) and mp.isfinite(y) and (y == 0 or mpf("1.2e-38") < abs(y) < mpf("3.4e38")):
            pairs.append((x, y))
    operands = " ".join(f"{bits32(x):x}" for x, _ in pairs)
    return f"{name} f32 | {operands} | {' '.join(hexed(y) for _, y in pairs)}"


def crossed(name, function, operands, arity):
    lists = [[f32(x) for x in operands] for _ in range(arity)]
    if name == "pow":
        lists[0] = [abs(x) for x in lists[0]]
    rows = [[]]
    for values in lists:
        rows = [row + [x] for row in rows for x in values]
    results = [hexed(mpf(function(*map(mpf, row)))) for row in rows]
    columns = " | ".join(" ".join(f"{bits32(x):x}" for x in values) for values in lists)
    return f"{name} f32 | {columns} | {' '.join(results)}"


def main():
    lines = [unary(name, function) for name, function in UNARY.items()]
    lines += [crossed(name, function, OPERANDS, 2) for name, function in BINARY.items()]
    lines += [crossed(name, function, FEWER, 3) for name, function in TERNARY.items()]
    (HERE / "elementwise.txt").write_text("\n".join(lines) + "\n")


main()
