"""Cases of matrices. What is near is counted in the largest element times the condition."""

import torch

from lines import case, drawn, few, listed

L = torch.linalg


def positive(dims):
    """Whole numbers: the squares of some, and more on the diagonal."""
    m = few(dims).tensor(torch.float64)
    values = (m @ m.mT + torch.eye(dims[-1])).reshape(-1)
    return listed(dims, " ".join(str(int(v)) for v in values))


def largest(result, *conditions):
    most = result.abs().max()
    for x in conditions:
        most = most * torch.as_tensor(L.cond(x)).max()
    return most


def factors():
    how, f32 = dict(wide=True), ["f32"]
    some = lambda dims: drawn(dims, -40, 81, 8)
    for dims in [[1, 1], [2, 2], [5, 5], [2, 3, 3], [2, 1, 7, 7], [0, 3, 3], [33, 33]]:
        scale = {} if 0 in dims else {"scale": lambda x: largest(L.cholesky(x), x)}
        case("cholesky", L.cholesky, [positive(dims)], f32, **scale, **how)
        size, rows = dims[-1], dims[:-1]

        def lu(x):
            packed, pivots = L.lu_factor(x)
            p = torch.lu_unpack(packed, pivots)[0]
            order = p.argmax(-2).reshape(rows)
            return [packed, (order, "u32")]

        scale = {} if 0 in dims else {"scale": lambda x: largest(lu(x)[0], x)}
        case("lu", lu, [some(dims)], f32, **scale, **how)
        scale = {} if 0 in dims else {"scale": lambda x: largest(L.det(x), x)}
        if size < 33:
            case("det", L.det, [some(dims)], f32, **scale, **how)
        scale = {} if 0 in dims else {"scale": lambda x: largest(L.inv(x), x)}
        case("inv", L.inv, [some(dims)], f32, **scale, **how)
    for left, right in [([3, 3], [3, 2]), ([4, 4], [4]), ([2, 3, 3], [3, 1]), ([3, 3], [2, 3, 2]),
                        ([35, 35], [35, 3])]:
        scale = lambda x, b: largest(L.solve(x, b), x)
        case("solve", L.solve, [some(left), some(right)], f32, scale=scale, **how)
        if len(right) < 2:
            continue
        for upper in [0, 1]:
            for unit in [0, 1]:
                # A diagonal that is far from 0, and little beside it.
                size = left[-1]
                near = drawn(left, -4, 9, 4 * size).tensor(torch.float64) + 2 * torch.eye(size)
                near = listed(left, " ".join(repr(float(v)) for v in near.float().reshape(-1)))
                both = [near, some(right)]
                solve = lambda x, b: L.solve_triangular(x, b, upper=upper == 1, unitriangular=unit == 1)
                scale = lambda x, b: largest(solve(x, b))
                case("solve_triangular", solve, both, f32, upper=upper, unit=unit, scale=scale, **how)
