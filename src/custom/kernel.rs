//! A kernel in WGSL that the user wrote, judged before a driver sees it.

use core::fmt;
use std::sync::{Arc, Mutex};

#[cfg(not(target_family = "wasm"))]
use super::cause::RunCause;
use crate::device::Device;
use crate::dtype::DType;
#[cfg(not(target_family = "wasm"))]
use crate::error::Cause as _;
use crate::error::Result;
use crate::shared::lock;
use crate::tensor::Scalar;
use crate::wgsl::own::cause::OwnCause;
use crate::wgsl::own::{OwnText, Reflection, Rigour, Stowage};

/// A kernel of your own, in WGSL: parsed, validated and reflected before a driver sees it. Then
/// [`Device::run`](crate::Device::run) runs it on tensors, given by the names of its bindings.
///
/// The text is plain WGSL: one compute entry point of any name, storage arrays of numbers, and
/// perhaps one `var<uniform>`. The numbers in `@group` and `@binding` may be any that are valid;
/// overrides are set by [`Kernel::with`].
///
/// # One text for every dtype
///
/// An array of `V`, the type of a quad, takes a tensor of any dtype, however the device stores it:
/// packed f16, bf16 and integers of 8 bits too. It is reached by functions that are called like it:
///
/// | function | what |
/// |---|---|
/// | `load_x(e: vec4<u32>) -> V` | elements by their row-major places; past the end, the last |
/// | `store_y(q: u32, v: V)` | elements `4q` to `4q + 3`; past the end, nothing |
/// | `length_x() -> u32` | how many elements it has |
/// | `op_exp(v)`, .. | wharf's own [operations](crate::op), each with its contract |
///
/// An array that is `read` can only be loaded, one that is `read_write` only stored.
///
/// `E` is one element of `V`. In one run all of them are given one kind of number: `V` is four f32
/// for f32, f16 and bf16; four i32 for i8, i16 and i32; four u32 for u8, u16 and u32; four of
/// itself for f64, i64, u64 and bool. A text is accepted if it is valid for one of these; whether
/// it is for another, a run says. A uniform beside such arrays is a struct.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::DType;
/// use wharf::custom::Kernel;
///
/// let soften = Kernel::from_wgsl(
///     "soften",
///     "@group(0) @binding(0) var<storage> x: array<V>;
///      @group(0) @binding(1) var<storage, read_write> y: array<V>;
///
///      @compute @workgroup_size(64)
///      fn soften(@builtin(global_invocation_id) at: vec3<u32>) {
///          let e = 4u * at.x + vec4<u32>(0u, 1u, 2u, 3u);
///          let before = load_x(max(e, vec4<u32>(1u)) - 1u);
///          store_y(at.x, (before + load_x(e) + load_x(e + 1u)) / V(3.0));
///      }",
/// )?;
/// let (x, _) = device.upload(&[3.0f32, 0.0, 6.0, 3.0, 0.0], [5])?;
/// for dtype in [DType::F32, DType::F16, DType::Bf16] {
///     let run = device.run(&soften).read("x", &x.cast(dtype)?).create("y", [5], dtype);
///     let [y] = run.threads([2, 1, 1]).record()?; // a thread for every four elements
///     assert_eq!(y.cast(DType::F32)?.read_now::<f32>()?, [2.0, 3.0, 3.0, 3.0, 1.0]);
/// }
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct Kernel {
    written: Arc<OwnText>,
    /// Overrides that are set: name, and value in WGSL.
    values: Vec<(String, String)>,
    pub(super) own: Arc<Reflection>,
    /// What it is held to.
    rigour: Rigour,
    /// What became of it for tensors that are stored in other ways, and held to other things.
    adapted: Arc<Mutex<Adapted>>,
}

/// By how they are stored, and what it is held to.
type Adapted = Vec<((Stowage, Rigour), Arc<Reflection>)>;

