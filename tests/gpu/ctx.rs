//! What a case gets: the adapter, a device on it, and devices with less.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use wharf::caps::{Caps, Feature, Limit};
use wharf::plan::{How, Plan, negotiate};
use wharf::testing::Inside;
use wharf::{Adapter, DType, Device, Policy};

/// The outcome of a case: nothing, or what was wrong.
pub(crate) type Outcome = Result<(), String>;

type Run =
    Box<dyn for<'a> Fn(&'a Ctx) -> Pin<Box<dyn Future<Output = Outcome> + 'a>> + Send + Sync>;

/// One row of the table.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) run: Run,
    pub(crate) size: Size,
    /// What this adapter lacks for it.
    pub(crate) absent: Option<String>,
}

impl Case {
    /// A case that cannot run where the device of a downgrade does not compute in a dtype.
    pub(crate) fn needs(self, adapter: &Adapter, downgrade: Downgrade, dtype: DType) -> Self {
        let caps = (downgrade.lower)(adapter.caps().clone());
        let lacks = !stores(&negotiate(&caps, &Policy::exact()), dtype);
        self.unless(lacks, dtype.name())
    }

    /// A case that is among the large ones where drivers are slow: these have little that can be
    /// taken away.
    pub(crate) fn on_demand(self, adapter: &Adapter) -> Self {
        let size = if is_slow(adapter.caps()) { Size::Large } else { self.size };
        Self { size, ..self }
    }

    /// A case that cannot run where something is lacking.
    pub(crate) fn unless(mut self, lacks: bool, what: &str) -> Self {
        self.absent = self.absent.or(lacks.then(|| what.into()));
        self
    }
}

/// Whether a plan stores this dtype as it is.
pub(crate) fn stores(plan: &Plan, dtype: DType) -> bool {
    matches!(plan.carriage(dtype).how, How::Native | How::Packed)
}

/// How much memory a case takes, and so when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Size {
    /// Always.
    Usual,
    /// With `WHARF_TEST_LARGE=1`: some hundred MiB.
    Large,
    /// With `WHARF_TEST_LARGE=2`: many GiB.
    Huge,
}

impl Size {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Large => "large",
            Self::Huge => "huge",
        }
    }
}

/// A case from an async function or closure that takes the context.
macro_rules! case {
    ($name:expr, |$ctx:ident| $body:expr) => {
        $crate::ctx::Case {
            name: String::from($name),
            run: Box::new(move |$ctx| Box::pin($body)),
            size: $crate::ctx::Size::Usual,
            absent: None,
        }
    };
}
pub(crate) use case;

/// Fails the case with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !bool::from($condition) {
            return Err(format!($($message)+));
        }
    };
}
pub(crate) use ensure;

/// Fails the case unless both sides are equal.
macro_rules! ensure_eq {
    ($left:expr, $right:expr, $($message:tt)+) => {
        match (&$left, &$right) {
            (left, right) => {
                if *left != *right {
                    return Err(format!("{}: {left:?} against {right:?}", format!($($message)+)));
                }
            }
        }
    };
}
pub(crate) use ensure_eq;

/// An error of wharf's as the message of a failed case, with its help.
pub(crate) fn show(error: wharf::Error) -> String {
    format!("{error:?}")
}

/// A way to have less than the adapter has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Downgrade {
    pub(crate) name: &'static str,
    pub(crate) lower: fn(Caps) -> Caps,
}

/// Every legal downgrade that changes which code runs. The first changes nothing.
pub(crate) const DOWNGRADES: &[Downgrade] = &[
    Downgrade { name: "native", lower: |caps| caps },
    Downgrade { name: "no_f16", lower: |caps| caps.without(Feature::ShaderF16) },
    Downgrade {
        name: "no_64",
        lower: |caps| caps.without(Feature::ShaderF64).without(Feature::ShaderInt64),
    },
    Downgrade { name: "baseline", lower: Caps::with_baseline_limits },
    Downgrade {
        name: "small_bindings",
        lower: |caps| {
            caps.with_limit(Limit::BindingBytes, 1 << 18).with_limit(Limit::BufferBytes, 1 << 20)
        },
    },
];

/// All of them at once, and no subgroups: for what runs once more with everything taken away.
pub(crate) const LOWEST: Downgrade = Downgrade {
    name: "lowest",
    lower: |caps| {
        let caps = caps.without(Feature::Subgroup);
        DOWNGRADES.iter().fold(caps, |caps, downgrade| (downgrade.lower)(caps))
    },
};

/// Drivers whose compilers are slow, or that execute slowly: on these, some cases stand for all. Of
/// the drivers that the tests meet, they are those without f16.
pub(crate) fn is_slow(caps: &Caps) -> bool {
    !caps.has(Feature::ShaderF16)
}

/// The adapter of this run and the devices on it.
pub(crate) struct Ctx {
    pub(crate) adapter: Adapter,
    devices: Mutex<Vec<(String, Device)>>,
}

fn set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| value == "1")
}

/// Has the groups of all kernels run backward.
pub(crate) const BACKWARD: &str = "WHARF_TEST_BACKWARD";

impl Ctx {
    /// With `WHARF_TEST_SPOILED=1`, nothing is found in memory but what was written there; with
    /// `WHARF_TEST_BACKWARD=1`, the last group of every kernel begins; with `WHARF_TEST_COUNTED=1`,
    /// what runs is counted.
    pub(crate) fn new(adapter: Adapter) -> Self {
        if set("WHARF_TEST_SPOILED") {
            wharf::testing::spoil_memory();
        }
        if set(BACKWARD) {
            wharf::wgsl::backward::run_groups_backward();
        }
        Self { adapter, devices: Mutex::default() }
    }

    /// A fresh device that nobody shares.
    pub(crate) async fn fresh(&self, downgrade: Downgrade) -> Result<Device, String> {
        let caps = (downgrade.lower)(self.adapter.caps().clone());
        let plan = negotiate(&caps, &Policy::exact());
        let device = self.adapter.open(plan).await.map_err(show)?;
        if set("WHARF_TEST_COUNTED") {
            device.count_what_runs(false);
        }
        Ok(device)
    }

    /// The device of a downgrade that all cases share.
    pub(crate) async fn device(&self, downgrade: Downgrade) -> Result<Device, String> {
        let shared = |devices: &Vec<(String, Device)>| {
            devices
                .iter()
                .find(|(name, _)| name == downgrade.name)
                .map(|(_, device)| device.clone())
        };
        let lock = || self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = shared(&lock()) {
            return Ok(device);
        }
        let device = self.fresh(downgrade).await?;
        let mut devices = lock();
        if let Some(device) = shared(&devices) {
            return Ok(device);
        }
        devices.push((downgrade.name.into(), device.clone()));
        Ok(device)
    }

    /// The adapter as it is.
    pub(crate) async fn native(&self) -> Result<Device, String> {
        self.device(DOWNGRADES[0]).await
    }
}

/// Whether a downgrade makes a difference on this adapter.
pub(crate) fn matters(adapter: &Adapter, downgrade: Downgrade) -> bool {
    downgrade.name == "native" || (downgrade.lower)(adapter.caps().clone()) != *adapter.caps()
}
