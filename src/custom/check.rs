//! Trials: a formula on special values, every kind of view, ragged sizes and both classes of
//! kernels, judged by its author's oracle.

use core::fmt;
use core::future::Future;
use core::ops::RangeInclusive;

use super::poses::{FORMS, Pose};
use super::values::Values;
use crate::caps::Feature;
use crate::device::Device;
use crate::dtype::{Class, DType};
use crate::engine::site::asked_at;
use crate::error::{Result, causes};
use crate::formula::Formula;
use crate::gpu::Drive;
use crate::host::HostBytes;
use crate::ledger::CallSite;
use crate::op::{Distance, Exact, Number, Tolerance, wrapped};
use crate::plan::negotiate;
use crate::proof::shown;
use crate::set::Shipment;
use crate::tensor::{Other, Tensor};
use crate::wgsl::Target;

/// What the results of a formula on floats are held to: how far from the exact value they may lie,
/// and on which operands.
///
/// ```
/// use wharf::custom::Contract;
///
/// let contract = Contract::ulp(8.0).or(1e-30).on(-80.0..=80.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    tolerance: Tolerance,
    pub(super) operands: RangeInclusive<f64>,
}

impl Contract {
    /// Results within so many units in the last place of f32 (of f64, where that is the dtype), and
    /// the rounding of narrower dtypes; on all operands, infinite and NaN too. Subnormal numbers
    /// may count as zero.
    #[must_use]
    pub const fn ulp(ulp: f64) -> Self {
        let operands = f64::NEG_INFINITY..=f64::INFINITY;
        Self { tolerance: Tolerance::ulp(ulp), operands }
    }

    /// An absolute distance that is allowed too.
    #[must_use]
    pub fn or(self, abs: f64) -> Self {
        Self { tolerance: Tolerance { abs, ..self.tolerance }, ..self }
    }

    /// On these operands only.
    #[must_use]
    pub fn on(self, operands: RangeInclusive<f64>) -> Self {
        Self { operands, ..self }
    }
}

/// What a [check](Formula::check) found. Printing it gives a line, or the first wrong result with
/// its operands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckReport {
    /// How many results were judged.
    pub results: u64,
    /// How many of them were wrong.
    pub wrong: u64,
    /// The dtypes that were tried.
    pub dtypes: Vec<DType>,
    /// Those that it takes, and this device does not store.
    pub absent: Vec<DType>,
    /// The worst distance from the exact value, in units in the last place: of results of f32 and
    /// f64, since narrower ones are rounded once more, and of those that are not right by their
    /// absolute distance alone.
    pub worst_ulp: f64,
    /// The first wrong result.
    pub first: Option<Difference>,
    name: String,
    /// What the arrays of a kernel are called.
    arrays: Vec<String>,
}

/// A wrong result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// Of which dtype.
    pub dtype: DType,
    /// The shape, how each operand lay in memory, and what it ran on.
    pub place: String,
    /// The operands.
    pub operands: Vec<Number>,
    /// What came out.
    pub got: Number,
    /// What the oracle says.
    pub exact: Number,
}

impl CheckReport {
    /// Whether nothing was wrong, and something was judged.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.wrong == 0 && self.results > 0
    }
}

/// An element of a result, and what it should be.
pub(super) struct Judged {
    pub(super) got: Number,
    pub(super) exact: Number,
    /// What it should be where subnormal operands count as zero, if there are any.
    pub(super) flushed: Option<Number>,
}

impl CheckReport {
    /// What was tried under this name, of these dtypes.
    pub(super) fn new(name: &str, (dtypes, absent): (Vec<DType>, Vec<DType>)) -> Self {
        Self { name: name.to_owned(), dtypes, absent, ..Self::default() }
    }

    /// With the names of the arrays that the kernel reads.
    pub(super) fn of(self, arrays: Vec<String>) -> Self {
        Self { arrays, ..self }
    }

