//! Signals, by their spectra.

use wharf::Tensor;

use super::support::{check, numbers};

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
        let [a, b] = x.unstack(1)?;
        let [c, d] = y.unstack(1)?;
        let re = ((&a * &c)? - (&b * &d)?)?;
        let im = ((&a * &d)? + (&b * &c)?)?;
        Tensor::stack(&[re, im], 1)?.irfft(0, 72)
    });
}
