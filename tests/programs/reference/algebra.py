"""Matrices, their systems of equations, and geometry."""

import numpy as np

from . import numbers, program


def definite(size, seed):
    x = numbers((size, size), seed) ** 2
    return x @ x.T + np.eye(size)


@program
def gram_schmidt():
    x = numbers((5, 3), 1)
    q, r = np.linalg.qr(x)
    sign = np.sign(r.diagonal())
    return np.concatenate([(q * sign).ravel(), (r * sign[:, None]).ravel(), x.ravel()])


@program
def relaxation():
    a, b, jacobi = numbers((4, 4), 2) + 5 * np.eye(4), numbers((4,), 3), np.zeros(4)
    for _ in range(6):
        jacobi = jacobi + (b - a @ jacobi) / a.diagonal()
    seidel = np.zeros(4)
    for _ in range(3):
        seidel = np.linalg.solve(np.tril(a), b - np.triu(a, 1) @ seidel)
    return [jacobi, seidel]


@program
def conjugate_gradients():
    """The step that is best in a space of Krylov's, which is what the method finds."""
    a, b, lengths = definite(5, 4), numbers((5,), 5), []
    for steps in (1, 2, 3):
        space, _ = np.linalg.qr(np.stack([np.linalg.matrix_power(a, n) @ b for n in range(steps)], 1))
        x = space @ np.linalg.solve(space.T @ a @ space, space.T @ b)
        lengths.append(np.linalg.norm(b - a @ x))
    return np.append(x, lengths)


@program
def matrix_exponential():
    values, vectors = np.linalg.eig(numbers((2, 4, 4), 6))
    return ((vectors * np.exp(values)[:, None]) @ np.linalg.inv(vectors)).real


@program
def newton_inverse():
    return np.linalg.inv(definite(4, 7))


@program
def elimination():
    a = numbers((4, 4), 10) + np.eye(4)[::-1]
    return np.append(np.linalg.solve(a, numbers((4, 2), 9)), np.linalg.det(a))


@program
def cholesky():
    a = definite(4, 10)
    lower = np.linalg.cholesky(a)
    return np.concatenate([lower.ravel(), np.linalg.solve(lower, numbers((4,), 11)), [np.linalg.slogdet(a)[1]]])


@program
def power_spectrum():
    heard = np.fft.rfft((numbers((32,), 12) + 2 * np.sin(1.3 * np.arange(32))) * np.hamming(32))
    loud = abs(heard).argmax()
    return np.append(20 * np.log10(abs(heard) / abs(heard[loud])), [np.angle(heard[loud]), loud])


@program
def cubic_spline():
    """Four numbers for each of six pieces, by what is said of them."""
    height, rows, wanted = numbers((7,), 13), [], []

    def say(value, *terms):
        row = np.zeros(24)
        for piece, x, order, sign in terms:
            falling = [np.prod([float(n - i) for i in range(order)]) for n in range(4)]
            row[4 * piece : 4 * piece + 4] += [sign * falling[n] * x ** max(n - order, 0) for n in range(4)]
        rows.append(row)
        wanted.append(value)

    for piece in range(6):
        say(height[piece], (piece, 0.0, 0, 1))
        say(height[piece + 1], (piece, 1.0, 0, 1))
    for piece in range(5):
        for order in (1, 2):
            say(0, (piece, 1.0, order, 1), (piece + 1, 0.0, order, -1))
    say(0, (0, 0.0, 2, 1))
    say(0, (5, 1.0, 2, 1))
    pieces = np.linalg.solve(rows, wanted).reshape(6, 4)
    at = [(min(int(x), 5), x) for x in np.linspace(0, 6, 13)]
    return [np.polyval(pieces[piece][::-1], x - piece) for piece, x in at]


@program
def polynomial_fit():
    x = np.linspace(-1, 1, 15)
    y = 0.2 * numbers((15,), 14) + np.sin(2 * x)
    fit = np.polynomial.chebyshev.chebfit(x, y, 4)
    return np.append(fit, np.linalg.norm(y - np.polynomial.chebyshev.chebval(x, fit)))


@program
def quaternions():
    def times(a, b):
        return np.append(a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))

    turns = [turn / np.linalg.norm(turn) for turn in numbers((4, 4), 15)]
    points = numbers((5, 3), 16)
    return [[times(times(q, np.append(0, p)), q * [1, -1, -1, -1])[1:] for p in points] for q in turns]


@program
def mesh_normals():
    corners, faces = numbers((6, 3), 17), [(0, 1, 2), (2, 1, 3), (3, 4, 2), (5, 4, 3), (0, 2, 5)]
    sums, areas = np.zeros((6, 3)), []
    for face in faces:
        a, b, c = corners[list(face)]
        areas.append(np.linalg.norm(np.cross(b - a, c - a)) / 2)
        for corner in face:
            sums[corner] += np.cross(b - a, c - a)
    return np.append([row / np.linalg.norm(row) for row in sums], areas)


@program
def ray_tracing():
    spheres = [((0.1, 0.2, 3.0), 0.7), ((-0.7, 0.3, 2.5), 0.5), ((0.9, -0.8, 4.0), 1.1)]
    light, bright, depth = np.array([-0.5, -1, -0.8]) / np.linalg.norm([-0.5, -1, -0.8]), [], []
    for y in np.linspace(-0.5, 0.5, 6):
        for x in np.linspace(-0.5, 0.5, 6):
            ray, best = np.array([x, y, 1]) / np.linalg.norm([x, y, 1]), (np.inf, None)
            for centre, radius in spheres:
                roots = np.roots([1, -2 * ray @ centre, np.dot(centre, centre) - radius**2])
                if np.isreal(roots).all():
                    best = min(best, (min(roots.real), centre))
            if best[1] is None:
                bright.append(0)
                depth.append(-1)
                continue
            normal = best[0] * ray - best[1]
            bright.append(max(0.05, normal @ light / np.linalg.norm(normal)))
            depth.append(best[0])
    return [bright, depth]


@program
def gaussian_process():
    near = lambda a, b: np.exp(-2 * (a[:, None] - b) ** 2)
    x, asked = numbers((12,), 20), np.linspace(-1, 1, 5)
    y = np.sin(3 * x)
    k = near(x, x) + 0.1 * np.eye(12)
    beside = near(x, asked)
    mean = beside.T @ np.linalg.solve(k, y)
    variance = 1 - np.sum(beside * np.linalg.solve(k, beside), 0)
    fit = -0.5 * y @ np.linalg.solve(k, y) - 0.5 * np.linalg.slogdet(k)[1]
    return np.concatenate([mean, variance, [fit]])


@program
def normal_densities():
    spread = np.stack([definite(4, seed) for seed in (21, 22, 23)])
    off = numbers((3, 4), 24)
    far = np.sum(off * np.linalg.solve(spread, off[..., None])[..., 0], -1)
    sign, size = np.linalg.slogdet(spread)
    density = -0.5 * (far + size + 4 * np.log(2 * np.pi))
    # A determinant that no f32 holds, turned by an odd order of rows.
    large = 100 * definite(60, 25)[[1, 0, *range(2, 60)]]
    return np.concatenate([density, sign, np.linalg.slogdet(large)])
