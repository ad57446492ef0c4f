"""What is drawn by chance: what is so whatever is drawn."""

import numpy as np

from . import numbers, program


@program
def sampled_tokens():
    out = []
    for row in 2 * numbers((3, 8), 1):
        best = np.argsort(-row)[:4]
        powers = np.zeros(8)
        powers[best] = np.exp(row[best] / 0.7)
        out.extend(powers / powers.sum())
    return out + [1] * 24 + [0, 1, 0]


@program
def random_walk():
    weights = np.exp(numbers((6, 6), 2)) * (numbers((6, 6), 2) > -0.35)
    for i in range(6):
        weights[i, (i + 1) % 6] = np.exp(numbers((6, 6), 2)[i, (i + 1) % 6])
    values, shares = np.linalg.eig((weights / weights.sum(1, keepdims=True)).T)
    share = shares[:, np.argmax(values.real)].real
    return [*(share / share.sum()), *[1] * 6, 600]


@program
def bootstrap():
    x = np.exp(2 * numbers((40,), 3))
    return [x.mean(), x.std() / np.sqrt(40), 1, 1, 1, 1]


@program
def shuffled_epoch():
    x, w, y = numbers((12, 3), 4), numbers((3,), 5), numbers((12,), 6)
    return [*(x.T @ (x @ w - y)), ((x @ w - y) ** 2).sum(), *range(12), 1, 3, 5]
