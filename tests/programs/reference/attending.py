"""The many ways to attend."""

import numpy as np

from . import numbers, program, softmax


def attend(q, k, v, scale, seen=lambda i, j: True, bias=lambda i, j: 0.0):
    """One query after the other, of one head."""
    out = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        keys = [j for j in range(len(k)) if seen(i, j)]
        powers = np.array([np.exp(scale * np.dot(q[i], k[j]) + bias(i, j)) for j in keys])
        out[i] = powers @ v[keys] / powers.sum()
    return out


@program
def multi_query():
    x, wq, wo = numbers((2, 5, 6), 1), numbers((6, 6), 2), numbers((6, 6), 3)
    shared = x @ numbers((6, 6), 4).T + numbers((6,), 5)
    out = np.zeros((2, 5, 6))
    for batch in range(2):
        k, v = shared[batch, :, :3], shared[batch, :, 3:]
        for head in range(2):
            q = x[batch] @ wq[head * 3 : head * 3 + 3].T
            out[batch, :, head * 3 : head * 3 + 3] = attend(q, k, v, 3**-0.5)
    return out @ wo.T


@program
def grouped_heads():
    q, k, v = numbers((4, 2, 4), 6), numbers((2, 6, 4), 7), numbers((2, 6, 3), 8)
    one = [attend(q[head], k[head // 2], v[head // 2], 0.7, lambda i, j: j <= i + 4) for head in range(4)]
    return np.array([one, one])


@program
def relative_bias():
    q, k, v, table = numbers((2, 6, 4), 9), numbers((2, 6, 4), 10), numbers((2, 6, 4), 11), numbers((5, 2), 12)
    bias = lambda head: lambda i, j: table[max(-2, min(2, i - j)) + 2, head]
    return np.array([attend(q[h], k[h], v[h], 1, bias=bias(h)) for h in range(2)])


@program
def linear_bias():
    q, k, v = numbers((4, 5, 2), 13), numbers((4, 5, 2), 14), numbers((4, 5, 2), 15)
    bias = lambda slope: lambda i, j: -slope * (i - j)
    return np.array([attend(q[h], k[h], v[h], 2**-0.5, lambda i, j: j <= i, bias(0.25 ** (h + 1))) for h in range(4)])


@program
def linear_attention():
    feature = lambda x: np.where(x > 0, x + 1, np.exp(x))
    q, k, v = feature(numbers((2, 5, 3), 16)), feature(numbers((2, 5, 3), 17)), numbers((2, 5, 3), 18)
    weights = np.tril(q @ k.swapaxes(1, 2))
    return weights / weights.sum(-1, keepdims=True) @ v


@program
def cross_attention():
    asked, told, lengths = numbers((2, 3, 4), 19), numbers((2, 5, 6), 20), (3, 5)
    q, both = asked @ numbers((4, 4), 21).T + numbers((4,), 22), told @ numbers((8, 6), 23).T
    out = asked.copy()
    for batch in range(2):
        for part in (slice(0, 2), slice(2, 4)):
            k, v = both[batch, : lengths[batch], :4][:, part], both[batch, : lengths[batch], 4:][:, part]
            out[batch, :, part] += attend(q[batch, :, part], k, v, 2**-0.5)
    return (out - out.mean(-1, keepdims=True)) / np.sqrt(out.var(-1, keepdims=True) + 1e-5)


@program
def shifted_windows():
    x, out = numbers((4, 6, 3), 24), np.zeros((4, 6, 3))
    # Windows begin at 1, and those at an end of the image are cut there.
    cut = lambda length, size: [range(0, 1)] + [range(i, min(i + size, length)) for i in range(1, length, size)]
    for rows in cut(4, 2):
        for columns in cut(6, 3):
            at = [(y, x) for y in rows for x in columns]
            w = np.array([x[place] for place in at])
            for place, y in zip(at, attend(w, w, w, 3**-0.5)):
                out[place] = y
    return out


@program
def partial_rotary():
    q, k, v = numbers((2, 5, 6), 25), numbers((2, 5, 6), 26), numbers((2, 5, 6), 27)
    turned = lambda x: np.concatenate([turn(x[..., :4]), x[..., 4:]], -1)

    def turn(x):
        pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * np.outer(np.arange(3, 8), [1, 50**-0.5]))
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    return np.array([attend(turned(q)[h], turned(k)[h], v[h], 6**-0.5, lambda i, j: j <= i) for h in range(2)])


@program
def cached_decoding():
    token, keys, values, out = numbers((4,), 28), [], [], []
    wq, wk, wv = numbers((4, 4), 29), numbers((4, 4), 30), numbers((4, 4), 31)
    for _ in range(5):
        keys.append(wk @ token)
        values.append(wv @ token)
        q, k, v = wq @ token, np.array(keys), np.array(values)
        heads = [softmax(k[:, part] @ q[part] / np.sqrt(2)) @ v[:, part] for part in (slice(0, 2), slice(2, 4))]
        token = token + np.concatenate(heads)
        token = token / np.sqrt((token**2).mean() + 1e-6)
        out.append(token)
    return np.array(out)


@program
def attention_pool():
    tokens, there = numbers((3, 4, 5), 33), numbers((3, 4), 34) > -0.45
    scores = np.tanh(tokens @ numbers((2, 5), 35).T) @ numbers((2,), 36)
    rows = []
    for tokens, there, scores in zip(tokens, there, scores):
        weights = softmax(scores[there])
        rows.append([*(weights @ tokens[there]), weights.max()])
    return np.array(rows)


@program
def cosine_attention():
    q, k, v = numbers((2, 4, 3), 37), numbers((2, 4, 3), 38), numbers((2, 4, 3), 39)
    q, k = [x / np.sqrt((x**2).sum(-1, keepdims=True)) for x in (q, k)]
    return np.array([attend(q[h], k[h], v[h], (4, 9)[h], lambda i, j: abs(i - j) <= 1) for h in range(2)])


@program
def attention_rollout():
    x, flow, vague = numbers((5, 6), 40), np.eye(5), []
    for layer in range(3):
        q, k, v = np.split(x @ numbers((18, 6), 41 + layer).T / 2, 3, 1)
        told, share, entropy = [], 0, []
        for head in (slice(0, 3), slice(3, 6)):
            scores = q[:, head] @ k[:, head].T / np.sqrt(3) + np.triu(np.full((5, 5), -np.inf), 1)
            weights = softmax(scores)
            told.append(weights @ v[:, head])
            share = share + weights / 2
            entropy.append(-sum(w * np.log(w) for w in weights.ravel() if w) / 5)
        x = x + np.hstack(told)
        flow = (share + np.eye(5)) / 2 @ flow
        vague.append(np.mean(entropy))
    return [*flow.ravel(), *vague, *x.ravel()]


@program
def aligned_words():
    told, words, covered, penalties = [], [], [], []
    for source, target, length in zip(numbers((2, 6, 4), 44), numbers((2, 3, 4), 45), (6, 4)):
        weights = np.zeros((3, 6))
        weights[:, :length] = softmax(2 * target @ source[:length].T)
        told.append(weights @ source)
        words.append(weights.argmax(1))
        covered.append(weights.sum(0))
        penalties.append(np.log(np.minimum(covered[-1][:length], 1)).sum())
    return np.concatenate([np.ravel(part) for part in (told, words, covered, penalties)])
