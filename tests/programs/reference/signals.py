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


@program
def deconvolved():
    image, cross = numbers((6, 8), 113) ** 2, {(0, 0): 0.5, (0, 1): 0.2, (1, 0): 0.15, (-1, 0): 0.15}
    blurred = sum(share * np.roll(image, place, (0, 1)) for place, share in cross.items())
    noisy = blurred + 0.01 * numbers((6, 8), 114)
    # The same filter as a system of equations: what is made least is |blur x - noisy|^2 + 0.02 |x|^2.
    eye = np.eye(48).reshape(48, 6, 8)
    blur = sum(share * np.roll(eye, place, (1, 2)) for place, share in cross.items()).reshape(48, 48).T
    sharp = np.linalg.solve(blur.T @ blur + 0.02 * np.eye(48), blur.T @ noisy.ravel())
    return [*sharp, ((blurred - image) ** 2).mean(), ((sharp - image.ravel()) ** 2).mean()]


@program
def poisson():
    charge = numbers((6, 9), 115)
    charge = charge - charge.mean()
    eye = np.eye(54).reshape(54, 6, 9)
    system = sum(np.roll(eye, by, axis) for axis in (1, 2) for by in (1, -1)).reshape(54, 54) - 4 * np.eye(54)
    return np.append(np.linalg.pinv(system) @ charge.ravel(), 0)


@program
def pitch():
    out = []
    for period, noise in zip((9, 12, 17), numbers((3, 60), 116)):
        angle = 2 * np.pi * np.arange(60) / period
        heard = np.sin(angle) + 0.5 * np.cos(2 * angle) + 0.2 * noise
        alike = np.array([heard[: 60 - far] @ heard[far:] for far in range(30)]) / (heard @ heard)
        out.append([*alike, alike[5:].max(), alike[5:].argmax() + 5])
    return out


@program
def wave_packet():
    place = (np.arange(32) - 16) / 2
    wave = np.exp(1.5j * place - place**2 / 2)
    # A step as matrices: of the free motion by the sum over all waves.
    well = np.diag(np.exp(-0.0125j * place**2))
    speed = 2 * np.pi * np.where(np.arange(32) < 16, np.arange(32), np.arange(32) - 32) / 16
    waves = np.exp(1j * np.outer(place, speed)) / np.sqrt(32)
    step = well @ waves @ np.diag(np.exp(-0.025j * speed**2)) @ waves.conj().T @ well
    means = []
    for _ in range(10):
        wave = step @ wave
        chance = abs(wave) ** 2
        means.append(chance @ place / chance.sum())
    return np.append(np.stack([wave.real, wave.imag], 1), means)


@program
def envelope():
    time, out = np.linspace(0, 1, 40), []
    for loud in numbers((2,), 117) + 1.5:
        signal = loud * (1 + 0.4 * np.cos(6 * time)) * np.sin(70 * time)
        # Hilbert's transform of a period, which is a sum over odd distances.
        odd = np.arange(1, 40, 2)
        beside = np.array([sum(signal[(i - odd) % 40] / np.tan(np.pi * odd / 40)) for i in range(40)]) / 20
        turn = np.unwrap(np.arctan2(beside, signal))
        out.append([*np.hypot(signal, beside), 1, np.median(np.diff(turn) % (2 * np.pi))])
    return out


@program
def registration():
    out = []
    for n, (image, shift) in enumerate(zip(numbers((3, 8, 9), 118) ** 2, [(2, -3), (-1, 4), (0, 1)])):
        moved = np.roll(image, shift, (0, 1)) + 0.05 * numbers((8, 9), 119 + n)
        cross = np.fft.fft2(moved) * np.fft.fft2(image).conj()
        out.append([*shift, np.fft.ifft2(cross / (abs(cross) + 1e-3)).real.max()])
    return out


@program
def short_time_spectra():
    padded, back, power = np.pad(numbers((64,), 122), 8), np.zeros(80), []
    for start in range(0, 72, 8):
        frame = padded[start : start + 16] * (1 - np.cos(2 * np.pi * np.arange(16) / 16)) / 2
        spectrum = np.fft.fft(frame)
        power.append(abs(spectrum[:9]) ** 2)
        # Both halves of what is kept are mirror images.
        spectrum[abs(spectrum) < np.median(abs(spectrum[:9])) - 1e-9] = 0
        back[start : start + 16] += np.fft.ifft(spectrum).real
    return np.append(back[8:-8], 10 * np.log10(np.mean(power, 0)))


@program
def wavelets():
    signal = numbers((2, 16), 126)
    clean = signal.reshape(2, 2, 8).mean(2).repeat(8, 1)
    for size in 8, 4, 2:
        # Of each part its halves, as far as they are from its mean.
        halves = signal.reshape(2, -1, 2, size // 2).mean(3)
        detail = (halves[..., 0] - halves[..., 1]) / 2
        detail = np.where(abs(detail) > 0.2013, detail, 0)
        clean += (detail[..., None] * np.repeat([1, -1], size // 2)).reshape(2, 16)
    return clean
