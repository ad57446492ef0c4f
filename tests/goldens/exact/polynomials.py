"""The coefficients of shaders/op/*64.wgsl, by mpmath.

    pip install mpmath && python tests/goldens/exact/polynomials.py

prints, for each function, a polynomial through its values at Chebyshev's nodes, the highest power first, each
coefficient the nearest f64, and how far the rounded polynomial is off at worst. Then pi / 2, ln 2 and log10 2 in parts.
"""

from mpmath import mp, mpf

mp.prec = 300


def rounded(x):
    with mp.workprec(53):
        return float(+x)


def fitted(function, low, high, degree):
    """Newton's divided differences at the nodes, expanded."""
    middle, half = mpf(low + high) / 2, mpf(high - low) / 2
    nodes = [middle + half * mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    table = [function(x) for x in nodes]
    for step in range(1, degree + 1):
        for i in range(degree, step - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - step])
    powers = [mpf(0)]
    for value, node in zip(reversed(table), reversed(nodes)):
        times = [mpf(0)] + powers
        powers = [a - node * b for a, b in zip(times, powers + [mpf(0)])]
        powers[0] += value
    return [rounded(c) for c in reversed(powers[:degree + 1])]


def worst(function, low, high, coefficients, weight):
    """Of 2000 places, how far off, as a part of what it is weighed by."""
    places = [mpf(low) + (mpf(high) - low) * i / 2000 for i in range(1, 2000) if 2 * i != 2000]
    return max(abs(mp.polyval(coefficients, x) - function(x)) * weight(x) for x in places)


def erfcx(t):
    return mp.exp(t * t) * mp.erfc(t)


def rest(u):
    """Of u = 1 - 8 / (t + 4): erfcx(t)."""
    return erfcx(8 / (1 - u) - 4)


root, ln2 = mp.sqrt, mp.log(2)
EIGHTH, QUARTER = mp.tan(mp.pi / 8) ** 2, (mp.pi / 4) ** 2


def odd(function):
    """(f(x) - x) / x^3 by z = x^2."""
    return lambda z: (function(root(z)) - root(z)) / (z * root(z))


FUNCTIONS = [
    ("exp: (e^r - 1 - r) / r^2", lambda r: (mp.expm1(r) - r) / r**2, -0.3466, 0.3467, 10, lambda r: r * r),
    ("log: (2 atanh(s) - 2 s) / s^3", lambda z: 2 * odd(mp.atanh)(z), 0, 0.02945, 6, lambda z: z),
    ("sin", odd(mp.sin), 0, 0.6170, 6, lambda z: z),
    ("cos: (cos x - 1 + x^2 / 2) / x^4", lambda z: (mp.cos(root(z)) - 1 + z / 2) / z**2, 0, 0.6170, 6, lambda z: z * z),
    ("atan", odd(mp.atan), 0, 0.1717, 11, lambda z: z),
    ("asin", odd(mp.asin), 0, 0.2501, 13, lambda z: z),
    ("erf: erf(x) / x - 1", lambda z: mp.erf(root(z)) / root(z) - 1, 0, 1, 11, lambda z: 1),
    ("1 - erf: erfcx(t) by 1 - 8 / (t + 4), t from 0 to 6", rest, -1.0001, 0.2001, 17, lambda u: mp.erfc(8 / (1 - u) - 4) / rest(u)),
]


def parts(x, bits, count):
    """The first parts have so many bits; the last one is what is left."""
    found = []
    for _ in range(count - 1):
        scale = mpf(2) ** (bits - 1 - int(mp.floor(mp.log(abs(x), 2))))
        found.append(rounded(mp.floor(x * scale) / scale))
        x -= found[-1]
    return found + [rounded(x)]


if __name__ == "__main__":
    for name, function, low, high, degree, weight in FUNCTIONS:
        coefficients = fitted(function, low, high, degree)
        print(name, mp.nstr(worst(function, low, high, coefficients, weight), 3))
        for c in coefficients:
            print(f"    {c!r}lf")
    print("pi / 2", parts(mp.pi / 2, 33, 4), "ln 2", parts(ln2, 40, 2), "log10 2", parts(mp.log10(2), 40, 2))
