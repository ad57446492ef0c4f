"""What is done to images."""

import colorsys

import numpy as np

from . import numbers, program, sigmoid


def picture(height, width, seed):
    return sigmoid(3 * numbers((height, width), seed) ** 2 + numbers((width,), seed + 5))


def filtered(image, size, mode, how):
    """Something of each neighbourhood."""
    padded = np.pad(image, size // 2, mode=mode)
    return np.array([[how(padded[i : i + size, j : j + size]) for j in range(image.shape[1])]
                     for i in range(image.shape[0])])


@program
def bilateral_filter():
    def one(close):
        sum_, total = 0, 0
        for y in range(3):
            for x in range(3):
                far, off = ((y - 1) ** 2 + (x - 1) ** 2) / 1.44, (close[y, x] - close[1, 1]) ** 2 / 0.0225
                weight = np.exp(-far / 2 - off / 2)
                sum_, total = sum_ + weight * close[y, x], total + weight
        return sum_ / total

    return filtered(picture(6, 7, 1), 3, "reflect", one)


@program
def median_filter():
    image, noise = picture(7, 6, 2), numbers((7, 6), 3)
    noisy = np.select([noise > 0.81, noise < -0.83], [1, 0], image)
    return [filtered(noisy, 3, "edge", how) for how in (np.median, lambda close: np.quantile(close, 0.9))]


@program
def sharpened():
    bell = np.exp(-np.add.outer(np.arange(-2, 3) ** 2, np.arange(-2, 3) ** 2) / 1.62)
    out = []
    for seed in (4, 5, 6):
        image = picture(6, 5, seed)
        soft = filtered(image, 5, "reflect", lambda close: (close * bell).sum() / bell.sum())
        out.append(np.clip(2.5 * image - 1.5 * soft, 0, 1))
    return out


@program
def opening():
    image = picture(8, 7, 7)

    def over(x, how, near):
        size = x.shape
        close = lambda i, j: [x[a, b] for a, b in np.ndindex(size) if near(abs(a - i), abs(b - j))]
        return np.array([[how(close(i, j)) for j in range(size[1])] for i in range(size[0])])

    square, cross = (lambda a, b: max(a, b) <= 1), (lambda a, b: a + b <= 1)
    eroded = over(image, min, square)
    opened = over(eroded, max, square)
    return [opened, over(image, max, square) - eroded, image - opened, over(image, min, cross)]


@program
def connected_parts():
    solid, part = numbers((7, 8), 8) ** 2 > 0.21, np.zeros((7, 8), int)
    for i, j in np.ndindex(7, 8):
        if solid[i, j] and not part[i, j]:
            todo, seen = [(i, j)], set()
            while todo:
                y, x = todo.pop()
                if (y, x) not in seen and 0 <= y < 7 and 0 <= x < 8 and solid[y, x]:
                    seen.add((y, x))
                    todo += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
            last = max(y * 8 + x + 1 for y, x in seen)
            for place in seen:
                part[place] = last
    values, counts = np.unique(part, return_counts=True)
    return np.append(np.searchsorted(values, part), counts)


@program
def colours():
    image = (numbers((3, 4, 5), 9) + 1) / 2
    hsv = np.apply_along_axis(lambda rgb: colorsys.rgb_to_hsv(*rgb), 0, image)
    weights = [[0.299, 0.587, 0.114], [-0.169, -0.331, 0.5], [0.5, -0.419, -0.081]]
    luma = [sum(w * plane for w, plane in zip(row, image)) for row in weights]
    return np.concatenate([hsv, luma, np.where(image <= 0.04045, image / 12.92, ((image + 0.055) / 1.055) ** 2.4)])


@program
def turned_image():
    image, out = np.pad(picture(6, 7, 10), 8), []
    for row in np.arange(6) - 2.5:
        for column in np.arange(7) - 3:
            place = (column + 1j * row) * np.exp(-0.4j)
            x, y = place.real + 3 + 8, place.imag + 2.5 + 8
            # Of lines first, as numpy interpolates them.
            lines = [np.interp(x, range(23), line) for line in image]
            out.append(np.interp(y, range(22), lines))
    return out


@program
def box_sums():
    image = picture(7, 8, 11)
    boxes = np.array([[image[i : i + 3, j : j + 3].ravel() for j in range(6)] for i in range(5)])
    means, spread = boxes.mean(-1), boxes.std(-1)
    return [means, spread, image[1:-1, 1:-1] < means * (1 + 0.05 * (spread / 0.5 - 1))]


@program
def mandelbrot():
    def steps(c):
        z, count = 0, 0
        while abs(z) <= 2 and count < 10:
            z, count = z * z + c, count + 1
        return count

    return [[steps(x + 1j * y) for x in np.linspace(-2.02, 0.73, 12)] for y in np.linspace(-1.13, 1.07, 9)]


@program
def suppressed_boxes():
    low, score = numbers((9, 2), 12) * 2, numbers((9,), 14)
    high = low + 2 * numbers((9, 2), 13) ** 2 + 1.2

    def over(a, b):
        sides = [max(0, min(high[a, k], high[b, k]) - max(low[a, k], low[b, k])) for k in (0, 1)]
        area = lambda n: (high[n, 0] - low[n, 0]) * (high[n, 1] - low[n, 1])
        return sides[0] * sides[1] / (area(a) + area(b) - sides[0] * sides[1])

    kept = []
    for n in sorted(range(9), key=lambda n: -score[n]):
        if all(over(n, other) <= 0.3 for other in kept):
            kept.append(n)
    assert len(kept) >= 4, kept
    table = [over(a, b) for a in range(9) for b in range(9)]
    return np.concatenate([kept[:4], low[kept[:4]].ravel(), table])


@program
def best_threshold():
    bins, apart = np.minimum(picture(9, 9, 15) * 10, 9).astype(int).ravel(), []
    for cut in range(10):
        low, high = bins[bins <= cut], bins[bins > cut]
        some = len(low) and len(high)
        apart.append(len(low) * len(high) / 81**2 * (low.mean() - high.mean()) ** 2 if some else 0)
    return np.append(apart, np.argmax(apart))
