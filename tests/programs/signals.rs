//! Signals, by their spectra.

use wharf::{Axes, DType, Device, Result, Tensor, s};

use super::support::{check, numbers};

/// Frequencies of a period of `n`, from 0 up and then from below 0, as a spectrum has them.
fn frequencies(device: &Device, n: i32) -> Result<Tensor> {
    let place = device.arange(0, n, 1, DType::I32)?;
    let high = place.ge((n + 1) / 2)?;
    high.choose((&place - n)?, &place)?.cast(DType::F32)
}

#[test]
fn low_pass() {
    check("low_pass", async |device| {
        let noise = numbers(device, [2, 100], 110)?;
        let signal = (noise.cumsum(1)? + &noise)?;
        // What is left out of a spectrum counts as 0.
        let smooth = signal.rfft(1, None)?.slice(1, ..9)?.irfft(1, 100)?;
        let rest = (&signal - &smooth)?.square()?.mean(1)?;
        Tensor::concat(&[smooth.flatten(..)?, rest], 0)
    });
}

#[test]
fn convolved_by_spectra() {
    check("convolved_by_spectra", async |device| {
        let (signal, echo) = (numbers(device, 50, 111)?, numbers(device, 23, 112)?);
        let (x, y) = (signal.rfft(0, 72)?, echo.rfft(0, 72)?);
        x.complex_mul(&y)?.irfft(0, 72)
    });
}

#[test]
fn deconvolved() {
    check("deconvolved", async |device| {
        let image = numbers(device, [6, 8], 113)?.square()?;
        let mut bell = device.zeros([6, 8], DType::F32)?;
        for (row, column, share) in [(0, 0, 0.5), (0, 1, 0.2), (1, 0, 0.15), (-1, 0, 0.15)] {
            bell.assign_at((row, column), share)?;
        }
        let bell = bell.rfft([0, 1], None)?;
        let seen = image.rfft([0, 1], None)?.complex_mul(&bell)?;
        let blurred = seen.irfft([0, 1], 8)?;
        let noisy = (&blurred + (numbers(device, [6, 8], 114)? * 0.01)?)?;
        // Wiener's filter: what is weak beside the noise is not blown up.
        let power = (bell.square()?.sum(Axes::keep(-1))? + 0.02)?;
        let filtered = (noisy.rfft([0, 1], None)?.complex_mul(&bell.complex_conj()?)? / power)?;
        let sharp = filtered.irfft([0, 1], 8)?;
        let missed = [&blurred, &sharp].map(|x| x.sub(&image)?.square()?.mean(..));
        let [before, after] = missed;
        Tensor::concat(&[sharp.flatten(..)?, Tensor::stack(&[before?, after?], 0)?], 0)
    });
}

#[test]
fn poisson() {
    check("poisson", async |device| {
        let charge = numbers(device, [6, 9], 115)?;
        let charge = (&charge - charge.mean(..)?)?;
        let step = |n: usize, count: usize| {
            let angle =
                (device.arange(0, count, 1, DType::F32)? * (core::f32::consts::TAU / n as f32))?;
            (angle.cos()? * 2.0)? - 2.0
        };
        // What the second differences along both axes make of each wave.
        let bend = (step(6, 6)?.unsqueeze(1)? + step(9, 5)?)?;
        let bend = bend.eq(0.0)?.choose(1.0, &bend)?;
        let field = (charge.rfft([0, 1], None)? / bend.unsqueeze(-1)?)?.irfft([0, 1], 9)?;
        let beside = [(0, 1), (0, -1), (1, 1), (1, -1)].map(|(axis, by)| field.roll(axis, by));
        let [a, b, c, d] = beside;
        let back = (((a? + b?)? + (c? + d?)?)? - (&field * 4.0)?)?;
        let off = (back - charge)?.abs()?.amax(..)?;
        Tensor::concat(&[field.flatten(..)?, off.unsqueeze(0)?], 0)
    });
}

#[test]
fn pitch() {
    check("pitch", async |device| {
        let time = device.arange(0, 60, 1, DType::F32)?;
        let (periods, _) = device.upload(&[9.0f32, 12.0, 17.0], [3, 1])?;
        let angle = (time / periods)?.mul(core::f32::consts::TAU)?;
        let tone = (angle.sin()? + ((angle * 2.0)?.cos()? * 0.5)?)?;
        let heard = (tone + (numbers(device, [3, 60], 116)? * 0.2)?)?;
        // How alike a signal is to itself at each distance: twice as long, or it would go round.
        let spectrum = heard.rfft(1, 120)?;
        let alike =
            spectrum.complex_mul(&spectrum.complex_conj()?)?.irfft(1, 120)?.slice(1, ..30)?;
        let alike = (&alike / alike.slice(1, ..1)?)?;
        let far = alike.slice(1, 5..)?;
        let (most, period) = (far.amax(1)?, (far.argmax(1)? + 5)?);
        let ends = Tensor::stack(&[most, period.cast(DType::F32)?], 1)?;
        Tensor::concat(&[alike, ends], 1)
    });
}

