"""What statisticians and data scientists make of tables."""

import numpy as np

from . import numbers, program


@program
def gaussian_mixture():
    x, fit = numbers((40, 2), 1), []
    means, vars, share = x[:3], np.full((3, 2), 0.3), np.full(3, 1 / 3)
    for _ in range(6):
        joint = np.array([[share[k] * np.prod(np.exp(-((point - means[k]) ** 2) / 2 / vars[k])
                           / np.sqrt(2 * np.pi * vars[k])) for k in range(3)] for point in x])
        fit.append(np.log(joint.sum(1)).mean())
        belongs = joint / joint.sum(1, keepdims=True)
        means = np.array([np.average(x, axis=0, weights=w) for w in belongs.T])
        vars = np.array([np.average((x - mean) ** 2, axis=0, weights=w) for w, mean in zip(belongs.T, means)]) + 1e-3
        share = belongs.mean(0)
    return np.concatenate([means.ravel(), vars.ravel(), share, fit])


@program
def naive_bayes():
    words, out = ((numbers((12, 5), 2) + 1) * 1.7).astype(int), []
    rows = [[0, 5, 10], [1, 6, 11], [2, 3, 4, 7, 8, 9]]
    for row in words:
        chances = []
        for k in range(3):
            counts = words[rows[k]].sum(0) + 1
            chances.append(np.prod((counts / counts.sum()) ** row) * len(rows[k]))
        out.append(np.log(chances / np.sum(chances)))
    return out


@program
def whitening():
    x = numbers((20, 3), 3) @ numbers((3, 3), 4)
    values, vectors = np.linalg.eigh(np.cov(x.T) + 0.05 * np.eye(3))
    white = (x - x.mean(0)) @ (vectors / np.sqrt(values)) @ vectors.T
    return np.concatenate([(white.T @ white).ravel(), white[:4].ravel()])


@program
def word_weights():
    words = ((numbers((5, 8), 5) + 1) * 3.4).astype(int)
    weights = np.zeros((5, 7))
    for document in range(5):
        for word in words[document]:
            among = sum(word in other for other in words)
            weights[document, word] += (np.log(6 / (1 + among)) + 1) / 8
    alike = np.array([[a @ b / np.sqrt(a @ a * (b @ b)) for b in weights] for a in weights])
    nearest = [max((j for j in range(5) if j != i), key=lambda j: alike[i, j]) for i in range(5)]
    return np.concatenate([weights.ravel(), alike.ravel(), nearest])


@program
def pivot_table():
    month, sales = ((numbers((48,), 6) + 1) * 1.45).astype(int), numbers((48,), 7) + 2
    cells = [[sales[(np.arange(48) % 4 == store) & (month == m)] for m in range(3)] for store in range(4)]
    table = [[[how(cell) for cell in row] for row in cells] for how in (np.sum, np.mean, np.max)]
    return np.append(np.ravel(table), [sales[store::4].sum() / sales.sum() for store in range(4)])


@program
def rank_correlation():
    ties = np.round(numbers((2, 20), 8) * 3.3)
    places = np.array([[np.mean([i + 1 for i, y in enumerate(sorted(row)) if y == x]) for x in row] for row in ties])
    agree, pairs = 0, [(i, j) for i in range(20) for j in range(i)]
    for i, j in pairs:
        agree += np.sign((ties[0, i] - ties[0, j]) * (ties[1, i] - ties[1, j]))
    untied = [sum(row[i] != row[j] for i, j in pairs) for row in ties]
    return np.append(places, [np.corrcoef(places)[0, 1], agree / np.sqrt(untied[0] * untied[1])])


@program
def quantile_normalisation():
    x = numbers((4, 9), 9) * [[1], [2], [3], [4]]
    typical = [np.mean([sorted(row)[i] for row in x]) for i in range(9)]
    return [[typical[sum(row < value)] for value in row] for row in x]


@program
def cross_validation():
    x, errors = numbers((30, 3), 10), []
    y = x @ numbers((3,), 12) + 0.3 * numbers((30,), 11)
    for held in range(5):
        kept = np.arange(30) % 5 != held
        w = np.linalg.lstsq(np.vstack([x[kept], np.eye(3) * np.sqrt(0.5)]), np.append(y[kept], np.zeros(3)))[0]
        errors.append(((x[~kept] @ w - y[~kept]) ** 2).mean())
    return np.append(errors, [np.mean(errors), np.std(errors, ddof=1)])


@program
def time_series():
    x = numbers((40,), 13)
    x = x + np.concatenate([x[-3:], x[:-3]])
    off = x - x.mean()
    lags = [sum(off[i] * off[i + lag] for i in range(40 - lag)) / sum(off**2) for lag in range(6)]
    smooth, top, bottom = [], 0, 0
    for value in x:
        top, bottom = 0.7 * top + value, 0.7 * bottom + 1
        smooth.append(top / bottom)
    season = [off[i::5].mean() for i in range(5)]
    return np.concatenate([lags, smooth, season, [off[i::5].std(ddof=1) for i in range(5)]])


@program
def table_join():
    keys, prices = [50, 20, 40, 10, 30], numbers((5, 2), 14)
    rows = [keys.index(key) if key in keys else None for key in (10, 30, 35, 50, 20, 60, 10)]
    joined = [prices[row] if row is not None else [-9, -9] for row in rows]
    return np.append(joined, [row for row in rows if row is not None])


@program
def decision_stump():
    x = numbers((24, 3), 15)
    hits = x[:, 1] + 0.3 * x[:, 0] > 0.11
    gini = lambda part: 1 - part.mean() ** 2 - (1 - part.mean()) ** 2
    table = np.zeros((23, 3))
    for cut in range(23):
        for column in range(3):
            low = x[:, column] <= sorted(x[:, column])[cut]
            table[cut, column] = np.average([gini(hits[low]), gini(hits[~low])], weights=[low.sum(), (~low).sum()])
    cut, column = divmod(table.argmin(), 3)
    values = sorted(x[:, column])
    return np.append([table.argmin(), (values[cut] + values[cut + 1]) / 2, table.min()], table)


@program
def mean_shift():
    x = 0.4 * numbers((24, 2), 16) + 2 * (np.arange(24) % 3)[:, None]
    peaks, clusters = [], []
    for at in x:
        for _ in range(12):
            weights = [np.exp(-2 * (point - at) @ (point - at)) for point in x]
            at = np.average(x, 0, weights)
        near = [i for i, peak in enumerate(peaks) if np.hypot(*(peak - at)) < 0.3]
        peaks.append(at)
        clusters.append(near[0] if near else len(peaks) - 1)
    first = sorted(set(clusters))
    density = [np.exp(-2 * ((x - peaks[i]) ** 2).sum(1)).mean() for i in first]
    return [*clusters, *map(clusters.count, first), *density, *np.ravel([peaks[i] for i in first])]
