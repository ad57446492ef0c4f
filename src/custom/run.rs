//! Running a kernel of the user's own: what it is given, checked against what it declares.

use core::fmt;
use std::sync::Arc;

use bytemuck::NoUninit;

use super::cause::RunCause;
use super::kernel::Kernel;
use crate::caps::{Backend, Feature, Limits};
use crate::device::Device;
use crate::dtype::DType;
use crate::engine::Site;
use crate::engine::site::asked;
use crate::error::{Error, Result, mistake};
use crate::fuse::What;
use crate::kernel::Operand;
use crate::kernel::cores::Alone;
use crate::kernel::own::{OwnJob, Stock, buffers, moored};
use crate::layout::Layout;
use crate::op::Kind;
use crate::plan::Stored;
use crate::shape::{IntoShape, Shape};
use crate::tensor::Tensor;
use crate::wgsl::own::{Port, Reflection, Stowage};

/// Of f32 and bf16 3.4e38, of f16 NaN, and 127 of every byte.
const SOIL: u32 = 0x7f7f_7f7f;

/// A run of a [`Kernel`] that is being put together: [`Device::run`].
///
/// Every binding is given once, by its name in WGSL. Nothing is checked before [`Run::record`],
/// which checks all of it.
#[must_use = "nothing is run before `record`"]
pub struct Run<'a> {
    device: &'a Device,
    kernel: &'a Kernel,
    offers: Vec<(String, Offer<'a>)>,
    uniform: Vec<u8>,
    groups: Option<[u64; 3]>,
    soil: Option<[u32; 2]>,
}

/// What a binding is given.
enum Offer<'a> {
    Read(Tensor),
    Create(Result<Shape>, DType),
    Update(&'a mut Tensor),
}

impl Offer<'_> {
    /// How many it has, if it says so.
    fn elements(&self) -> usize {
        match self {
            Self::Read(tensor) => tensor.shape().elements(),
            Self::Update(tensor) => tensor.shape().elements(),
            Self::Create(shape, _) => shape.as_ref().map_or(0, Shape::elements),
        }
    }

    /// Whether it has elements that only the run gives it.
    fn makes(&self) -> bool {
        matches!(self, Self::Create(..)) && self.elements() > 0
    }
}

/// What has been found right: where every binding's tensor comes from.
#[derive(Default)]
struct Manning<'a> {
    stocks: Vec<Stock>,
    read: Vec<Tensor>,
    updated: Vec<&'a mut Tensor>,
    /// By the order of the calls.
    created: Vec<(Shape, Stored)>,
}

impl Device {
    /// Runs a kernel of your own: see [`Kernel::from_wgsl`] for an example.
    pub const fn run<'a>(&'a self, kernel: &'a Kernel) -> Run<'a> {
        Run {
            device: self,
            kernel,
            offers: Vec::new(),
            uniform: Vec::new(),
            groups: None,
            soil: None,
        }
    }
}

impl<'a> Run<'a> {
    /// A tensor for a binding that is only read. A view that is not dense is copied first.
    pub fn read(self, binding: &str, tensor: &Tensor) -> Self {
        self.offer(binding, Offer::Read(tensor.clone()))
    }

    /// A new tensor for a binding that is written. If the kernel also reads it, or changes it by
    /// atomics, it begins as zeros; otherwise what the kernel leaves out is undefined.
    pub fn create(self, binding: &str, shape: impl IntoShape, dtype: DType) -> Self {
        self.offer(binding, Offer::Create(shape.into_shape(), dtype))
    }

    /// A tensor for a binding that is written, which takes on what is written.
    ///
    /// In place if nobody else holds its memory; otherwise it is copied first, and clones and views
    /// made before keep what they had, even where the same run reads them.
    pub fn update(self, binding: &str, tensor: &'a mut Tensor) -> Self {
        self.offer(binding, Offer::Update(tensor))
    }