impl Kernel {
    /// From a text; the name stands in errors, plans and debuggers, and is kept as long as the
    /// process runs. Lines are counted from the text's first.
    ///
    /// What WGSL leaves to whoever runs it stays so: an index past the end of a plain array reads
    /// or writes some element of it or nothing, and that all invocations of a workgroup meet at a
    /// barrier is for the text to see to. Browsers refuse it where that is not plain. `arrayLength`
    /// counts a last pair or quad that the tensor fills in part.
    ///
    /// # Errors
    /// What is wrong with it, and where: naga's verdict, a binding that is no array of numbers, no
    /// compute entry point or several, a loop that nothing can end.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::custom::Kernel;
    ///
    /// let saxpy = Kernel::from_wgsl(
    ///     "saxpy",
    ///     "@group(0) @binding(0) var<uniform> a: f32;
    ///      @group(0) @binding(1) var<storage> x: array<f32>;
    ///      @group(0) @binding(2) var<storage> y: array<f32>;
    ///      @group(0) @binding(3) var<storage, read_write> sum: array<f32>;
    ///
    ///      @compute @workgroup_size(64)
    ///      fn saxpy(@builtin(global_invocation_id) at: vec3<u32>) {
    ///          if at.x < arrayLength(&x) {
    ///              sum[at.x] = a * x[at.x] + y[at.x];
    ///          }
    ///      }",
    /// )?;
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0], [3])?;
    /// let run = device.run(&saxpy).read("x", &x).read("y", &(&x + 1.0)?);
    /// let [sum] = run.create("sum", [3], DType::F32).set(&10.0f32).threads([3, 1, 1]).record()?;
    /// assert_eq!((sum * 0.5)?.read_now::<f32>()?, [6.0, 11.5, 17.0]);
    /// # Ok(()) });
    /// ```
    pub fn from_wgsl(name: &str, text: &str) -> Result<Self> {
        let written = OwnText { name: name.to_owned(), text: text.to_owned() };
        Self::reflected(Arc::new(written), Vec::new())
    }

    fn reflected(written: Arc<OwnText>, values: Vec<(String, String)>) -> Result<Self> {
        let own = Arc::new(written.first(&values)?);
        Ok(Self { written, values, own, rigour: Rigour::default(), adapted: Arc::default() })
    }

    /// From a file, whose path is its name.
    ///
    /// # Errors
    /// As [`Kernel::from_wgsl`], and where the file cannot be read.
    #[cfg(not(target_family = "wasm"))]
    pub fn from_file(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let unreadable = |error: std::io::Error| {
            RunCause::Unreadable { path: name.clone(), why: error.to_string() }.by(error)
        };
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        Self::from_wgsl(&name, &text)
    }

    /// It with a value for one of its overrides.
    ///
    /// # Errors
    /// An override that it does not have; a number that is not of its type, or makes the text
    /// invalid.
    pub fn with(&self, name: &str, value: impl Into<Scalar>) -> Result<Self> {
        let own = self.name().to_owned();
        let Some(tunable) = self.own.tunables.iter().find(|tunable| tunable.name == name) else {
            let names: Vec<_> = self.own.tunables.iter().map(|t| t.name.as_str()).collect();
            let (given, has) = (name.to_owned(), names.join(", "));
            return Err(OwnCause::Override { name: own, given, has }.into());
        };
        let value = value.into();
        value.encode(tunable.dtype).map_err(|error| error.during(format!("{own}: {name}")))?;
        let mut values = self.values.clone();
        values.retain(|(known, _)| known != name);
        values.push((name.to_owned(), value.to_string()));
        let rigour = self.rigour;
        Ok(Self { rigour, ..Self::reflected(Arc::clone(&self.written), values)? })
    }

    /// It, where no invocation goes through its loops more than so often, all of them counted
    /// together: what would is ended there, and reading what this run makes is an error that names
    /// the loop. A loop in which invocations meet at a barrier is counted, and not ended.
    ///
    /// Without it a loop that does not end loses the device, or holds it for ever. llvmpipe leaves
    /// all loops after 65 535 trips without a word: there, every kernel is bounded to 65 000.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::custom::Kernel;
    ///
    /// let collatz = Kernel::from_wgsl(
    ///     "collatz",
    ///     "@group(0) @binding(0) var<storage> x: array<u32>;
    ///      @group(0) @binding(1) var<storage, read_write> steps: array<u32>;
    ///
    ///      @compute @workgroup_size(1)
    ///      fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    ///          for (var n = x[at.x]; n != 1u; n = select(3u * n + 1u, n / 2u, n % 2u == 0u)) {
    ///              steps[at.x] += 1u;
    ///          }
    ///      }",
    /// )?;
    /// let bounded = collatz.bounded(1000);
    /// let steps = |x: u32| {
    ///     let (x, _) = device.upload(&[x], [1])?;
    ///     let run = device.run(&bounded).read("x", &x).create("steps", [1], DType::U32);
    ///     let [steps] = run.threads([1, 1, 1]).record()?;
    ///     steps.read_now::<u32>()
    /// };
    /// assert_eq!(steps(27)?, [111]);
    /// let error = steps(0).expect_err("half of nothing is nothing");
    /// assert!(error.to_string().starts_with("collatz:6:10: this loop goes on after 1000 trips"));
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn bounded(&self, trips: u32) -> Self {
        Self { rigour: Rigour { trips: Some(trips), ..self.rigour }, ..self.clone() }
    }

    /// It, where places past the end of an array are others of it, as a driver may have it.
    pub(super) fn astray(&self) -> Self {
        Self { rigour: Rigour { astray: true, ..self.rigour }, ..self.clone() }
    }

    /// It, ended after so many trips, unless that was said, or takes a binding too many.
    pub(super) fn ended(&self, device: &Device, trips: u32) -> Self {
        match self.rigour.trips {
            None if self.may_be_bounded(device) => self.bounded(trips),
            _ => self.clone(),
        }
    }

    /// Whether the device has a binding more than it needs, for what is told of loops.
    pub(super) fn may_be_bounded(&self, device: &Device) -> bool {
        (self.own.ports.len() as u64) < device.caps().limits.storage_buffers_max
    }

    /// Whether the device has all that it needs.
    pub(super) fn is_had_by(&self, device: &Device) -> bool {
        self.own.kernel.needs.lacking(device.caps()).each().next().is_none()
    }

    /// The arrays that it only reads, in the order of their bindings.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        let read = self.own.ports.iter().filter(|port| !port.writes);
        read.map(|port| port.name.as_str())
    }

    /// Whether it reads arrays, all of this dtype.
    pub(super) fn reads(&self, dtype: DType) -> bool {
        let mut read = self.own.ports.iter().filter(|port| !port.writes).peekable();
        let any = read.peek().is_some();
        let like = Stowage { dtypes: vec![dtype], ..Stowage::default() };
        any && read.all(|port| port.portable.is_some() || port.dtype == dtype)
            && self.written.reflect(&self.values, &like, Rigour::default()).is_ok()
    }

    /// What is wrong with it where its arrays of `V` hold this dtype.
    pub(super) fn holds(&self, dtype: DType) -> Result<()> {
        let like = Stowage { dtypes: vec![dtype], ..Stowage::default() };
        self.written.reflect(&self.values, &like, Rigour::default()).map(drop)
    }

    /// What it is where its arrays of `V` are stored like this, and a driver ends loops after so
    /// many trips.
    pub(super) fn stored(
        &self,
        stowage: Stowage,
        trips_max: Option<u32>,
    ) -> Result<Arc<Reflection>> {
        let trips = self.rigour.trips.into_iter().chain(trips_max).min();
        let rigour = Rigour { trips, ..self.rigour };
        let is_plain = stowage.dtypes.is_empty() && stowage.halved.is_empty();
        if is_plain && rigour == Rigour::default() {
            return Ok(Arc::clone(&self.own));
        }
        let like = (stowage, rigour);
        let mut adapted = lock(&self.adapted);
        if let Some((_, known)) = adapted.iter().find(|(known, _)| *known == like) {
            return Ok(Arc::clone(known));
        }
        let own = Arc::new(self.written.reflect(&self.values, &like.0, rigour)?);
        adapted.push((like, Arc::clone(&own)));
        Ok(own)
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.written.name
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).field("set", &self.values).finish()
    }
}
