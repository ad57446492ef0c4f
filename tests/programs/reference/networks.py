"""Blocks of well-known networks."""

import math

import numpy as np

from . import by_channel, conv, numbers, program, sigmoid, silu, softmax

erf = np.vectorize(math.erf)


def gelu(x):
    return x / 2 * (1 + erf(x / np.sqrt(2)))


def layer_norm(x, eps):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


def batch_norm(x, seed):
    mean, var, scale, bias = [by_channel(numbers((x.shape[1],), seed + i)) for i in range(4)]
    return (x - mean) * scale / np.sqrt(abs(var) + 0.5 + 1e-3) + bias


def weight(shape, seed):
    return numbers(shape, seed) / np.sqrt(np.prod(shape[1:]))


def depthwise(x, w, pad):
    """Each channel by itself."""
    return np.concatenate([conv(x[:, i : i + 1], w[i : i + 1], pad) for i in range(len(w))], 1)


@program
def long_short_memory():
    x, w, u, bias = numbers((5, 2, 3), 1), numbers((16, 3), 2), numbers((16, 4), 3), numbers((16,), 4)
    state, cell, states = np.zeros((2, 4)), numbers((2, 4), 5), []
    for step in range(5):
        gates = np.concatenate([x[step], state, np.ones((2, 1))], 1) @ np.concatenate([w, u, bias[:, None]], 1).T
        cell = sigmoid(gates[:, 4:8]) * cell + sigmoid(gates[:, :4]) * np.tanh(gates[:, 8:12])
        state = sigmoid(gates[:, 12:]) * np.tanh(cell)
        states.append(state)
    return np.array(states)


@program
def both_ways():
    x, out = numbers((4, 3), 6), np.zeros((4, 4))
    for order, seed, part in ((range(4), 7, slice(0, 2)), (range(3, -1, -1), 9, slice(2, 4))):
        state = np.zeros(2)
        for step in order:
            state = out[step, part] = np.tanh(numbers((2, 3), seed) @ x[step] + numbers((2, 2), seed + 1) @ state)
    return out


@program
def mobile_block():
    y = batch_norm(np.einsum("ncij,oc->noij", numbers((1, 3, 5, 6), 11), weight((6, 3), 12)), 13)
    y = y * np.clip(y + 3, 0, 6) / 6
    y = batch_norm(depthwise(y, weight((6, 1, 3, 3), 17), 1)[:, :, ::2, ::2], 18)
    return batch_norm(np.einsum("ncij,oc->noij", np.clip(y, 0, 6), weight((2, 6), 22)), 23)


@program
def squeeze_excite():
    x = numbers((2, 4, 3, 3), 27)
    hidden = np.maximum(x.reshape(2, 4, 9).sum(-1) / 9 @ numbers((2, 4), 28).T + numbers((2,), 30), 0)
    gate = np.clip(hidden @ numbers((4, 2), 29).T / 6 + 0.5, 0, 1)
    return np.einsum("ncij,nc->ncij", x, gate)


@program
def bottleneck():
    x = numbers((1, 4, 5, 5), 31)
    y = np.maximum(batch_norm(conv(x, weight((2, 4, 1, 1), 32)), 33), 0)
    y = np.maximum(batch_norm(conv(y, weight((2, 2, 3, 3), 37), 1)[:, :, ::2, ::2], 38), 0)
    y = batch_norm(conv(y, weight((6, 2, 1, 1), 42)), 43)
    return np.maximum(y + batch_norm(conv(x[:, :, ::2, ::2], weight((6, 4, 1, 1), 47)), 48), 0)


@program
def vgg_head():
    x = numbers((2, 3, 8, 8), 52)
    for seed, channels, out in ((53, 3, 4), (55, 4, 5)):
        x = np.maximum(conv(x, weight((out, channels, 3, 3), seed), 1) + by_channel(numbers((out,), seed + 1)), 0)
        x = np.maximum.reduce([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)])
    hidden = np.maximum(x.reshape(2, 20) @ numbers((6, 20), 57).T, 0)
    return softmax(hidden @ numbers((3, 6), 58).T + numbers((3,), 59))


@program
def convnext_block():
    x = numbers((1, 4, 5, 4), 60)
    y = depthwise(x, weight((4, 1, 7, 7), 61), 3) + by_channel(numbers((4,), 62))
    y = layer_norm(y.transpose(0, 2, 3, 1), 1e-6) * numbers((4,), 63) + numbers((4,), 64)
    y = gelu(y @ numbers((8, 4), 65).T) @ numbers((4, 8), 66).T * numbers((4,), 67)
    return x + y.transpose(0, 3, 1, 2)