    /// The bytes of the uniform, as WGSL lays it out: a number, an array, or a struct of yours that
    /// is [`NoUninit`] - by `#[derive(Clone, Copy, bytemuck::NoUninit)] #[repr(C)]`, with the crate
    /// `bytemuck` and its feature `derive`.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::custom::Kernel;
    ///
    /// #[derive(Clone, Copy, bytemuck::NoUninit)]
    /// #[repr(C)]
    /// struct Line {
    ///     slope: f32,
    ///     first: u32,
    /// }
    ///
    /// let line = Kernel::from_wgsl(
    ///     "line",
    ///     "struct Line { slope: f32, first: u32 }
    ///      @group(0) @binding(0) var<uniform> line: Line;
    ///      @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    ///
    ///      @compute @workgroup_size(64)
    ///      fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    ///          if at.x < arrayLength(&y) {
    ///              y[at.x] = line.slope * f32(line.first + at.x);
    ///          }
    ///      }",
    /// )?;
    /// let run = device.run(&line).set(&Line { slope: 0.5, first: 10 });
    /// let [y] = run.create("y", [3], DType::F32).threads([3, 1, 1]).record()?;
    /// assert_eq!(y.read_now::<f32>()?, [5.0, 5.5, 6.0]);
    /// # Ok(()) });
    /// ```
    pub fn set(mut self, uniform: &impl NoUninit) -> Self {
        self.uniform = bytemuck::bytes_of(uniform).to_vec();
        self
    }

    /// How many workgroups run on each axis.
    pub fn groups(mut self, groups: [u32; 3]) -> Self {
        self.groups = Some(groups.map(u64::from));
        self
    }

    /// How many invocations there should be at least on each axis: rounded up to whole workgroups,
    /// of which an axis has 65 535 on most devices. Of none nothing runs: what is created is empty.
    pub fn threads(mut self, threads: [usize; 3]) -> Self {
        let size = self.kernel.own.workgroup;
        let groups = |axis: usize| (threads[axis] as u64).div_ceil(u64::from(size[axis].max(1)));
        self.groups = Some([groups(0), groups(1), groups(2)]);
        self
    }

    /// Checks all of it; returns the tensors that it creates, in the order of the calls.
    ///
    /// One new tensor, and nothing updated, is deferred like any operation: it runs once somebody
    /// needs it, and [`Tensor::explain`] shows it. Otherwise it is recorded at once.
    ///
    /// # Errors
    /// What the kernel was given and does not take, what the device lacks for it, or the error of a
    /// tensor that it reads. Then nothing has been changed.
    #[track_caller]
    pub fn record<const N: usize>(self) -> Result<[Tensor; N]> {
        let kernel = self.kernel;
        let created = self.offers.iter().filter(|(_, o)| matches!(o, Offer::Create(..))).count();
        let made = self.recorded(|| match created == N {
            true => Ok(()),
            false => {
                let name = kernel.name().to_owned();
                Err(RunCause::Results { name, created, taken: N }.into())
            }
        })?;
        made.try_into().map_err(|_| mistake(kernel.name(), "another number of results"))
    }

    /// Like [`Run::record`], but for any number of created tensors; `last` is what is checked last.
    #[track_caller]
    pub(super) fn recorded(self, last: impl FnOnce() -> Result<()>) -> Result<Vec<Tensor>> {
        let Self { device, kernel, offers, uniform, groups, soil } = self;
        let trips_max = device.caps().identity.loop_trips_max();
        let trips_max = trips_max.filter(|_| kernel.may_be_bounded(device));
        let own = kernel.stored(stowage(device, kernel, &offers)?, trips_max)?;
        let is_idle = groups.is_some_and(|groups| groups.contains(&0));
        let check = Check { device, own: &own, is_idle };
        check.kernel()?;
        let groups = check.groups(groups, &offers)?;
        check.uniform(&uniform)?;
        let Manning { stocks, read, mut updated, created } = check.offers(offers)?;
        last()?;
        if is_idle {
            let read: Vec<&Tensor> = read.iter().collect();
            let empty =
                |(shape, dtype): (Shape, Stored)| device.zeros(shape, *dtype)?.on_behalf_of(&read);
            return asked(|| created.into_iter().map(empty).collect());
        }
        let lengths = check.lengths(&stocks, |stock| match stock {
            Stock::Read(i) => *read[i].shape(),
            Stock::Updated(i) => *updated[i].shape(),
            Stock::Created(i) => created[i].0,
        });
        let job = OwnJob {
            params: uniform_words(&uniform, own.lengths.map(|at| (at, lengths))),
            own: Arc::clone(&own),
            stocks,
            created: created.iter().map(|(shape, dtype)| (*shape, **dtype)).collect(),
            groups,
            soil,
        };
        Ok(match (created.as_slice(), updated.is_empty()) {
            ([only], true) => vec![deferred(device, job, &read, *only)],
            _ => {
                let named = |error: Error| error.during(check.name());
                let values = at_once(device, &job, &read, &mut updated).map_err(named)?;
                let of = |(value, (shape, dtype))| {
                    Tensor::of(device.clone(), value, Layout::dense(shape), dtype)
                };
                values.into_iter().zip(created).map(of).collect()
            }
        })
    }

