//! How a resized axis is cut, and how its elements are loaded.

use super::text::{CoverJob, CoverText, EnlargeJob, Lies, ResizeJob, ResizeText};
use crate::caps::breadth::Breadth;
use crate::count::{word, words, wrapped};
use crate::error::Result;
use crate::layout::Layout;
use crate::op::Kind;
use crate::reference::{Filter, Resampling};
use crate::wgsl::Target;
use crate::wgsl::grid::LANES_BUSY;

/// The rows that a lane takes: places and weights are found once for them.
const ROWS: usize = 8;
/// The lines of the result that a lane takes: with the first come those that it is made of.
const LINES: usize = 16;
/// What an element may cover: as many terms as half of what a sum may be off by has roundings.
const COVERED_MAX: u64 = 128;
/// The most elements that a quad along the axis is given at once: as many loads as two taps take.
const ELEMENTS_MAX: u32 = 8;

/// An axis at another length, and where its elements lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resizing {
    pub(crate) to: usize,
    pub(crate) at: Resampling,
}

/// The elements of the source that an element along an axis is made of.
pub(super) const fn taps(at: Resampling) -> u64 {
    if at.cubic { 4 } else { 2 }
}

/// The elements of the source from the first that a quad along an axis needs to the last.
fn elements(at: Resampling) -> u64 {
    (3 * u64::from(at.factor)).div_ceil(u64::from(at.parts)) + taps(at)
}

/// Blocks of rows that are shared out evenly: no more than these to a lane, of so many quads.
fn blocks(rows: usize, quads: usize, most: usize, (target, breadth): (Target, Breadth)) -> usize {
    rows.div_ceil(match target {
        Target::Gpu => (quads / breadth.share(LANES_BUSY)).clamp(1, most),
        Target::Cpu | Target::Cpu64 | Target::CpuByLane => most,
    })
}

/// A view `[rows, length, across]` whose axis gets another length.
struct Lengthened<'a> {
    view: &'a Layout,
    to: usize,
}

impl Lengthened<'_> {
    /// The elements of a line of the result: across the axis, or along it.
    fn line(&self) -> usize {
        match self.view.shape().dims()[2] {
            1 => self.to,
            across => across,
        }
    }

    /// How quads lie, if they are loaded as such where they can be; `None` where they lie along.
    fn across(&self) -> Option<Lies> {
        let (dims, strides) = (self.view.shape().dims(), self.view.strides());
        let whole = |axis: usize| strides[axis] % 4 == 0 || dims[axis] == 1;
        let quads = strides[2] == 1 && whole(0) && whole(1) && dims[2].is_multiple_of(4);
        (dims[2] > 1).then_some(if quads { Lies::Across } else { Lies::AcrossEach })
    }

    /// What a kernel is told of them - columns, sizes and steps - and how many lanes it takes.
    fn job(&self, lies: Lies, on: (Target, Breadth)) -> Result<([[u32; 4]; 3], u32)> {
        let (dims, line) = (self.view.shape().dims(), self.line());
        let (rows, across) = (dims[0], dims[2]);
        let lines = if across == 1 { 1 } else { self.to };
        let quads = line.div_ceil(4);
        let blocks = blocks(rows, rows * lines * quads, ROWS, on);
        let all = blocks * lines * quads;
        let unit = if lies == Lies::Across { 4 } else { 1 };
        let stride = |axis: usize| wrapped(self.view.strides()[axis] / unit);
        let columns = words([all, quads, lines, rows.div_ceil(blocks)])?;
        let size = words([rows, line, self.to, self.to * across])?;
        Ok(([columns, size, [stride(0), stride(1), stride(2), 0]], word(all)?))
    }
}

impl Resizing {
    /// The kernel for a view `[rows, length, across]`.
    pub(super) fn text(&self, view: &Layout, kind: Kind) -> ResizeText {
        let lines = Lengthened { view, to: self.to };
        let lies = lines.across().unwrap_or_else(|| match u32::try_from(elements(self.at)) {
            Ok(elements) if elements <= ELEMENTS_MAX => Lies::Along(elements),
            _ => Lies::Apart,
        });
        ResizeText { lies, cubic: self.at.cubic, kind, whole: lines.line().is_multiple_of(4) }
    }

    /// What it is told, and how many lanes it takes.
    pub(super) fn job(
        &self,
        lies: Lies,
        view: &Layout,
        on: (Target, Breadth),
    ) -> Result<(ResizeJob, u32)> {
        let ([columns, size, stride], lanes) = Lengthened { view, to: self.to }.job(lies, on)?;
        let Resampling { factor, term, parts, .. } = self.at;
        let place = [factor, term as u32, parts, word(view.shape().dims()[1] - 1)?];
        Ok((ResizeJob { columns, size, place, stride }, lanes))
    }
}

