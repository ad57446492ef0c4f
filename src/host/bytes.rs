//! A host view without its type: bytes, a width and a layout.
//!
//! Elements are moved by width, in runs along the innermost axis; only a conversion needs to know
//! their dtype. One routine walks the runs for reading and for writing.

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::Shape;

/// Host bytes and where each element lies in them. The layout is collapsed and stays inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteView<'a> {
    pub(crate) dtype: DType,
    pub(crate) bytes: &'a [u8],
    pub(crate) layout: Layout,
}

/// Bytes that a processor fetches at once.
const LINE: usize = 64;

/// Elements of a tile, which stays in the first-level cache: a few cache lines of each row by
/// whole cache lines of each column.
const TILE: usize = 1024;

/// Source bytes that a transposition gathers at once: sixteen rows of 8192 numbers.
const STRIP_BYTES: usize = 512 << 10;

/// Elements that follow each other on the innermost axis.
struct ElementRun {
    place: usize,
    stride: isize,
    len: usize,
}

/// Calls `each` with the runs that make up elements `first..first + len` in row-major order.
fn runs(layout: &Layout, first: usize, len: usize, mut each: impl FnMut(ElementRun)) {
    let rank = layout.shape().rank();
    let (dim, stride) = match rank.checked_sub(1) {
        Some(last) => (layout.shape().dims()[last], layout.strides()[last]),
        None => (1, 1),
    };
    let (mut at, end) = (first, first + len);
    while at < end {
        let run = (dim - at % dim).min(end - at);
        each(ElementRun { place: layout.place(at), stride, len: run });
        at += run;
    }
}

impl<'a> ByteView<'a> {
    /// The bytes of elements that lie together.
    pub(crate) fn dense(dtype: DType, bytes: &'a [u8]) -> Result<Self> {
        let shape = Shape::new([bytes.len() / dtype.width()])?;
        Ok(Self { dtype, bytes, layout: Layout::dense(shape) })
    }

    /// Elements `first..first + len` where they lie, if they lie together.
    pub(crate) fn slice(&self, first: usize, len: usize) -> Option<&'a [u8]> {
        let width = self.dtype.width();
        let start = (self.layout.offset() + first) * width;
        self.layout.is_dense().then(|| self.bytes.get(start..start + len * width)).flatten()
    }

    /// How many elements to gather at once where the elements of a column lie together: every cache
    /// line fetched should serve all the rows that it holds.
    pub(crate) fn strip(&self) -> Option<usize> {
        transposed(&self.layout, self.dtype.width()).map(|_| STRIP_BYTES / self.dtype.width())
    }

    /// Copies elements from `first` on, in row-major order, until `out` is full.
    pub(crate) fn gather(&self, first: usize, out: &mut [u8]) {
        match self.dtype.width() {
            1 => gather::<1>(self.bytes, &self.layout, first, out),
            2 => gather::<2>(self.bytes, &self.layout, first, out),
            4 => gather::<4>(self.bytes, &self.layout, first, out),
            _ => gather::<8>(self.bytes, &self.layout, first, out),
        }
    }
}

fn gather<const W: usize>(bytes: &[u8], layout: &Layout, first: usize, out: &mut [u8]) {
    let (from, _) = bytes.as_chunks::<W>();
    let (mut out, _) = out.as_chunks_mut::<W>();
    let mut at = first;
    while let Some(TransposedRows { rows, len, strides }) =
        transposed(layout, W).filter(|_| !out.is_empty())
    {
        // Whole rows, as many as there are before the next axis moves.
        let whole =
            if at.is_multiple_of(len) { (out.len() / len).min(rows - at / len % rows) } else { 0 };
        let n = if whole > 0 { whole * len } else { (len - at % len).min(out.len()) };
        let (now, later) = core::mem::take(&mut out).split_at_mut(n);
        if whole > 0 {
            transpose(from, layout.place(at), strides, now, len);
        } else {
            gather_runs(from, layout, at, now);
        }
        out = later;
        at += n;
    }
    gather_runs(from, layout, at, out);
}

/// The two innermost axes of a layout in which a row touches one cache line per element, and
/// neighbours in a column share a line.
struct TransposedRows {
    rows: usize,
    len: usize,
    strides: [isize; 2],
}

fn transposed(layout: &Layout, width: usize) -> Option<TransposedRows> {
    let (dims, strides) = (layout.shape().dims(), layout.strides());
    let (&[.., rows, len], &[.., outer, inner]) = (dims, strides) else { return None };
    let apart = |stride: isize| stride.unsigned_abs().saturating_mul(width) >= LINE;
    (apart(inner) && !apart(outer) && outer != 0 && rows > 1).then_some(TransposedRows {
        rows,
        len,
        strides: [outer, inner],
    })
}

