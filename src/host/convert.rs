//! Conversion of host values on their way up, block by block, with an exact tally of what it did to
//! them.
//!
//! A block is converted in pieces that stay in the first-level cache. Each piece is surveyed: one
//! branch-free loop, compiled for several instruction sets, writes the results, counts what
//! happened to them, and notices whether *some* error is larger than the worst one so far. A second
//! visit answers what needs an index (first change, worst error) and treats rare values (payloads
//! of NaNs, integers beyond `2^53`). Only pieces that need it get one: for the worst of n random
//! errors, about `ln n` pieces in all.
//!
//! ```text
//! for each piece: survey -> counts, worse?            the fast loop
//!                 if infinite:  census                which were NaN, infinite, or finite before
//!                 if nan:       write the NaNs again  with sign and payload
//!                 if changed, and it is the first:    look for its index
//!                 if worse, and exceeds:              look for the worst errors and their indices
//! ```

mod number;
mod survey;
#[cfg(test)]
mod tests;

use bytemuck::Pod;
use half::{bf16, f16};

use self::number::{FromNumber, ToNumber, Wide, is_nan};
use self::survey::{Census, Survey, all_wide, census, exceeds, narrow_integers, survey, widen_all};
use super::tally::{Tally, Worst};
use crate::dtype::{Class, DType, f8e4m3, f8e5m2};

/// What is narrowed to what, where an adapter lacks it.
pub(crate) const NARROWER: [(DType, DType); 3] =
    [(DType::F64, DType::F32), (DType::I64, DType::I32), (DType::U64, DType::U32)];

/// An integer target cannot hold a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange {
    /// Index of the first such value in the whole tensor.
    pub(crate) index: u64,
}

/// Converts the bytes of whole elements, the first of which has index `first` in its tensor, and
/// adds to the tally.
///
/// Both slices hold the same number of elements. One tally serves one pair of dtypes. After an
/// error neither the tally nor `dst` means anything.
pub(crate) type Convert =
    fn(src: &[u8], first: u64, dst: &mut [u8], tally: &mut Tally) -> Result<(), OutOfRange>;

/// Elements per piece: small enough for the second visits to be cheap, and for 32-bit counters.
const PIECE: usize = 1024;

/// Whether values of one dtype may become another.
///
/// Integers convert to floats, never back: how a float becomes an integer (truncate, round,
/// saturate) is left to kernels.
pub(crate) const fn convertible(from: DType, to: DType) -> bool {
    use Class::{Bool, Float, Signed, Unsigned};
    match (from.class(), to.class()) {
        (_, Bool) | (Float, Signed | Unsigned) => false,
        (Bool, _) => true,
        _ => from as usize != to as usize,
    }
}

/// The conversion from one dtype to another, if it is legal.
pub(crate) fn converter(from: DType, to: DType) -> Option<Convert> {
    if !convertible(from, to) {
        return None;
    }
    match from {
        DType::F64 => float::<f64>(to),
        DType::F32 => float::<f32>(to),
        DType::F16 => float::<f16>(to),
        DType::Bf16 => float::<bf16>(to),
        DType::F8E4M3 => float::<f8e4m3>(to),
        DType::F8E5M2 => float::<f8e5m2>(to),
        DType::I8 => integer::<i8>(to),
        DType::U8 | DType::Bool => integer::<u8>(to),
        DType::I16 => integer::<i16>(to),
        DType::U16 => integer::<u16>(to),
        DType::I32 => integer::<i32>(to),
        DType::U32 => integer::<u32>(to),
        DType::I64 => integer::<i64>(to),
        DType::U64 => integer::<u64>(to),
    }
}

fn float<S: FromNumber>(to: DType) -> Option<Convert>
where
    f32: ToNumber<S::Wide>,
{
    Some(match to {
        DType::F64 => to_float::<S, f64>,
        DType::F32 => to_float::<S, f32>,
        DType::F16 => to_float::<S, f16>,
        DType::Bf16 => to_float::<S, bf16>,
        DType::F8E4M3 => to_float::<S, f8e4m3>,
        DType::F8E5M2 => to_float::<S, f8e5m2>,
        _ => return None,
    })
}

fn integer<S: FromNumber>(to: DType) -> Option<Convert>
where
    f32: ToNumber<S::Wide>,
    i8: TryFrom<S>,
    u8: TryFrom<S>,
    i16: TryFrom<S>,
    u16: TryFrom<S>,
    i32: TryFrom<S>,
    u32: TryFrom<S>,
    i64: TryFrom<S>,
    u64: TryFrom<S>,
{
    Some(match to {
        DType::I8 => to_integer::<S, i8>,
        DType::U8 => to_integer::<S, u8>,
        DType::I16 => to_integer::<S, i16>,
        DType::U16 => to_integer::<S, u16>,
        DType::I32 => to_integer::<S, i32>,
        DType::U32 => to_integer::<S, u32>,
        DType::I64 => to_integer::<S, i64>,
        DType::U64 => to_integer::<S, u64>,
        _ => return float::<S>(to),
    })
}

fn to_float<S: FromNumber, T: ToNumber<S::Wide>>(
    src: &[u8],
    first: u64,
    dst: &mut [u8],
    tally: &mut Tally,
) -> Result<(), OutOfRange> {
    each_piece(src, first, dst, |src, first, dst| {
        match S::INTEGER {
            Some(value) if !all_wide(src) => convert_large(src, first, dst, value, tally),
            _ if const { S::DTYPE.fits_in(T::DTYPE) } => widen::<S, T>(src, dst, tally),
            _ => narrow::<S, T>(src, first, dst, tally),
        }
        Ok(())
    })
}

