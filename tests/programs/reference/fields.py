"""Grids, bodies and counts."""

import numpy as np

from . import numbers, program


@program
def n_body():
    place, speed, mass = numbers((5, 3), 2), numbers((5, 3), 3) * 0.1, numbers((5,), 4) + 1.5
    for _ in range(10):
        apart = place[None] - place[:, None]
        cube = ((apart**2).sum(-1, keepdims=True) + 0.01) ** -1.5
        speed = speed + (apart * cube * mass[None, :, None]).sum(1) * 0.01
        place = place + speed * 0.01
    return place


@program
def game_of_life():
    cells = np.zeros((8, 8), int)
    cells[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    for _ in range(6):
        around = sum(np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0))
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(int)
    return cells


@program
def edges():
    image = numbers((6, 7), 10)
    padded = np.pad(image, 1, mode="edge")
    across = sum(w * (padded[y : y + 6, 2:] - padded[y : y + 6, :-2]) for y, w in enumerate((1, 2, 1)))
    down = sum(w * (padded[2:, x : x + 7] - padded[:-2, x : x + 7]) for x, w in enumerate((1, 2, 1)))
    return np.hypot(across, down)


@program
def heat():
    field = np.zeros((6, 6))
    field[0] = 1
    for _ in range(20):
        inner = field[1:-1, 1:-1]
        around = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
        field[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    return field


@program
def histogram():
    bins = np.floor((numbers((200,), 12) + 1) * 4).clip(0, 7).astype(int)
    counts = np.bincount(bins, minlength=8)
    before = np.cumsum(counts) - counts
    return np.concatenate([counts, before, before[bins][:10]])


@program
def gradient_noise():
    def slope(row, column):
        x = (row * 374761393 + column * 668265263) % 2**32
        x = (x ^ x >> 13) * 1274126177 % 2**32
        angle = 2 * np.pi * ((x ^ 0x5BD1) >> 27) / 32
        return np.array([np.sin(angle), np.cos(angle)])

    def noise(y, x):
        i, j = int(y), int(x)
        corner = lambda di, dj: slope(i + di, j + dj) @ [y - i - di, x - j - dj]
        down, right = (t * t * t * (t * (6 * t - 15) + 10) for t in (y - i, x - j))
        mix = lambda a, b, t: a + t * (b - a)
        return mix(mix(corner(0, 0), corner(0, 1), right), mix(corner(1, 0), corner(1, 1), right), down)

    line = np.linspace(0.1, 3.7, 7)
    return [[noise(y, x) + noise(2 * y, 2 * x) / 2 for x in line] for y in line]