    /// Counts an element, of operands of one dtype and a result of another.
    pub(super) fn add(
        &mut self,
        (dtype, made): (DType, DType),
        contract: &Contract,
        Judged { got, exact, flushed }: Judged,
        place: impl FnOnce() -> String,
        operands: Vec<Number>,
    ) {
        let keeps = |exact: Number| contract.tolerance.within(made, exact.into(), got);
        let right = keeps(exact) || flushed.is_some_and(keeps);
        self.results += 1;
        self.wrong += u64::from(!right);
        let distance = Distance::between(made, Exact::from(exact), got);
        let is_whole = matches!(made, DType::F32 | DType::F64);
        let distance = distance.filter(|d| is_whole && d.abs > contract.tolerance.abs);
        self.worst_ulp = self.worst_ulp.max(distance.map_or(0.0, |d| d.ulp));
        if !right && self.first.is_none() {
            self.first = Some(Difference { dtype, place: place(), operands, got, exact });
        }
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, results, wrong, worst_ulp, arrays, .. } = self;
        let list = |dtypes: &[DType]| dtypes.iter().map(|d| d.name()).collect::<Vec<_>>().join(" ");
        match &self.first {
            None => write!(f, "{name}: {results} results right, {worst_ulp:.2} ulp at worst")?,
            Some(Difference { dtype, place, operands, got, exact }) => {
                let operands: Vec<_> = operands.iter().copied().map(shown).collect();
                let (got, exact) = (shown(*got), shown(*exact));
                write!(f, "{name}: {wrong} of {results} results wrong, the first ")?;
                if arrays.is_empty() {
                    let operands = operands.join(", ");
                    write!(f, "{name}({operands}) = {got}, not {exact}, of {dtype} {place}")?;
                } else {
                    let beside = arrays.iter().zip(operands);
                    let beside: Vec<_> = beside.map(|(x, has)| format!("{x} has {has}")).collect();
                    write!(
                        f,
                        "is {got}, not {exact}, where {}: {dtype} {place}",
                        beside.join(", ")
                    )?;
                }
            }
        }
        write!(f, " ({})", list(&self.dtypes))?;
        match &*self.absent {
            [] => Ok(()),
            absent => write!(f, "; not here: {}", list(absent)),
        }
    }
}

