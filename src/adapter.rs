//! Adapters: which there are, which one is taken, and why the others are not. Listing them creates
//! no device.

use core::fmt;
use std::sync::Arc;

use crate::caps::{Backend, Caps};
pub use crate::choice::Verdict;
use crate::choice::{Wanted, choose, is_settled};
use crate::diagnosis::{Finding, Machine, diagnose, variables_in_force};
use crate::error::Result;
pub use crate::gpu::TrustedModules;
use crate::plan::{Plan, Policy, negotiate};
use crate::shared::is_switched_on;

pub(crate) mod cause;
mod opener;
mod processor;
mod translate;

use cause::AdapterCause;
#[cfg(feature = "testing")]
use opener::stand_in;
use opener::{Opener, POWERS, instance, offered, on_paper};

/// A GPU - or a program that acts as one - and what it can do. Opening it makes a
/// [`Device`](crate::Device).
///
/// ```
/// # wharf::testing::example(async |_| {
/// use wharf::plan::How;
/// use wharf::{Adapter, DType, Policy};
///
/// let adapter = Adapter::best().await?;
/// let plan = adapter.negotiate(&Policy::exact());
/// assert_eq!(plan.carriage(DType::F32).how, How::Native);
/// let device = adapter.open(plan).await?;
/// assert_eq!(device.memory().tensors, 0);
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct Adapter {
    /// `None` of one on paper.
    opener: Option<Opener>,
    caps: Caps,
    pub(crate) token: wgpu::ExperimentalFeatures,
    pub(crate) trusted: Option<TrustedModules>,
}

/// Every adapter there is with a verdict on each, and what was found out about those that are
/// missing.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The adapters of every backend, hardware and software.
    pub entries: Vec<Listed>,
    /// What may keep adapters from being listed; empty when a hardware adapter is there.
    pub findings: Vec<Finding>,
    /// Variables that are honoured and change what is listed.
    pub notes: Vec<String>,
    wanted: Wanted,
}

/// One adapter of a [`Listing`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listed {
    /// The adapter.
    pub adapter: Adapter,
    /// Whether it was taken, or why not.
    pub verdict: Verdict,
}

impl Adapter {
    /// Every adapter on every backend, with the verdict that [`Adapter::best`] would come to.
    /// Printing it gives a line for each. Every backend is asked, GL last.
    ///
    /// wharf writes to no terminal, but a driver may when it is asked: Mesa's Vulkan layer that
    /// chooses devices complains where `XDG_RUNTIME_DIR` is not set, unless `NODEVICE_SELECT=1`.
    ///
    /// ```
    /// # wharf::testing::example(async |_| {
    /// use wharf::adapter::Verdict;
    /// use wharf::{Adapter, Policy};
    ///
    /// let mut devices = Vec::new(); // all that `best` would take if it were alone
    /// for listed in &Adapter::list().await.entries {
    ///     if matches!(listed.verdict, Verdict::Chosen | Verdict::After { .. }) {
    ///         let plan = listed.adapter.negotiate(&Policy::exact());
    ///         devices.push(listed.adapter.open(plan).await?);
    ///     }
    /// }
    /// let (mut x, _) = devices[0].upload(&[1.0f32, 2.0], [2])?;
    /// for device in &devices {
    ///     x = x.to(device).await?.0; // each keeps its own copy as long as somebody has it
    ///     x = (&x + 1.0)?; // computed where it is
    /// }
    /// assert_eq!(x.read::<f32>().await?[0], 1.0 + devices.len() as f32);
    /// # Ok(()) });
    /// ```
    pub async fn list() -> Listing {
        survey(Wanted::by_environment(false), Scope::Everything).await
    }