@program
def patch_embedding():
    image, w, bias, place = numbers((2, 3, 4, 6), 68), weight((5, 12), 69), numbers((5,), 70), numbers((7, 5), 72)
    rows = []
    for picture in image:
        patches = [picture[:, i : i + 2, j : j + 2].ravel() for i in (0, 2) for j in (0, 2, 4)]
        rows.append(layer_norm(np.vstack([numbers((5,), 71), np.array(patches) @ w.T + bias]) + place, 1e-6))
    return np.array(rows)


@program
def mixer_block():
    def gelu_tanh(x):
        return x * sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))

    x = numbers((2, 3, 4), 73)
    x = x + np.einsum("pq,qbc->bpc", numbers((3, 5), 75), gelu_tanh(
        np.einsum("qp,bpc->qbc", numbers((5, 3), 74), layer_norm(x, 1e-5))))
    return x + gelu_tanh(layer_norm(x, 1e-5) @ numbers((5, 4), 76).T) @ numbers((4, 5), 77).T


@program
def mixture_of_experts():
    x, up, down, load, rows = numbers((6, 3), 78), numbers((4, 5, 3), 80), numbers((4, 3, 5), 81), np.zeros(4), []
    for token, scores in zip(x, x @ (numbers((4, 3), 79) ** 2).T):
        chosen = sorted(range(4), key=lambda expert: -scores[expert])[:2]
        load[chosen] += 1
        gates = softmax(scores[chosen])
        rows.append(sum(gate * down[expert] @ silu(up[expert] @ token) for gate, expert in zip(gates, chosen)))
    return np.append(np.ravel(rows), load)


@program
def low_rank_linear():
    x, w, down, up = numbers((3, 6), 82), numbers((4, 6), 83), numbers((2, 6), 84), numbers((4, 2), 85)
    y = np.einsum("ni,oi->no", x, w) + 8 * np.einsum("ni,ri,or->no", x, down, up)
    return np.array([y, y])


@program
def time_embedding():
    angle = np.array([[step * 1000 ** (-i / 4) for i in range(4)] for step in (0, 3, 20)])
    both = silu(np.hstack([np.cos(angle), np.sin(angle)]) @ numbers((6, 8), 86).T + numbers((6,), 87))
    x = layer_norm(numbers((3, 3, 4), 88), 1e-5)
    return x * (1 + both[:, :3, None]) + both[:, 3:, None]


@program
def diffusion_steps():
    kept = [np.prod([1 - (0.02 + 0.04 * i) for i in range(step + 1)]) for step in range(8)]
    x = numbers((2, 3, 3), 89)
    for step in (7, 5, 3):
        noise = np.tanh(x / 2) + 0.1 * numbers((3, 3), 90 + step)
        clean = np.clip((x - np.sqrt(1 - kept[step]) * noise) / np.sqrt(kept[step]), -1, 1)
        x = np.sqrt(kept[step - 2]) * clean + np.sqrt(1 - kept[step - 2]) * noise
    return x


@program
def causal_waves():
    x, total = numbers((2, 9), 1), np.zeros((2, 9))
    for layer, reach in enumerate((1, 2, 4)):
        w = numbers((4, 2, 2), 2 + 2 * layer) * 0.7
        before = np.zeros((2, 9))
        before[:, reach:] = x[:, :-reach]
        y = w[:, :, 0] @ before + w[:, :, 1] @ x
        y = numbers((2, 2), 3 + 2 * layer) @ (np.tanh(y[:2]) * sigmoid(y[2:]))
        x, total = x + y, total + y
    return np.maximum(total, 0)


