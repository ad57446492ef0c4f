//! Devices: an adapter opened with a plan.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use crate::adapter::Adapter;
use crate::adapter::cause::AdapterCause;
use crate::caps::{Caps, Feature};
use crate::engine::notes::Watch;
use crate::engine::{Engine, Site, site};
use crate::error::Result;
use crate::fuse::Context;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::Drive;
use crate::gpu::Gpu;
use crate::gpu::cause::on_paper;
use crate::kernel::choice::Table;
use crate::ledger::{CallSite, CrossingGuard, Crossings, Ledger};
use crate::plan::{Plan, Policy, negotiate, unfit};
use crate::profile::Profile;
#[cfg(not(target_arch = "wasm32"))]
use crate::profile::Program;
#[cfg(not(target_arch = "wasm32"))]
use crate::shadow::Guarded;
use crate::shadow::{Capsule, Replay, Shadow, ShadowPolicy, replay};
use crate::transfer::done;
#[cfg(not(target_arch = "wasm32"))]
use crate::transfer::{First, settle};
use crate::wgsl::Target;

mod company;
mod memory;
mod patience;
mod problems;
mod tuned;
mod underneath;

pub use problems::Problems;

/// An opened adapter: where tensors live. Cloning it makes another handle on the same device.
///
/// ```
/// # wharf::testing::example(async |_| {
/// use wharf::{Device, Policy};
///
/// let device = Device::best_now(&Policy::exact())?;
/// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0], [3])?;
/// assert_eq!((&x * 2.0)?.read_now::<f32>()?, [2.0, 4.0, 6.0]);
/// # Ok(()) });
/// ```
///
/// Tensors that it creates - zeros, ones, random numbers - are *recorded* at once: the driver gets
/// that work with whatever is read next, and the call does not wait. Ranges are deferred. Every
/// call that names a dtype which the plan rejects is an error.
///
/// What is awaited runs on any executor and keeps no thread of it busy: natively a thread of its
/// own waits for each device, from the first await on; in a browser nobody has to. Devices, tensors
/// and futures are `Send`, but not in a browser.
#[derive(Clone)]
pub struct Device {
    pub(crate) engine: Arc<Engine>,
    handle: Arc<Handle>,
}

/// What a device is opened with. In one piece, so that every tensor can have it.
#[derive(Clone)]
struct Handle {
    plan: Arc<Plan>,
    adapter: Arc<Adapter>,
    target: Target,
    /// Choices of kernels that `tune` measured.
    tuned: Option<Arc<Table>>,
    /// Where problems are noted.
    problems: Option<Problems>,
    /// Whether no choice of a kernel may depend on how large a batch is.
    batch_invariant: bool,
    /// On a device that was adopted.
    _claim: Option<Arc<wgpu::Device>>,
    /// Written when the last handle is gone, where the environment asks for it.
    #[cfg(not(target_arch = "wasm32"))]
    _program: Option<Arc<Bidden>>,
}

/// What the environment asks for: ended when the last handle is gone.
#[cfg(not(target_arch = "wasm32"))]
struct Bidden {
    _profile: Option<Program>,
    _shadow: Option<Guarded>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Bidden {
    fn of(engine: &Arc<Engine>, target: Target) -> Option<Self> {
        let (profile, shadow) = (Program::of(engine, target), Guarded::of(engine));
        let any = profile.is_some() || shadow.is_some();
        any.then_some(Self { _profile: profile, _shadow: shadow })
    }
}

impl Adapter {
    /// Opens a device with everything that the plan's (possibly downgraded) capabilities have.
    ///
    /// The policy of the plan is the device's own; [`Device::with_policy`] makes handles with
    /// others. A plan that was made for another adapter, or asks for more than this one has, is an
    /// error.
    ///
    /// ```
    /// # wharf::testing::example(async |_| {
    /// use wharf::{Adapter, Policy};
    ///
    /// let adapter = Adapter::best().await?;
    /// let device = adapter.open(adapter.negotiate(&Policy::lossless())).await?;
    /// let (x, receipt) = device.upload(&[1.0f64, 0.5], [2])?;
    /// assert!(receipt.is_exact(), "{receipt}"); // without f64 as f32, which has both values
    /// assert_eq!((x + 1.0)?.cast(wharf::DType::F32)?.read_now::<f32>()?, [2.0, 1.5]);
    /// # Ok(()) });
    /// ```
    pub async fn open(&self, plan: Plan) -> Result<Device> {
        self.accepts(&plan)?;
        let (device, queue) = self.request(plan.caps()).await?;
        Device::around(self.clone(), plan, device, queue)
    }