causes! {
    pub(super) enum CheckCause;

    /// Of a kernel.
    Unread { name: String, what: &'static str }, DType:
        ("{name}: there is nothing to check: it reads nothing that {what} can be given to")
        help ("`check` gives all arrays that the kernel reads floats of one dtype, \
               `check_integers` integers or bools");
    Nothing { name: String, what: &'static str }, DType:
        ("{name}: there is nothing to check: it takes {what} on this device")
        help ("`check` tries floats, `check_integers` integers and bools; \
               `takes` says what a formula takes");
    /// Of a kernel's oracle.
    Lengths { name: String, made: usize, exact: usize }, Shape:
        ("{name}: the first tensor that it creates has {made} elements, the oracle gives {exact}")
        help ("create it with a place for each result of the oracle");
    /// It would be compared with nothing.
    NoResult { name: String }, Shader:
        ("{name}: there is nothing to check: the run creates no tensor")
        help ("give what is written by `create`");
}

/// What judges results, and what it is about.
struct Judge<'a> {
    oracle: &'a dyn Fn(&[Number]) -> Number,
    contract: &'a Contract,
    /// Who asked for it: all that crosses is theirs.
    site: CallSite,
}

impl Formula {
    /// Tries it on every float dtype that it takes, the device stores and the contract's operands
    /// are of: every kind of view, ragged sizes and odd offsets, NaN, infinities, subnormals and
    /// extremes, on both classes of kernels and with f16 native and packed. The oracle computes the
    /// same in f64.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::custom::{Contract, Formula};
    ///
    /// let swish = Formula::new("swish2(x, b)", "x * sigmoid(b * x)")?;
    /// // b * x is up to 9, and its rounding counts as often in e to the power of it.
    /// let contract = Contract::ulp(6.0 + 9.0).on(-3.0..=3.0);
    /// let exact = |x: &[f64]| x[0] / (1.0 + (-x[1] * x[0]).exp());
    /// let verdict = swish.check(&device, &contract, exact).await?;
    /// assert!(verdict.is_right(), "{verdict}");
    ///
    /// let wrong = Formula::new("swish2(x, b)", "x * sigmoid(x)")?;
    /// let verdict = wrong.check(&device, &contract, exact).await?;
    /// assert!(!verdict.is_right(), "{verdict}");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    /// If it takes no float, or the device fails. A wrong result is no error, but the verdict.
    #[track_caller]
    pub fn check<'a, O: Fn(&[f64]) -> f64>(
        &'a self,
        device: &'a Device,
        contract: &'a Contract,
        oracle: O,
    ) -> impl Future<Output = Result<CheckReport>> + use<'a, O> {
        self.floats(CallSite::of("formula.check"), device, contract, oracle)
    }

    /// [`Formula::check`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn check_now(
        &self,
        device: &Device,
        contract: &Contract,
        oracle: impl Fn(&[f64]) -> f64,
    ) -> Result<CheckReport> {
        let site = CallSite::of("formula.check_now");
        pollster::block_on(self.floats(site, device, contract, oracle))
    }

    async fn floats(
        &self,
        site: CallSite,
        device: &Device,
        contract: &Contract,
        oracle: impl Fn(&[f64]) -> f64,
    ) -> Result<CheckReport> {
        let truth = self.text.truth;
        let oracle = move |operands: &[Number]| {
            let exact = oracle(&operands.iter().map(|n| n.float()).collect::<Vec<_>>());
            if truth { Number::Bool(exact != 0.0) } else { Number::Float(exact) }
        };
        let judge = Judge { oracle: &oracle, contract, site };
        self.judged(device, &judge, |dtype| dtype.is_float(), "no float of that range").await
    }

    /// As [`Formula::check`], on every integer dtype and bool. The oracle's result is reduced to
    /// the dtype, as arithmetic wraps; of a bool it is 0 or 1. Nothing but its value is right.
    ///
    /// # Errors
    /// If it takes neither integers nor bools, or the device fails.
    #[track_caller]
    pub fn check_integers<'a, O: Fn(&[i128]) -> i128>(
        &'a self,
        device: &'a Device,
        oracle: O,
    ) -> impl Future<Output = Result<CheckReport>> + use<'a, O> {
        self.integers(CallSite::of("formula.check_integers"), device, oracle)
    }

    /// [`Formula::check_integers`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn check_integers_now(
        &self,
        device: &Device,
        oracle: impl Fn(&[i128]) -> i128,
    ) -> Result<CheckReport> {
        let site = CallSite::of("formula.check_integers_now");
        pollster::block_on(self.integers(site, device, oracle))
    }

    async fn integers(
        &self,
        site: CallSite,
        device: &Device,
        oracle: impl Fn(&[i128]) -> i128,
    ) -> Result<CheckReport> {
        let oracle = move |operands: &[Number]| {
            Number::Int(oracle(&operands.iter().map(|n| n.whole()).collect::<Vec<_>>()))
        };
        let judge = Judge { oracle: &oracle, contract: &Contract::ulp(0.0), site };
        let what = "neither integers nor bools";
        self.judged(device, &judge, |dtype| !dtype.is_float(), what).await
    }

    async fn judged(
        &self,
        device: &Device,
        judge: &Judge<'_>,
        is_meant: impl Fn(DType) -> bool,
        what: &'static str,
    ) -> Result<CheckReport> {
        let values = |dtype| Values::floats(dtype, judge.contract.operands.clone());
        let all = DType::ALL.iter().copied().filter(|&dtype| self.takes(dtype) && is_meant(dtype));
        let all = all.filter(|&dtype| values(dtype).is_some());
        let (here, absent) = all.partition(|dtype| is_stored(device, *dtype));
        let mut verdict = CheckReport::new(self.name(), (here, absent));
        if verdict.dtypes.is_empty() {
            let name = verdict.name;
            return Err(CheckCause::Nothing { name, what }.into());
        }
        for (device, how) in runs(device).await? {
            for dtype in verdict.dtypes.clone() {
                let Some(mut values) = values(dtype) else { continue };
                for (dims, poses) in FORMS {
                    let place = format!("{dims:?} {:?} {how}", &poses[..self.arity()]);
                    let trial = Trying { formula: self, device: &device, dtype, judge };
                    trial.run(dims, poses, &mut values, (&place, &mut verdict)).await?;
                }
            }
        }
        Ok(verdict)
    }
}

/// Whether a device stores a dtype as it is.
pub(super) fn is_stored(device: &Device, dtype: DType) -> bool {
    device.plan().accept(dtype).is_ok_and(|(_, stored)| *stored == dtype)
}

/// A tensor of bytes.
pub(super) fn uploaded(
    device: &Device,
    site: CallSite,
    dtype: DType,
    bytes: &[u8],
    dims: [usize; 2],
) -> Result<Tensor> {
    const NAME: &str = "operand";
    let mut shipment = Shipment::new();
    shipment.add(NAME, HostBytes::new(bytes, dims, dtype)?)?;
    let (set, _) = device.carry_set(&shipment, site, |_| {})?;
    set.tensor(NAME).cloned()
}

