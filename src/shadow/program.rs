//! `WHARF_SHADOW=1`, or a folder for capsules: a program that nobody changed, shadowed from a
//! device's opening until its last handle is gone.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Shadow, ShadowPolicy, ShadowReport, settle};
use crate::engine::Engine;
use crate::gpu::Drive;
use crate::news::{Level, Topic};

/// A shadow that says what it has found when it is dropped.
#[derive(Debug)]
pub(crate) struct Guarded(Shadow);

impl Guarded {
    /// What the environment asks for.
    pub(crate) fn of(engine: &Arc<Engine>) -> Option<Self> {
        let asked = std::env::var_os("WHARF_SHADOW").filter(|text| !text.is_empty())?;
        let folder = match asked.to_str() {
            Some("0") => return None,
            Some("1") => std::env::temp_dir(),
            _ => PathBuf::from(asked),
        };
        Some(Self(Shadow::begin(engine, ShadowPolicy::all().capsules_in(folder))))
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let Shadow { engine, docket } = &self.0;
        if pollster::block_on(settle(engine, docket, Drive::Block)).is_err() {
            let waiting = docket.waiting();
            waiting.iter().for_each(|one| docket.leave_out(&one.name, "it was not done in time"));
        }
        let report = ShadowReport::of(docket.tally());
        match &report.wrong {
            Some(error) => Topic::Shadow.tell(Level::Error, "wrong", format_args!("{error:?}")),
            None => Topic::Shadow.tell(Level::Info, "nothing wrong", report),
        }
    }
}