/// Copies whole rows of `len` elements, tile by tile.
fn transpose<const W: usize>(
    from: &[[u8; W]],
    place: usize,
    [outer, inner]: [isize; 2],
    out: &mut [[u8; W]],
    len: usize,
) {
    let height = LINE / W;
    let width = TILE / height;
    let mut tile = [[0; W]; TILE];
    let step = |place: usize, n: usize, stride: isize| {
        place.wrapping_add_signed((n as isize).wrapping_mul(stride))
    };
    for (band, out) in out.chunks_mut(height * len).enumerate() {
        let place = step(place, band * height, outer);
        let rows = out.len() / len;
        for left in (0..len).step_by(width) {
            let columns = width.min(len - left);
            for column in 0..columns {
                let place = step(place, left + column, inner);
                let cells = tile.iter_mut().skip(column).step_by(width);
                if outer == 1 {
                    let line = &from[place..place + rows];
                    cells.zip(line).for_each(|(to, from)| *to = *from);
                } else {
                    for (row, to) in cells.take(rows).enumerate() {
                        *to = from[step(place, row, outer)];
                    }
                }
            }
            for (row, cells) in tile.chunks(width).take(rows).enumerate() {
                out[row * len + left..][..columns].copy_from_slice(&cells[..columns]);
            }
        }
    }
}

fn gather_runs<const W: usize>(
    from: &[[u8; W]],
    layout: &Layout,
    first: usize,
    mut out: &mut [[u8; W]],
) {
    runs(layout, first, out.len(), |run| {
        let (now, later) = core::mem::take(&mut out).split_at_mut(run.len);
        out = later;
        if run.stride == 1 {
            now.copy_from_slice(&from[run.place..run.place + run.len]);
            return;
        }
        let mut place = run.place;
        for to in now {
            *to = from[place];
            place = place.wrapping_add_signed(run.stride);
        }
    });
}

/// Copies `from`, elements in row-major order, to where `layout` has elements `first..`.
pub(crate) fn scatter<T: Copy>(to: &mut [T], layout: &Layout, first: usize, from: &[T]) {
    let mut rest = from;
    runs(layout, first, from.len(), |run| {
        let (now, later) = rest.split_at(run.len);
        rest = later;
        if run.stride == 1 {
            to[run.place..run.place + run.len].copy_from_slice(now);
            return;
        }
        let mut place = run.place;
        for value in now {
            to[place] = *value;
            place = place.wrapping_add_signed(run.stride);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathering_agrees_with_the_layout_wherever_it_begins() {
        let shapes: [(&[usize], &[isize], usize); 8] = [
            (&[40, 300], &[1, 40], 0),
            (&[7, 1100], &[1, 8], 3),
            (&[3, 33, 130], &[33 * 130, 1, 33], 0),
            (&[2, 3, 500], &[1500, 1, 3], 0),
            (&[70, 90], &[-1, 70], 69),
            (&[20, 90], &[3, -70], 89 * 70),
            (&[5, 4, 600], &[1, 5, 20], 0),
            (&[50, 200], &[0, 60], 1),
        ];
        for (shape, strides, offset) in shapes {
            let shape = Shape::new(shape).unwrap();
            let layout = Layout::strided(shape, strides, offset).unwrap().collapse();
            for dtype in [DType::U8, DType::U16, DType::U32, DType::U64] {
                check(&layout, dtype);
            }
        }
    }

    fn check(layout: &Layout, dtype: DType) {
        let width = dtype.width();
        let places: Vec<usize> = layout.places().collect();
        let end = places.iter().max().unwrap() + 1;
        let bytes: Vec<u8> = (0..end * width).map(|i| (i * 7 / 3) as u8).collect();
        let whole: Vec<u8> =
            places.iter().flat_map(|p| &bytes[p * width..(p + 1) * width]).copied().collect();
        let view = ByteView { dtype, bytes: &bytes, layout: *layout };
        for (first, len) in [(0, places.len()), (1, places.len() - 1), (299, 1300), (650, 7)] {
            let len = len.min(places.len() - first);
            let mut out = vec![0; len * width];
            view.gather(first, &mut out);
            let expected = &whole[first * width..(first + len) * width];
            assert!(out == expected, "{layout} by {width} from {first}");
        }
    }
}