    /// It, where new tensors begin as something that no kernel makes: what it leaves out is seen.
    pub(super) fn soiled(self) -> Self {
        Self { soil: Some([SOIL; 2]), ..self }
    }

    fn offer(mut self, binding: &str, offer: Offer<'a>) -> Self {
        self.offers.push((binding.to_owned(), offer));
        self
    }
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.offers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Run").field("kernel", self.kernel).field("given", &names).finish()
    }
}

/// How the tensors for arrays of `V` are stored, in the order of those, and which others end in the
/// middle of a word.
fn stowage(device: &Device, kernel: &Kernel, offers: &[(String, Offer<'_>)]) -> Result<Stowage> {
    let mut stowage = Stowage {
        dtypes: Vec::new(),
        target: device.target(),
        f16_native: device.caps().has(Feature::ShaderF16),
        halved: Vec::new(),
    };
    let offered = |port: &Port| offers.iter().find(|(name, _)| *name == port.name).map(|o| &o.1);
    let ends_within = |port: &&Port| {
        let elements = offered(port).map_or(0, Offer::elements);
        let bytes = elements as u64 * u64::from(port.stride);
        port.portable.is_none() && !bytes.is_multiple_of(4)
    };
    let halved = kernel.own.ports.iter().filter(ends_within);
    stowage.halved.extend(halved.map(|port| port.name.clone()));
    let mut arrays: Vec<_> = kernel.own.ports.iter().filter(|p| p.portable.is_some()).collect();
    arrays.sort_by_key(|port| port.portable);
    for port in arrays {
        stowage.dtypes.push(match offered(port) {
            Some(Offer::Read(tensor)) => tensor.dtype(),
            Some(Offer::Update(tensor)) => tensor.dtype(),
            Some(Offer::Create(_, dtype)) => *device.plan().accept(*dtype)?.1,
            // Said below.
            None => continue,
        });
    }
    let kinds = stowage.dtypes.iter().map(|dtype| Kind::of(*dtype));
    let unlike = kinds.clone().position(|kind| Some(kind) != kinds.clone().next());
    match unlike {
        Some(i) => {
            let (name, first, other) =
                (kernel.name().to_owned(), stowage.dtypes[0], stowage.dtypes[i]);
            Err(RunCause::Kinds { name, first, other }.into())
        }
        None => Ok(stowage),
    }
}

/// The uniform as words, and four of them where there is none; from a byte on, lengths.
fn uniform_words(uniform: &[u8], lengths: Option<(u32, Vec<u32>)>) -> Vec<u32> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    };
    let mut words: Vec<u32> = uniform.chunks(4).map(word).collect();
    if let Some((at, lengths)) = lengths {
        words.resize(at as usize / 4, 0);
        words.extend(lengths);
    }
    words.resize(words.len().max(1).next_multiple_of(4), 0);
    words
}

/// The only result, which is computed once it is needed.
#[track_caller]
fn deferred(device: &Device, job: OwnJob, read: &[Tensor], made: (Shape, Stored)) -> Tensor {
    let name = job.own.kernel.name;
    let record = move |site: Site<'_>, inputs: &[Operand]| {
        let mut all = job.record(site, &moored(site, inputs)?, &[])?;
        all.pop().ok_or_else(|| mistake(name, "no result"))
    };
    let (shape, dtype) = made;
    let args = read.iter().map(Tensor::arg).collect();
    Tensor::deferred(device, What::core(Alone { named: name.into(), record }), args, shape, dtype)
}

