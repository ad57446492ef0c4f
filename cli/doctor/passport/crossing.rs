//! The crossing check: every dtype goes up and comes back, and is compared bit by bit.
//!
//! If the plan refuses a dtype, the upload must be refused too. Then its conversion is allowed, and
//! what comes back is compared with what [`expected`](super::expected) says.

use wharf::host::Tally;
use wharf::plan::How;
use wharf::{DType, Device, Error, ErrorKind, Policy, Receipt};

use super::expected::{f64_tally, f64_to_f32, f64_values, narrow_values};
use super::probe::{LENGTH, LENGTH_LARGE, Probe, difference, of_dtype, probe};

/// One tensor that crossed, or was refused.
#[derive(Debug)]
pub(crate) struct Crossing {
    pub(crate) dtype: DType,
    /// The dtype it was to become, if another.
    pub(crate) to: Option<DType>,
    pub(crate) how: How,
    pub(crate) end: End,
    pub(crate) receipt: Option<Receipt>,
}

/// How a crossing ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Every bit came back.
    Exact,
    /// Every value came back as the conversion must make it, and the receipt counts it so.
    Converted,
    /// Refused, as the plan says.
    Refused(Error),
    /// A value that has no place in the target was refused by index.
    Checked(Error),
    /// Something failed that should work.
    Failed(Error),
    /// Other values came back, or something happened that must not.
    Wrong(String),
}

impl Crossing {
    /// Whether what happened is what the plan promises.
    pub(crate) const fn is_ok(&self) -> bool {
        !matches!(self.end, End::Failed(_) | End::Wrong(_))
    }

    /// Whether the device did not come back from it. It will not from the next one.
    pub(crate) fn is_stuck(&self) -> bool {
        matches!(&self.end, End::Failed(error) if error.kind() == ErrorKind::TimedOut)
    }

    /// `f64`, or `f64 -> f32`.
    pub(crate) fn name(&self) -> String {
        let dtype = self.dtype;
        self.to.map_or_else(|| dtype.to_string(), |to| format!("{dtype} -> {to}"))
    }
}

/// Checks every dtype in the order of the plan, until the device does not come back; `say` is
/// called for each crossing once it is over.
pub(crate) async fn check_all(device: &Device, say: &mut dyn FnMut(&Crossing)) -> Vec<Crossing> {
    let mut all = Vec::new();
    for dtype in DType::ALL.iter().copied() {
        let mut some = vec![of_dtype!(dtype, carry(device, LENGTH))];
        let is_stuck = some[0].is_stuck();
        if dtype == DType::F32 && !is_stuck {
            some.push(carry::<f32>(device, LENGTH_LARGE).await);
        }
        if device.plan().carriage(dtype).how == How::Rejected {
            some.extend(conversions(device, dtype).await);
        }
        some.iter().for_each(&mut *say);
        all.extend(some);
        if all.iter().any(Crossing::is_stuck) {
            break;
        }
    }
    all
}

/// Carries a probe under the device's own policy.
async fn carry<T: Probe>(device: &Device, length: usize) -> Crossing {
    let values = probe::<T>(length);
    let how = device.plan().carriage(T::DTYPE).how;
    let honest = |receipt: &Receipt| receipt.is_exact() && receipt.tally.values() == length as u64;
    let wrong = |text: &str| End::Wrong(text.into());
    let (end, receipt) = match exchange::<T, T>(device, &values, &values).await {
        Err(error) if how == How::Rejected && error.kind() == ErrorKind::Rejected => {
            (End::Refused(error), None)
        }
        Err(error) => (End::Failed(error), None),
        Ok((receipt, difference)) => {
            let end = match difference {
                _ if how == How::Rejected => wrong("the plan rejects it, and it was carried"),
                Some(difference) => End::Wrong(difference),
                None if !honest(&receipt) => wrong("every bit is right, the receipt denies it"),
                None => End::Exact,
            };
            (end, Some(receipt))
        }
    };
    Crossing { dtype: T::DTYPE, to: None, how, end, receipt }
}

/// Sends values up, reads them back, and compares them with what is expected.
async fn exchange<F: Probe, T: Probe>(
    device: &Device,
    values: &[F],
    expected: &[T],
) -> wharf::Result<(Receipt, Option<String>)> {
    let (tensor, receipt) = device.upload(values, values.len())?;
    let back = tensor.read::<T>().await?;
    Ok((receipt, difference(expected, &back)))
}

/// Carries a refused dtype under policies that allow its conversion by name.
async fn conversions(device: &Device, dtype: DType) -> Vec<Crossing> {
    match dtype {
        DType::F64 => {
            let values = f64_values();
            let expected: Vec<f32> = values.iter().map(|&v| f64_to_f32(v)).collect();
            vec![convert(device, &values, &expected, &f64_tally(&values)).await]
        }
        DType::I64 => integers::<i64, i32>(device, 1 << 40).await,
        DType::U64 => integers::<u64, u32>(device, 1 << 40).await,
        _ => Vec::new(),
    }
}

/// Carries values that all fit; then the same values with one that does not.
async fn integers<F, T>(device: &Device, too_large: u64) -> Vec<Crossing>
where
    F: Probe,
    T: Probe + Into<F>,
{
    let expected = probe::<T>(LENGTH);
    let mut values = narrow_values::<F, T>();
    let mut counts = Tally::default();
    counts.exact = LENGTH as u64;
    let fitting = convert(device, &values, &expected, &counts).await;
    let index = LENGTH * 2 / 3;
    values[index] = F::from_bits(too_large);
    let mut refused = convert(device, &values, &expected, &counts).await;
    refused.end = match refused.end {
        End::Failed(error) if error.kind() == ErrorKind::Conversion => {
            let text = error.to_string();
            let named =
                text.contains(&too_large.to_string()) && text.contains(&format!("index {index} "));
            if named { End::Checked(error) } else { End::Failed(error) }
        }
        End::Failed(error) => End::Failed(error),
        _ => End::Wrong(format!("{too_large} at index {index} was to be refused, and was carried")),
    };
    vec![fitting, refused]
}

/// Carries values under a policy that allows their conversion, and nothing else.
async fn convert<F: Probe, T: Probe>(
    device: &Device,
    values: &[F],
    expected: &[T],
    counts: &Tally,
) -> Crossing {
    let (dtype, to) = (F::DTYPE, T::DTYPE);
    let device = device.with_policy(&Policy::exact().allow(dtype, to));
    let (end, receipt) = match exchange(&device, values, expected).await {
        Err(error) => (End::Failed(error), None),
        Ok((receipt, Some(difference))) => (End::Wrong(difference), Some(receipt)),
        Ok((receipt, None)) if !same_counts(&receipt.tally, counts) => (
            End::Wrong("the values are right, and the receipt counts others".into()),
            Some(receipt),
        ),
        Ok((receipt, None)) => (End::Converted, Some(receipt)),
    };
    Crossing { dtype, to: Some(to), how: device.plan().carriage(dtype).how, end, receipt }
}

fn same_counts(a: &Tally, b: &Tally) -> bool {
    let counts = |t: &Tally| [t.exact, t.rounded, t.overflowed, t.flushed, t.nan];
    counts(a) == counts(b)
}
