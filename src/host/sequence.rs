//! Iterators of known length as host values, handed over as they go and collected nowhere.

use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::HostView;
use super::array::{Handover, HostArray, Supplied};
use super::supply::Supply;
use crate::count::index;
use crate::dtype::{DType, Element};
use crate::error::{Result, causes};
use crate::layout::Layout;
use crate::shape::Shape;

/// An iterator of known length as host values of one axis, for
/// [`Device::tensor`](crate::Device::tensor). What it yields is handed over piece by piece; it is
/// cloned to begin again, if the crossing does.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::host::Sequence;
///
/// let (squares, _) = device.tensor(Sequence((0..6).map(|i| i * i)))?;
/// assert_eq!(squares.reshape([2, 3])?.sum(1)?.read_now::<i32>()?, [5, 50]);
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sequence<I>(pub I);

impl<T: Element, I: ExactSizeIterator<Item = T> + Clone + Send> HostArray for Sequence<I> {
    type Item = T;

    fn host_view(&self) -> Result<HostView<'_, T>> {
        Err(SequenceCause::Nowhere.into())
    }

    fn lend(&self) -> Result<Handover<'_, T>> {
        let layout = Layout::dense(Shape::new([self.0.len()])?);
        let [all, rest] = [self.0.clone(), self.0.clone()];
        let supply = Arc::new(Counted { run: Mutex::new(Underway { all, rest, next: 0 }), layout });
        Ok(Handover::Pieces(Supplied { layout, supply }))
    }
}

/// An iterator on its way.
struct Underway<I> {
    /// As it was.
    all: I,
    rest: I,
    /// How many are gone.
    next: usize,
}

struct Counted<I> {
    run: Mutex<Underway<I>>,
    layout: Layout,
}

impl<I> fmt::Debug for Counted<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an iterator of {}", self.layout)
    }
}

impl<T: Element, I: ExactSizeIterator<Item = T> + Clone + Send> Supply for Counted<I> {
    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn read(&self, first: u64, out: &mut [u8]) -> Result<()> {
        let width = T::DTYPE.width();
        let first = index(first)? / width;
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if first != run.next {
            run.rest = run.all.clone();
            run.rest.by_ref().take(first).for_each(drop);
            run.next = first;
        }
        for to in out.chunks_exact_mut(width) {
            let Some(value) = run.rest.next() else {
                let (length, given) = (self.layout.shape().elements(), run.next);
                return Err(SequenceCause::Short { length, given }.into());
            };
            to.copy_from_slice(bytemuck::bytes_of(&value));
            run.next += 1;
        }
        Ok(())
    }
}

causes! {
    enum SequenceCause;

    Nowhere, Layout:
        ("what an iterator yields lies nowhere as a whole")
        help ("`device.tensor` takes it as it is; elsewhere collect it");
    Short { length: usize, given: usize }, Shape:
        ("an iterator of {length} elements ended after {given}")
        help ("its `len` promises more than it yields");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_again_where_it_is_asked_to() {
        let sequence = Sequence(10u8..30);
        let Ok(Handover::Pieces(Supplied { supply, .. })) = sequence.lend() else {
            panic!("it lies nowhere")
        };
        for first in [0, 4, 8, 3, 3, 16, 0] {
            let mut out = [0; 4];
            supply.read(first, &mut out).expect("it has 20");
            let begin = 10 + first as u8;
            assert_eq!(out, [begin, begin + 1, begin + 2, begin + 3], "from {first}");
        }
    }
}
