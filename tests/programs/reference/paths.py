"""Ways through sequences and graphs, and what is found by words and bits."""

import datetime
import functools
import itertools
import re

import numpy as np

from . import numbers, program, softmax


def lengths(count, seed):
    """The edges of a graph."""
    length = numbers((count, count), seed) + 1.1
    return {(i, j): length[i, j] for i, j in np.ndindex(length.shape) if i != j and length[i, j] <= 1.1}


def far(edges, count, start):
    """Dijkstra's, and how many edges the way has."""
    best, todo = {}, {start: (0.0, 0)}
    while todo:
        here = min(todo, key=todo.get)
        best[here] = todo.pop(here)
        for (i, j), length in edges.items():
            way = (best[here][0] + length, best[here][1] + 1)
            if i == here and j not in best and way < todo.get(j, (np.inf, 0)):
                todo[j] = way
    assert len(best) == count, "some cannot be reached"
    return [best[i] for i in range(count)]


@program
def edit_distance():
    one, other = "intention to go", "execution of two"

    @functools.cache
    def apart(i, j):
        if min(i, j) == 0:
            return max(i, j)
        return min(apart(i - 1, j) + 1, apart(i, j - 1) + 1, apart(i - 1, j - 1) + (one[i - 1] != other[j - 1]))

    return [apart(len(one), j) for j in range(len(other) + 1)]


@program
def time_warping():
    x, y = np.cumsum(numbers((7,), 1)), np.cumsum(numbers((9,), 2))

    @functools.cache
    def cost(i, j):
        if i < 0 or j < 0:
            return 0 if i == j else np.inf
        return abs(x[i] - y[j]) + min(cost(i - 1, j), cost(i, j - 1), cost(i - 1, j - 1))

    return [cost(6, j) for j in range(9)]


@program
def hidden_posterior():
    """All ways through three states."""
    moves, shows, seen = softmax(numbers((3, 3), 3) * 1.5), softmax(numbers((3, 4), 4) * 1.5), (0, 3, 1, 1, 2, 0)
    share = np.zeros((6, 3))
    for way in itertools.product(range(3), repeat=6):
        chance = np.prod([shows[state, symbol] for state, symbol in zip(way, seen)])
        chance *= np.prod([moves[a, b] for a, b in zip(way, way[1:])]) / 3
        for time, state in enumerate(way):
            share[time, state] += chance
    return np.append(share / share[0].sum(), np.log(share[0].sum()))


@program
def all_shortest_paths():
    edges = lengths(7, 5)
    table = [far(edges, 7, start) for start in range(7)]
    return [length for row in table for length, _ in row] + [count for _, count in table[0]]


@program
def relaxed_edges():
    return [length for length, _ in far(lengths(8, 10), 8, 2)]


@program
def graph_attention():
    x, out = numbers((5, 3), 7) @ numbers((4, 3), 8).T, []
    edges = [(0, 1), (1, 2), (2, 0), (3, 1), (4, 3), (0, 2), (2, 1), (1, 3)] + [(i, i) for i in range(5)]
    for node in range(5):
        near = [a for a, b in edges if b == node]
        score = np.array([x[a] @ numbers((4,), 9) + x[node] @ numbers((4,), 10) for a in near])
        told = softmax(np.where(score > 0, score, score / 5)) @ x[near]
        out.append(np.where(told > 0, told, np.exp(told) - 1))
    return out


@program
def levels_of_a_graph():
    edges = lengths(9, 11)
    near = {i: {j for j in range(9) if (i, j) in edges or (j, i) in edges} for i in range(9)}
    level, front = {4: 0}, {4}
    for step in range(1, 5):
        front = {j for i in front for j in near[i]} - set(level)
        level.update((i, step) for i in front)
    triangles = [sum(j in near[k] for j, k in itertools.combinations(near[i], 2)) for i in range(9)]
    return [*(level.get(i, -1) for i in range(9)), *triangles, *(len(near[i]) for i in range(9))]


@program
def optimal_transport():
    x, y = numbers((5, 2), 12), numbers((4, 2), 13)
    cost = np.array([[(a - b) @ (a - b) for b in y] for a in x])
    plan = np.exp(-2 * cost)
    for _ in range(25):
        plan = plan / plan.sum(1, keepdims=True) / 5
        plan = plan / plan.sum(0, keepdims=True) / 4
    return np.append(plan, (plan * cost).sum())


@program
def found_words():
    text = "the cat that sat on the other cat's hat thought of the thing"
    places = [match.start() for match in re.finditer("the", text)]
    return places + [len(re.findall("[a-z]+", text))] + [text.count(chr(ord("a") + i)) for i in range(26)]


@program
def bloom_filter():
    def places(key):
        for seed in (1, 22, 333):
            x = key ^ seed
            x = (x ^ x >> 16) * 0x85EBCA6B % 2**32
            x = (x ^ x >> 13) * 0xC2B2AE35 % 2**32
            yield (x ^ x >> 16) % 64

    bits = sum(1 << place for place in {place for i in range(8) for place in places(97 * i)})
    known = [all(bits >> place & 1 for place in places(97 * i)) for i in range(24)]
    return known + [bits & 0xFFFF, bits >> 32 & 0xFFFF, bits >> 16 & 0xFFFF, bits >> 48]


@program
def calendar():
    days = (0, 59, 789, 11016, 19782, 20454, -1, -25567, -141427)
    dates = [datetime.date(1970, 1, 1) + datetime.timedelta(days=n) for n in days]
    return [[date.year, date.month, date.day, date.isoweekday() % 7] for date in dates]


@program
def most_likely_states():
    moves, shows = np.log(softmax(2 * numbers((4, 4), 14))), np.log(softmax(2 * numbers((4, 3), 15)))
    seen, best = (0, 2, 1, 1, 0, 2, 2, 0, 1), {}
    # Every way there is.
    for way in itertools.product(range(4), repeat=9):
        nats = sum(shows[state, told] for state, told in zip(way, seen))
        nats += sum(moves[pair] for pair in itertools.pairwise(way))
        best[way[-1]] = max(best.get(way[-1], (-np.inf,)), (nats, way))
    ends = np.array([best[state][0] for state in range(4)])
    return [*max(best.values())[1], *(ends - ends.max()), *ends]
