//! What a bound would have to be at least.

use wharf::DType;
use wharf::op::{Distance, Tolerance};
use wharf::reference::{Exact, Number};

/// The worst of the results of f32 that were met.
#[derive(Clone, Debug)]
pub(super) struct Worst {
    /// What was promised.
    pub(super) bound: Tolerance,
    /// What was needed of it.
    pub(super) needed: Tolerance,
    /// Where, in words.
    pub(super) place: String,
}

impl Worst {
    pub(super) fn new(bound: Tolerance) -> Self {
        let needed = Tolerance { ulp: 0.0, grow: 0.0, abs: 0.0, ..bound };
        Self { bound, needed, place: String::new() }
    }

    /// Judges a result by the bound and takes it into account.
    pub(super) fn meet(
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
    pub(super) fn measure(&mut self, exact: Exact, got: f32, place: impl Fn() -> String) {
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
