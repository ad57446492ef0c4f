//! One thing to measure.

use core::fmt;
use std::time::Duration;

use wharf::{Device, Tensor};

use super::clock::Clock;
use super::{Outcome, timed};

/// What one run of a case does, from which its value follows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Bytes moved: GB/s.
    Bytes(f64),
    /// Floating point operations: GFLOP/s.
    Flops(f64),
    /// Elements computed: Gelem/s.
    Elements(f64),
    /// Repetitions of one thing: microseconds each.
    Calls(f64),
}

impl Work {
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Bytes(_) => "GB/s",
            Self::Flops(_) => "GFLOP/s",
            Self::Elements(_) => "Gelem/s",
            Self::Calls(_) => "us",
        }
    }

    pub(crate) fn value(self, seconds: f64) -> f64 {
        match self {
            Self::Bytes(n) | Self::Flops(n) | Self::Elements(n) => n / seconds / 1e9,
            Self::Calls(n) => seconds * 1e6 / n,
        }
    }

    /// The rate of a run of this many seconds: more is better, whatever the unit.
    pub(super) fn rate(self, seconds: f64) -> f64 {
        let (Self::Bytes(n) | Self::Flops(n) | Self::Elements(n) | Self::Calls(n)) = self;
        n / seconds
    }
}

/// Runs a case once and says how long that took, without its preparations.
type Run<'a> = Box<dyn FnMut() -> Outcome<Duration> + 'a>;

/// Describes a result without computing it.
type Make<'a> = Box<dyn FnMut() -> wharf::Result<Tensor> + 'a>;

enum How<'a> {
    Timed(Run<'a>),
    Kernel(Make<'a>),
    Stream(Make<'a>),
}

/// A stream goes on for about this many seconds, and at most so many runs.
const STREAM: f64 = 10e-3;
const STREAM_MAX: usize = 1024;

/// One thing to measure, and its name.
pub(crate) struct Case<'a> {
    pub(super) name: String,
    pub(super) work: Work,
    pub(super) ceiling: Option<&'a str>,
    how: How<'a>,
    /// The device of its last result.
    device: Option<Device>,
}

impl<'a> Case<'a> {
    fn of(name: impl Into<String>, work: Work, how: How<'a>) -> Self {
        Self { name: name.into(), work, ceiling: None, how, device: None }
    }

    /// `run` runs the case once and says how long that took, without its preparations.
    pub(crate) fn new(
        name: impl Into<String>,
        work: Work,
        run: impl FnMut() -> Outcome<Duration> + 'a,
    ) -> Self {
        Self::of(name, work, How::Timed(Box::new(run)))
    }

    /// `make` describes what to compute. The time counts until the device has the result.
    pub(crate) fn kernel(
        name: impl Into<String>,
        work: Work,
        make: impl FnMut() -> wharf::Result<Tensor> + 'a,
    ) -> Self {
        Self::of(name, work, How::Kernel(Box::new(make)))
    }

    /// `make` describes what to compute, over and over: nobody waits before the last one. The time
    /// is that of one among them, so that what a submission takes does not count where the device
    /// has work.
    pub(crate) fn stream(
        name: impl Into<String>,
        work: Work,
        make: impl FnMut() -> wharf::Result<Tensor> + 'a,
    ) -> Self {
        Self::of(name, work, How::Stream(Box::new(make)))
    }

    /// Compares the case with this ceiling instead of the first.
    pub(crate) fn against(self, ceiling: &'a str) -> Self {
        Self { ceiling: Some(ceiling), ..self }
    }

    /// Seconds of one run.
    pub(super) fn seconds(&mut self) -> Outcome<f64> {
        let elapsed = match &mut self.how {
            How::Timed(run) => run()?,
            How::Kernel(make) => {
                let (done, elapsed) = timed(|| {
                    let tensor = make()?;
                    tensor.compute()?;
                    tensor.device().synchronize_now().map(|()| tensor)
                });
                self.device = Some(done?.device().clone());
                elapsed
            }
            How::Stream(make) => {
                let mut row = |times: usize| {
                    let (done, elapsed) = timed(|| {
                        let mut last = None;
                        for _ in 0..times {
                            let tensor = make()?;
                            tensor.compute()?;
                            last = Some(tensor.device().clone());
                        }
                        last.as_ref().map_or(Ok(()), Device::synchronize_now).map(|()| last)
                    });
                    done.map(|device| (device, elapsed / times as u32))
                };
                let (_, once) = row(1)?;
                let times = (STREAM / once.as_secs_f64().max(1e-9)) as usize;
                let (device, elapsed) = row(times.clamp(2, STREAM_MAX))?;
                self.device = device;
                elapsed
            }
        };
        Ok(elapsed.as_secs_f64().max(1e-9))
    }

    /// Seconds of one run by the device's own clock, if it has one and the case can tell.
    pub(super) fn device_seconds(&mut self) -> Outcome<Option<f64>> {
        let Some(device) = &self.device else { return Ok(None) };
        let make = match &mut self.how {
            How::Timed(_) => return Ok(None),
            How::Kernel(make) => make,
            // What its dispatches take, without what lies between them.
            How::Stream(make) => {
                let profile = device.profile();
                make()?.compute()?;
                let spent = profile.report()?.device.as_secs_f64();
                return Ok((spent > 0.0).then_some(spent));
            }
        };
        let Some(clock) = Clock::of(device) else { return Ok(None) };
        device.synchronize_now()?;
        // Recorded and not yet submitted, so that the timestamps enclose only the device's work.
        make()?.compute()?;
        clock.time(|| Ok(device.flush()?)).map(Some)
    }
}

impl fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("work", &self.work).finish()
    }
}