@program
def pixel_shuffle():
    x, slope = numbers((1, 2, 3, 2), 8), numbers((2,), 11)
    y = conv(x, weight((8, 2, 3, 3), 9), 1) + by_channel(numbers((8,), 10))
    out = np.zeros((2, 6, 4))
    for c, i, j in np.ndindex(out.shape):
        value = y[0, c * 4 + i % 2 * 2 + j % 2, i // 2, j // 2]
        out[c, i, j] = value if value > 0 else slope[c] * value
        row, column = [np.clip((place + 0.5) / 2 - 0.5, 0, size - 1) for place, size in ((i, 3), (j, 2))]
        lines = [np.interp(column, range(2), x[0, c, line]) for line in range(3)]
        out[c, i, j] += np.interp(row, range(3), lines)
    return out


@program
def gated_feed_forward():
    x = numbers((2, 3, 4), 12)
    y = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * numbers((4,), 13)
    gate, up, plain = [y @ numbers(shape, seed).T for shape, seed in (((6, 4), 14), ((6, 4), 15), ((8, 4), 17))]
    return x + silu(gate) * up @ numbers((4, 6), 16).T + plain[..., :4] * sigmoid(plain[..., 4:])


@program
def pooled_pyramid():
    x = numbers((2, 6, 6), 18)
    levels = list(x)
    for side in (1, 2, 3):
        means = x.reshape(2, side, 6 // side, side, 6 // side).mean((2, 4))
        level = np.tensordot(weight((1, 2), 18 + side)[0], means, 1)
        place = np.linspace(0, side - 1, 6)
        for _ in range(2):
            level = np.array([np.interp(place, range(side), row) for row in level]).T
        levels.append(level)
    for channel in x:
        levels.append(np.array([[channel[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2].mean() for j in range(6)]
                                for i in range(6)]))
    return np.tensordot(weight((2, 7), 22), np.array(levels), 1)


@program
def volumes():
    x, w = np.pad(numbers((2, 4, 4, 4), 23), ((0, 0), (1, 1), (1, 1), (1, 1))), numbers((4, 3, 3, 3), 24) * 0.3
    y = np.zeros((4, 4, 4, 4))
    for out, i, j, k in np.ndindex(y.shape):
        y[out, i, j, k] = (x[out // 2, i : i + 3, j : j + 3, k : k + 3] * w[out]).sum()
    y = layer_norm((y + numbers((4,), 25)[:, None, None, None]).reshape(4, 64), 1e-5) + numbers((4,), 26)[:, None]
    y = np.maximum(y, 0.1 * y).reshape(4, 2, 2, 2, 2, 2, 2).max((2, 4, 6))
    up = numbers((4, 2, 2, 2), 27) * 0.5
    y = np.einsum("cijk,cabd->iajbkd", y, up)
    return y * np.tanh(np.log1p(np.exp(y)))


@program
def folded_batch_norm():
    y = conv(numbers((2, 3, 5, 5), 28), numbers((4, 3, 3, 3), 29) / np.sqrt(27), 1)
    gain, bias, rows, scales, shifts = numbers((4,), 30), numbers((4,), 31), [], [], []
    for channel in range(4):
        part = y[:, channel]
        spread = np.sqrt(np.mean((part - part.mean()) ** 2) + 1e-5)
        rows.append(((part - part.mean()) / spread * gain[channel] + bias[channel])[:, 2])
        scales.append(gain[channel] / spread)
        shifts.append(bias[channel] - part.mean() * scales[-1])
    return [*np.stack(rows, 1).ravel(), *scales, *shifts, 1]


def eight_bits(weights):
    """Blocks of 32: the next f16 above the largest / 127, and the nearest whole numbers of it."""
    out = np.zeros_like(weights)
    for i, row in enumerate(weights):
        for start in range(0, len(row), 32):
            block = row[start : start + 32]
            exact = abs(block).max() / 127
            scale = np.float16(exact)
            if scale < exact:
                scale = np.nextafter(scale, np.float16(np.inf))
            whole = block / float(scale)
            assert abs(abs(whole % 1 - 0.5)).min() > 1e-4, "between two"
            out[i, start : start + 32] = np.round(whole) * float(scale)
    return out


@program
def quantized_network():
    x, w1, w2 = numbers((4, 64), 32), numbers((9, 64), 33) * 1.1, numbers((9, 5), 34).T * 1.3

    def run(w1, w2):
        hidden = (x @ w1.T + numbers((9,), 35)) / 8
        return hidden * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))) / 2 @ w2.T

    first, second = eight_bits(w1), eight_bits(w2)
    y, off = run(first, second), abs(first - w1)
    ends = [abs(y - run(w1, w2)).max(), off.max(), np.sqrt((off**2).mean())]
    return [*y.ravel(), *ends, *first[2, :40]]


@program
def four_bit_vocabulary():
    table = numbers((12, 64), 36) + 0.013
    blocks = table.reshape(12, 2, 32)
    most = np.take_along_axis(blocks, abs(blocks).argmax(2)[..., None], 2)
    places = np.floor(blocks / (most / -8) + 8.5).clip(0, 15) - 8
    known = (places * (most / -8).astype(np.float16).astype(float)).reshape(12, 64)
    share, losses = [], []
    for tokens in ([3, 0, 11, 7], [5, 5, 1, 9]):
        told = known[tokens].mean(0)
        told = told / np.sqrt((told**2).mean() + 1e-6)
        share.append(softmax(known @ told / 8))
        losses.append(-np.log(share[-1][tokens[-1]]))
    return [*np.ravel(share), *losses, abs(known - table).max(), 1]