    /// [`Adapter::list`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn list_now() -> Listing {
        pollster::block_on(Self::list())
    }

    /// The best hardware adapter: discrete before integrated, never a software one. GL is asked
    /// only where the others have no discrete adapter.
    ///
    /// `WHARF_ADAPTER` names another; `WHARF_ALLOW_SOFTWARE=1` admits software. If there is none,
    /// the error says why, and its help what to install or to set.
    ///
    /// ```
    /// # wharf::testing::example(async |_| {
    /// use wharf::Adapter;
    ///
    /// let best = Adapter::best().await?;
    /// let name = &best.caps().identity.name;
    /// assert_eq!(Adapter::find(name).await?.caps().identity.name, *name);
    /// # Ok(()) });
    /// ```
    pub async fn best() -> Result<Self> {
        survey(Wanted::by_environment(false), Scope::UntilSettled).await.into_chosen()
    }

    /// [`Adapter::best`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn best_now() -> Result<Self> {
        pollster::block_on(Self::best())
    }

    /// The best adapter, even if it is a software one. `WHARF_ADAPTER` names another.
    pub async fn any() -> Result<Self> {
        survey(Wanted::by_environment(true), Scope::UntilSettled).await.into_chosen()
    }

    /// [`Adapter::any`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn any_now() -> Result<Self> {
        pollster::block_on(Self::any())
    }

    /// The adapter that `text` names: its index in [`Adapter::list`], or words out of its name,
    /// vendor, driver, backend, kind or place on the bus, such as `"radeon"`, `"vulkan llvmpipe"`,
    /// or `"0000:04:00.0"` of two that are equal. No match is an error, never another adapter.
    pub async fn find(text: &str) -> Result<Self> {
        Self::list_for(text).await.into_chosen()
    }

    /// [`Adapter::find`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn find_now(text: &str) -> Result<Self> {
        pollster::block_on(Self::find(text))
    }

    /// Like [`Adapter::list`], with the verdict that [`Adapter::find`] would come to.
    pub async fn list_for(text: &str) -> Listing {
        survey(Wanted::Named { text: text.into(), from_env: false }, Scope::Everything).await
    }

    /// [`Adapter::list_for`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn list_for_now(text: &str) -> Listing {
        pollster::block_on(Self::list_for(text))
    }

    /// What it can do.
    #[must_use]
    pub const fn caps(&self) -> &Caps {
        &self.caps
    }

    /// This adapter with permission to use what wgpu calls experimental. wharf uses one such
    /// feature: cooperative matrices, where [`Caps::cooperative`] lists any. They become kernels
    /// that [`Device::tune`](crate::Device::tune) times; nothing else chooses them.
    ///
    /// The token is wgpu's, and so is the promise: `wgpu::ExperimentalFeatures::enabled()` is an
    /// `unsafe` function. Its caller - never wharf - acknowledges that these parts of wgpu may have
    /// bugs that lead from safe code to undefined behaviour. Without the token, or with a disabled
    /// one, nothing experimental is requested. Drivers differ in how they sum within a matrix:
    /// tuning compares results with the bound of [`Tensor::matmul`](crate::Tensor::matmul). A
    /// device that was created with the token and is [adopted](Self::adopt) needs no second one.
    #[must_use]
    pub fn experimental(mut self, token: wgpu::ExperimentalFeatures) -> Self {
        self.caps = self.caps.with_experimental(token.is_enabled());
        self.token = token;
        self
    }

    /// This adapter with permission to run wharf's kernels without some of wgpu's checks: indices
    /// are not clamped, and loops are not counted, in the kernels alone; division by zero and what
    /// was [your own](crate::custom) text keep all of them.
    ///
    /// The call that leaves checks out is an `unsafe` one of wgpu's, and the library contains no
    /// `unsafe`: so you make it, in a function that is handed the checks to keep. What you promise
    /// there is that wharf's kernels never reach beyond an array and always end. They are tested
    /// without the checks as well as with them; a mistake of wharf's that wgpu would have clamped
    /// is undefined behaviour then. Browsers keep their checks.
    ///
    /// ```
    /// # wharf::testing::example(async |_| {
    /// use wharf::{Adapter, Policy};
    ///
    /// let adapter = Adapter::best().await?.trusting(|device, module, checks| {
    ///     // SAFETY: wharf's kernels stay within their arrays, and end.
    ///     unsafe { device.create_shader_module_trusted(module, checks) }
    /// });
    /// let device = adapter.open(adapter.negotiate(&Policy::exact())).await?;
    /// assert_eq!((device.ones([2], wharf::DType::F32)? + 1.0)?.read_now::<f32>()?, [2.0; 2]);
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub const fn trusting(mut self, modules: TrustedModules) -> Self {
        self.trusted = Some(modules);
        self
    }

    /// What each dtype becomes on it under a policy: see [`negotiate`]. Nothing is asked of the
    /// driver.
    ///
    /// ```
    /// # wharf::testing::example(async |_| {
    /// use wharf::plan::How;
    /// use wharf::{Adapter, DType, Policy};
    ///
    /// let adapter = Adapter::best().await?;
    /// let plan = adapter.negotiate(&Policy::exact().allow(DType::F64, DType::F32));
    /// println!("{plan}"); // a row for each dtype, with the reason
    /// assert_eq!(plan.carriage(DType::F32).how, How::Native);
    /// assert!(plan.carriage(DType::F64).stored.is_some()); // as f64, or as f32
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn negotiate(&self, policy: &Policy) -> Plan {
        negotiate(&self.caps, policy)
    }

    /// An adapter that stores but never computes, with these capabilities: for tests of everything
    /// but kernels.
    #[cfg(feature = "testing")]
    pub(crate) async fn noop(caps: Caps) -> Result<Self> {
        let opener = Some(stand_in().await?.into());
        Ok(Self { opener, caps, token: wgpu::ExperimentalFeatures::disabled(), trusted: None })
    }

    /// An adapter that is not here, of which only the capabilities are: [opened](Self::open) it is
    /// a device [on paper](crate::Device::on_paper).
    ///
    /// ```
    /// # pollster::block_on(async {
    /// use wharf::caps::Caps;
    /// use wharf::{Adapter, Policy};
    ///
    /// let adapter = Adapter::on_paper(Caps::webgpu_baseline());
    /// let plan = adapter.negotiate(&Policy::exact());
    /// println!("{plan}"); // what becomes of each dtype there
    /// assert!(adapter.open(plan).await?.is_on_paper());
    /// # Ok::<(), wharf::Error>(()) }).unwrap();
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub const fn on_paper(caps: Caps) -> Self {
        let token = wgpu::ExperimentalFeatures::disabled();
        Self { opener: None, caps, token, trusted: None }
    }

    /// Whether it is not here.
    pub(crate) const fn is_on_paper(&self) -> bool {
        self.opener.is_none()
    }
}

