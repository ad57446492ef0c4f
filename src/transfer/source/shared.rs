//! A chunk filled by two threads, for when conversion or gathering is the slower part and a core is
//! free.
//!
//! The chunk is cut into grains, which both threads take in order, so that neither waits for the
//! other if one gets less processor time. Each grain has its own tally; merged in order they are
//! the tally of the whole.

use std::sync::Mutex;
use std::thread;

use super::UploadSource;
use crate::error::Result;
use crate::host::{Tally, cores};
use crate::shared::lock;

/// Bytes of a chunk that a thread takes at once: room for a strip of a transposition.
const GRAIN: usize = 512 << 10;

/// A grain in a form that can be sent to another thread, as a slice cannot.
type Grain<'a> = wgpu::WriteOnly<'a, [u8; GRAIN]>;

impl UploadSource<'_> {
    /// Fills the whole grains of `out` with the values from `first` on, and returns how many bytes
    /// that is: 0 without a second core.
    pub(super) fn fill_shared(
        &self,
        first: usize,
        out: &mut wgpu::WriteOnly<'_, [u8]>,
        tally: &mut Tally,
    ) -> Result<usize> {
        if cores::is_one() {
            return Ok(0);
        }
        let (grains, _) = out.slice(..).into_chunks::<GRAIN>();
        let count = grains.len();
        let todo =
            Mutex::new(grains.into_iter().collect::<Vec<Grain<'_>>>().into_iter().enumerate());
        // Each grain begins with the worst errors so far: only larger ones get a second visit.
        let seed = Tally { exact: 0, rounded: 0, overflowed: 0, flushed: 0, nan: 0, ..*tally };
        let work = || {
            let mut done = Vec::new();
            loop {
                let Some((i, grain)) = lock(&todo).next() else { return done };
                let (mut tally, first) = (seed, first + i * (GRAIN / self.to.width()));
                let filled = self.fill_blocks(first, grain.into(), &mut tally);
                if filled.is_err() {
                    // Both threads stop: the grains before this one are taken, and after an error
                    // those after it do not matter.
                    *lock(&todo) = Vec::new().into_iter().enumerate();
                }
                done.push((i, filled.map(|()| tally)));
            }
        };
        let mut done = thread::scope(|scope| {
            // Without a second thread this one does it all.
            let second = thread::Builder::new().name("wharf-fill".into()).spawn_scoped(scope, work);
            let mut done = work();
            if let Ok(second) = second {
                done.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            done
        });
        done.sort_by_key(|(i, _)| *i);
        for (_, filled) in done {
            tally.merge(&filled?);
        }
        Ok(count * GRAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::{DType, Element};
    use crate::host::HostView;
    use crate::transfer::Rules;

    /// Fills a chunk with one thread and with two: bytes and tally of each, or the error.
    fn both_ways<T: Element>(view: &HostView<'_, T>, to: DType, rules: Rules) -> Option<String> {
        let source = UploadSource::new(view.bytes(), to, rules).unwrap();
        let count = view.shape().elements();
        let fill = |shared: bool| {
            let (mut out, mut tally) = (vec![0u8; count * to.width()], Tally::default());
            let mut whole = wgpu::WriteOnly::from_mut(&mut out[..]);
            let filled = if shared {
                source.fill_shared(0, &mut whole, &mut tally).and_then(|done| {
                    source.fill_blocks(done / to.width(), whole.into_slice(done..), &mut tally)
                })
            } else {
                source.fill_blocks(0, whole, &mut tally)
            };
            match filled {
                Ok(()) => Ok((out, tally)),
                Err(error) => Err(error.to_string()),
            }
        };
        let (alone, together) = (fill(false), fill(true));
        assert!(alone == together, "{} -> {to}", T::DTYPE);
        alone.err()
    }

    #[test]
    fn two_threads_do_what_one_does() {
        let count = 3 * GRAIN / 2 + 77;
        let at = |i: usize| ((i * 0x9e37 + 11) % 100_003) as f64 / 1e3 - 7.0;
        let mut wide: Vec<f64> = (0..count).map(at).collect();
        wide[5] = f64::NAN;
        wide[count / 2] = 1e-300;
        let view = HostView::new(&wide, [count]).unwrap();
        for to in [DType::F32, DType::F16, DType::Bf16] {
            assert_eq!(both_ways(&view, to, Rules::default()), None, "no rule, no error");
        }
        let narrow: Vec<f32> = wide.iter().map(|&v| v as f32).collect();
        let columns = HostView::column_major(&narrow[..600 * 1000], [600, 1000]).unwrap();
        assert_eq!(both_ways(&columns, DType::F32, Rules::default()), None, "a transposition");
        assert_eq!(both_ways(&columns, DType::F16, Rules::default()), None, "and a conversion");
    }

    #[test]
    fn the_first_error_is_the_one_that_is_told() {
        let mut integers = vec![1i64; 3 * GRAIN / 2];
        for i in [GRAIN + 9, GRAIN + 8, GRAIN / 2 + 3] {
            integers[i] = i64::MAX - i as i64;
        }
        let view = HostView::new(&integers, [integers.len()]).unwrap();
        let error = both_ways(&view, DType::I32, Rules::default()).unwrap_or_default();
        assert!(error.contains(&(GRAIN / 2 + 3).to_string()), "{error}");
        let floats: Vec<f64> = integers.iter().map(|&v| v as f64 * 1e100).collect();
        let view = HostView::new(&floats, [floats.len()]).unwrap();
        for rules in [
            Rules { lossless: true, ..Rules::default() },
            Rules { finite: true, ..Rules::default() },
        ] {
            assert!(both_ways(&view, DType::F32, rules).is_some(), "refused");
        }
    }
}
