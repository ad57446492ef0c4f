//! What must hold of a capsule before anything is done with it: every index names something, every
//! view lies within its input, and nothing is computed that the file does not have.

use super::capsule::{Capsule, Tract};
use super::carry::absurd;
use crate::dtype::{Class, DType};
#[cfg(not(target_arch = "wasm32"))]
use crate::error::Cause as _;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::op::{Joint, Reduction};
use crate::proof::{Claim, Formed, Oracle};
use crate::reference::Resampling;
use crate::wgsl::Term;

/// Memory that dispatches may take: so much, and so many times what the file has.
const MEMORY_MIN: u128 = 0x10_0000;
const MEMORY_EACH: u128 = 64;

fn ensure(holds: bool, what: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(absurd(what)) }
}

impl Capsule {
    /// From a file's bytes, all of it checked.
    ///
    /// # Errors
    /// If it is no capsule, of another version, cut short, or contradicts itself.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let capsule = Self::unchecked(bytes)?;
        check(&capsule)?;
        Ok(capsule)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`Self::from_bytes`], and if it cannot be read.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| {
            let (path, why) = (path.display().to_string(), error.to_string());
            super::cause::ShadowCause::Unread { path, why }.by(error)
        })?;
        Self::from_bytes(&bytes)
    }
}

fn check(capsule: &Capsule) -> Result<()> {
    let Capsule { claim, inputs, regions, dispatches, outcome, result, .. } = capsule;
    let lengths: Vec<usize> = inputs.iter().map(|input| input.0.len()).collect();
    for head in &claim.heads {
        formed(head, 0, &lengths)?;
    }
    formed(&claim.tail, usize::from(claim.core.is_some()), &lengths)?;
    ensure(claim.refusal().is_none(), "an operation without an oracle")?;
    core(claim, &lengths)?;
    let tail = &claim.tail;
    let bytes = (tail.shape.elements() as u128) * tail.dtype.width() as u128;
    ensure(bytes == result.0.len() as u128, "a result of another size than its shape")?;
    let data = lengths.iter().map(|&n| n as u128).sum::<u128>() + result.0.len() as u128;
    let memory: u128 = regions.iter().map(|region| u128::from(region.bytes)).sum();
    ensure(memory <= MEMORY_MIN + MEMORY_EACH * data, "far more memory than data")?;
    for region in regions {
        for laid in &region.first {
            let input = lengths.get(laid.input).map(|&n| n as u64);
            let ends = (laid.at.checked_add(laid.bytes), laid.from.checked_add(laid.bytes));
            let holds = ends.0.is_some_and(|end| end <= region.bytes)
                && ends.1.zip(input).is_some_and(|(end, input)| end <= input);
            ensure(holds, "bytes that are not in an input or a region")?;
        }
    }
    let parts = dispatches.iter().flat_map(|act| &act.bindings).chain(outcome);
    for Tract { region, at, bytes } in parts {
        let end = at.checked_add(*bytes);
        let holds = regions.get(*region).zip(end).is_some_and(|(r, end)| end <= r.bytes);
        ensure(holds && at % 4 == 0, "a binding outside of its region")?;
    }
    let got = outcome.iter().try_fold(0u64, |sum, part| sum.checked_add(part.bytes));
    ensure(got.is_some_and(|got| got >= result.0.len() as u64), "a result that is not all there")
}

