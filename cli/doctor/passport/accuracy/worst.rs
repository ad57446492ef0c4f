//! What a bound would have to be at least.

use wharf::DType;
use wharf::op::{Distance, Tolerance};
use wharf::reference::{Exact, Number};

/// The worst of the results that were met.
#[derive(Clone, Debug)]
pub(crate) struct Worst {
    dtype: DType,
    /// What was promised.
    pub(crate) bound: Tolerance,
    /// What was needed of it.
    pub(crate) needed: Tolerance,
    /// Where, in words.
    pub(crate) place: String,
}

impl Worst {
    /// Of results of f32.
    pub(crate) fn new(bound: Tolerance) -> Self {
        Self::of(DType::F32, bound)
    }

    pub(crate) fn of(dtype: DType, bound: Tolerance) -> Self {
        let needed = Tolerance { ulp: 0.0, grow: 0.0, abs: 0.0, ..bound };
        Self { dtype, bound, needed, place: String::new() }
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
        got: f64,
        place: impl Fn() -> String,
    ) -> Result<(), String> {
        if !self.bound.within(self.dtype, exact, Number::Float(got)) {
            return Err(format!("{}: {got:e}, not {exact:?}", place()));
        }
        self.measure(exact, got, place);
        Ok(())
    }

    /// Takes a result into account that is judged elsewhere.
    pub(crate) fn measure(&mut self, exact: Exact, got: f64, place: impl Fn() -> String) {
        let number = Number::Float(got);
        let (Number::Float(want), bound) = (exact.value, self.bound) else { return };
        // What may count as zero is no measure of accuracy.
        let least = match self.dtype {
            DType::F64 => f64::MIN_POSITIVE,
            _ => f32::MIN_POSITIVE.into(),
        };
        let distance = Distance::between(self.dtype, exact, number);
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