    /// [`Adapter::open`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open_now(&self, plan: Plan) -> Result<Device> {
        pollster::block_on(self.open(plan))
    }

    /// Takes a device that you created from this adapter. The plan is cut down to what the device
    /// was created with; wharf installs its own handlers for uncaptured errors and for loss.
    ///
    /// With an instance, an adapter and a device of your own:
    ///
    /// ```
    /// # wharf::testing::example(async |_| {
    /// use wharf::{Adapter, Policy, wgpu};
    ///
    /// let instance = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    /// let instance = wgpu::Instance::new(instance);
    /// let mine = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await;
    /// let mine = mine.expect("there is one");
    /// let descriptor = wgpu::DeviceDescriptor {
    ///     required_limits: mine.limits(), // the more, the larger are buffers and kernels
    ///     required_features: mine.features() & wgpu::Features::SHADER_F16,
    ///     ..wgpu::DeviceDescriptor::default()
    /// };
    /// let (gpu, queue) = mine.request_device(&descriptor).await.expect("it opens");
    ///
    /// let adapter = Adapter::from(mine);
    /// let plan = adapter.negotiate(&Policy::exact());
    /// let device = adapter.adopt(&plan, gpu.clone(), queue)?; // and `gpu` is yours as before
    /// assert_eq!((device.ones([2], wharf::DType::F32)? + 1.0)?.read_now::<f32>()?, [2.0; 2]);
    /// # Ok(()) });
    /// ```
    ///
    /// As long as it is adopted, to adopt it once more is an error; an adapter made `from` another
    /// clone of yours does not know.
    ///
    /// Cooperative matrices are used if the device has them and the plan's capabilities list them:
    /// whoever created such a device has given wgpu the promise of [`Adapter::experimental`].
    pub fn adopt(&self, plan: &Plan, device: wgpu::Device, queue: wgpu::Queue) -> Result<Device> {
        self.accepts(plan)?;
        let Some(created) = self.created(&device) else {
            return Err(on_paper("adopting a device", &self.caps().identity));
        };
        let mut caps = plan.caps().clone();
        for feature in plan.caps().features.iter().filter(|&f| !created.has(f)) {
            caps = caps.without(feature);
        }
        for &limit in crate::caps::Limit::ALL {
            caps = caps.with_limit(limit, created.limits.get(limit));
        }
        if let Some(because) = unfit(&caps) {
            return Err(AdapterCause::Created { because: because.to_string() }.into());
        }
        self.accepts(&negotiate(&caps, plan.policy()))?;
        let caps = caps.with_experimental(created.has(Feature::CooperativeMatrix));
        let plan = negotiate(&caps, plan.policy());
        let claim = self.adopts(&device)?;
        let device = Device::around(self.clone(), plan, device, queue)?;
        Ok(device.with(|handle| handle._claim = Some(claim)))
    }

    /// Checks that a plan was made for this adapter and asks for no more than it has.
    fn accepts(&self, plan: &Plan) -> Result<()> {
        let (own, planned) = (self.caps(), plan.caps());
        if own.identity != planned.identity {
            let plan = planned.identity.name.clone();
            return Err(AdapterCause::OtherPlan { plan, adapter: self.describe() }.into());
        }
        if let Some(excess) = planned.exceeds(own) {
            let adapter = self.describe();
            return Err(AdapterCause::Exceeds { adapter, what: excess.to_string() }.into());
        }
        unfit(planned).map_or(Ok(()), |because| {
            let (name, because) = (self.describe(), because.to_string());
            Err(AdapterCause::Unfit { name, because }.into())
        })
    }
}

impl Device {
    fn around(
        adapter: Adapter,
        plan: Plan,
        device: wgpu::Device,
        queue: wgpu::Queue,
    ) -> Result<Self> {
        let caps = plan.caps();
        let gpu = match adapter.is_on_paper() {
            true => Gpu::on_paper(device, queue, caps.clone())?,
            false => Gpu::new(device, queue, caps.clone()).trusting(adapter.trusted),
        };
        let target = Target::of(caps);
        let (engine, plan) = (Arc::new(Engine::new(gpu)), Arc::new(plan));
        let handle = Handle {
            #[cfg(not(target_arch = "wasm32"))]
            _program: Bidden::of(&engine, target).map(Arc::new),
            plan,
            adapter: Arc::new(adapter),
            target,
            tuned: None,
            problems: None,
            batch_invariant: false,
            _claim: None,
        };
        Ok(Self { engine, handle: Arc::new(handle) })
    }

