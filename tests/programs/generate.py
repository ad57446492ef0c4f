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


def silu(x):
    return x / (1 + np.exp(-x))


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


def residual_classifier():
    x = numbers((2, 3, 7, 5), 31)
    mean, scale, bias = [by_channel(numbers((3,), seed)) for seed in (33, 34, 35)]
    y = conv(x, numbers((3, 3, 3, 3), 32) * 0.2, 1)
    y = (y - mean) / np.sqrt(by_channel(numbers((3,), 36)) ** 2 + 1e-3) * scale + bias
    y = np.maximum(y + x, 0)
    part = lambda size, to, i: slice(i * size // to, -(-(i + 1) * size // to))
    cells = [y[:, :, part(7, 3, i), part(5, 2, j)].mean((2, 3)) for i in range(3) for j in range(2)]
    return np.log(softmax(np.stack(cells, -1).reshape(2, 18) @ numbers((4, 18), 37).T))


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


def sliding_window():
    q, k, v = [numbers((2, 1, 7, 4), seed) for seed in (51, 52, 53)]
    scores = 2 * np.tanh(q @ k.swapaxes(2, 3) / 2 / 2)
    apart = np.arange(7)[None] - np.arange(7)[:, None]
    seen = (apart <= 0) & (apart >= -2) & (np.arange(7) < np.array([7, 4])[:, None, None, None])
    weights = np.where(seen, np.exp(scores), 0)
    sums = weights.sum(-1, keepdims=True)
    return weights / np.where(sums == 0, 1, sums) @ v


def gated_unit():
    sigmoid = lambda x: 1 / (1 + np.exp(-x))
    x, w, u, state = numbers((6, 2, 3), 54), numbers((12, 3), 55), numbers((12, 4), 56), np.zeros((2, 4))
    for step in range(6):
        gates, own = np.split(x[step] @ w.T, 3, 1), np.split(state @ u.T, 3, 1)
        reset, keep = sigmoid(gates[0] + own[0]), sigmoid(gates[1] + own[1])
        new = np.tanh(gates[2] + reset * own[2])
        state = new + keep * (state - new)
    return state


def log_softmax(x):
    return np.log(softmax(x))


def beam_search():
    scores = log_softmax(numbers((5, 5), 57) * 3)
    beams = sorted(((scores[0, i], [i]) for i in range(5)), key=lambda beam: -beam[0])[:3]
    for step in range(1, 5):
        longer = [(total + scores[path[-1], i] * (1 + step / 8), path + [i]) for total, path in beams for i in range(5)]
        beams = sorted(longer, key=lambda beam: -beam[0])[:3]
    return np.concatenate([[total for total, _ in beams], *[path for _, path in beams]])


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


def interpolated_curve():
    return np.interp(np.linspace(0, 4, 15), np.cumsum(abs(numbers((9,), 63))), numbers((9,), 64))


def word_counts():
    words = ((numbers((60,), 70) + 1) * 5).astype(int)
    values, inverse, counts = np.unique(words, return_inverse=True, return_counts=True)
    most = (-counts).argsort(kind="stable")[:3]
    return np.concatenate([values, counts, counts[most], values[most], counts[inverse[:10]]])


def run_lengths():
    signal = (numbers((50,), 71) > -0.2) & (numbers((50,), 72) > -0.4)
    begins = np.flatnonzero(signal[1:] != signal[:-1]) + 1
    return np.diff(np.concatenate([[0], begins, [50]]))


def outliers():
    x = numbers((80,), 73) * numbers((80,), 74)
    middle = np.median(x)
    far = abs((x - middle) / (1.4826 * np.median(abs(x - middle)))) > 1.5
    return np.concatenate([[*np.quantile(x, [0.1, 0.9]), x[~far].mean()], np.where(far, 0, x)])


def equalised_image():
    image = numbers((6, 9), 75) ** 2
    counts, _ = np.histogram(image, 8, (0, 1))
    return (np.cumsum(counts) / 54)[np.floor(image * 8).clip(0, 7).astype(int)]


def message_passing():
    edges = np.array([[0, 1], [1, 2], [2, 0], [3, 1], [4, 3], [1, 4], [0, 4]])
    x, into = numbers((5, 3), 76), np.bincount(edges[:, 1], minlength=5).clip(1)[:, None]
    for layer in range(2):
        mean, most = np.zeros((5, 3)), x.copy()
        np.add.at(mean, edges[:, 1], x[edges[:, 0]])
        np.maximum.at(most, edges[:, 1], x[edges[:, 0]])
        x = np.tanh(np.concatenate([mean / into, most], 1) @ numbers((3, 6), 77 + layer).T)
    return x


def sparse_product():
    dense = numbers((7, 5), 79)
    return np.where(dense < 0.3, 0, dense) @ numbers((5,), 80)


def group_by():
    key, value = ((numbers((40,), 81) + 1) * 2).astype(int), numbers((40,), 82)
    groups = [value[key == k] for k in np.unique(key)]
    return np.array([[group.mean(), group.min(), (group * 0.1 + 1).prod()] for group in groups])


def moving_statistics():
    windows = np.lib.stride_tricks.sliding_window_view(np.cumsum(numbers((30,), 83)), 7)
    return np.stack([windows.mean(-1), windows.std(-1, ddof=1), np.median(windows, -1), windows.max(-1)], 1)


def correlations():
    x = numbers((25, 4), 84)
    x = (x - x.mean(0)) / x.std(0, ddof=1)
    return np.concatenate([np.ravel(x.T @ x / 24), np.ravel(np.einsum("ni,nj,nk->ijk", x, x, x))])


def scattered_field():
    place, mass = ((numbers((12, 2), 85) + 1) * 2.4).astype(int), numbers((12,), 86)
    field = np.zeros((5, 5))
    np.add.at(field, tuple(place.T), mass)
    marks = field.copy()
    marks[tuple(place[0])] = 9
    return np.concatenate([np.ravel(field), np.ravel(marks), field[tuple(place.T)]])


PROGRAMS = [
    k_means, n_body, game_of_life, principal_component, kalman_filter, attention, edges, softmax_regression,
    page_rank, heat, positions, histogram, u_net, residual_classifier, decoder_block, sliding_window, gated_unit,
    beam_search, hidden_states, nearest_neighbours, image_pyramid, interpolated_curve, word_counts, run_lengths,
    outliers, equalised_image, message_passing, sparse_product, group_by, moving_statistics, correlations,
    scattered_field,
]

lines = [f"{program.__name__} {' '.join(f'{x:.9g}' for x in np.ravel(program()))}" for program in PROGRAMS]
(HERE / "reference.txt").write_text("\n".join(lines) + "\n")
