//! What can be wrong with a dtype, or with a value on its way into another one.

use super::convert::{NARROWER, convertible};
use crate::dtype::DType;
use crate::error::causes;
use crate::shape::Shape;

causes! {
    pub(crate) enum CarriageCause;

    OutOfRange { from: DType, to: DType, index: u64, value: String }, Conversion:
        ("{from} -> {to}: value {value} at index {index} is out of range")
        help ("carry it as {from} on an adapter that has it, or bring the value into range");
    Changed { from: DType, to: DType, index: u64, value: String }, Conversion:
        ("{from} -> {to}: value {value} at index {index} has no exact {to}")
        help ("have roundings counted instead of refused: `.allow(DType::{:?}, DType::{to:?})`",
              NARROWER.iter().find(|(_, narrow)| narrow == to).map_or(*from, |(wide, _)| *wide));
    Overflow { from: DType, to: DType, index: u64, value: String }, Conversion:
        ("{from} -> {to}: value {value} at index {index} overflows to {}", beyond(*to))
        help ("scale the data, or leave out `overflow_is_error()` to have overflows counted");
    NoConversion { from: DType, to: DType }, DType:
        ("no conversion {from} -> {to} between host and device")
        help ("convert on the host, or cast on the device");
    NoBlocks { dtype: DType }, DType:
        ("weights of {dtype} as blocks, not f32, f16 or bf16")
        help ("convert them on the host, or cast and `quantize` on the device");
    NoRows { shape: Shape }, Shape:
        ("weights {shape} as blocks, not [out, in] with rows of whole blocks of 32")
        help ("bring them up as they are, and `reshape`, `pad` or `quantize` on the device");
    NoMaker { name: &'static str }, DType:
        ("nothing is quantized to {name}, which is only read")
        help ("quantize to `Blocks::Q4` or `Blocks::Q8`, or read a file of GGUF that has it");
    Columns { shape: Shape }, Layout:
        ("weights {shape} as blocks lie column by column, blocks along rows")
        help ("write the file in C's order, or bring them up as they are and `quantize`");
    Bytes { given: usize, shape: Shape, dtype: DType, needed: u128 }, Shape:
        ("{given} bytes for {shape} of {dtype}, which has {needed}")
        help ("give the bytes of all elements and no more, or another shape or dtype");
    Truth { byte: u8, index: u64 }, Conversion:
        ("byte {byte} at index {index} is no bool, which is 0 or 1")
        help ("carry it as u8, and compare it with 0 on the device");
    ReadAs { tensor: DType, asked: DType }, DType:
        ("tensor is {tensor}, read asks for {asked}")
        help ("read it as {tensor}, or {}", if convertible(*tensor, *asked) {
            format!("ask for a conversion: `read_as::<{asked}>()`")
        } else {
            format!("cast it before, `cast(DType::{asked:?})`")
        });
}

/// What a number beyond the range of a dtype becomes.
const fn beyond(to: DType) -> &'static str {
    if to.has_infinity() { "infinity" } else { "NaN" }
}
