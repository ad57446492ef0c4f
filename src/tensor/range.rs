//! Numbers in a row: computed from their positions.

use super::Tensor;
use super::cause::TensorCause;
use super::number::Scalar;
use super::ops::apply;
use crate::device::Device;
use crate::dtype::{Class, DType};
use crate::error::Result;
use crate::kernel::iota;
use crate::layout::Layout;
use crate::op::Op;
use crate::reference::Number;
use crate::shape::Shape;

impl Device {
    /// 0, 1, 2 .. as u32.
    pub(super) fn iota(&self, count: usize) -> Result<Tensor> {
        let value = iota::iota(self.site(), count)?;
        let layout = Layout::dense(Shape::new([count])?);
        Ok(Tensor::of(self.clone(), value, layout, DType::U32))
    }

    /// Numbers from `start` on in steps of `step`, as far as they lie before `end`. The first and
    /// the last of them, and the step, must be numbers of the dtype, as beside a tensor: see
    /// [`Scalar`]. A step that does not lead from `start` to `end` is an error.
    ///
    /// Integers are exact. A float is `start + i * step` with each of the two operations rounded
    /// in f32 (f64 for f64), and then to its dtype: whole numbers that f16 or bf16 has not are
    /// rounded too.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = device.arange(0, 1, 0.25, wharf::DType::F32)?;
    /// assert_eq!(x.to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
    /// # Ok(()) });
    /// ```
    pub fn arange(
        &self,
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        step: impl Into<Scalar>,
        dtype: DType,
    ) -> Result<Tensor> {
        self.plan().accept(dtype).map_err(|error| error.during("arange"))?;
        let (start, end, step) = (start.into(), end.into(), step.into());
        let count = steps(start.value(), end.value(), step.value()).ok_or_else(|| {
            let [start, end, step] = [start, end, step].map(|number| number.to_string());
            TensorCause::Steps { start, end, step }
        })?;
        let wide = computed(dtype, "arange")?;
        for place in [0, count.saturating_sub(1)] {
            // The first and the last must be numbers of the dtype, and then all are; floats on the
            // way are rounded, and so is the last.
            let number = Scalar::nth(start, step, place);
            let number = if dtype.is_float() && place > 0 { number.as_float() } else { number };
            number.encode(dtype).map_err(|error| error.during("arange"))?;
        }
        let place = self.iota(count)?.cast(wide)?;
        // Unsigned integers have no negative step, but can go down.
        let row = match step.value() {
            Number::Int(n) if n < 0 && dtype.class() == Class::Unsigned => {
                let down = Scalar::from(u64::try_from(-n).unwrap_or(u64::MAX));
                apply(self, Op::Sub, &[start.into(), (place * down)?.into()])
            }
            _ => (place * step)? + start,
        };
        row?.cast(dtype)
    }

    /// `count` floats from `start` to `end`, both included, equally far apart. Each half is
    /// computed from its own end, so that both ends are exact.
    pub fn linspace(
        &self,
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        count: usize,
        dtype: DType,
    ) -> Result<Tensor> {
        self.plan().accept(dtype).map_err(|error| error.during("linspace"))?;
        let (what, only) = ("linspace", "a float");
        if !dtype.is_float() {
            return Err(TensorCause::Only { what, dtype, only }.into());
        }
        let wide = computed(dtype, what)?;
        let bytes = |number: Scalar| {
            // Rounded to the dtype at the end, where it must not become infinite.
            number.encode(dtype).and_then(|_| number.encode(wide)).map_err(|e| e.during(what))
        };
        let (start, end) = (bytes(start.into())?, bytes(end.into())?);
        let width = wide.width();
        let number = |bytes: [u8; 8]| Number::decode(wide, &bytes[..width]).float();
        let (start, end) = (number(start), number(end));
        let last = count.saturating_sub(1);
        // Between the ends of the range this may overflow, where half of it does not.
        let step = if last == 0 { 0.0 } else { end / last as f64 - start / last as f64 };
        let place = self.iota(count)?.cast(wide)?;
        let (low, high) = ((&place * step)? + start, (&place - last as f64)?);
        let high = (high * step)? + end;
        place.lt(count.div_ceil(2) as f64)?.choose(&low?, &high?)?.cast(dtype)
    }

    /// Ones on the main diagonal, zeros beside it; `true` and `false`, for bool.
    pub fn eye(&self, rows: usize, columns: usize, dtype: DType) -> Result<Tensor> {
        self.plan().accept(dtype).map_err(|error| error.during("eye"))?;
        let (row, column) = (self.iota(rows)?.unsqueeze(1)?, self.iota(columns)?);
        row.eq(&column)?.cast(dtype)
    }
}

/// The dtype that a row of numbers is computed in.
fn computed(dtype: DType, what: &'static str) -> Result<DType> {
    match dtype {
        DType::Bool => Err(TensorCause::Only { what, dtype, only: "a number" }.into()),
        DType::F16 | DType::Bf16 => Ok(DType::F32),
        DType::I8 | DType::I16 => Ok(DType::I32),
        DType::U8 | DType::U16 => Ok(DType::U32),
        wide => Ok(wide),
    }
}

/// How many numbers lie in a range; `None` if the step does not lead through it.
fn steps(start: Number, end: Number, step: Number) -> Option<usize> {
    if let (Number::Int(start), Number::Int(end), Number::Int(step)) = (start, end, step) {
        let way = end - start;
        let leads = step != 0 && (way == 0 || (way < 0) == (step < 0));
        let count = (way.unsigned_abs() + step.unsigned_abs().saturating_sub(1))
            .checked_div(step.unsigned_abs())?;
        return usize::try_from(count).ok().filter(|_| leads);
    }
    let steps = (end.float() - start.float()) / step.float();
    (steps.is_finite() && steps >= 0.0).then(|| steps.ceil() as usize)
}