/// An axis at another length, each element the mean of what it covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covering {
    pub(crate) to: usize,
    pub(crate) filter: Filter,
}

impl Covering {
    /// Whether the kernel is for an axis of this length: a lane adds up what it covers one after
    /// the other, so that more would be off by more than a sum may be.
    pub(crate) fn takes(&self, from: usize) -> bool {
        self.terms(from) <= COVERED_MAX
    }

    /// How many elements of an axis of this length one is made of, at most.
    pub(super) fn terms(&self, from: usize) -> u64 {
        self.filter.end(from as u64, self.to as u64) / (self.to as u64) + 1
    }

    pub(super) fn text(&self, view: &Layout, kind: Kind) -> CoverText {
        let lines = Lengthened { view, to: self.to };
        let lies = lines.across().unwrap_or(Lies::Apart);
        CoverText { lies, filter: self.filter, kind, whole: lines.line().is_multiple_of(4) }
    }

    /// What it is told, and how many lanes it takes.
    pub(super) fn job(
        &self,
        lies: Lies,
        view: &Layout,
        on: (Target, Breadth),
    ) -> Result<(CoverJob, u32)> {
        let ([columns, size, stride], lanes) = Lengthened { view, to: self.to }.job(lies, on)?;
        let (from, to) = (view.shape().dims()[1], self.to);
        let end = u32::try_from(self.filter.end(from as u64, to as u64));
        let axis = [word(from)?, word(to)?, end.unwrap_or(u32::MAX), word(2 * from.max(to))?];
        Ok((CoverJob { columns, size, axis, stride }, lanes))
    }
}

/// Two axes at other lengths, the lines of images and their elements; by the same sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enlarging {
    pub(crate) to: [usize; 2],
    pub(crate) at: [Resampling; 2],
}

impl Enlarging {
    /// Whether the kernel is for images of this height: of none that become smaller, whose lines
    /// are skipped, and none whose places are above an i32 when they are walked past.
    pub(crate) fn takes(&self, height: usize) -> bool {
        let [down, along] = self.at;
        let past = (height as u64 + 2) * u64::from(down.parts);
        down.cubic == along.cubic
            && i32::try_from(past).is_ok()
            && self.at.iter().all(|at| at.factor <= at.parts)
    }

    pub(super) fn text(&self, kind: Kind) -> ResizeText {
        let [_, along] = self.at;
        // No more than seven, because it becomes no shorter.
        let elements = elements(along) as u32;
        let whole = self.to[1].is_multiple_of(4);
        ResizeText { lies: Lies::Walked(elements), cubic: along.cubic, kind, whole }
    }

    /// What it is told, and how many lanes it takes.
    pub(super) fn job(&self, view: &Layout, on: (Target, Breadth)) -> Result<(EnlargeJob, u32)> {
        let (dims, [high, wide]) = (view.shape().dims(), self.to);
        let quads = wide.div_ceil(4);
        let blocks = blocks(high, dims[0] * high * quads, LINES, on);
        let all = dims[0] * blocks * quads;
        let [image, line, element] = [0, 1, 2].map(|axis| wrapped(view.strides()[axis]));
        let [down, along] = self.at;
        let job = EnlargeJob {
            columns: words([all, quads, blocks, high.div_ceil(blocks)])?,
            size: words([high, wide, high * wide, 0])?,
            place: [along.factor, along.term as u32, along.parts, word(dims[2] - 1)?],
            down: [down.factor, down.term as u32, down.parts, word(dims[1] - 1)?]
                .map(u32::cast_signed),
            stride: [image, element, line, 0],
        };
        Ok((job, word(all)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn lines_are_loaded_as_quads_where_each_begins_at_one() {
        let at = Resampling { factor: 1, term: 0, parts: 2, cubic: false };
        let lies = |dims: [usize; 3], strides: [isize; 3]| {
            let shape = Shape::new(dims).expect("a shape");
            let view = Layout::strided(shape, &strides, 0).expect("a view");
            Resizing { to: 6, at }.text(&view, Kind::F32).lies
        };
        assert_eq!(lies([2, 3, 8], [24, 8, 1]), Lies::Across);
        assert_eq!(lies([1, 3, 8], [7, 12, 1]), Lies::Across, "one row is at no step");
        for (why, dims, strides) in [
            ("rows of 30", [2, 3, 8], [30, 8, 1]),
            ("lines of ten", [2, 3, 8], [40, 10, 1]),
            ("every other element", [2, 3, 8], [48, 16, 2]),
            ("a line of six", [2, 3, 6], [24, 8, 1]),
        ] {
            assert_eq!(lies(dims, strides), Lies::AcrossEach, "{why}");
        }
    }
}