fn to_integer<S: FromNumber, T: FromNumber + TryFrom<S>>(
    src: &[u8],
    first: u64,
    dst: &mut [u8],
    tally: &mut Tally,
) -> Result<(), OutOfRange> {
    each_piece(src, first, dst, |src, first, dst| {
        if !narrow_integers::<S, T>(src, dst) {
            let outside = src.iter().position(|&v| T::try_from(v).is_err());
            return Err(OutOfRange { index: first + outside.unwrap_or(0) as u64 });
        }
        tally.exact += src.len() as u64;
        Ok(())
    })
}

/// Hands out matching pieces of both sides. Bytes that are not aligned for their type go through a
/// copy.
fn each_piece<S: Pod, T: Pod>(
    src: &[u8],
    mut first: u64,
    dst: &mut [u8],
    mut convert: impl FnMut(&[S], u64, &mut [T]) -> Result<(), OutOfRange>,
) -> Result<(), OutOfRange> {
    let pieces = src.chunks(PIECE * size_of::<S>());
    for (src, dst) in pieces.zip(dst.chunks_mut(PIECE * size_of::<T>())) {
        match (bytemuck::try_cast_slice(src), bytemuck::try_cast_slice_mut(dst)) {
            (Ok(src), Ok(dst)) => convert(src, first, dst)?,
            _ => convert_copy(src, first, dst, &mut convert)?,
        }
        first += PIECE as u64;
    }
    Ok(())
}

#[cold]
fn convert_copy<S: Pod, T: Pod>(
    src: &[u8],
    first: u64,
    dst: &mut [u8],
    convert: &mut impl FnMut(&[S], u64, &mut [T]) -> Result<(), OutOfRange>,
) -> Result<(), OutOfRange> {
    let src: Vec<S> = src.chunks_exact(size_of::<S>()).map(bytemuck::pod_read_unaligned).collect();
    let mut converted = vec![T::zeroed(); src.len()];
    convert(&src, first, &mut converted)?;
    for (to, from) in dst.chunks_exact_mut(size_of::<T>()).zip(&converted) {
        to.copy_from_slice(bytemuck::bytes_of(from));
    }
    Ok(())
}

fn widen<S: FromNumber, T: ToNumber<S::Wide>>(src: &[S], dst: &mut [T], tally: &mut Tally) {
    let nan = widen_all::<S, T>(src, dst);
    if nan > 0 {
        write_nans::<S, T>(src, dst);
    }
    tally.nan += nan;
    tally.exact += src.len() as u64 - nan;
}

fn narrow<S: FromNumber, T: ToNumber<S::Wide>>(
    src: &[S],
    first: u64,
    dst: &mut [T],
    tally: &mut Tally,
) {
    let bounds = [tally.abs_error_max, tally.rel_error_max].map(Worst::bound);
    let Survey { unequal, flushed, infinite, worse } = survey(src, dst, bounds);
    let census = if infinite > 0 { census(src) } else { Census::default() };
    let kept = if T::INFINITIES { census.infinite } else { 0 };
    let overflowed = infinite - census.nan - kept;
    let changed = unequal - census.nan;
    tally.exact += src.len() as u64 - unequal;
    tally.rounded += changed - overflowed - flushed;
    tally.overflowed += overflowed;
    tally.flushed += flushed;
    tally.nan += census.nan;

    if census.nan > 0 {
        write_nans::<S, T>(src, dst);
    }
    let pairs = || src.iter().map(|v| v.wide()).map(|wide| (wide, T::nearest(wide).1));
    if changed > 0 && tally.first_changed.is_none() {
        let change = pairs().position(|(wide, back)| !is_nan(wide) && back != wide);
        tally.first_changed = change.map(|i| first + i as u64);
    }
    if worse > 0 && exceeds::<S, T>(src, bounds) {
        for (index, (wide, back)) in (first..).zip(pairs()) {
            let error = back.minus(wide).abs();
            if error < S::Wide::INFINITY {
                let (error, of) = (error.to_f64(), wide.abs().to_f64());
                Worst::raise(&mut tally.abs_error_max, error, index);
                Worst::raise(&mut tally.rel_error_max, error / of, index);
            }
        }
    }
}

#[cold]
fn write_nans<S: FromNumber, T: ToNumber<S::Wide>>(src: &[S], dst: &mut [T]) {
    for (wide, to) in src.iter().map(|v| v.wide()).zip(dst) {
        if is_nan(wide) {
            *to = T::nan(wide.nan());
        }
    }
}

/// The slow path of 64-bit integers that f64 may not hold. Errors are computed exactly, then
/// rounded to f64.
fn convert_large<S: FromNumber, T: ToNumber<S::Wide>>(
    src: &[S],
    first: u64,
    dst: &mut [T],
    value: fn(S) -> i128,
    tally: &mut Tally,
) {
    for (index, (&from, to)) in (first..).zip(src.iter().zip(dst)) {
        let from = value(from);
        let (nearest, back) = T::nearest_integer(from);
        *to = nearest;
        let error = from.abs_diff(back as i128) as f64;
        if !back.is_finite() {
            tally.overflowed += 1;
        } else if error == 0.0 {
            tally.exact += 1;
            continue;
        } else {
            tally.rounded += 1;
            Worst::raise(&mut tally.abs_error_max, error, index);
            Worst::raise(&mut tally.rel_error_max, error / from.unsigned_abs() as f64, index);
        }
        tally.first_changed = tally.first_changed.or(Some(index));
    }
}
