//! Numbers in a row: computed from their positions.

use super::Tensor;
use super::cause::{TensorCause, float, makes};
use super::number::Scalar;
use super::ops::{Borrowed, apply};
use super::reduce::computed;
use crate::device::Device;
use crate::dtype::{Class, DType};
use crate::engine::Site;
use crate::error::{Error, Result};
use crate::fuse::What;
use crate::kernel::cores::{Alone, Task};
use crate::kernel::{Operand, index_space, iota};
use crate::op::Op;
use crate::plan::Stored;
use crate::proof::Oracle;
use crate::reference::Number;
use crate::shape::Shape;

impl Device {
    /// 0, 1, 2 .. as u32. Deferred.
    #[track_caller]
    pub(super) fn iota(&self, count: usize) -> Result<Tensor> {
        self.counted("arange", count)
    }

    /// The same, for a method.
    #[track_caller]
    pub(super) fn counted(&self, what: &'static str, count: usize) -> Result<Tensor> {
        index_space(count)?;
        let named = Task::by(what, Oracle::Counted);
        let record = move |site: Site<'_>, _: &[Operand]| iota::iota(site, count);
        let core = What::core(Alone { named, record });
        Ok(Tensor::deferred(self, core, Vec::new(), Shape::new([count])?, Stored::U32))
    }

    /// Numbers from `start` on in steps of `step`, as far as they lie before `end`: none where the
    /// step leads away from it, as in Rust's ranges. The first and the last of them must be numbers
    /// of the dtype, as beside a tensor: see [`Scalar`]. The step is one of 32 bits where the dtype
    /// is narrower, and may be negative for unsigned ones too. A step of 0 is an error, and so are
    /// more than 2^31 of i32. Deferred.
    ///
    /// How many they are is `(end - start) / step`, in f64 and rounded up, as in PyTorch: with
    /// steps that no float is, such as 0.1, the last may be `end` itself. [`Device::linspace`]
    /// takes their number instead.
    ///
    /// Integers are exact. A float is `start + i * step` in f32 (f64 for f64), the two operations
    /// rounded once or twice, and then to its dtype: whole numbers that f16 or bf16 has not are
    /// rounded too. Where the plan converts the dtype, it is computed as what is stored; an upload
    /// of the numbers that would be refused is refused here.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.arange(0, 1, 0.25, wharf::DType::F32)?;
    /// assert_eq!(x.read_now::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
    /// assert!(device.arange(5, 3, 1, wharf::DType::I32)?.shape().is_empty());
    /// # Ok(()) });
    /// ```
    #[doc(alias = "range")]
    #[track_caller]
    pub fn arange(
        &self,
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        step: impl Into<Scalar>,
        dtype: DType,
    ) -> Result<Tensor> {
        let (what, made) = ("arange", self.making("arange", dtype)?);
        makes(what, dtype)?;
        let named = |error: Error| error.during(what);
        let (start, end, step) = (start.into(), end.into(), step.into());
        for number in [start, end, step] {
            number.whole(dtype).map_err(named)?;
        }
        let count = steps(start.value(), end.value(), step.value()).ok_or_else(|| {
            let [start, end, step] = [start, end, step].map(|number| number.to_string());
            TensorCause::Steps { start, end, step }
        })?;
        index_space(count).map_err(named)?;
        if dtype == DType::Bool {
            return Err(TensorCause::Only { what, dtype, only: "a number" }.into());
        }
        let nth = |start, place| match Scalar::nth(start, step, place) {
            // Floats are rounded, but for the first.
            number if dtype.is_float() && place > 0 => number.as_float(),
            number => number,
        };
        for place in [0, count.saturating_sub(1)] {
            // The first and the last must be numbers of the dtype, and then all are.
            nth(start, place).encode(dtype).map_err(named)?;
        }
        made.check_row(count, |place| nth(start, place)).map_err(named)?;
        // What is added to the first must be a number, too.
        let way = nth(Scalar::from(0u8), count.saturating_sub(1));
        if dtype.is_float() {
            way.encode(computed(*made.stored)).map_err(named)?;
        }
        if made.rules.lossless && dtype.is_float() {
            // A product that is rounded could make a sum that is another one.
            made.check_row(count, |place| nth(Scalar::from(0u8), place)).map_err(named)?;
        }
        // Unsigned integers have no negative step, but can go down.
        let (down, step) = match step.value() {
            Number::Int(n) if n < 0 && dtype.class() == Class::Unsigned => {
                (true, Scalar::from(u64::try_from(-n).unwrap_or(u64::MAX)))
            }
            _ => (false, step),
        };
        step.encode(computed(dtype)).map_err(named)?;
        let wide = computed(*made.stored);
        if wide.is_integer() {
            // Places are numbers of it, too.
            Scalar::from(count.saturating_sub(1)).encode(wide).map_err(named)?;
        }
        let place = self.iota(count)?.cast(wide)?;
        let [start, step] = [start, step].map(|number| made.operand(number).map_err(named));
        let (start, step) = (start?, (place * step?)?);
        let row = if down {
            apply(self, Op::Sub, &[Borrowed::Scalar(start), Borrowed::Tensor(&step)])
        } else {
            step + start
        };
        row?.cast_to(made.stored)
    }