/// An adapter that you found yourself: to [open](Adapter::open) a device from, or to
/// [adopt](Adapter::adopt) yours.
impl From<wgpu::Adapter> for Adapter {
    fn from(adapter: wgpu::Adapter) -> Self {
        let (caps, token) = (translate::caps(&adapter), wgpu::ExperimentalFeatures::disabled());
        Self { opener: Some(adapter.into()), caps, token, trusted: None }
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Adapter").field(&self.caps.identity.name).finish()
    }
}

impl Wanted {
    fn by_environment(software: bool) -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        match set("WHARF_ADAPTER") {
            Some(text) => Self::Named { text, from_env: true },
            None => {
                let allowed =
                    set("WHARF_ALLOW_SOFTWARE").is_some_and(|value| is_switched_on(&value));
                Self::Best { software: software || allowed }
            }
        }
    }
}

/// How far a survey goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Everything,
    /// GL is not started where none of its adapters could be chosen: on some machines it takes
    /// longer to start than everything else.
    UntilSettled,
}

/// The adapters of some backends.
async fn found(backends: wgpu::Backends) -> Vec<Adapter> {
    let adapters = if cfg!(target_family = "wasm") {
        offered(backends, POWERS[0]).await.into_iter().collect()
    } else {
        let Some(instance) = instance(backends).await else { return Vec::new() };
        instance.enumerate_adapters(wgpu::Backends::all()).await
    };
    let adapters = adapters.into_iter().map(Adapter::from);
    adapters.filter(|adapter| adapter.caps.identity.backend != Backend::Noop).collect()
}

