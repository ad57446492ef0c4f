"""Forward passes of small models, and what is done with their answers."""

import numpy as np

from . import by_channel, conv, log_softmax, numbers, program, silu, softmax


@program
def u_net():
    def block(x, out, seed):
        y = conv(x, numbers((out, x.shape[1], 3, 3), seed) * 0.3, 1)
        groups = y.reshape(1, 2, -1)
        normed = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
        scale, bias = numbers((out,), seed + 1), numbers((out,), seed + 2)
        return silu(normed.reshape(y.shape) * by_channel(scale) + by_channel(bias))

    fine = block(numbers((1, 2, 6, 6), 20), 4, 21)
    coarse = block(fine.reshape(1, 4, 3, 2, 3, 2).max((3, 5)), 6, 24)
    up = np.einsum("ncij,coab->noiajb", coarse, numbers((6, 4, 2, 2), 27) * 0.5).reshape(1, 4, 6, 6)
    return block(np.concatenate([up, fine], 1), 2, 28)


@program
def residual_classifier():
    x = numbers((2, 3, 7, 5), 31)
    mean, scale, bias = [by_channel(numbers((3,), seed)) for seed in (33, 34, 35)]
    y = conv(x, numbers((3, 3, 3, 3), 32) * 0.2, 1)
    y = (y - mean) / np.sqrt(by_channel(numbers((3,), 36)) ** 2 + 1e-3) * scale + bias
    y = np.maximum(y + x, 0)
    part = lambda size, to, i: slice(i * size // to, -(-(i + 1) * size // to))
    cells = [y[:, :, part(7, 3, i), part(5, 2, j)].mean((2, 3)) for i in range(3) for j in range(2)]
    return np.log(softmax(np.stack(cells, -1).reshape(2, 18) @ numbers((4, 18), 37).T))


@program
def decoder_block():
    x = numbers((1, 5, 8), 41)
    normed = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * numbers((8,), 42)
    heads = lambda count, seed: (normed @ numbers((count * 4, 8), seed).T).reshape(5, count, 4).swapaxes(0, 1)
    angle = np.arange(5)[:, None] * 100 ** np.array([0, -0.5])
    turn = np.exp(1j * angle)

    def rope(x):
        pairs = (x[..., :2] + 1j * x[..., 2:]) * turn
        return np.concatenate([pairs.real, pairs.imag], -1)

    q, k, v = rope(heads(2, 43)), rope(heads(1, 44)), heads(1, 45)
    scores = np.where(np.tril(np.ones((5, 5), bool)), q @ k.swapaxes(1, 2) / 2, -np.inf)
    return x + (softmax(scores) @ v).swapaxes(0, 1).reshape(1, 5, 8) @ numbers((8, 8), 46).T


@program
def sliding_window():
    q, k, v = [numbers((2, 1, 7, 4), seed) for seed in (51, 52, 53)]
    scores = 2 * np.tanh(q @ k.swapaxes(2, 3) / 2 / 2)
    apart = np.arange(7)[None] - np.arange(7)[:, None]
    seen = (apart <= 0) & (apart >= -2) & (np.arange(7) < np.array([7, 4])[:, None, None, None])
    weights = np.where(seen, np.exp(scores), 0)
    sums = weights.sum(-1, keepdims=True)
    return weights / np.where(sums == 0, 1, sums) @ v


@program
def gated_unit():
    sigmoid = lambda x: 1 / (1 + np.exp(-x))
    x, w, u, state = numbers((6, 2, 3), 54), numbers((12, 3), 55), numbers((12, 4), 56), np.zeros((2, 4))
    for step in range(6):
        gates, own = np.split(x[step] @ w.T, 3, 1), np.split(state @ u.T, 3, 1)
        reset, keep = sigmoid(gates[0] + own[0]), sigmoid(gates[1] + own[1])
        new = np.tanh(gates[2] + reset * own[2])
        state = new + keep * (state - new)
    return state


@program
def beam_search():
    scores = log_softmax(numbers((5, 5), 57) * 3)
    beams = sorted(((scores[0, i], [i]) for i in range(5)), key=lambda beam: -beam[0])[:3]
    for step in range(1, 5):
        longer = [(total + scores[path[-1], i] * (1 + step / 8), path + [i]) for total, path in beams for i in range(5)]
        beams = sorted(longer, key=lambda beam: -beam[0])[:3]
    return np.concatenate([[total for total, _ in beams], *[path for _, path in beams]])


@program
def hidden_states():
    moves, shows = log_softmax(numbers((3, 3), 58) * 2), log_softmax(numbers((3, 4), 59) * 2)
    seen = [0, 2, 1, 3, 3, 0, 1]
    best, steps = shows[:, seen[0]], []
    for symbol in seen[1:]:
        paths = best[:, None] + moves
        steps.append(paths.argmax(0))
        best = paths.max(0) + shows[:, symbol]
    path = [best.argmax()]
    for step in reversed(steps):
        path.append(step[path[-1]])
    return np.array(path)


@program
def nearest_neighbours():
    known, asked, classes = numbers((30, 3), 60), numbers((6, 3), 61), np.arange(30) % 4
    apart = ((asked[:, None] - known[None]) ** 2).sum(-1)
    near = apart.argsort(1, kind="stable")[:, :5]
    weights = 1 / (np.take_along_axis(apart, near, 1) + 0.1)
    return (weights[..., None] * np.eye(4)[classes[near]]).sum(1)


def resized(x, size, weigh):
    """Each axis of an image by a matrix of weights."""
    for axis, to in enumerate(size):
        x = np.moveaxis(np.tensordot(weigh(x.shape[axis], to), x, (1, axis)), 0, axis)
    return x


def nearest_weights(size, to):
    return np.eye(size)[np.arange(to) * size // to]


def cubic_weights(size, to):
    weights = np.zeros((to, size))
    for i in range(to):
        place = (i + 0.5) * size / to - 0.5
        for at in range(int(np.floor(place)) - 1, int(np.floor(place)) + 3):
            far = abs(at - place)
            near = (1.25 * far - 2.25) * far**2 + 1
            weights[i, min(max(at, 0), size - 1)] += near if far <= 1 else -0.75 * (far**3 - 5 * far**2 + 8 * far - 4)
    return weights


def linear_weights(size, to):
    place = np.arange(to) * (size - 1) / (to - 1)
    return np.maximum(1 - abs(place[:, None] - np.arange(size)), 0)


@program
def image_pyramid():
    level, levels = numbers((8, 12), 62), []
    blur = np.outer([0.25, 0.5, 0.25], [0.25, 0.5, 0.25])[None, None]
    for _ in range(2):
        half = [n // 2 for n in level.shape]
        small = resized(conv(level[None, None], blur, 1)[0, 0], half, nearest_weights)
        levels.append(level - resized(small, level.shape, cubic_weights))
        level = small
    levels.append(resized(level, (5, 5), linear_weights))
    return np.concatenate([np.ravel(level) for level in levels])


@program
def interpolated_curve():
    return np.interp(np.linspace(0, 4, 15), np.cumsum(abs(numbers((9,), 63))), numbers((9,), 64))
