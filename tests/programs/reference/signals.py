"""Signals, by their spectra."""

import numpy as np

from . import numbers, program


@program
def low_pass():
    noise = numbers((2, 100), 110)
    signal = noise.cumsum(1) + noise
    # The sums of the waves themselves, without a fast transform.
    waves = np.exp(-2j * np.pi * np.outer(np.arange(100), np.arange(-8, 9)) / 100)
    smooth = (signal @ waves @ waves.conj().T).real / 100
    return np.append(smooth, ((signal - smooth) ** 2).mean(1))


@program
def convolved_by_spectra():
    return np.convolve(numbers((50,), 111), numbers((23,), 112))
