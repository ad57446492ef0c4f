"""Systems of equations, inverses and determinants."""

import itertools

import numpy as np

from . import numbers, program, softmax


@program
def implicit_euler():
    out = []
    for stiff, (x, v) in zip((4, 8, 12), numbers((3, 2), 1) + 1.2):
        for _ in range(6):
            # The equation of a step has one unknown once the speed is written by the place.
            a = np.poly1d([1, -x]) / 0.2
            miss = a - v - 0.2 * (stiff * np.poly1d([-1, 0, 1]) * a - np.poly1d([1, 0]))
            roots = miss.roots[abs(miss.roots.imag) < 1e-9].real
            x = min(roots, key=lambda root: abs(root - x))
            v = a(x)
        out.append([x, v])
    return out


@program
def levenberg_marquardt():
    x, errors = np.linspace(0, 4, 20), []
    y = 2 * np.exp(-1.3 * x) + 0.5 + 0.05 * numbers((20,), 2)
    fit = np.array([1, 0.5, 0])
    for step in range(8):
        off = y - fit[0] * np.exp(-fit[1] * x) - fit[2]
        errors.append(off @ off)
        slopes = np.stack([np.exp(-fit[1] * x), -fit[0] * x * np.exp(-fit[1] * x), np.ones(20)], 1)
        # As one system of least squares, which has more rows.
        damp = np.diag(np.sqrt(0.1**step * (slopes**2).sum(0)))
        fit = fit + np.linalg.lstsq(np.vstack([slopes, damp]), np.append(off, [0, 0, 0]))[0]
    return np.append(fit, errors)


@program
def discriminant():
    class_ = np.arange(30) % 3
    x = numbers((30, 2), 4) * (numbers((3, 2), 3)[class_] + 1.4) + numbers((3, 2), 5)[class_]
    nats, sizes = [], []
    for c in range(3):
        mean, wide = x[class_ == c].mean(0), np.cov(x[class_ == c].T, bias=True)
        values, turns = np.linalg.eigh(wide)
        nats.append(-((((x - mean) @ turns) ** 2 / values).sum(1) + np.log(values).sum()) / 2)
        sizes.append(values.prod())
    share = softmax(np.array(nats).T)
    return [*share.ravel(), *sizes, (share.argmax(1) == class_).mean()]


@program
def absorbing_chain():
    moves = softmax(1.5 * numbers((5, 7), 6))
    among, out = moves[:, :5], moves[:, 5:]
    # By sums over all times.
    there, steps, ends, squares = np.eye(5), 0, 0, 0
    for time in range(1, 400):
        ends = ends + there @ out
        left = there @ out.sum(1)
        steps, squares = steps + time * left, squares + time**2 * left
        there = there @ among
    back = among + 0.2 * out.sum(1, keepdims=True)
    share = np.linalg.matrix_power(back, 2000)[0]
    return np.concatenate([steps, ends.ravel(), squares - steps**2, share])


@program
def factored_once():
    a, x, sizes = numbers((6, 6), 8), numbers((6,), 9), []
    inverse = np.linalg.inv(a)
    for _ in range(3):
        x = inverse @ x
        sizes.append(np.sqrt(x @ x))
        x = x / sizes[-1]
    sign, nats = np.linalg.slogdet(a)
    return [*x, *sizes, x @ a @ x, nats, sign, 1]


@program
def thin_plate_spline():
    held = numbers((7, 2), 10)
    moved = held + 0.2 * numbers((7, 2), 11)

    def bend(x, y):
        far = np.hypot(*(x - y))
        return 2 * far**2 * np.log(far) if far else 0

    system = [[bend(x, y) for y in held] + [1, *x] for x in held]
    system += [[*column, 0, 0, 0] for column in np.column_stack([np.ones(7), held]).T]
    weights = np.linalg.solve(np.array(system, float), np.vstack([moved, np.zeros((3, 2))]))
    side, out = np.linspace(-0.8, 0.8, 3), []
    for at in itertools.product(side, side):
        out.extend(np.array([bend(at, x) for x in held] + [1, *at]) @ weights)
    return out + list((weights[:7] * (np.array(system)[:7, :7] @ weights[:7])).sum(0))


@program
def smoothed_states():
    # All states at once: what is seen and how states follow is one system of least squares.
    go, rows, right = np.array([[1, 0.5], [0, 0.9]]), [], []

    def told(row, value, spread):
        rows.append(row / np.sqrt(spread))
        right.append(value / np.sqrt(spread))

    first = np.linalg.cholesky(np.linalg.inv(go @ go.T + 0.05 * np.eye(2))).T
    for row in first:
        told(np.append(row, np.zeros(18)), 0, 1)
    for time, value in enumerate(numbers((10,), 12)):
        told(np.eye(20)[2 * time], value, 0.3)
        for i in range(2 if time < 9 else 0):
            row = np.eye(20)[2 * time + 2 + i]
            row[2 * time : 2 * time + 2] -= go[i]
            told(row, 0, 0.05)
    rows = np.array(rows)
    spread = np.linalg.inv(rows.T @ rows)
    states = (spread @ rows.T @ right).reshape(10, 2)
    return np.column_stack([states, np.diag(spread).reshape(10, 2)])[::-1]


@program
def newton_system():
    at, lengths = np.array([[1, -1.5], [-2, 1], [0.5, -2], [-1, 0.6]]), []
    for _ in range(6):
        x, y = at.T
        f, g = x**2 + y**2 - 4, np.exp(x) + y - 1
        size = 2 * x - 2 * y * np.exp(x)
        at = at - np.stack([(f - 2 * y * g) / size, (2 * x * g - np.exp(x) * f) / size], 1)
        lengths.append(np.hypot(f, g))
    return [*at.T, *lengths]


@program
def inside_triangles():
    corners, heats, shares, seen = 3 * numbers((4, 3, 2), 13) ** 2 - 1.2, numbers((4, 3), 15), [], []
    for point in numbers((6, 2), 14):
        for (a, b, c), heat in zip(corners, heats):
            u, v = np.linalg.solve(np.stack([b - a, c - a], 1), point - a)
            shares.extend([1 - u - v, u, v])
            seen.append(heat @ shares[-3:] if min(shares[-3:]) >= 0 else -9)
    return shares + seen


@program
def ridge_path():
    x = np.linspace(-1, 1, 16)
    y, basis = np.sin(2.5 * x) + 0.2 * numbers((16,), 16), np.vander(x, 4, increasing=True)
    fits, scores, free = [], [], []
    for weak in (0.05, 0.3, 1, 5):
        fit = lambda some: np.linalg.solve(
            basis[some].T @ basis[some] + weak * np.eye(4), basis[some].T @ y[some]
        )
        fits.append(fit(np.arange(16)))
        others = [np.delete(np.arange(16), i) for i in range(16)]
        scores.append(np.mean([(y[i] - basis[i] @ fit(some)) ** 2 for i, some in enumerate(others)]))
        values = np.linalg.eigvalsh(basis.T @ basis)
        free.append((values / (values + weak)).sum())
    return np.concatenate([np.ravel(fits), scores, free, fits[np.argmin(scores)]])