async fn survey(wanted: Wanted, scope: Scope) -> Listing {
    let apart = wgpu::Backends::GL | wgpu::Backends::VULKAN;
    let mut adapters = found(wgpu::Backends::VULKAN).await;
    adapters.extend(found(wgpu::Backends::all() - apart).await);
    let settled = is_settled(adapters.iter().map(Adapter::caps), &wanted);
    if scope == Scope::Everything || !settled {
        adapters.extend(found(wgpu::Backends::GL).await);
    }
    // Stable, so that an index means the same adapter in every process.
    adapters.sort_by_key(|adapter| adapter.caps.identity.backend as usize);
    let all: Vec<Caps> = adapters.iter().map(|a| a.caps.clone()).collect();
    let verdicts = choose(&all, &wanted);
    let hardware = all.iter().filter(|c| !c.identity.is_software()).count();
    let machine = Machine::read();
    let findings = if hardware > 0 {
        Vec::new()
    } else {
        diagnose(&machine, &translate::compiled_backends(), all.len(), hardware)
    };
    let entries = adapters.into_iter().zip(verdicts);
    let entries = entries.map(|(adapter, verdict)| Listed { adapter, verdict }).collect();
    Listing { entries, findings, notes: variables_in_force(&machine), wanted }
}

impl Listing {
    /// The adapter that was taken, if one was.
    #[must_use]
    pub fn chosen(&self) -> Option<&Adapter> {
        self.entries.iter().find(|e| e.verdict == Verdict::Chosen).map(|e| &e.adapter)
    }

    /// The adapter that was taken, or why none was.
    pub fn into_chosen(self) -> Result<Adapter> {
        if let Some(adapter) = self.chosen() {
            return Ok(adapter.clone());
        }
        let names = |keep: &dyn Fn(&Listed) -> bool| -> Vec<String> {
            let kept = self.entries.iter().enumerate().filter(|(_, e)| keep(e));
            kept.map(|(i, e)| format!("{i}: {}", e.adapter.describe())).collect()
        };
        let software = names(&|e| e.verdict == Verdict::Software);
        let unfit = self.entries.iter().filter_map(|e| match &e.verdict {
            Verdict::Unfit(because) => Some((e.adapter.caps.identity.is_software(), e, because)),
            _ => None,
        });
        // Hardware before software.
        let unfit = unfit.min_by_key(|(is_software, ..)| *is_software);
        Err(match (&self.wanted, unfit) {
            _ if self.entries.is_empty() => AdapterCause::None { findings: self.findings },
            (_, Some((is_software, e, because))) if software.is_empty() || !is_software => {
                let rest = if software.is_empty() { "" } else { "; the others are software" };
                AdapterCause::Unfit {
                    name: e.adapter.describe(),
                    because: format!("{because}{rest}"),
                }
            }
            (Wanted::Named { text, from_env }, _) => {
                let (text, from_env) = (text.clone(), *from_env);
                AdapterCause::NotFound { text, from_env, there: names(&|_| true) }
            }
            _ if !software.is_empty() => AdapterCause::OnlySoftware { names: software },
            _ => AdapterCause::None { findings: self.findings },
        }
        .into())
    }
}

impl Adapter {
    /// A device with these capabilities. For one on paper it is wgpu's own.
    pub(crate) async fn request(&self, caps: &Caps) -> Result<(wgpu::Device, wgpu::Queue)> {
        match &self.opener {
            Some(opener) => opener.open((&self.caps, caps), self.token).await,
            None => on_paper().await,
        }
    }

    /// What a device can do that somebody made of it; nothing on paper.
    pub(crate) fn created(&self, device: &wgpu::Device) -> Option<Caps> {
        self.opener.as_ref().map(|opener| opener.has_opened(device))
    }

    /// Has a device of it adopted as long as what is returned lives; an error where it is already.
    pub(crate) fn adopts(&self, device: &wgpu::Device) -> Result<Arc<wgpu::Device>> {
        let claim = self.opener.as_ref().and_then(|opener| opener.adopts(device));
        claim.ok_or_else(|| AdapterCause::Adopted.into())
    }

    /// Name and backend, for lists in messages.
    pub(crate) fn describe(&self) -> String {
        self.caps.identity.named()
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Listed { adapter, verdict }) in self.entries.iter().enumerate() {
            let id = &adapter.caps.identity;
            let (kind, backend) = (id.device_type.name(), id.backend.name());
            writeln!(f, "{i}  {:<34} {backend:<7} {kind:<11} {verdict}", id.name)?;
        }
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

#[cfg(test)]
mod tests;