/// The device as it is, with the other class of kernels, and without what it could lack.
pub(super) async fn runs(device: &Device) -> Result<Vec<(Device, &'static str)>> {
    let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
    let mut runs = vec![
        (device.clone(), "as it is"),
        (device.with_target(other), "by the other class of kernels"),
    ];
    let caps = device.caps();
    if caps.has(Feature::ShaderF16) {
        let lesser = negotiate(&caps.clone().without(Feature::ShaderF16), device.plan().policy());
        runs.push((device.adapter().open(lesser).await?, "without shader-f16"));
    }
    Ok(runs)
}

/// A formula on its way through its trials.
struct Trying<'a> {
    formula: &'a Formula,
    device: &'a Device,
    dtype: DType,
    judge: &'a Judge<'a>,
}

impl Trying<'_> {
    async fn run(
        &self,
        dims: &[usize; 2],
        poses: &[Pose; 3],
        values: &mut Values,
        (place, verdict): (&str, &mut CheckReport),
    ) -> Result<()> {
        let (dtype, width) = (self.dtype, self.dtype.width());
        let site = self.judge.site;
        let (mut tensors, mut stored) = (Vec::new(), Vec::new());
        for (i, pose) in poses.iter().enumerate().take(self.formula.arity()) {
            let whole = pose.stored(dims);
            stored.push(values.bytes(i, whole.iter().product()));
            let x = uploaded(self.device, site, dtype, &stored[i], whole)?;
            tensors.push(pose.view(&x, dims)?);
        }
        let others: Vec<Other> = tensors[1..].iter().map(Other::from).collect();
        let result = asked_at(site.location, || tensors[0].apply(self.formula, &others))?;
        let got = result.take_down(Drive::Wake, site).await?;
        let places = |x: &Tensor| Ok(x.broadcast_to(*result.shape())?.layout().places().collect());
        let places: Vec<Vec<usize>> = tensors.iter().map(places).collect::<Result<_>>()?;
        for (i, got) in got.chunks(result.dtype().width()).enumerate() {
            let operand = |(bytes, places): (&Vec<u8>, &Vec<usize>)| {
                Number::decode(dtype, &bytes[places[i] * width..][..width])
            };
            let operands: Vec<Number> = stored.iter().zip(&places).map(operand).collect();
            let oracle =
                |operands: &[Number]| reduced(result.dtype(), (self.judge.oracle)(operands));
            let zeroed: Vec<_> = operands.iter().map(|x| without_subnormals(dtype, *x)).collect();
            let verdict_of = Judged {
                got: Number::decode(result.dtype(), got),
                exact: oracle(&operands),
                flushed: (zeroed != operands).then(|| oracle(&zeroed)),
            };
            let place = || place.to_owned();
            verdict.add((dtype, result.dtype()), self.judge.contract, verdict_of, place, operands);
        }
        Ok(())
    }
}

/// A number that drivers may take for zero, as zero.
pub(super) fn without_subnormals(dtype: DType, number: Number) -> Number {
    let smallest = if dtype == DType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
    match number {
        Number::Float(x) if x.abs() < smallest => Number::Float(0f64.copysign(x)),
        _ => number,
    }
}

/// What an oracle says as an element of a dtype: whole numbers wrap, and what is no whole number
/// stays what no integer is.
pub(super) fn reduced(dtype: DType, exact: Number) -> Number {
    match (dtype.class(), exact) {
        (Class::Bool, Number::Int(x)) => Number::Bool(x != 0),
        (Class::Bool, Number::Float(x)) if !x.is_nan() => Number::Bool(x != 0.0),
        (Class::Float, Number::Int(x)) => Number::Float(x as f64),
        (Class::Signed | Class::Unsigned, Number::Int(x)) => Number::Int(wrapped(dtype, x)),
        (Class::Signed | Class::Unsigned, Number::Float(x)) if x.fract() == 0.0 => {
            Number::Int(wrapped(dtype, x as i128))
        }
        _ => exact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_element_counts_whatever_its_dtype() {
        let contract = Contract::ulp(2.0);
        for made in DType::ALL.iter().copied().filter(|dtype| dtype.is_float()) {
            let mut findings = CheckReport::new("f", (vec![made], Vec::new()));
            let [exact, got] = [1.0, 1.25].map(Number::Float);
            for (flushed, wrong) in [(None, 1), (Some(exact), 2), (Some(got), 2)] {
                let judged = Judged { got, exact, flushed };
                findings.add((made, made), &contract, judged, String::new, Vec::new());
                assert_eq!(findings.wrong, wrong, "{made}, {flushed:?}");
            }
            assert_eq!(findings.results, 3, "{made}");
        }
    }
}