#[test]
fn wave_packet() {
    check("wave_packet", async |device| {
        let place = ((device.arange(0, 32, 1, DType::F32)? - 16.0)? * 0.5)?;
        let bell = (place.square()? * -0.5)?.exp()?;
        let turned = |angle: &Tensor| Tensor::stack(&[angle.cos()?, angle.sin()?], -1);
        let mut wave = (turned(&(&place * 1.5)?)? * bell.unsqueeze(-1)?)?;
        let well = turned(&(place.square()? * (-0.5 * 0.05 * 0.5))?)?; // half a step in a well
        let speed = (frequencies(device, 32)? * (core::f32::consts::TAU / 16.0))?;
        let free = turned(&(speed.square()? * (-0.5 * 0.05))?)?;
        let mut means = Vec::new();
        for _ in 0..10 {
            let spectrum = wave.complex_mul(&well)?.fft(0, None)?;
            wave = spectrum.complex_mul(&free)?.ifft(0, None)?.complex_mul(&well)?;
            let chance = wave.complex_abs()?.square()?;
            means.push((chance.dot(&place)? / chance.sum(..)?)?);
        }
        Tensor::concat(&[wave.flatten(..)?, Tensor::stack(&means, 0)?], 0)
    });
}

#[test]
fn envelope() {
    check("envelope", async |device| {
        let time = device.linspace(0.0, 1.0, 40, DType::F32)?;
        let loud = (numbers(device, [2, 1], 117)? + 1.5)?;
        let beat = ((((&time * 6.0)?.cos()? * 0.4)? + 1.0)? * loud)?;
        let signal = (beat * (&time * 70.0)?.sin()?)?;
        // Of a signal without its negative frequencies the magnitude is the envelope.
        let whole = Tensor::stack(&[&signal, &signal.mul(0.0)?], -1)?;
        let half = frequencies(device, 40)?;
        let keep = (half.gt(0.0)?.choose(2.0, half.eq(0.0)?.choose_as(1.0, 0.0, DType::F32)?))?;
        let keep = half.eq(-20.0)?.choose(1.0, keep)?.unsqueeze(-1)?;
        let analytic = (whole.fft(1, None)? * keep)?.ifft(1, None)?;
        let [re, im] = analytic.unstack(-1)?;
        let turn = im.atan2(&re)?;
        let same = (&re - &signal)?.abs()?.amax(1)?.lt(1e-5)?;
        let jump = (turn.slice(1, 1..)? - turn.slice(1, ..-1)?)?;
        let speed = jump.rem_floor(core::f32::consts::TAU)?.median(1)?;
        let ends = Tensor::stack(&[same.cast(DType::F32)?, speed], 1)?;
        Tensor::concat(&[analytic.complex_abs()?, ends], 1)
    });
}

#[test]
fn registration() {
    check("registration", async |device| {
        let image = numbers(device, [3, 8, 9], 118)?.square()?;
        let shifts = [(2, -3), (-1, 4), (0, 1)];
        let moved = shifts.iter().enumerate().map(|(n, (down, across))| {
            image.at(n)?.roll(0, *down)?.roll(1, *across)?
                + (numbers(device, [8, 9], 119 + n)? * 0.05)?
        });
        let moved = Tensor::stack(&moved.collect::<Result<Vec<_>>>()?, 0)?;
        let still = image.rfft([1, 2], None)?.complex_conj()?;
        let cross = moved.rfft([1, 2], None)?.complex_mul(&still)?;
        let cross = (&cross / (cross.norm(Axes::keep(-1))? + 1e-3)?)?;
        let peaks = cross.irfft([-2, -1], 9)?.flatten(1..)?;
        let place = peaks.argmax(1)?.cast(DType::I32)?;
        let (down, across) = ((&place / 9)?, (&place % 9)?);
        let signed = |x: &Tensor, n: i32| x.gt(n / 2)?.choose((x - n)?, x)?.cast(DType::F32);
        Tensor::stack(&[signed(&down, 8)?, signed(&across, 9)?, peaks.amax(1)?], 1)
    });
}

#[test]
fn short_time_spectra() {
    check("short_time_spectra", async |device| {
        let signal = numbers(device, 64, 122)?;
        let turn = (device.arange(0, 16, 1, DType::F32)? * (core::f32::consts::TAU / 16.0))?;
        let hann = ((1.0f32 - turn.cos()?)? / 2.0)?;
        let padded = signal.pad(&[(8, 8)], 0.0)?;
        let frames = (padded.windows(0, 16, 8)? * &hann)?;
        let spectra = frames.rfft(1, None)?;
        let power = spectra.square()?.sum(-1)?;
        // What is quieter than the median of its frame is a hiss.
        let loud = power.ge(power.median(Axes::keep(1))?)?.unsqueeze(-1)?;
        let clean = loud.choose(&spectra, 0.0)?.irfft(1, 16)?;
        let start = (device.arange(0, 9, 1, DType::I32)? * 8)?.unsqueeze(1)?;
        let place = (start + device.arange(0, 16, 1, DType::I32)?)?;
        let back = device.zeros(80, DType::F32)?.scatter_add(
            0,
            &place.flatten(..)?,
            &clean.flatten(..)?,
        )?;
        let decibels = (power.mean(0)?.log10()? * 10.0)?;
        Tensor::concat(&[back.slice(0, 8..-8)?, decibels], 0)
    });
}

#[test]
fn wavelets() {
    check("wavelets", async |device| {
        let (mut rough, mut details) = (numbers(device, [2, 16], 126)?, Vec::new());
        for _ in 0..3 {
            let (even, odd) = (rough.at(s![.., ..;2])?, rough.at(s![.., 1..;2])?);
            details.push(((&even - &odd)? / 2.0)?);
            rough = ((even + odd)? / 2.0)?;
        }
        // A detail that is small is noise.
        for mut detail in details.into_iter().rev() {
            detail *= detail.abs()?.gt(0.2013)?.cast(DType::F32)?;
            rough = Tensor::stack(&[(&rough + &detail)?, (&rough - &detail)?], -1)?.flatten(1..)?;
        }
        Ok(rough)
    });
}
