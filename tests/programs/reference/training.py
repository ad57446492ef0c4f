"""Losses, measures and the steps of optimisers."""

import numpy as np

from . import conv, log_softmax, numbers, program, sigmoid, softmax


@program
def clip_loss():
    images, texts = numbers((5, 4), 1), numbers((5, 4), 2)
    cosine = lambda a, b: a @ b / np.sqrt(a @ a) / np.sqrt(b @ b)
    scores = np.array([[np.exp(1.5) * cosine(a, b) for b in texts] for a in images])
    nats = [-np.log(np.exp(scores[i, i]) / np.exp(line).sum()) for i in range(5) for line in (scores[i], scores[:, i])]
    return [np.mean(nats), np.mean([scores[i].argmax() == i for i in range(5)])]


@program
def triplet_loss():
    x, out = numbers((8, 3), 3), []
    for i in range(8):
        far = [np.linalg.norm(x[i] - x[j]) for j in range(8)]
        friend = max(far[j] for j in range(8) if j != i and (j - i) % 3 == 0)
        out.append(max(0, friend - min(far[j] for j in range(8) if (j - i) % 3) + 0.3))
    return out


@program
def focal_loss():
    share, wanted = sigmoid(numbers((3, 7), 4) * 4), numbers((3, 7), 5) > 0.25
    right = np.where(wanted, share, 1 - share)
    return np.where(wanted, 0.25, 0.75) * (1 - right) ** 2 * -np.log(right)


@program
def label_smoothing():
    nats, out = -log_softmax(numbers((6, 4), 6) * 3), []
    for i, row in enumerate(nats):
        out.append(sum(row[j] * (0.925 if j == i % 4 else 0.025) for j in range(4)))
    return [out, out]


