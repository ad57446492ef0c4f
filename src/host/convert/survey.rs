//! The loops over a piece, each compiled for several instruction sets and chosen at run time.
//!
//! They are written for the compiler to vectorise: no branch, no call, counters as wide as the
//! values. Some questions they only answer with "maybe", since a second visit is cheaper than more
//! work in every lane.

use multiversion::{multiversion, target::selected_target};

use super::number::{FromNumber, ToNumber, Wide, is_nan};

/// What the fast loop found out about a piece.
pub(super) struct Survey {
    /// Not equal to the source; NaNs are among them.
    pub(super) unequal: u64,
    pub(super) flushed: u64,
    /// Results that are not finite, whatever their sources.
    pub(super) infinite: u64,
    /// Errors that may exceed the worst one so far.
    pub(super) worse: u64,
}

/// The sources that are not finite.
#[derive(Clone, Copy, Default)]
pub(super) struct Census {
    pub(super) nan: u64,
    pub(super) infinite: u64,
}

/// Counters as wide as the values: a comparison's mask is added as it is.
type Counts<S, const N: usize> = [<<S as FromNumber>::Wide as Wide>::Count; N];

/// The fast loop: converts and counts.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
pub(super) fn survey<S: FromNumber, T: ToNumber<S::Wide>>(
    src: &[S],
    dst: &mut [T],
    bounds: [f64; 2],
) -> Survey {
    // Without an FMA instruction this would be a call. `multiversion` panics when asked for a
    // feature that the architecture does not know.
    const FMA: bool = cfg!(target_arch = "aarch64")
        || cfg!(target_arch = "x86_64") && selected_target!().supports_feature_str("fma");
    let (abs_bound, rel_bound) = (S::Wide::below(bounds[0]), S::Wide::bound(bounds[1]));
    let [mut unequal, mut flushed, mut infinite, mut worse]: Counts<S, 4> = Default::default();
    for (from, to) in src.iter().zip(dst) {
        let wide = from.wide();
        let (nearest, back) = T::nearest(wide);
        *to = nearest;
        let differs = back != wide;
        let finite = back.abs() < S::Wide::INFINITY;
        unequal += differs.into();
        flushed += (differs & (back == S::Wide::default())).into();
        infinite += (!finite).into();
        let error = back.minus(wide).abs();
        let exceeds = (error > abs_bound) | wide.may_exceed(error, rel_bound, FMA);
        worse += (exceeds & differs & finite).into();
    }
    let [unequal, flushed, infinite, worse] = [unequal, flushed, infinite, worse].map(Into::into);
    Survey { unequal, flushed, infinite, worse }
}

/// The exact answer to what the survey suspects: whether an error exceeds the worst one so far.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
pub(super) fn exceeds<S: FromNumber, T: ToNumber<S::Wide>>(src: &[S], bounds: [f64; 2]) -> bool {
    let [abs_bound, rel_bound] = bounds;
    let mut worse = 0u64;
    for from in src {
        let wide = from.wide();
        let error = T::nearest(wide).1.minus(wide).abs();
        let exceeds = (error.to_f64() > abs_bound) | wide.exceeds(error, rel_bound);
        worse += u64::from(exceeds & (error < S::Wide::INFINITY));
    }
    worse > 0
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
pub(super) fn census<S: FromNumber>(src: &[S]) -> Census {
    let [mut nan, mut infinite]: Counts<S, 2> = Default::default();
    for from in src {
        let wide = from.wide();
        nan += is_nan(wide).into();
        infinite += (wide.abs() == S::Wide::INFINITY).into();
    }
    Census { nan: nan.into(), infinite: infinite.into() }
}

/// The fast loop where every value fits: it has only NaNs to count.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
pub(super) fn widen_all<S: FromNumber, T: ToNumber<S::Wide>>(src: &[S], dst: &mut [T]) -> u64 {
    let [mut nan]: Counts<S, 1> = Default::default();
    for (from, to) in src.iter().zip(dst) {
        let wide = from.wide();
        *to = T::nearest(wide).0;
        nan += is_nan(wide).into();
    }
    nan.into()
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
pub(super) fn all_wide<S: FromNumber>(src: &[S]) -> bool {
    let mut all = true;
    for from in src {
        all &= from.is_wide();
    }
    all
}

/// Whether every value fits; what does not is written as zero.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+f16c+fma"))]
pub(super) fn narrow_integers<S: FromNumber, T: FromNumber + TryFrom<S>>(
    src: &[S],
    dst: &mut [T],
) -> bool {
    let mut fits = true;
    for (from, to) in src.iter().zip(dst) {
        let narrow = T::try_from(*from);
        fits &= narrow.is_ok();
        *to = narrow.unwrap_or_default();
    }
    fits
}
