"""Programs that learn, and what models are made of."""

import numpy as np

from . import numbers, program, softmax


@program
def k_means():
    points = numbers((40, 2), 1)
    centres = points[:3]
    for _ in range(5):
        nearest = ((points[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
        members = np.eye(3)[nearest]
        centres = members.T @ points / members.sum(0)[:, None]
    return centres


@program
def principal_component():
    x = numbers((30, 4), 5) * [3, 1, 0.5, 0.25]
    x = x - x.mean(0)
    covariance = x.T @ x / 29
    direction = np.ones(4)
    for _ in range(40):
        direction = covariance @ direction
        direction = direction / np.linalg.norm(direction)
    return np.append(direction, direction @ covariance @ direction)


@program
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


@program
def attention():
    q, k, v = (numbers((2, 4, 3), seed) for seed in (7, 8, 9))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(3)
    scores = np.where(np.tril(np.ones((4, 4), bool)), scores, -np.inf)
    return softmax(scores) @ v


@program
def softmax_regression():
    x, classes = numbers((30, 4), 11), np.arange(30) % 3
    wanted, weights, bias = np.eye(3)[classes], np.zeros((4, 3)), np.zeros(3)
    for _ in range(25):
        off = (softmax(x @ weights + bias) - wanted) / 30
        weights, bias = weights - 0.5 * x.T @ off, bias - 0.5 * off.sum(0)
    loss = -np.log(softmax(x @ weights + bias)[np.arange(30), classes]).mean()
    return np.append(np.vstack([weights, bias]), loss)


@program
def page_rank():
    links = (numbers((6, 6), 13) > 0.3) & ~np.eye(6, dtype=bool)
    out = links.sum(1, keepdims=True)
    moves = np.where(out > 0, links / np.maximum(out, 1), 1 / 6)
    rank = np.full(6, 1 / 6)
    for _ in range(30):
        rank = 0.15 / 6 + 0.85 * rank @ moves
    return rank


@program
def positions():
    place, pair = np.meshgrid(np.arange(5), np.arange(4), indexing="ij")
    angle = place / 100 ** (pair / 4)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(5, 8)


@program
def self_organising_map():
    data, cells = numbers((10, 3), 21), 0.5 * numbers((9, 3), 22)
    for step in range(20):
        x = data[step % 10]
        best = divmod(((cells - x) ** 2).sum(1).argmin(), 3)
        for i in range(9):
            apart = (i // 3 - best[0]) ** 2 + (i % 3 - best[1]) ** 2
            pull = 0.5 * 0.95**step * np.exp(-apart / (2 * (1.5 * 0.93**step) ** 2))
            cells[i] += pull * (x - cells[i])
    far = np.array([[np.sqrt((x - cell) @ (x - cell)) for cell in cells] for x in data])
    return [*cells.ravel(), *far.argmin(1), far.min(1).mean()]


@program
def perceptron():
    x = np.column_stack([np.ones(14), numbers((14, 2), 23)])
    class_ = np.where(x @ [0.15, 1, -0.7] >= 0, 1, -1)
    w, all_, wrong = np.zeros(3), [], []
    for _ in range(4):
        wrong.append(0)
        for one, sign in zip(x, class_):
            if sign * (one @ w) <= 0:
                w, wrong[-1] = w + sign * one, wrong[-1] + 1
            all_.append(w)
    mean = np.mean(all_, 0)
    return [*w, *mean, *wrong, *(class_ * (x @ mean) / np.sqrt(mean @ mean))]


@program
def consensus_line():
    x, votes, best = np.linspace(-2, 2, 20), [], []
    y = np.where(np.arange(20) % 4 == 1, 4 * numbers((20,), 25), 0.7 * x - 0.4 + 0.05 * numbers((20,), 24))
    for n in range(30):
        i = 7 * n % 20
        j = (7 * n + 3 * (n + 3) % 19 + 1) % 20
        slope = (y[j] - y[i]) / (x[j] - x[i])
        near = abs(y[i] + slope * (x - x[i]) - y) < 0.2
        best = near if near.sum() > max(votes, default=0) else best
        votes.append(near.sum())
    return [*np.polyfit(x[best], y[best], 1), *best, *votes]
