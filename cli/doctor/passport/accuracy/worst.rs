//! What a bound would have to be at least.

use wharf::DType;
use wharf::op::{Distance, Tolerance};
use wharf::reference::{Exact, Number};

/// The worst of the results of f32 that were met.
#[derive(Clone, Debug)]
pub(crate) struct Worst {
    /// What was promised.
    pub(crate) bound: Tolerance,
    /// What was needed of it.
    pub(crate) needed: Tolerance,
    /// Where, in words.
    pub(crate) place: String,
}

impl Worst {
    pub(crate) fn new(bound: Tolerance) -> Self {
        let needed = Tolerance { ulp: 0.0, grow: 0.0, abs: 0.0, ..bound };
        Self { bound, needed, place: String::new() }
    }

    /// What was needed, rounded upwards so that it can be read.
    pub(crate) fn shown(&self) -> Tolerance {
        // Not minus zero.
        let hundredths = |x: f64| (x * 100.0 - 1e-6).ceil() / 100.0 + 0.0;
        let Tolerance { ulp, grow, abs, .. } = self.needed;
        Tolerance { ulp: hundredths(ulp), grow: hundredths(grow), abs: up(abs), ..self.needed }
    }

    /// Judges a result by the bound and takes it into account.
    pub(crate) fn meet(
        &mut self,
        exact: Exact,
        got: f32,
        place: impl Fn() -> String,
    ) -> Result<(), String> {
        let number = Number::Float(got.into());
        if !self.bound.within(DType::F32, exact, number) {
            return Err(format!("{}: {got:e}, not {exact:?}", place()));
        }
        self.measure(exact, got, place);
        Ok(())
    }

    /// Takes a result into account that is judged elsewhere.
    pub(crate) fn measure(&mut self, exact: Exact, got: f32, place: impl Fn() -> String) {
        let number = Number::Float(got.into());
        let (Number::Float(want), bound) = (exact.value, self.bound) else { return };
        // What may count as zero is no measure of accuracy.
        let least = f64::from(f32::MIN_POSITIVE);
        let distance = Distance::between(DType::F32, exact, number);
        let Some(Distance { ulp, abs }) = distance.filter(|distance| distance.abs > least) else {
            return;
        };
        let orders = if bound.grow > 0.0 { want.abs().log2().abs() } else { 0.0 };
        // Both parts of a bound that grows are needed in its own proportions.
        let part = ulp / (bound.ulp + bound.grow * orders);
        if abs > bound.abs && part * bound.ulp > self.needed.ulp {
            self.needed.ulp = part * bound.ulp;
            self.needed.grow = part * bound.grow;
            self.place = place();
        }
        if part > 1.0 && abs > self.needed.abs {
            self.needed.abs = abs;
        }
    }
}

/// Two digits, upwards.
fn up(x: f64) -> f64 {
    let digit = 10f64.powf(x.log10().floor() - 1.0);
    if x > 0.0 {
        format!("{:.1e}", (x / digit - 1e-9).ceil() * digit).parse().unwrap_or(x)
    } else {
        0.0
    }
}
