"""What the programs of main.rs have to come to: the same algorithms in numpy, in f64.

    pip install numpy && python tests/programs/generate.py

CI never runs it; what it writes, reference.txt, is committed.
"""

import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent


def numbers(shape, seed):
    """The inputs, to the bit those of main.rs: f32 from -1 to 1."""
    count = int(np.prod(shape))
    whole = (np.arange(count) * 37 + seed * 17) % 101
    return (whole.astype(np.float32) / np.float32(50) - np.float32(1)).astype(np.float64).reshape(shape)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def k_means():
    points = numbers((40, 2), 1)
    centres = points[:3]
    for _ in range(5):
        nearest = ((points[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
        members = np.eye(3)[nearest]
        centres = members.T @ points / members.sum(0)[:, None]
    return centres


def n_body():
    place, speed, mass = numbers((5, 3), 2), numbers((5, 3), 3) * 0.1, numbers((5,), 4) + 1.5
    for _ in range(10):
        apart = place[None] - place[:, None]
        cube = ((apart**2).sum(-1, keepdims=True) + 0.01) ** -1.5
        speed = speed + (apart * cube * mass[None, :, None]).sum(1) * 0.01
        place = place + speed * 0.01
    return place


def game_of_life():
    cells = np.zeros((8, 8), int)
    cells[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    for _ in range(6):
        around = sum(np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0))
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(int)
    return cells


def principal_component():
    x = numbers((30, 4), 5) * [3, 1, 0.5, 0.25]
    x = x - x.mean(0)
    covariance = x.T @ x / 29
    direction = np.ones(4)
    for _ in range(40):
        direction = covariance @ direction
        direction = direction / np.linalg.norm(direction)
    return np.append(direction, direction @ covariance @ direction)


def kalman_filter():
    measured = numbers((20,), 6) + np.arange(20) * 0.5
    step, noise = np.array([[1.0, 1.0], [0.0, 1.0]]), np.eye(2) * 0.01
    state, spread, seen = np.zeros((2, 1)), np.eye(2), np.array([[1.0, 0.0]])
    path = []
    for z in measured:
        state, spread = step @ state, step @ spread @ step.T + noise
        gain = spread @ seen.T / (seen @ spread @ seen.T + 0.25)
        state = state + gain * (z - seen @ state)
        spread = (np.eye(2) - gain @ seen) @ spread
        path.append(state[0, 0])
    return np.array(path)


def attention():
    q, k, v = (numbers((2, 4, 3), seed) for seed in (7, 8, 9))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(3)
    scores = np.where(np.tril(np.ones((4, 4), bool)), scores, -np.inf)
    return softmax(scores) @ v


def edges():
    image = numbers((6, 7), 10)
    padded = np.pad(image, 1, mode="edge")
    across = sum(w * (padded[y : y + 6, 2:] - padded[y : y + 6, :-2]) for y, w in enumerate((1, 2, 1)))
    down = sum(w * (padded[2:, x : x + 7] - padded[:-2, x : x + 7]) for x, w in enumerate((1, 2, 1)))
    return np.hypot(across, down)


def softmax_regression():
    x, classes = numbers((30, 4), 11), np.arange(30) % 3
    wanted, weights, bias = np.eye(3)[classes], np.zeros((4, 3)), np.zeros(3)
    for _ in range(25):
        off = (softmax(x @ weights + bias) - wanted) / 30
        weights, bias = weights - 0.5 * x.T @ off, bias - 0.5 * off.sum(0)
    loss = -np.log(softmax(x @ weights + bias)[np.arange(30), classes]).mean()
    return np.append(np.vstack([weights, bias]), loss)


def page_rank():
    links = (numbers((6, 6), 13) > 0.3) & ~np.eye(6, dtype=bool)
    out = links.sum(1, keepdims=True)
    moves = np.where(out > 0, links / np.maximum(out, 1), 1 / 6)
    rank = np.full(6, 1 / 6)
    for _ in range(30):
        rank = 0.15 / 6 + 0.85 * rank @ moves
    return rank


def heat():
    field = np.zeros((6, 6))
    field[0] = 1
    for _ in range(20):
        inner = field[1:-1, 1:-1]
        around = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
        field[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    return field


def positions():
    place, pair = np.meshgrid(np.arange(5), np.arange(4), indexing="ij")
    angle = place / 100 ** (pair / 4)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(5, 8)


def histogram():
    bins = np.floor((numbers((200,), 12) + 1) * 4).clip(0, 7).astype(int)
    counts = np.bincount(bins, minlength=8)
    before = np.cumsum(counts) - counts
    return np.concatenate([counts, before, before[bins][:10]])


PROGRAMS = [
    k_means, n_body, game_of_life, principal_component, kalman_filter, attention, edges, softmax_regression,
    page_rank, heat, positions, histogram,
]

lines = [f"{program.__name__} {' '.join(f'{x:.9g}' for x in np.ravel(program()))}" for program in PROGRAMS]
(HERE / "reference.txt").write_text("\n".join(lines) + "\n")