/// Everything that it makes, recorded now.
#[track_caller]
fn at_once(
    device: &Device,
    job: &OwnJob,
    read: &[Tensor],
    updated: &mut [&mut Tensor],
) -> Result<Vec<Arc<crate::exec::Value>>> {
    let site = device.site();
    let inputs = read.iter().map(Tensor::operand).collect::<Result<Vec<_>>>()?;
    let inputs = moored(site, &inputs)?;
    let mut changed = Vec::new();
    for tensor in updated {
        let apart = buffers(inputs.iter().chain(&changed));
        changed.push(tensor.own_apart(&apart)?);
    }
    job.record(site, &inputs, &changed)
}

/// What a run is checked against.
#[derive(Clone, Copy)]
struct Check<'a> {
    device: &'a Device,
    own: &'a Reflection,
    /// Whether there are no invocations: then tensors may be empty.
    is_idle: bool,
}

impl Check<'_> {
    fn name(self) -> String {
        self.own.kernel.name.to_owned()
    }

    /// How many elements each array of `V` has, in the order of those.
    fn lengths(self, stocks: &[Stock], shape: impl Fn(Stock) -> Shape) -> Vec<u32> {
        let all = self.own.ports.iter().zip(stocks);
        let mut lengths: Vec<_> =
            all.filter_map(|(port, stock)| Some((port.portable?, shape(*stock)))).collect();
        lengths.sort_by_key(|(array, _)| *array);
        // One binding holds fewer.
        lengths.iter().map(|(_, shape)| shape.elements() as u32).collect()
    }

    /// Whether it can run on this device at all.
    #[track_caller]
    fn kernel(self) -> Result<()> {
        let (own, caps) = (self.own, self.device.caps());
        if let Some(tunable) = own.tunables.iter().find(|tunable| tunable.is_missing) {
            let (name, missing) = (self.name(), tunable.name.clone());
            return Err(RunCause::Missing { name, missing }.into());
        }
        if let Some(feature) = own.kernel.needs.lacking(caps).each().next() {
            let (feature, adapter) = (feature.to_string(), caps.identity.name.clone());
            return Err(RunCause::Lacks { name: self.name(), feature, adapter }.into());
        }
        if let (Backend::Metal, Some(spot)) = (caps.identity.backend, &own.wide_division) {
            let (name, adapter) = (self.name(), caps.identity.name.clone());
            return Err(RunCause::WideDivision { name, spot: spot.clone(), adapter }.into());
        }
        let [x, y, z] = own.workgroup.map(u64::from);
        // One more tells of loops that went on.
        let bindings = own.ports.len() + usize::from(own.bound.is_some());
        let Limits { group_x_max, group_y_max, group_z_max, invocations_max, .. } = caps.limits;
        let Limits { group_storage_bytes_max: bytes_max, storage_buffers_max, .. } = caps.limits;
        let size = "`@workgroup_size`";
        let memory = "what is `var<workgroup>`";
        let arrays = "the number of `var<storage>`";
        for (what, given, max, less) in [
            ("invocations in x of a workgroup", x, group_x_max, size),
            ("invocations in y of a workgroup", y, group_y_max, size),
            ("invocations in z of a workgroup", z, group_z_max, size),
            ("invocations of a workgroup", x * y * z, invocations_max, size),
            ("bytes of workgroup memory", own.workgroup_bytes.into(), bytes_max, memory),
            ("storage bindings", bindings as u64, storage_buffers_max, arrays),
        ] {
            if given > max {
                let name = self.name();
                return Err(RunCause::Workgroup { name, what, given, max, less }.into());
            }
        }
        Ok(())
    }

    #[track_caller]
    fn groups(self, groups: Option<[u64; 3]>, offers: &[(String, Offer<'_>)]) -> Result<[u32; 3]> {
        let name = self.name();
        let Some(groups) = groups else { return Err(RunCause::Nowhere { name }.into()) };
        let max = self.device.caps().limits.groups_max;
        let least = u64::from(offers.iter().any(|(_, offer)| offer.makes()));
        if groups.iter().any(|count| !(least..=max).contains(count)) {
            return Err(RunCause::Groups { name, groups, max }.into());
        }
        Ok(groups.map(|count| count as u32))
    }

    #[track_caller]
    fn uniform(self, bytes: &[u8]) -> Result<()> {
        let takes = self.own.uniform.as_ref().map_or(0, |(_, bytes)| *bytes);
        if bytes.len() == takes as usize {
            return Ok(());
        }
        Err(RunCause::Uniform { name: self.name(), takes, given: bytes.len() }.into())
    }

    /// Gives every binding what is for it.
    #[track_caller]
    fn offers<'a>(self, offers: Vec<(String, Offer<'a>)>) -> Result<Manning<'a>> {
        let ports = &self.own.ports;
        let mut stocks = vec![None; ports.len()];
        let mut manning = Manning::default();
        for (binding, offer) in offers {
            let Some(at) = ports.iter().position(|port| port.name == binding) else {
                let names: Vec<_> = ports.iter().map(|port| port.name.as_str()).collect();
                let (name, has) = (self.name(), names.join(", "));
                return Err(RunCause::Unknown { name, given: binding, has }.into());
            };
            if stocks[at].is_some() {
                return Err(RunCause::Twice { name: self.name(), binding }.into());
            }
            stocks[at] = Some(self.offer(&ports[at], offer, &mut manning)?);
        }
        for (port, stock) in ports.iter().zip(stocks) {
            let calls = if port.writes { "`create` or `update`" } else { "`read`" };
            let (name, binding) = (self.name(), port.name.clone());
            manning.stocks.push(stock.ok_or(RunCause::Unbound { name, binding, calls })?);
        }
        Ok(manning)
    }

    /// Checks what is for one binding.
    #[track_caller]
    fn offer<'a>(self, port: &Port, offer: Offer<'a>, manning: &mut Manning<'a>) -> Result<Stock> {
        let (name, binding) = (self.name(), port.name.clone());
        let given = match offer {
            Offer::Read(_) if port.writes => {
                return Err(RunCause::Written { name, binding }.into());
            }
            Offer::Create(..) => "create",
            Offer::Update(_) => "update",
            Offer::Read(_) => "read",
        };
        if !port.writes && given != "read" {
            return Err(RunCause::ReadOnly { name, binding, given }.into());
        }
        match offer {
            Offer::Read(tensor) => {
                self.tensor(port, &tensor)?;
                manning.read.push(tensor);
                Ok(Stock::Read(manning.read.len() - 1))
            }
            Offer::Update(tensor) => {
                self.tensor(port, tensor)?;
                manning.updated.push(tensor);
                Ok(Stock::Updated(manning.updated.len() - 1))
            }
            Offer::Create(shape, dtype) => {
                let shape = shape.map_err(|error| error.during(format!("{name}: {binding}")))?;
                let (_, stored) = self.device.plan().accept(dtype)?;
                self.fits(port, &shape, (*stored, true))?;
                manning.created.push((shape, stored));
                Ok(Stock::Created(manning.created.len() - 1))
            }
        }
    }

    #[track_caller]
    fn tensor(self, port: &Port, tensor: &Tensor) -> Result<()> {
        let same = self.device.engine.same_device(&tensor.device().engine);
        same.map_err(|error| error.during(format!("{}: {}", self.name(), port.name)))?;
        self.fits(port, tensor.shape(), (tensor.dtype(), false))
    }

    /// Whether a tensor like this, which is made for it or not, fits a binding.
    #[track_caller]
    fn fits(self, port: &Port, shape: &Shape, (given, made): (DType, bool)) -> Result<()> {
        let (name, binding, takes) = (self.name(), port.name.clone(), port.dtype);
        if given != takes {
            return Err(RunCause::Element { name, binding, takes, given, made }.into());
        }
        if shape.is_empty() && !self.is_idle {
            return Err(RunCause::Empty { name, binding }.into());
        }
        let (width, elements) = (takes.width() as u64, shape.elements() as u64);
        if port.portable.is_some() && elements > u64::from(u32::MAX) {
            let max = u32::MAX.into();
            return Err(RunCause::Many { name, binding, given: elements, max }.into());
        }
        let takes = u64::from(port.count.unwrap_or(0)) * u64::from(port.stride) / width;
        if elements < takes {
            return Err(RunCause::Short { name, binding, takes, given: elements }.into());
        }
        let max = self.device.engine.segment_bytes();
        let given = elements.saturating_mul(width);
        if given > max {
            return Err(RunCause::Large { name, binding, given, max }.into());
        }
        Ok(())
    }
}
