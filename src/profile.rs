//! Profiles: why it is slow. Every dispatch with its time on the device, what the host did
//! meanwhile, and how much memory there was.
//!
//! ```text
//! Device::profile -> Profile    a scope: notes what every handle and thread does while it lives
//! Profile::report -> Report     waits, and adds up: a table by the line that asked
//! Ceilings                      the most that the adapter was seen to do, for shares of it
//! Profile::save_trace           the same, event by event, for Perfetto or chrome://tracing
//! ```

#[cfg(not(target_arch = "wasm32"))]
use std::path::Path;
use std::sync::Arc;

use crate::engine::Engine;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::Cause as _;
use crate::error::Result;
use crate::timeline::{Events, Timeline};

#[cfg(not(target_arch = "wasm32"))]
mod cause;
mod ceilings;
#[cfg(not(target_arch = "wasm32"))]
mod program;
mod report;
mod table;
#[cfg(not(target_arch = "wasm32"))]
mod trace;

pub use crate::timeline::Spent;
use crate::wgsl::Target;
pub use ceilings::Ceilings;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use program::Program;
pub use report::{Report, Row, Untimed};

/// Notes what a device does - for every handle and thread - while it lives:
/// [`Device::profile`](crate::Device::profile).
#[derive(Debug)]
pub struct Profile {
    engine: Arc<Engine>,
    timeline: Arc<Timeline>,
    ceilings: Option<Ceilings>,
}

impl Profile {
    pub(crate) fn begin(engine: &Arc<Engine>, target: Target) -> Self {
        // Before anything is noted. In a browser nothing waits for it.
        let ceilings = cfg!(not(target_arch = "wasm32")).then(|| Ceilings::of(engine, target));
        let (ceilings, timeline) = (ceilings.flatten(), engine.gpu.timelines.begin());
        Self { engine: Arc::clone(engine), timeline, ceilings }
    }

    /// What has been noted until now, added up: printed by `{}`. Submits what was recorded, and
    /// waits for it; in a browser nothing waits, and dispatches that are under way have no time.
    pub fn report(&self) -> Result<Report> {
        self.settle()?;
        Ok(self.sum(&self.timeline.events()))
    }

    /// Writes what has been noted until now as a trace, for `ui.perfetto.dev` or
    /// `chrome://tracing`: what each thread of the host did, one in another; the dispatches on the
    /// device; crossings; and how many bytes of memory were live and reserved. The table is in it
    /// too, under `otherData`. Of many events it has the last quarter of a million of each kind.
    /// What was noted of a device that is lost, or busy for longer than one waits, is written too.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let profile = device.profile();
    /// let (x, _) = device.upload(&[0.5f32; 4096], [64, 64])?;
    /// x.matmul(&x)?.read_now::<f32>()?;
    /// let path = std::env::temp_dir().join(format!("trace-{}.json", std::process::id()));
    /// profile.save_trace(&path)?;
    /// # std::fs::remove_file(path).expect("it was written");
    /// # Ok(()) });
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save_trace(&self, path: impl AsRef<Path>) -> Result<()> {
        use std::io::Write;

        // What was noted of a device that is lost, or busy for ever, is wanted most.
        let _ = self.settle();
        let (path, events) = (path.as_ref(), self.timeline.events());
        let (report, adapter) = (self.sum(&events), self.engine.gpu.name());
        let written = || -> std::io::Result<()> {
            let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
            let trace = trace::Trace::new(&mut file, self.timeline.began);
            trace.write(&events, &report, &adapter)?;
            file.flush()
        };
        written().map_err(|error| {
            let (path, why) = (path.display().to_string(), error.to_string());
            cause::ProfileCause::Unwritten { path, why }.by(error)
        })
    }

    /// Submits what was recorded, and waits until all of it is done.
    fn settle(&self) -> Result<()> {
        self.engine.flush()?;
        #[cfg(not(target_arch = "wasm32"))]
        self.engine.gpu.wait(None)?;
        Ok(())
    }

    fn sum(&self, events: &Events) -> Report {
        let memory = self.engine.memory();
        let wall = self.engine.gpu.timelines.now().saturating_sub(self.timeline.began);
        Report::of(events, wall, memory.bytes_cap, self.ceilings)
    }
}