/// An expression over views of inputs, and `own` inputs before them.
fn formed(of: &Formed, own: usize, lengths: &[usize]) -> Result<()> {
    let Formed { expr, views, scalars, shape, dtype } = of;
    ensure(expr.inputs.len() == views.len() + own, "another number of views than inputs")?;
    for (seen, given) in views.iter().zip(&expr.inputs[own..]) {
        ensure(seen.layout.shape() == shape && seen.dtype == *given, "a view of another shape")?;
        let length = lengths.get(seen.input).ok_or_else(|| absurd("an input that is not there"))?;
        seen.layout.check_within(length / seen.dtype.width())?;
    }
    let words: usize = expr.scalars.iter().map(|d| if d.width() == 8 { 3 } else { 1 }).sum();
    ensure(scalars.len() <= words.max(1), "more numbers than it names")?;
    for (n, node) in (0u16..).zip(&expr.nodes) {
        let holds = match node {
            Term::Input(i) => usize::from(*i) < expr.inputs.len(),
            Term::Scalar(i) => usize::from(*i) < expr.scalars.len(),
            Term::Apply(op, args) => args[..op.arity()].iter().all(|&a| a < n),
            Term::Cast(a, _) => *a < n,
            Term::Call(..) => false,
        };
        ensure(holds, "a step of what comes behind it")?;
    }
    let dtypes = expr.dtypes().map_err(Error::from)?;
    let root = match &*expr.outputs {
        [root] => dtypes.get(usize::from(*root)),
        _ => None,
    };
    ensure(root == Some(dtype), "a result of another dtype")
}

/// What an oracle takes for granted.
fn core(claim: &Claim, lengths: &[usize]) -> Result<()> {
    let Claim { core, heads, tail } = claim;
    let elements = tail.shape.elements();
    let Some(core) = core else {
        return ensure(heads.is_empty(), "inputs of no core");
    };
    let dims: Vec<&[usize]> = heads.iter().map(|head| head.shape.dims()).collect();
    let count: Vec<usize> = heads.iter().map(|head| head.shape.elements()).collect();
    let given = tail.expr.inputs[0];
    let same = |i: usize| heads.get(i).is_some_and(|head| head.dtype == given);
    let holds = match (core, heads.len()) {
        (Oracle::Copied, 1) => count[0] == elements && same(0),
        (Oracle::Reduced { reduction, axes }, 1) => {
            let kept = dims[0].iter().zip(axes).filter(|(_, gone)| !**gone).map(|(dim, _)| dim);
            axes.len() == dims[0].len()
                && all(kept) == elements as u128
                && reduction.takes(heads[0].dtype)
                && reduction.yields(heads[0].dtype) == given
        }
        (Oracle::Scanned(reduction), 1) => {
            use Reduction::{Max, Min, Prod, Sum};
            matches!(reduction, Sum | Prod | Max | Min)
                && reduction.takes(heads[0].dtype)
                && count[0] == elements
                && !dims[0].is_empty()
        }
        (Oracle::Row { joint, .. }, 1) => {
            use Joint::{LayerNorm, LogSoftmax, RmsNorm, Softmax};
            matches!(joint, Softmax | LogSoftmax | LayerNorm | RmsNorm)
                && count[0] == elements
                && !dims[0].is_empty()
                && heads[0].dtype.is_float()
                && same(0)
        }
        (Oracle::Product { sides }, 2) => product(claim, sides, lengths)?,
        (Oracle::Attention { .. }, 3 | 4) => attention(claim, &dims),
        (Oracle::Picked { strides, .. }, 2) => {
            count[1] == elements && strides.len() == dims[1].len() && same(0)
        }
        (Oracle::Joined { axis }, 1..) => {
            let alike = |dims: &&[usize]| dims.len() == tail.shape.rank() && *axis < dims.len();
            dims.iter().all(alike)
                && count.iter().map(|&n| n as u128).sum::<u128>() == elements as u128
                && (0..heads.len()).all(same)
                && dims.iter().all(|d| d[axis + 1..] == dims[0][axis + 1..])
                && dims.iter().all(|d| d[..*axis] == dims[0][..*axis])
        }
        (Oracle::Convolved { step, reach, first, groups }, 2) => {
            let small = |n: usize| u32::try_from(n).is_ok();
            step.iter().chain(reach).all(|&n| small(n))
                && first.iter().all(|n| small(n.unsigned_abs()))
                && convolution(claim, (dims[0], dims[1]), *groups)
        }
        (Oracle::Own { by, told }, _) => (by.fits)(claim, told),
        (
            Oracle::Pooled { .. }
            | Oracle::Resized { .. }
            | Oracle::Enlarged { .. }
            | Oracle::Covered { .. },
            1,
        ) => image(claim, core, dims[0]),
        _ => moved(claim, core, (&dims, &count)),
    };
    ensure(holds, "an oracle of other inputs")
}

