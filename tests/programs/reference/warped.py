"""Images seen through grids of places."""

import itertools

import numpy as np

from . import conv, numbers, program, softmax


def seen(image, x, y, at):
    """`[channels]` at a place that counts pixels from the centre of the first; `at` has what lies at a pixel."""
    out = 0
    for i, j in itertools.product((int(np.floor(y)), int(np.floor(y)) + 1), (int(np.floor(x)), int(np.floor(x)) + 1)):
        out = out + (1 - abs(y - i)) * (1 - abs(x - j)) * at(image, i, j)
    return out


def zero(image, i, j):
    inside = 0 <= i < image.shape[1] and 0 <= j < image.shape[2]
    return image[:, i, j] if inside else np.zeros(len(image))


def nearest(image, i, j):
    return image[:, np.clip(i, 0, image.shape[1] - 1), np.clip(j, 0, image.shape[2] - 1)]


def wrapped(image, i, j):
    return image[:, i % image.shape[1], j % image.shape[2]]


def mirrored(image, i, j):
    """About the outer edges."""
    i, j = (min(k % (2 * n), 2 * n - 1 - k % (2 * n)) for k, n in zip((i, j), image.shape[1:]))
    return image[:, i, j]


def pixel(place, size):
    return (place + 1) * size / 2 - 0.5


def centres(n):
    return (2 * np.arange(n) + 1) / n - 1


@program
def spatial_transformer():
    images = numbers((2, 1, 6, 7), 1) ** 2
    heard = np.maximum(conv(images, numbers((3, 1, 3, 3), 2)), 0)  # [2, 3, 4, 5]
    halves = np.stack([heard[..., :3].mean(-1), heard[..., 2:].mean(-1)], -1)
    pooled = halves.reshape(2, 3, 2, 2, 2).mean(3).reshape(2, 12)
    turns = (pooled @ (0.1 * numbers((6, 12), 3)).T + [1, 0, 0, 0, 1, 0]).reshape(2, 2, 3)
    out = []
    for image, turn in zip(images, turns):
        for y, x in itertools.product(centres(4), centres(5)):
            to = turn @ [x, y, 1]
            out.extend(seen(image, pixel(to[0], 7), pixel(to[1], 6), zero))
    return np.append(out, turns)


@program
def optical_flow():
    before, flow = numbers((1, 2, 5, 6), 4)[0] ** 2, 1.3 * numbers((5, 6, 2), 5)
    after, inside = np.zeros_like(before), np.zeros((5, 6))
    for i, j in np.ndindex(5, 6):
        x, y = j + flow[i, j, 0], i + flow[i, j, 1]
        after[:, i, j] = seen(before, x, y, nearest)
        inside[i, j] = 0 <= x <= 5 and 0 <= y <= 4
    loss = (abs(after - before).mean(0) * inside).sum() / inside.sum()
    return [*after.ravel(), *inside.ravel(), loss]


@program
def region_features():
    features, pooled = numbers((2, 6, 8), 6), []
    for left, top, right, bottom in [(0.5, 1, 5.5, 4), (2, 0.3, 7.6, 5.7), (-1, 2, 3, 7)]:
        cells = np.zeros((2, 2, 2))
        for i, j in np.ndindex(4, 4):
            x, y = left + (right - left) * (j + 0.5) / 4, top + (bottom - top) * (i + 0.5) / 4
            cells[:, i // 2, j // 2] += seen(features, x - 0.5, y - 0.5, zero) / 4
        pooled.append(cells.ravel())
    return np.append(pooled, softmax(np.array(pooled) @ numbers((3, 8), 7).T))


@program
def rectified():
    image = numbers((1, 7, 8), 8) ** 2
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    rows = []
    for (x, y), (u, v) in zip(square, [(-0.7, -0.6), (0.8, -0.75), (0.6, 0.7), (-0.85, 0.8)]):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y, -u], [0, 0, 0, x, y, 1, -v * x, -v * y, -v]]
    map_ = np.linalg.svd(np.array(rows))[2][-1]  # what all nine rows make 0
    map_ = (map_ / map_[8]).reshape(3, 3)
    out = []
    for y, x in itertools.product(centres(5), centres(5)):
        to = map_ @ [x, y, 1]
        out.extend(seen(image, pixel(to[0] / to[2], 8), pixel(to[1] / to[2], 7), mirrored))
    return np.append(out, map_)


@program
def unrolled_ring():
    image, angles, radii = numbers((3, 9, 9), 9), np.linspace(-3, 3, 8), np.linspace(0.25, 1.1, 4)
    near, smooth = np.zeros((3, 4, 8)), np.zeros((3, 4, 8))
    for (i, radius), (j, angle) in itertools.product(enumerate(radii), enumerate(angles)):
        x, y = pixel(radius * np.cos(angle), 9), pixel(radius * np.sin(angle), 9)
        to = round(y), round(x)
        assert max(abs(x - to[1]), abs(y - to[0])) < 0.499, "next to another pixel"
        near[:, i, j] = image[:, to[0], to[1]] if 0 <= min(to) and max(to) < 9 else -2
        smooth[:, i, j] = seen(image, x, y, wrapped)
    ends = smooth[:, 0] / abs(smooth[:, 0]).max(1, keepdims=True)
    return np.concatenate([near.ravel(), ends.ravel(), smooth.mean((0, 2))])
