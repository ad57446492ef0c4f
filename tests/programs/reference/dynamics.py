"""What goes on step by step: physics, epidemics, markets, automata."""

import math

import numpy as np

from . import numbers, program


@program
def lorenz():
    def slope(x, y, z):
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    ends = []
    for state in (5 * numbers((3, 4), 1) + 10).T:
        for _ in range(8):
            a = 0.01 * slope(*state)
            b = 0.01 * slope(*(state + a / 2))
            c = 0.01 * slope(*(state + b / 2))
            state = state + a / 6 + b / 3 + c / 3 + 0.01 * slope(*(state + c)) / 6
        ends.append(state)
    return np.array(ends).T


@program
def epidemic():
    out = []
    for spread in (0.2, 0.35, 0.5):
        people, days = np.array([0.99, 0.01, 0]), []
        for _ in range(30):
            flow = [spread * people[0] * people[1], 0.1 * people[1]]
            people = people + np.array([[-1, 0], [1, -1], [0, 1]]) @ flow
            days.append(people[1])
        out.append([people[0], people[2], max(days), np.argmax(days)])
    return np.array(out).T


@program
def reaction_diffusion():
    u, v = np.ones((8, 8)), np.zeros((8, 8))
    u[2:5, 3:6], v[2:5, 3:6] = 0.5, abs(numbers((3, 3), 2) * 0.1)

    def flow(x):
        at = lambda i, j: np.roll(x, (i, j), (0, 1))
        near, far = [(0, 1), (1, 0), (0, -1), (-1, 0)], [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        return 0.2 * sum(at(*place) for place in near) + 0.05 * sum(at(*place) for place in far) - x

    for _ in range(12):
        turned = u * v * v
        u, v = (u + flow(u) + 0.055 * (1 - u) - turned, v + 0.5 * flow(v) + turned - 0.117 * v)
    return [u, v]


@program
def waves():
    now = np.exp(-(((np.linspace(0, 1, 21) - 0.3) / 0.1) ** 2))
    now[[0, -1]] = 0
    before, energy = now, []
    for _ in range(20):
        after = np.zeros(21)
        for i in range(1, 20):
            after[i] = 2 * now[i] - before[i] + 0.49 * (now[i - 1] - 2 * now[i] + now[i + 1])
        energy.append(((after - now) ** 2).sum())
        before, now = now, after
    return np.append(now, energy)


@program
def black_scholes():
    below = lambda x: math.erfc(-x / math.sqrt(2)) / 2
    out = np.zeros((4, 3, 5))
    for i, years in enumerate((0.25, 1, 2)):
        for j, strike in enumerate((80, 90, 100, 110, 120)):
            root, owed = 0.2 * math.sqrt(years), strike * math.exp(-0.03 * years)
            high = math.log(100 / owed) / root + root / 2
            call = 100 * below(high) - owed * below(high - root)
            put = owed * below(root - high) - 100 * below(-high)
            vega = math.sqrt(years) * math.exp(-high * high / 2) / math.sqrt(2 * math.pi)
            out[:, i, j] = call / 100, put / 100, below(high), vega
    return out


@program
def asian_option():
    luck, paths = numbers((32, 8), 3), []
    for row in (*luck, *-luck):
        price, path = 50.0, []
        for step in row:
            price *= np.exp((0.02 - 0.03125) / 8 + 0.25 * step / np.sqrt(8))
            path.append(price)
        paths.append(path)
    paths = np.array(paths)
    worth = np.maximum(paths.mean(1) - 50, 0)
    control = np.maximum(np.prod(paths / 50, 1) ** (1 / 8) * 50 - 50, 0)
    barrier = [max(0, path[-1] - 50) if max(path) < 56.03 else 0 for path in paths]
    spread = np.cov(worth, control)
    ends = [worth.mean(), worth.std(ddof=1), np.mean(barrier), spread[0, 1] / spread[1, 1]]
    return np.concatenate([ends, np.quantile(paths, 0.05, axis=0), np.median(paths, axis=0)])


@program
def drawdown():
    out = []
    for gains in numbers((2, 30), 4) * 0.05:
        wealth, peak, path, lost, under, longest = 1, 0, [], [], 0, 0
        for gain in gains:
            wealth *= 1 + gain
            peak = max(peak, wealth)
            path.append(wealth)
            lost.append(1 - wealth / peak)
            under = under + 1 if wealth < peak else 0
            longest = max(longest, under)
        spans = [path[i : i + 5] for i in range(26)]
        worst = np.argmax(lost)
        out.append([lost[worst], path[worst], longest, *(max(span) - min(span) for span in spans)])
    return out


@program
def automaton():
    cells, rows = [0] * 13 + [1, 0, 0], []
    for _ in range(10):
        rows.append(cells)
        alive = {(1, 1, 0), (1, 0, 1), (0, 1, 1), (0, 1, 0), (0, 0, 1)}
        cells = [int((cells[i - 1], cells[i], cells[(i + 1) % 16]) in alive) for i in range(16)]
    return rows