@program
def distillation():
    p, q = softmax(numbers((4, 5), 7) * 1.5), softmax(numbers((4, 5), 8) * 1.5)
    kl = lambda p, q: (p * np.log(p / q)).sum(-1)
    return [4 * kl(p, q), 4 * kl(q, p), (kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2]


@program
def dice_loss():
    scores, truth = numbers((2, 3, 4, 5), 9) * 2, ((numbers((2, 4, 5), 10) + 1) * 1.4).astype(int)
    share = softmax(np.moveaxis(scores, 1, -1))
    found = share.argmax(-1)
    dice = [(2 * share[truth == k][:, k].sum() + 1) / (share[..., k].sum() + (truth == k).sum() + 1) for k in range(3)]
    iou = [((found == k) & (truth == k)).sum() / ((found == k) | (truth == k)).sum() for k in range(3)]
    return [1 - np.array(dice), iou]


@program
def robust_losses():
    off = (numbers((12,), 11) - numbers((12,), 12)) * 2
    huber = [x * x / 2 if abs(x) <= 1 else abs(x) - 0.5 for x in off]
    pinball = [0.8 * x if x > 0 else -0.2 * x for x in off]
    tukey = [(1 - x * x / 9) ** 3 if abs(x) < 3 else 0 for x in off]
    return [huber, pinball, np.log((np.exp(off) + np.exp(-off)) / 2), np.where(off < 1, 1 - off, 0), tukey]


@program
def confusion_matrix():
    found, truth, counts = (numbers((40, 4), 13) ** 2).argmax(-1), np.arange(40) % 4, np.zeros((4, 4))
    for t, f in zip(truth, found):
        counts[t, f] += 1
    per = [(sum((found == k) & (truth == k)), sum(found == k), sum(truth == k)) for k in range(4)]
    precision, recall = [both / max(f, 1) for both, f, _ in per], [both / t for both, _, t in per]
    f1 = [2 * both / (f + t) for both, f, t in per]
    return np.concatenate([counts.ravel(), precision, recall, f1, [(found == truth).sum()]])


@program
def roc_curve():
    score = numbers((30,), 14)
    truth = score + numbers((30,), 15) > 0.21
    hits = [[(truth & (score >= level)).sum(), (~truth & (score >= level)).sum()] for level in sorted(score)[::-1]]
    wins = [(a > b) for a in score[truth] for b in score[~truth]]
    up, right = np.array(hits).T / [[truth.sum()], [(~truth).sum()]]
    return np.concatenate([[np.mean(wins)], up, right])


@program
def adam_steps():
    x, w, mean, square = numbers((20, 3), 16), np.zeros(3), np.zeros(3), np.zeros(3)
    y = x @ numbers((3,), 17) + numbers((20,), 18) * 0.1
    for step in range(1, 13):
        slope = 2 * ((x @ w - y)[:, None] * x).mean(0)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        w = 0.999 * w - 0.1 * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return w


@program
def clipped_momentum():
    x, w, speed, lengths = numbers((16, 4), 19), numbers((4,), 21), np.zeros(4), []
    wanted = numbers((16,), 20) > -0.1
    for step in range(8):
        slope = x.T @ (sigmoid(x @ w) - wanted)
        lengths.append(np.sqrt(slope @ slope))
        slope = slope if lengths[-1] < 1 else slope / lengths[-1]
        speed = 0.9 * speed + slope
        w = w - 0.5 * np.cos(step * np.pi / 16) ** 2 * (slope + 0.9 * speed)
    return np.concatenate([w, lengths])


@program
def batch_statistics():
    mean, var, scale, bias = np.zeros(3), np.ones(3), numbers((3,), 22), numbers((3,), 23)
    for step in range(3):
        x = numbers((4, 3, 2, 2), 24 + step) * (1 + step)
        channels = x.transpose(1, 0, 2, 3).reshape(3, 16)
        mean, var = 0.9 * mean + 0.1 * channels.mean(1), 0.9 * var + 0.1 * np.cov(channels).diagonal()
        spread = np.sqrt(channels.var(1) + 1e-5)
        y = np.einsum("nchw,c->nchw", x, scale / spread) + (bias - scale * channels.mean(1) / spread)[:, None, None]
    return np.concatenate([y.ravel(), mean, var])


@program
def nucleus():
    out = []
    for share in softmax(numbers((4, 8), 27) * 3 / 0.8):
        kept, total = np.zeros(8), 0
        for i in sorted(range(8), key=lambda i: -share[i]):
            if total < 0.9:
                kept[i] = share[i]
            total += share[i]
        out.append(kept / kept.sum())
    return out


@program
def masked_perplexity():
    nats = -log_softmax(numbers((2, 5, 6), 28) * 2)
    one = [nats[0, i, k] for i, k in enumerate((1, 4, 0))]
    other = [nats[1, i, k] for i, k in enumerate((2, 2, 5, 3))]
    return np.exp([np.mean(one), np.mean(other), np.mean(one + other)])


@program
def back_propagation():
    x, y = numbers((10, 3), 29), numbers((10, 2), 30)
    sizes = [(3, 5), (5,), (5, 2)]
    w, losses = np.concatenate([numbers((3, 5), 31).ravel(), np.zeros(5), numbers((5, 2), 32).ravel()]), []

    def loss(w):
        w1, b1, w2 = [part.reshape(size) for part, size in zip(np.split(w, [15, 20]), sizes)]
        return ((np.tanh(x @ w1 + b1) @ w2 - y) ** 2).mean()

    def slope(i):
        """By an imaginary step, whose error is below that of f64."""
        step = np.zeros(len(w), complex)
        step[i] = 1e-30j
        return loss(w + step).imag / 1e-30

    for _ in range(6):
        losses.append(loss(w))
        w = w - 0.3 * np.array([slope(i) for i in range(len(w))])
    return np.concatenate([w, losses])


@program
def newton_logistic():
    place = numbers((24,), 33)
    wanted, w = place + numbers((24,), 34) > 0.17, np.zeros(2)
    for _ in range(4):
        share = sigmoid(w[0] + w[1] * place)
        sure, off = share * (1 - share), wanted - share
        bend = [[sure.sum(), (sure * place).sum()], [(sure * place).sum(), (sure * place**2).sum()]]
        w = w + np.linalg.solve(bend, [off.sum(), (off * place).sum()])
    return w


@program
def convolution_step():
    x, target, row = numbers((2, 2, 6, 6), 1), numbers((2,), 2), numbers((27,), 4)
    weight = numbers((3, 2, 3, 3), 3)
    sums = conv(x, weight, 1)
    most = np.maximum(sums, 0).reshape(2, 3, 3, 2, 3, 2).max((3, 5))
    missing = most.reshape(2, 27) @ row - target
    arrives = np.zeros_like(sums)
    for place in np.ndindex(most.shape):
        n, c, i, j = place
        window = sums[n, c, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
        if window.max() > 0:
            y, z = np.unravel_index(window.argmax(), (2, 2))
            arrives[n, c, 2 * i + y, 2 * j + z] = missing[n] * row.reshape(3, 3, 3)[c, i, j]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    of_weight, of_input = np.zeros_like(weight), np.zeros_like(padded)
    for i, j in np.ndindex(3, 3):
        of_weight[:, :, i, j] = np.einsum("noyx,ncyx->oc", arrives, padded[:, :, i : i + 6, j : j + 6])
        of_input[:, :, i : i + 6, j : j + 6] += np.einsum("noyx,oc->ncyx", arrives, weight[:, :, i, j])
    row = row - 0.01 * missing @ most.reshape(2, 27)
    of_input = of_input[:, :, 1:-1, 1:-1]
    return np.concatenate([(weight - 0.01 * of_weight).ravel(), row, of_input.ravel()])


@program
def norm_gradients():
    x, gain, back = numbers((3, 6), 35), numbers((6,), 36), numbers((3, 6), 37)

    def layer(x):
        off = x - x.mean(-1, keepdims=True)
        return off / np.sqrt((off**2).mean(-1, keepdims=True) + 1e-3)

    def rms(x):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-3)

    slopes = []
    for norm in (layer, rms):
        for place in np.ndindex(x.shape):
            step = np.zeros(x.shape, complex)
            step[place] = 1e-30j  # by an imaginary step
            slopes.append((norm(x + step) * gain * back).sum().imag / 1e-30)
    scale = 1 / np.sqrt((x**2).mean(-1) + 1e-3)
    return [*slopes, *(back * layer(x)).sum(0), *x.mean(-1), *scale, 1]


@program
def upsampling_step():
    x, target, weight = numbers((2, 3, 4, 4), 38), numbers((2, 2, 8, 8), 39), numbers((3, 2, 3, 3), 40)

    def missing(weight):
        y = np.zeros((2, 2, 10, 10))  # one more on each side
        for i, j in np.ndindex(3, 3):
            y[:, :, i : i + 7 : 2, j : j + 7 : 2] += np.einsum("ncyx,co->noyx", x, weight[:, :, i, j])
        return y[:, :, 1:9, 1:9] - target

    far = missing(weight)
    padded = np.pad(far, ((0, 0), (0, 0), (1, 1), (1, 1)))
    of_weight, of_input = np.zeros_like(weight), np.zeros_like(x)
    for i, j in np.ndindex(3, 3):
        met = padded[:, :, i : i + 7 : 2, j : j + 7 : 2]
        of_weight[:, :, i, j] = np.einsum("ncyx,noyx->co", x, met)
        of_input += np.einsum("noyx,co->ncyx", met, weight[:, :, i, j])
    weight = weight - 0.01 * of_weight
    return [*weight.ravel(), *of_input.ravel(), (far**2).sum(), (missing(weight) ** 2).sum()]


@program
def moments():
    weights = []
    for w in (numbers((3, 2), 41), numbers((4,), 42)[::-1]):
        mean, power, decay = np.zeros_like(w), np.full_like(w, 0.1), np.ones_like(w)
        for _ in range(4):
            slope = 2 * w
            mean = 0.9 * mean + 0.1 * slope
            power = 0.95 * power + 0.05 * slope**2
            decay = 0.9 * decay
            w = w - 0.1 * mean / (1 - decay) / np.sqrt(power)
        weights.append(w.ravel())
    return np.concatenate(weights)