    /// `count` floats from `start` to `end`, both finite and included, equally far apart. Each half
    /// is computed from its own end, so that both ends are exact: `start + i * step` and
    /// `end - (count - 1 - i) * step`, where places, the step and what is computed are rounded to
    /// f32 (f64 for f64), and then to the dtype. A plan that converts the dtype does here as in
    /// [`Device::arange`]. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.linspace(-1, 1, 5, wharf::DType::F32)?;
    /// assert_eq!(x.read_now::<f32>()?, [-1.0, -0.5, 0.0, 0.5, 1.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn linspace(
        &self,
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        count: usize,
        dtype: DType,
    ) -> Result<Tensor> {
        let what = "linspace";
        let made = self.making(what, dtype)?;
        let named = |error: Error| error.during(what);
        makes(what, dtype)?;
        float(what, dtype)?;
        index_space(count).map_err(named)?;
        let (wide, stored) = (computed(dtype), computed(*made.stored));
        let number = |number: Scalar| {
            // Rounded to the dtype at the end, where it must not become infinite.
            number.encode(dtype).and_then(|_| number.encode(stored)).map_err(named)?;
            let bytes = number.encode(wide).map_err(named)?;
            Ok::<_, Error>(Number::decode(wide, &bytes[..wide.width()]).float())
        };
        let (start, end) = (number(start.into())?, number(end.into())?);
        if !start.is_finite() || !end.is_finite() {
            return Err(TensorCause::Ends { start, end }.into());
        }
        let (last, half) = (count.saturating_sub(1), count.div_ceil(2));
        // The whole range may overflow, where half of it does not. Two numbers are its ends.
        let step = if last < 2 { 0.0 } else { end / last as f64 - start / last as f64 };
        let way = |place| if place < half { place as f64 } else { place as f64 - last as f64 };
        let from = |place| if place < half { start } else { end };
        made.check_row(count, |i| Scalar::from(way(i) * step + from(i))).map_err(named)?;
        if made.rules.lossless {
            made.check_row(count, |i| Scalar::from(way(i) * step)).map_err(named)?;
        }
        let place = self.counted(what, count)?.cast(stored)?;
        let (low, high) = ((&place * step)? + start, (&place - last as f64)?);
        let high = (high * step)? + end;
        place.lt(half as f64)?.choose(&low?, &high?)?.cast_to(made.stored)
    }

    /// Ones on the main diagonal, zeros beside it; `true` and `false`, for bool. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.eye(2, 3, wharf::DType::F32)?;
    /// assert_eq!(x.read_now::<f32>()?, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "identity")]
    #[track_caller]
    pub fn eye(&self, rows: usize, columns: usize, dtype: DType) -> Result<Tensor> {
        let (what, made) = ("eye", self.making("eye", dtype)?);
        let named = |error: Error| error.during(what);
        let row = self.counted(what, rows).map_err(named)?.unsqueeze(1)?;
        let column = self.counted(what, columns).map_err(named)?;
        row.eq(&column)?.cast_to(made.stored)
    }
}

/// How many numbers lie in a range, none if the step leads away from its end; `None` if that cannot
/// be said.
fn steps(start: Number, end: Number, step: Number) -> Option<usize> {
    if let (Number::Int(start), Number::Int(end), Number::Int(step)) = (start, end, step) {
        let way = if step < 0 { start - end } else { end - start };
        let (way, step) = (way.max(0).unsigned_abs(), step.unsigned_abs());
        let count = (way + step.saturating_sub(1)).checked_div(step)?;
        // As many are refused as more would be.
        return Some(usize::try_from(count).unwrap_or(usize::MAX));
    }
    let steps = (end.float() - start.float()) / step.float();
    steps.is_finite().then(|| steps.ceil() as usize) // below 0 it is 0
}
