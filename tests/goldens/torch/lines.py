"""How a line of operations.txt is written: operands, the answers of all dtypes, and settings."""

import itertools
import math

import torch

INF = float("inf")
FLOATS, SIGNED = ["f32", "f16", "bf16", "f64"], ["i32", "i8", "i16", "i64"]
UNSIGNED = ["u32", "u8", "u16", "u64"]
# Integers without a sign are asked for in i64.
TORCH = {
    "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
    "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "bool": torch.bool,
}
LINES = []
SEED = itertools.count(1)


def ends(dtype):
    """The numbers that stand for the ends of a dtype of torch's."""
    if dtype == torch.bool:
        return {}
    info = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    return {"min": info.min, "max": info.max}


class Operand:
    """Elements as text, of any dtype unless it says which."""

    def __init__(self, dims, values, source, dtype="T"):
        self.dims, self.values, self.source, self.dtype = list(dims), values, source, dtype

    def tensor(self, dtype):
        dtype = dtype if self.dtype == "T" else TORCH[self.dtype]
        kind, named = float if dtype.is_floating_point else int, ends(dtype)
        values = [kind(named.get(value, value)) for value in self.values]
        return torch.tensor(values, dtype=dtype).reshape(self.dims)

    def __str__(self):
        return f"{self.dtype}[{commas(self.dims)}]{self.source}"


def commas(v):
    return ",".join(map(str, v)) if isinstance(v, (list, tuple)) else str(v)


def mixed(seed, i):
    """The generator of both sides: a word for each position."""
    x = (i * 0x9E3779B1 + seed * 0x85EBCA77) & 0xFFFFFFFF
    x = (x ^ x >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    return (x ^ x >> 12) >> 8


def drawn(dims, low=-4, count=9, parts=1, dtype="T"):
    """Elements of `low / parts` and more: one of `count` that are `1 / parts` apart."""
    seed = next(SEED)
    values = [(low + mixed(seed, i) % count) / parts for i in range(math.prod(dims))]
    return Operand(dims, values, f"~{seed},{low},{count},{parts}", dtype)


def few(dims):
    """Whole numbers, of which sums are exact."""
    return drawn(dims, -2, 5)


def quarters(dims, dtype="T"):
    return drawn(dims, -8, 17, 4, dtype)


def places(dims, below):
    return drawn(dims, 0, below, dtype="i32")


def mask(dims):
    return drawn(dims, 0, 2, dtype="bool")


def listed(dims, text, dtype="T"):
    return Operand(dims, text.split(), "=" + ",".join(text.split()), dtype)


def shown(value, named, exactly):
    for name, end in named.items():
        if value == end != 0:
            return name
    if isinstance(value, int):
        return str(int(value))
    if value != value or abs(value) == INF:
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        negative = exactly and value == 0 and math.copysign(1, value) < 0
        return "-0" if negative else str(int(value))
    return repr(value) if exactly else f"{value:.9g}"


def answer(result, dtype, exactly):
    """The text of a result: a tensor, or one and the dtype that it has here."""
    result, name = result if isinstance(result, tuple) else (result, "T")
    if name == "T" and result.dtype == torch.bool != dtype:
        name = "bool"
    named = ends(dtype) if exactly and name == "T" else {}
    elements = [shown(v, named, exactly) for v in result.reshape(-1).tolist()]
    return f"{name}[{commas(list(result.shape))}]=" + ",".join(elements)


def holds(name, tensors):
    """Whether a dtype has all of these numbers."""
    for x in tensors:
        if name in UNSIGNED and x.numel() and x.min() < 0:
            return False
        to = TORCH.get(name, torch.int64)
        if not torch.equal(torch.nan_to_num(x.to(to).to(x.dtype)), torch.nan_to_num(x)):
            return False
    return True


def case(op, function, operands, dtypes, wide=False, whole=False, scale=None, **settings):
    """One line. What is `wide` is computed in 64 bits, and so is what is `whole`: that is exact in
    each of the dtypes, and those that do not have it are left out. What is wide has a second line
    where nine digits do not say all that f64 has."""
    alike = {}
    for name in dtypes:
        dtype = TORCH.get(name, torch.int64)
        if wide or whole:
            dtype = torch.float64 if dtype.is_floating_point else torch.int64
        tensors = [operand.tensor(dtype) for operand in operands]
        results = function(*tensors)
        results = results if isinstance(results, list) else [results]
        free = [x for x, operand in zip(tensors, operands) if operand.dtype == "T"]
        free += [result for result in results if not isinstance(result, tuple)]
        if whole and not holds(name, free):
            continue
        exactly = not whole and (not wide or name == "f64")
        text = " | ".join(answer(result, dtype, exactly) for result in results)
        alike.setdefault(text, []).append(name)
    apart = ["f64"] if wide and len(alike) == 2 else []
    if len(alike) != 1 and apart not in alike.values():
        raise ValueError(f"{op} {settings} of {dtypes}: {alike}")
    if scale is not None:
        tensors = [operand.tensor(torch.float64) for operand in operands]
        settings["scale"] = f"{scale(*tensors).min().item():.6g}"
    head = " ".join([op] + [f"{name}={commas(value)}" for name, value in settings.items()])
    for text, names in alike.items():
        LINES.append(" | ".join([head, " ".join(names), *map(str, operands)]) + f" -> {text}")
