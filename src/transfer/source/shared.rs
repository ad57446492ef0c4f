//! A chunk filled by two threads: where conversion or gathering is the slower part, and a core is
//! free.
//!
//! The chunk is cut into grains, which both threads take in order, so that neither waits for the
//! other where one has less of its core. Each grain has a tally of its own; merged in order they
//! are the tally of the whole.

use std::sync::Mutex;
use std::thread;

use super::Source;
use crate::error::Result;
use crate::gpu::lock;
use crate::host::Tally;

/// Bytes of a chunk that are taken at once: room for a strip of a transposition.
const GRAIN: usize = 512 << 10;

/// A grain in a form that may change threads: a slice may not.
type Grain<'a> = wgpu::WriteOnly<'a, [u8; GRAIN]>;

impl Source<'_> {
    /// Fills the whole grains of `out` with the values from `first` on, and returns how many bytes
    /// that is: none where there is no second core.
    pub(super) fn fill_shared(
        &self,
        first: usize,
        out: &mut wgpu::WriteOnly<'_, [u8]>,
        tally: &mut Tally,
    ) -> Result<usize> {
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            return Ok(0);
        }
        let (grains, _) = out.slice(..).into_chunks::<GRAIN>();
        let count = grains.len();
        let todo =
            Mutex::new(grains.into_iter().collect::<Vec<Grain<'_>>>().into_iter().enumerate());
        // Each begins with the worst errors so far, so that it looks closer only at larger ones.
        let seed = Tally { exact: 0, rounded: 0, overflowed: 0, flushed: 0, nan: 0, ..*tally };
        let work = || {
            let mut done = Vec::new();
            loop {
                let Some((i, grain)) = lock(&todo).next() else { return done };
                let (mut tally, first) = (seed, first + i * (GRAIN / self.to.width()));
                let filled = self.fill_blocks(first, grain.into(), &mut tally);
                if filled.is_err() {
                    // Grains before this one are taken; what comes after it is of no interest.
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