    /// The class of kernels that it runs: what is fast on a GPU is slow on a CPU.
    #[doc(hidden)]
    #[must_use]
    pub fn target(&self) -> Target {
        self.handle.target
    }

    /// Where its work is recorded.
    #[track_caller]
    pub(crate) fn site(&self) -> Site<'_> {
        let Handle { target, batch_invariant, .. } = *self.handle;
        let (breadth, line) = (self.breadth(), site::line());
        Site { engine: &self.engine, target, breadth, batch_invariant, line }
    }

    /// What turns deferred operations into kernels.
    #[track_caller]
    pub(crate) fn context(&self) -> Context<'_> {
        Context { site: self.site(), sketched: None }
    }

    /// The best hardware adapter, opened under a policy: [`Adapter::best`] and [`Adapter::open`].
    pub async fn best(policy: &Policy) -> Result<Self> {
        let adapter = Adapter::best().await?;
        adapter.open(adapter.negotiate(policy)).await
    }

    /// [`Device::best`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn best_now(policy: &Policy) -> Result<Self> {
        pollster::block_on(Self::best(policy))
    }

    /// A device on paper: of an adapter that is not here, of which only the capabilities are. A
    /// program runs on it before anything is downloaded or bought, up to its first read.
    ///
    /// What is uploaded is negotiated, converted and counted as it would be there, and crosses
    /// nowhere; [`Device::blank`] makes tensors of values that nobody has yet. Operations are
    /// checked and recorded, and choose their kernels as they would there: [`Device::watch`] and
    /// [`Tensor::explain`](crate::Tensor::explain) show them, [`Device::memory`] what they hold, of
    /// which a [cap](Device::set_cap) says how much there is. Nothing is computed: reading is an
    /// error of kind [`OnPaper`](crate::ErrorKind::OnPaper), as is all else that needs a driver.
    ///
    /// ```
    /// use wharf::caps::Caps;
    /// use wharf::{DType, Device, ErrorKind, Policy};
    ///
    /// let caps = Caps::webgpu_baseline(); // or those of an adapter, taken down where it is
    /// let paper = Device::on_paper(&caps, &Policy::exact())?;
    /// let (w, x) = (paper.blank([512, 512], DType::F32)?, paper.blank([64, 512], DType::F32)?);
    /// let y = x.linear(&w, None)?.gelu()?;
    ///
    /// let explained = y.explain(); // the kernels, why they were chosen, dispatches, bytes, WGSL
    /// assert_eq!(explained.kernels.len(), 1, "the product, with gelu on board: {explained}");
    /// assert_eq!(y.read_now::<f32>().map_err(|error| error.kind()), Err(ErrorKind::OnPaper));
    /// assert_eq!(paper.ledger().up.bytes, 0);
    /// # Ok::<(), wharf::Error>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn on_paper(caps: &Caps, policy: &Policy) -> Result<Self> {
        let adapter = Adapter::on_paper(caps.clone());
        adapter.open_now(adapter.negotiate(policy))
    }

    /// Whether it is [on paper](Device::on_paper).
    #[must_use]
    pub fn is_on_paper(&self) -> bool {
        self.handle.adapter.is_on_paper()
    }

    /// A handle on the *same* device with other permissions: tensors of both mix freely.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{DType, Policy};
    ///
    /// let lenient = device.with_policy(&Policy::exact().allow(DType::F64, DType::F32));
    /// let (x, _) = lenient.upload(&[0.5f64], [1])?; // f64 where there is f64, or else f32
    /// assert_eq!(x.read_as_now::<f64>()?.0, [0.5]);
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn with_policy(&self, policy: &Policy) -> Self {
        let plan = Arc::new(negotiate(self.handle.plan.caps(), policy));
        self.with(|handle| handle.plan = plan)
    }

    /// Another handle on it.
    fn with(&self, change: impl FnOnce(&mut Handle)) -> Self {
        let mut handle = Handle::clone(&self.handle);
        change(&mut handle);
        Self { engine: Arc::clone(&self.engine), handle: Arc::new(handle) }
    }

    /// A fresh device from the same adapter with the same plan, for after this one was lost.
    ///
    /// On DX12 that cannot be: a process has one device of each GPU, and keeps a lost one as long
    /// as anything of it lives. Drop every tensor, device, adapter and listing of that GPU, then
    /// ask [`Adapter::best`] for it.
    ///
    /// Experimental features that an adopted device had only by its creator's promise are not
    /// requested again.
    pub async fn reopen(&self) -> Result<Self> {
        let asked = |caps: &Caps| caps.has(Feature::CooperativeMatrix);
        let both = asked(self.caps()) && asked(self.handle.adapter.caps());
        let caps = self.caps().clone().with_experimental(both);
        self.handle.adapter.open(negotiate(&caps, self.handle.plan.policy())).await
    }

    /// [`Device::reopen`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn reopen_now(&self) -> Result<Self> {
        pollster::block_on(self.reopen())
    }

    /// The plan: what each dtype becomes here.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.handle.plan
    }

    /// What it can do: the capabilities it was opened with.
    #[must_use]
    pub fn caps(&self) -> &Caps {
        self.handle.plan.caps()
    }

    /// The adapter it was opened from.
    #[must_use]
    pub fn adapter(&self) -> &Adapter {
        &self.handle.adapter
    }

    /// Whether another handle is on the same device.
    #[must_use]
    pub fn same_device(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.engine, &other.engine)
    }

    /// Every crossing since it was opened. Printing it gives totals and the largest.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0], [3])?;
    /// assert_eq!(x.slice(0, 2..3)?.read_scalar_now::<f32>()?, 3.0);
    /// let ledger = device.ledger();
    /// assert_eq!((ledger.up.bytes, ledger.down.bytes), (12, 4));
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.engine.books.ledger()
    }

    /// Allows, logs or denies crossings on this device - for every handle and thread - until the
    /// guard is dropped. The newest guard counts.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::ledger::Crossings;
    /// use wharf::{DType, ErrorKind};
    ///
    /// let x = device.ones([2], DType::F32)?;
    /// let guard = device.guard(Crossings::Deny);
    /// assert_eq!(x.read_now::<f32>().map_err(|error| error.kind()), Err(ErrorKind::Denied));
    /// drop(guard);
    /// assert_eq!(x.read_now::<f32>()?, [1.0, 1.0]);
    /// # Ok(()) });
    /// ```
    pub fn guard(&self, crossings: Crossings) -> CrossingGuard {
        self.engine.books.guard(crossings)
    }

    /// Lists every dispatch on this device - of every handle and thread - from now on, as long as
    /// the watch lives: what a whole program runs. What one tensor would run says
    /// [`Tensor::explain`](crate::Tensor::explain).
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let watch = device.watch();
    /// let y = x.t()?.contiguous()?.softmax(1)?;
    /// assert_eq!(watch.explanation().dispatches(), 0); // deferred
    /// y.compute()?;
    /// let told = watch.explanation();
    /// let names: Vec<_> = told.kernels.iter().map(|kernel| kernel.name()).collect();
    /// assert_eq!(names, ["reindex", "softmax_rows"], "a copy, and a kernel of rows");
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.engine.watch()
    }

    /// Notes from now on what takes time, as long as the profile lives: every dispatch, by the
    /// device's own timestamps, with the line of yours that asked for it; recording, compiling,
    /// submitting and waiting on the host; crossings; memory. [`Device::watch`] says what runs.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let profile = device.profile();
    /// let (x, _) = device.upload(&[0.5f32; 4096], [64, 64])?;
    /// let y = x.matmul(&x)?.softmax(1)?;
    /// y.read::<f32>().await?;
    ///
    /// let report = profile.report()?;
    /// println!("{report}");
    /// assert_eq!((report.up.bytes, report.down.bytes), (16384, 16384));
    /// let product = report.rows.iter().find(|row| row.flops > 0).expect("a product");
    /// assert_eq!((product.calls, product.flops), (1, 2 * 64 * 64 * 64));
    /// assert!(product.line.file().ends_with(".rs"), "the line that called `matmul`");
    /// # Ok(()) });
    /// ```
    ///
    /// A time is from one timestamp to the next; there is one before each batch and one behind each
    /// dispatch. So it includes what kept the dispatch from starting, such as a barrier, dispatches
    /// that could run side by side do not, and the sum is never longer than it took. Small
    /// dispatches in a row, of up to 128 KiB each, are timed together, up to 64 of them: a
    /// timestamp takes longer than they do. On software drivers so are those of up to 1 ms. The
    /// time is shared by what the like of each took by itself. A first dispatch may include the
    /// driver's compiler.
    ///
    /// Rates are held to the [ceilings](crate::profile::Ceilings) of the adapter, which the first
    /// profile of a process measures before it begins: some tenths of a second, in memory of its
    /// own. In a browser, where nothing waits, there are none.
    ///
    /// Where there are no timestamps, or those that came make no sense, the report says of how many
    /// dispatches and why, and has the wall time. Without a profile there are neither timestamps
    /// nor passes for them.
    ///
    /// `WHARF_PROFILE=file.json` [traces](Profile::save_trace) a program that nobody changed: the
    /// file is written when the last handle on the device is gone, tensors included.
    #[must_use = "a profile that is dropped at once notes nothing"]
    pub fn profile(&self) -> Profile {
        Profile::begin(&self.engine, self.handle.target)
    }

    /// Computes once more, from now on and as long as the shadow lives, what every operation
    /// computes: by the oracle, on the very inputs that its kernels had, and holds results to the
    /// [contract](crate::op) - of a chain of operations in one kernel, to what each step of it is
    /// allowed.
    ///
    /// The first operation outside its contract is an error of kind
    /// [`Wrong`](crate::ErrorKind::Wrong), given by the next read of anything on the device, and by
    /// every read after it: the line that asked, the worst element, both values and the bound. What
    /// is not judged is counted, by reason: a budget, or that there is no oracle for it.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::shadow::ShadowPolicy;
    ///
    /// let shadow = device.shadow(ShadowPolicy::all());
    /// let (x, _) = device.upload(&[0.5f32; 64 * 64], [64, 64])?;
    /// let y = x.matmul(&x)?.softmax(1)?;
    /// y.read::<f32>().await?; // an error, were one of them wrong
    ///
    /// let report = shadow.report().await?;
    /// println!("{report}");
    /// assert!(report.wrong.is_none() && report.operations == 2, "{report}");
    /// assert_eq!(report.judged, 2 * 64 * 64);
    /// # Ok(()) });
    /// ```
    ///
    /// It copies inputs and results to the host by itself: neither [guards](Self::guard) nor the
    /// ledger know of that, and the report says how much. Results wait for that copy until
    /// somebody reads, until the [budget of memory](ShadowPolicy::memory) is taken, or for
    /// [`Shadow::report`]. Batches are smaller, so a profile beside it times something else.
    ///
    /// `WHARF_SHADOW=1` shadows a program that nobody changed; a folder in place of the 1 is where
    /// [capsules](crate::shadow::Capsule) go, otherwise the one for temporary files.
    #[must_use = "a shadow that is dropped at once sees nothing"]
    pub fn shadow(&self, policy: ShadowPolicy) -> Shadow {
        Shadow::begin(&self.engine, policy)
    }

    /// Runs the kernels of a capsule here, on the inputs that it has, and judges what comes back.
    ///
    /// # Errors
    /// If this device lacks something that they need, or fails. A wrong result is no error, but
    /// what the replay says.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::shadow::Capsule;
    ///
    /// async fn is_wrong(device: &wharf::Device, file: &[u8]) -> wharf::Result<bool> {
    ///     let replay = device.replay(&Capsule::from_bytes(file)?).await?;
    ///     println!("{replay}");
    ///     Ok(replay.is_wrong)
    /// }
    /// assert!(is_wrong(&device, b"no capsule").await.is_err());
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn replay<'a>(
        &'a self,
        capsule: &'a Capsule,
    ) -> impl Future<Output = Result<Replay>> + use<'a> {
        replay(&self.engine, capsule, CallSite::of("replay"))
    }

    /// [`Device::replay`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn replay_now(&self, capsule: &Capsule) -> Result<Replay> {
        pollster::block_on(replay(&self.engine, capsule, CallSite::of("replay_now")))
    }

    /// Submits what has been recorded, without waiting for it. Deferred operations are not recorded
    /// yet: [`Tensor::compute`](crate::Tensor::compute) records them.
    pub fn flush(&self) -> Result<()> {
        self.engine.flush()
    }

    /// Submits what has been recorded, and is ready when everything submitted is done. Whoever
    /// reads awaits that anyway.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let x = (device.ones([1 << 16], wharf::DType::F32)? + 1.0)?;
    /// x.compute()?;
    /// device.synchronize().await?; // and nothing has crossed
    /// assert_eq!(device.ledger().down.count, 0);
    /// # Ok(()) });
    /// ```
    #[doc(alias("wait", "on_submitted_work_done"))]
    pub async fn synchronize(&self) -> Result<()> {
        done(&self.engine).await
    }

    /// [`Device::synchronize`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn synchronize_now(&self) -> Result<()> {
        let first = First { flush: true, slots: &[] };
        pollster::block_on(settle(&self.engine, Drive::Block, first))?;
        self.engine.gpu.wait(None)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.caps().identity.name).finish()
    }
}
