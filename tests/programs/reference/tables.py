"""What is counted, sorted, joined and gathered."""

import numpy as np

from . import numbers, program


@program
def word_counts():
    words = ((numbers((60,), 70) + 1) * 5).astype(int)
    values, inverse, counts = np.unique(words, return_inverse=True, return_counts=True)
    most = (-counts).argsort(kind="stable")[:3]
    return np.concatenate([values, counts, counts[most], values[most], counts[inverse[:10]]])


@program
def run_lengths():
    signal = (numbers((50,), 71) > -0.2) & (numbers((50,), 72) > -0.4)
    begins = np.flatnonzero(signal[1:] != signal[:-1]) + 1
    return np.diff(np.concatenate([[0], begins, [50]]))


@program
def outliers():
    x = numbers((80,), 73) * numbers((80,), 74)
    middle = np.median(x)
    far = abs((x - middle) / (1.4826 * np.median(abs(x - middle)))) > 1.5
    return np.concatenate([[*np.quantile(x, [0.1, 0.9]), x[~far].mean()], np.where(far, 0, x)])


@program
def equalised_image():
    image = numbers((6, 9), 75) ** 2
    counts, _ = np.histogram(image, 8, (0, 1))
    return (np.cumsum(counts) / 54)[np.floor(image * 8).clip(0, 7).astype(int)]


@program
def message_passing():
    edges = np.array([[0, 1], [1, 2], [2, 0], [3, 1], [4, 3], [1, 4], [0, 4]])
    x, into = numbers((5, 3), 76), np.bincount(edges[:, 1], minlength=5).clip(1)[:, None]
    for layer in range(2):
        mean, most = np.zeros((5, 3)), x.copy()
        np.add.at(mean, edges[:, 1], x[edges[:, 0]])
        np.maximum.at(most, edges[:, 1], x[edges[:, 0]])
        x = np.tanh(np.concatenate([mean / into, most], 1) @ numbers((3, 6), 77 + layer).T)
    return x


@program
def sparse_product():
    dense = numbers((7, 5), 79)
    return np.where(dense < 0.3, 0, dense) @ numbers((5,), 80)


@program
def group_by():
    key, value = ((numbers((40,), 81) + 1) * 2).astype(int), numbers((40,), 82)
    groups = [value[key == k] for k in np.unique(key)]
    return np.array([[group.mean(), group.min(), (group * 0.1 + 1).prod()] for group in groups])


@program
def moving_statistics():
    windows = np.lib.stride_tricks.sliding_window_view(np.cumsum(numbers((30,), 83)), 7)
    return np.stack([windows.mean(-1), windows.std(-1, ddof=1), np.median(windows, -1), windows.max(-1)], 1)


@program
def correlations():
    x = numbers((25, 4), 84)
    x = (x - x.mean(0)) / x.std(0, ddof=1)
    return np.concatenate([np.ravel(x.T @ x / 24), np.ravel(np.einsum("ni,nj,nk->ijk", x, x, x))])


@program
def scattered_field():
    place, mass = ((numbers((12, 2), 85) + 1) * 2.4).astype(int), numbers((12,), 86)
    field = np.zeros((5, 5))
    np.add.at(field, tuple(place.T), mass)
    marks = field.copy()
    marks[tuple(place[0])] = 9
    return np.concatenate([np.ravel(field), np.ravel(marks), field[tuple(place.T)]])


@program
def record_days():
    sales = np.floor(numbers((6, 20), 90) * 4)
    best, worst, by_day = sales.max(1), sales.min(1), sales.max(0)
    first, low = ([list(row).index(x) for row, x in zip(sales, of)] for of in (best, worst))
    last, since = ([max(np.flatnonzero(row == x)) for row, x in zip(sales, of)] for of in (best, worst))
    whole = np.flatnonzero(sales == sales.max())[-1]
    shop = [list(column).index(x) for column, x in zip(sales.T, by_day)]
    return [*best, *worst, *np.subtract(last, first), *by_day, *first, *low, *last, *since, whole, *shop]
