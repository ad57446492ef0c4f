//! Counts as the narrower integers of kernels and hosts. Sizes are checked long before this. A
//! count that still does not fit is a mistake of wharf's own: an error, never a smaller count. And
//! how bytes are told.

use crate::error::{Result, mistake};

/// A count as a kernel takes it.
pub(crate) fn word(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| mistake("counting", format!("{n} is beyond 32 bits")))
}

/// Several counts as a kernel takes them.
pub(crate) fn words<const N: usize>(counts: [usize; N]) -> Result<[u32; N]> {
    each(counts, word)
}

/// Several counts as a kernel takes them beside negative numbers.
pub(crate) fn signed<const N: usize>(counts: [usize; N]) -> Result<[i32; N]> {
    each(counts, |n| {
        let beyond = |_| mistake("counting", format!("{n} is beyond 32 bits with a sign"));
        i32::try_from(n).map_err(beyond)
    })
}

fn each<T: Copy + Default, const N: usize>(
    counts: [usize; N],
    to: impl Fn(usize) -> Result<T>,
) -> Result<[T; N]> {
    let mut all = [T::default(); N];
    for (all, n) in all.iter_mut().zip(counts) {
        *all = to(n)?;
    }
    Ok(all)
}

/// What counts come to when multiplied: on hosts of 32 bits perhaps more than they count; beyond 64
/// bits the largest count.
pub(crate) fn product<const N: usize>(counts: [usize; N]) -> u64 {
    counts.into_iter().fold(1, |all, n| all.saturating_mul(n as u64))
}

/// A stride or a place as a kernel takes it: two's complement wraps to the same address.
pub(crate) const fn wrapped(n: isize) -> u32 {
    n as u32
}

/// As [`wrapped`], of a view's strides, which are as wide on every host.
pub(crate) const fn wrapped_i64(n: i64) -> u32 {
    n as u32
}

/// Bytes in the largest binary unit that keeps the number readable: `1.5 GiB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut unit = 0;
    let mut value = n as f64;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") };
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

/// A device's count as the host takes it.
pub(crate) fn index(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| mistake("counting", format!("{n} is beyond this host")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn bytes_are_told_in_a_unit_that_keeps_them_short() {
        let rows = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1 << 20, "1 MiB"),
            ((1 << 20) + 1, "1 MiB"),
            (3 << 29, "1.5 GiB"),
            (200 << 40, "200 TiB"),
            (1 << 50, "1 PiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (n, want) in rows {
            assert_eq!(bytes(n), want, "{n}");
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_no_smaller_count() {
        assert_eq!(words([0, 7, u32::MAX as usize]).ok(), Some([0, 7, u32::MAX]), "what fits");
        let error = words([1, 1 << 32]).expect_err("33 bits");
        assert!(error.to_string().contains("4294967296 is beyond 32 bits"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
        assert_eq!(signed([7, 1 << 31]).map_err(|error| error.kind()), Err(ErrorKind::Internal));
        assert_eq!(signed([7, (1 << 31) - 1]).ok(), Some([7, i32::MAX]), "what fits");
        assert_eq!(product([1 << 30, 12, 2]), 24 << 30, "more than 32 bits");
        assert_eq!(product([usize::MAX, 12, usize::MAX]), u64::MAX, "more than 64 bits");
        assert_eq!(index(1 << 20).ok(), Some(1 << 20), "a count of bytes");
    }
}
