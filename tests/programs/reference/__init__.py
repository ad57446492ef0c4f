"""What the references of all themes share. A module has the name of the programs' file: `models.py` has those of
`models.rs`."""

import numpy as np

PROGRAMS = {}


def program(function):
    """Has a function written under its name, which is that of the program."""
    assert function.__name__ not in PROGRAMS, function.__name__
    PROGRAMS[function.__name__] = function
    return function


def numbers(shape, seed):
    """The inputs, to the bit those of main.rs: f32 from -1 to 1."""
    count = int(np.prod(shape))
    whole = (np.arange(count) * 37 + seed * 17) % 101
    return (whole.astype(np.float32) / np.float32(50) - np.float32(1)).astype(np.float64).reshape(shape)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def log_softmax(x):
    return np.log(softmax(x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def conv(x, w, pad=0):
    """Images [n, c, h, w] by [out, c, kh, kw]."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    (n, _, rows, columns), (out, _, kh, kw) = x.shape, w.shape
    y = np.zeros((n, out, rows - kh + 1, columns - kw + 1))
    for i in range(y.shape[2]):
        for j in range(y.shape[3]):
            y[:, :, i, j] = np.einsum("ncij,ocij->no", x[:, :, i : i + kh, j : j + kw], w)
    return y


def by_channel(x):
    return x[None, :, None, None]
