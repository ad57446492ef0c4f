//! What can be wrong with tensors that are joined, indexed, made or read, and with numbers beside
//! them.

use crate::caps::Feature;
use crate::dtype::DType;
use crate::error::{Result, causes};
use crate::kernel::attention::QUADS_MAX;
use crate::shape::{Axis, Shape};

/// What is computed in f32, of what dtypes.
pub(super) const FLOATS_BY_F32: &str = "f32, f16 or bf16";

causes! {
    pub(crate) enum TensorCause;

    Nothing { what: &'static str }, Shape:
        ("{what} of no tensors")
        help ("give one at least: its dtype and device are those of the result");
    Dtypes { what: &'static str, left: DType, right: DType }, DType:
        ("{what}: dtypes differ: left {left}, right {right}")
        help ("cast one of them: `cast(dtype)`");
    Index { what: &'static str, dtype: DType }, DType:
        ("{what}: {dtype} is no index, which is i32, u32, i64 or u64")
        help ("cast it: `cast(DType::I32)`");
    Along { what: &'static str, axis: Axis, left: Shape, right: Shape }, Shape:
        ("{what}: shapes differ beside axis {axis}: left {left}, right {right}")
        help ("every axis but that one must agree; `broadcast_to` and `slice` make it so");
    Stack { left: Shape, right: Shape }, Shape:
        ("stack: shapes differ: left {left}, right {right}")
        help ("all have one shape; `concat` puts them together along an axis that they have");
    IndexAdd { indices: usize, parts: usize, axis: Axis, source: Shape }, Shape:
        ("index_add: {indices} indices for the {parts} parts of {source} along axis {axis}")
        help ("one index for each part of the source");
    Sizes { axis: Axis, sizes: Vec<usize>, dim: usize }, Shape:
        ("split: sizes {sizes:?} are {}, axis {axis} has {dim}",
         sizes.iter().map(|&size| size as u128).sum::<u128>())
        help ("the sizes add up to {dim}; `chunk` and `split_evenly` take how many parts");
    Unstack { axis: Axis, dim: usize, parts: usize }, Shape:
        ("unstack: axis {axis} of length {dim}, taken apart into {parts}")
        help ("the array has a place for each: `let [x, y] = ..` takes a length of 2; `split` and \
               `at` do where the length is not known");
    Parts { what: &'static str, axis: Axis, dim: usize, count: usize }, Shape:
        ("{what}: axis {axis} of length {dim} has no {count} equal parts")
        help ("{}", match (*what, count) {
            (_, 0) => "one part at least",
            ("glu" | "pairs", _) => "its length is even",
            _ => "`chunk` makes the last part shorter; `split` takes the sizes",
        });
    Grows { made: Shape, shape: Shape }, Shape:
        ("a result of {made} does not fit into {shape}, which keeps its shape")
        help ("write `x = (&x + &y)?`, or sum the other side over the axes that are new");
    Pads { pads: usize, shape: Shape }, Shape:
        ("pad: pairs given: {pads}, axes of {shape}: {}", shape.rank())
        help ("one for each axis: `(0, 0)` for none");
    Reflect { axis: usize, pad: usize, dim: usize }, Shape:
        ("pad: {pad} reflected from axis {axis} of length {dim}")
        help ("at most one less than the axis has can be reflected");
    Replicate { axis: usize, pad: usize }, Shape:
        ("pad: {pad} replicated from axis {axis} of length 0")
        help ("nothing is there to repeat: `Pad::Constant` takes its numbers from nowhere");
    Wrap { axis: usize, pad: usize, dim: usize }, Shape:
        ("pad: {pad} wrapped around axis {axis} of length {dim}")
        help ("at most as many as the axis has can come from its other end");
    Steps { start: String, end: String, step: String }, Argument:
        ("arange: steps of {step} never lead from {start} to {end}")
        help ("start, end and step are finite, and the step is not 0");
    Ends { start: f64, end: f64 }, Argument:
        ("linspace: no steps are equally long from {start:?} to {end:?}")
        help ("both ends are finite; `full` repeats one that is not");
    Only { what: &'static str, dtype: DType, only: &'static str }, DType:
        ("{what}: {dtype}, not {only}")
        help ("compute in another dtype and cast: `cast(dtype)`");
    Stored { what: &'static str, dtype: DType }, DType:
        ("{what}: {dtype} is stored and cast, not computed with")
        help ("cast it first, such as by `cast(DType::F32)`, which is fused into what reads it");
    Makes { what: &'static str, dtype: DType }, DType:
        ("{what}: {dtype} is stored and cast, not computed with")
        help ("make f32, and `cast(DType::{dtype:?})`");
    Draws64, Rejected:
        ("uniform: f64 is drawn by 64-bit integers, the device lacks {}",
         Feature::ShaderInt64.name())
        help ("draw f32, and `cast(DType::F64)`");
    Probability { probability: f64 }, Argument:
        ("bernoulli: probability {probability:?} is outside 0..=1")
        help ("a part of all, not per cent: 0.25 for a quarter");
    Empty { low: i64, high: i64 }, Argument:
        ("integers: {low}..{high} has {} numbers, not 1 to 2^32",
         (i128::from(*high) - i128::from(*low)).max(0))
        help ("the lower end comes first; of all bits: `random_bits`");
    /// Queries and values that do not stay in registers.
    Long { d: usize, e: usize }, Shape:
        ("queries of {d} and values of {e}, each rounded up to fours, are {} together, above {}",
         4 * (d.div_ceil(4) + e.div_ceil(4)), 4 * QUADS_MAX)
        help ("{COMPOSE}");
    Lengths { lengths: Shape, batches: Shape }, Shape:
        ("lengths and batches differ: left {lengths}, right {batches}")
        help ("one length for each batch: the axes of the keys before their heads");
    Cap { cap: f32 }, Argument:
        ("a cap of {cap:?} for scores, not finite and above 0")
        help ("leave `softcap` out for none");
    /// More keys than the loop of an invocation may take, or than a segment holds of one head.
    Keys { keys: usize, keys_max: usize }, Shape:
        ("{keys} keys are above {keys_max}")
        help ("{COMPOSE}");
    /// A number that is none of a dtype's.
    Scalar { scalar: String, dtype: DType }, DType:
        ("scalar {scalar} is not a value of {dtype}")
        help ("take a dtype that has it; a tensor becomes one by `cast(dtype)`");
    /// A float beside integers, be it whole or not.
    Float { scalar: String, dtype: DType }, DType:
        ("scalar {scalar} is a float, {dtype} an integer")
        help ("write an integer, or take a float dtype; a tensor becomes one by `cast(dtype)`");
    Converts { dtype: DType, stored: DType }, Rejected:
        ("{dtype} is stored as {stored} here, a buffer has {dtype} as it is")
        help ("convert it in a pass of your own, or wrap its words as u32");
    Usages { has: wgpu::BufferUsages, lacks: wgpu::BufferUsages }, Foreign:
        ("the buffer has the usages {}, and lacks {}", usages(*has), usages(*lacks))
        help ("create it with {} as well", usages(*lacks));
    Owned, Foreign:
        ("the buffer is one of wharf's own")
        help ("what was lent is a tensor already: use that one");
    Tail { end: u64, size: u64 }, Foreign:
        ("elements end at byte {end} of {size}, whole quads at byte {}", size / 32 * 32)
        help ("create the buffer with {} bytes, or copy it into a tensor that you lend: \
               `lend_mut`", end.next_multiple_of(32));
    Words { offset: u64, bytes: u64 }, Foreign:
        ("{bytes} bytes at byte {offset} are no whole words of 4 bytes")
        help ("begin at a multiple of 4, and pad the tensor: `pad`");
    Beyond { offset: u64, bytes: u64, size: u64 }, Foreign:
        ("{bytes} bytes at byte {offset} end beyond the buffer, which has {size}")
        help ("a tensor takes elements times bytes of each, counted from the offset");
    /// The host has no room for what is read.
    HostMemory { elements: usize, dtype: DType }, OutOfMemory:
        ("out of host memory for {elements} values of {dtype}")
        help ("read a part of it: `slice` before reading");
}

/// Whether it is one of [`FLOATS_BY_F32`].
pub(super) const fn by_f32(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F16 | DType::Bf16)
}

/// Refuses a dtype that nothing is computed with.
pub(super) fn computed_with(what: &'static str, dtype: DType) -> Result<()> {
    if dtype.computes() { Ok(()) } else { Err(TensorCause::Stored { what, dtype }.into()) }
}

/// Refuses a dtype that nothing is made of by computing.
pub(super) fn makes(what: &'static str, dtype: DType) -> Result<()> {
    if dtype.computes() { Ok(()) } else { Err(TensorCause::Makes { what, dtype }.into()) }
}

/// Refuses what is no float that is computed with.
pub(super) fn float(what: &'static str, dtype: DType) -> Result<()> {
    computed_with(what, dtype)?;
    let only = "a float";
    if dtype.is_float() { Ok(()) } else { Err(TensorCause::Only { what, dtype, only }.into()) }
}

/// `STORAGE | COPY_SRC`
fn usages(usages: wgpu::BufferUsages) -> String {
    let names: Vec<&str> = usages.iter_names().map(|(name, _)| name).collect();
    names.join(" | ")
}

const COMPOSE: &str = "compose it: `q.matmul(&k.t()?)`, `softmax`, `matmul`";