/// The product of some dimensions.
fn all<'a>(dims: impl IntoIterator<Item = &'a usize>) -> u128 {
    dims.into_iter().fold(1, |product: u128, &dim| product.saturating_mul(dim as u128))
}

fn product(claim: &Claim, sides: &[Layout; 2], lengths: &[usize]) -> Result<bool> {
    let Claim { heads, tail, .. } = claim;
    let (given, elements) = (tail.expr.inputs[0], tail.shape.elements());
    let [a, b] = sides;
    let (rows, columns) = (a.shape().dims(), b.shape().dims());
    let rank = rows.len();
    let within = |i: usize| {
        let seen = &heads[i].views[0];
        lengths.get(seen.input).map(|n| sides[i].check_within(n / seen.dtype.width()))
    };
    for i in 0..2 {
        within(i).unwrap_or_else(|| Err(absurd("an input that is not there")))?;
    }
    Ok(rank >= 2
        && columns.len() == rank
        && rows[..rank - 2] == columns[..rank - 2]
        && rows[rank - 1] == columns[rank - 2]
        && heads[0].dtype == heads[1].dtype
        && crate::reference::matmul_dtype(heads[0].dtype) == given
        && all(rows[..rank - 1].iter().chain(&columns[rank - 1..])) == elements as u128)
}

fn convolution(claim: &Claim, (input, weight): (&[usize], &[usize]), groups: usize) -> bool {
    let Claim { heads, tail, .. } = claim;
    let result = tail.shape.dims();
    let of = tail.expr.inputs[0].class();
    input.len() == 5
        && weight.len() == 5
        && (3..=5).contains(&result.len())
        && groups > 0
        && weight[0].is_multiple_of(groups)
        && weight[1].checked_mul(groups) == Some(input[1])
        && result[..2] == [input[0], weight[0]]
        && heads.iter().all(|head| head.dtype.class() == of && head.dtype == heads[0].dtype)
        && of != Class::Bool
}

/// Pools, and axes at another length.
fn image(claim: &Claim, core: &Oracle, dims: &[usize]) -> bool {
    let Claim { heads, tail, .. } = claim;
    let (given, elements) = (tail.expr.inputs[0], tail.shape.elements() as u128);
    let small = |n: usize| u32::try_from(n).is_ok();
    let sampled = |length: usize, to: usize, at: &Resampling| {
        length > 0
            && small(length.max(to))
            && u32::try_from(at.term.unsigned_abs()).is_ok()
            && at.parts > 0
    };
    let alike = given.class() == heads[0].dtype.class() && given.class() != Class::Bool;
    match (core, dims) {
        (Oracle::Pooled { reduction, size, step, reach, first, result }, &[n, channels, ..]) => {
            alike
                && dims.len() == 5
                && [size, step, reach, result].into_iter().flatten().all(|&n| small(n))
                && size.iter().all(|&n| n > 0)
                && first.iter().all(|n| small(n.unsigned_abs()))
                && matches!(reduction, Reduction::Max | Reduction::Sum)
                && all([&n, &channels].into_iter().chain(result)) == elements
        }
        (Oracle::Resized { to, at }, &[rows, length, across]) => {
            alike
                && given.is_float()
                && sampled(length, *to, at)
                && all([&rows, to, &across]) == elements
        }
        (Oracle::Covered { to, .. }, &[rows, length, across]) => {
            // Places of both axes are counted in parts of the other.
            let parts = 2 * length.max(1) as u128 * (*to as u128 + 2);
            alike
                && given.is_float()
                && length > 0
                && small(length.max(*to))
                && u64::try_from(parts).is_ok()
                && all([&rows, to, &across]) == elements
        }
        (Oracle::Enlarged { to, at }, &[images, height, width]) => {
            let [down, along] = at;
            alike
                && given.is_float()
                && sampled(height, to[0], down)
                && sampled(width, to[1], along)
                && all([&images, &to[0], &to[1]]) == elements
        }
        _ => false,
    }
}

/// What is moved, sorted or drawn.
fn moved(claim: &Claim, core: &Oracle, (dims, count): (&[&[usize]], &[usize])) -> bool {
    let Claim { heads, tail, .. } = claim;
    let (given, elements) = (tail.expr.inputs[0], tail.shape.elements());
    let result = tail.shape.dims();
    let same = |i: usize| heads[i].dtype == given;
    let words = heads.iter().all(|head| head.dtype == DType::U32) && given == DType::U32;
    match (core, heads.len()) {
        (Oracle::Words, 1) => {
            let width = heads[0].dtype.width();
            width % 4 == 0
                && given == DType::U32
                && count[0].checked_mul(width / 4) == Some(elements)
        }
        (Oracle::Ordered { bits, length }, 1..) => {
            bits.len() == heads.len()
                && bits.iter().all(|&bits| bits <= 32)
                && *length > 0
                && elements.is_multiple_of(*length)
                && count.iter().all(|&n| n == elements)
                && words
        }
        (Oracle::Sorted { length, .. }, 1) => {
            *length > 0
                && elements.is_multiple_of(*length)
                && count[0] == elements
                && same(0)
                && given.width() == 4
        }
        (Oracle::Foremost { bits, length, count: first }, 1..) => {
            bits.len() == heads.len()
                && bits.iter().all(|&bits| bits <= 32)
                && (1..=*length).contains(first)
                && count[0].is_multiple_of(*length)
                && count.iter().all(|&n| n == count[0])
                && (count[0] / length).checked_mul(*first) == Some(elements)
                && words
        }
        (Oracle::Filled { .. } | Oracle::Drawn { .. }, 0) => true,
        (Oracle::Counted | Oracle::Shuffled { .. }, 0) | (Oracle::Last, 1) => words,
        (Oracle::Replaced, 3) => count[0] == elements && count[2] == elements && same(0) && same(1),
        (Oracle::Folded(reduction), 3) => {
            matches!(reduction, Reduction::Sum | Reduction::Prod)
                && reduction.takes(given)
                && dims[1].len() == 2
                && dims[1][0] == count[0]
                && dims[1][1] > 0
                && count[2] == elements
                && same(1)
                && same(2)
        }
        (Oracle::Assigned { first }, 2) => {
            within(first, dims[1], result) && dims[0] == result && same(0) && same(1)
        }
        (Oracle::Framed { first, .. }, 1) => within(first, dims[0], result) && same(0),
        (Oracle::Band { .. }, 1) => dims[0] == result && result.len() >= 2 && same(0),
        _ => false,
    }
}

/// Whether something of these lengths, from these places on, lies within a whole.
fn within(first: &[usize], part: &[usize], whole: &[usize]) -> bool {
    let fits = |((first, dim), whole): ((&usize, &usize), &usize)| {
        first.checked_add(*dim).is_some_and(|end| end <= *whole)
    };
    first.len() == whole.len()
        && part.len() == whole.len()
        && first.iter().zip(part).zip(whole).all(fits)
}

fn attention(claim: &Claim, dims: &[&[usize]]) -> bool {
    let Claim { heads, tail, .. } = claim;
    let elements = tail.shape.elements();
    if dims.iter().any(|dims| dims.len() != 4) {
        return false;
    }
    let (q, k, v) = (dims[0], dims[1], dims[2]);
    let mask = dims.get(3).is_none_or(|m| **m == [q[0], q[1], q[2], k[2]]);
    q[0] == k[0]
        && k[..3] == v[..3]
        && q[3] == k[3]
        && k[1] > 0
        && q[1] % k[1] == 0
        && mask
        && all(q[..3].iter().chain(&v[3..])) == elements as u128
        && heads.iter().all(|head| head.dtype.is_float())
}
