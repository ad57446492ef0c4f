//! A named set of tensors moves as one act: a model's parameters.
//!
//! ```text
//! negotiate every tensor       all refusals in one error, before anything moves
//! ask the guards               once for each
//! reserve memory for all       out of memory before anything moves
//! carry one after the other    what fails here lets go of all of it
//! ```

use core::cell::RefCell;
use core::fmt;
use core::future::Future;
use std::sync::Arc;
use std::time::Duration;
use std::vec;

use crate::clock::Stopwatch;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gpu::Drive;
use crate::host::HostBytes;
use crate::host::blocks::Share;
#[cfg(feature = "io")]
use crate::host::supply::Supply;
use crate::ledger::{CallSite, Direction};
use crate::tensor::{Passage, Provenance, Quantized, Rounding, Tensor};
use crate::transfer::Receipt;

mod cause;
mod goods;
mod named;
mod receipt;

use cause::SetCause;
pub use goods::Arrival;
use goods::Goods;
use named::Named;
pub use receipt::SetReceipt;

/// Host tensors that go to a device together: names, in order, with borrowed data of any dtype and
/// layout.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::{HostView, Shipment};
///
/// let (weights, bias) = ([0.5f32; 6], [1u16, 2]);
/// let mut shipment = Shipment::new();
/// shipment.add("weights", HostView::column_major(&weights, [3, 2])?)?;
/// shipment.add("bias", HostView::new(&bias, [2])?)?;
/// let (set, receipt) = device.upload_set(&shipment)?;
/// assert_eq!((set.len(), receipt.values()), (2, 8));
/// assert!(receipt.is_exact(), "{receipt:#}");
/// # Ok(()) });
/// ```
#[derive(Clone, Default)]
pub struct Shipment<'a> {
    goods: Named<Goods<'a>>,
}

impl fmt::Debug for Shipment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.goods.fmt(f)
    }
}

impl<'a> Shipment<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor: a [`HostView`](crate::HostView), or bytes of a dtype that is known when the
    /// program runs ([`HostBytes::new`]). A name that is taken is an error.
    pub fn add(
        &mut self,
        name: impl AsRef<str>,
        data: impl Into<HostBytes<'a>>,
    ) -> Result<&mut Self> {
        self.insert(name.as_ref(), data.into(), None)
    }

    /// Adds a tensor that arrives as what is named here: a dtype, as by [`Device::upload_as`], or
    /// weights [in blocks](Arrival::Blocks). It is converted while it is staged, so that it never
    /// takes more memory than it does in the end.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{DType, HostBytes, Shipment};
    ///
    /// let bytes = [0, 0, 0, 63, 205, 204, 204, 61]; // 0.5 and 0.1, little-endian
    /// let mut shipment = Shipment::new();
    /// shipment.add_as("half", HostBytes::new(&bytes, [2], DType::F32)?, DType::F16)?;
    /// let (set, receipt) = device.upload_set(&shipment)?;
    /// assert_eq!(set.get("half").map(|half| half.dtype()), Some(DType::F16));
    /// assert_eq!(receipt.changed(), 1, "0.1 is no f16: {receipt}");
    /// # Ok(()) });
    /// ```
    pub fn add_as(
        &mut self,
        name: impl AsRef<str>,
        data: impl Into<HostBytes<'a>>,
        to: impl Into<Arrival>,
    ) -> Result<&mut Self> {
        self.insert(name.as_ref(), data.into(), Some(to.into()))
    }

    /// Adds what is handed over piece by piece.
    #[cfg(feature = "io")]
    pub(crate) fn insert_stream(
        &mut self,
        name: &str,
        supply: Arc<dyn Supply>,
        to: Option<Arrival>,
    ) -> Result<()> {
        let layout = supply.layout();
        Goods::insert(&mut self.goods, name, (Provenance::Stream(supply), layout), to)
    }

    fn insert(
        &mut self,
        name: &str,
        data: HostBytes<'a>,
        to: Option<Arrival>,
    ) -> Result<&mut Self> {
        let origin = (Provenance::Memory(data.view()), *data.layout());
        Goods::insert(&mut self.goods, name, origin, to)?;
        Ok(self)
    }

    /// The names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.goods.iter().map(|(name, _)| name)
    }

    /// How many tensors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.goods.entries().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How much of a set has been carried. `bytes_done` grows with every call, up to the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The tensor that is being carried.
    pub name: &'a str,
    /// Bytes of the set that have been staged for the device.
    pub bytes_done: u64,
    /// Bytes that will be.
    pub bytes_total: u64,
    /// Since the first byte was asked for. Zero in a browser, which has another clock.
    pub elapsed: Duration,
}

impl Progress<'_> {
    /// Bytes a second so far; 0 where no time has passed.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.bytes_done as f64 / seconds } else { 0.0 }
    }

    /// How long the rest takes at this rate; `None` before anything is known about it.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let left = self.bytes_total.saturating_sub(self.bytes_done) as f64;
        Duration::try_from_secs_f64(left / self.bytes_per_second()).ok()
    }
}

/// Counts bytes for a callback.
struct Meter<P> {
    progress: P,
    done: u64,
    total: u64,
    clock: Stopwatch,
}

impl<P: FnMut(Progress<'_>)> Meter<P> {
    fn new(total: u64, progress: P) -> Self {
        Self { progress, done: 0, total, clock: Stopwatch::start() }
    }

    fn add(&mut self, name: &str, bytes: u64) {
        self.done += bytes;
        let (bytes_done, bytes_total, elapsed) = (self.done, self.total, self.clock.elapsed());
        (self.progress)(Progress { name, bytes_done, bytes_total, elapsed });
    }
}

/// Tensors by name, in order.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::{DType, TensorSet};
///
/// let mut set = TensorSet::new();
/// set.insert("weights", device.ones([3, 2], DType::F32)?)?;
/// set.insert("bias", device.zeros([2], DType::F32)?)?;
/// let ranks: Vec<_> = set.iter().map(|(name, x)| (name, x.shape().rank())).collect();
/// assert_eq!(ranks, [("weights", 2), ("bias", 1)]);
/// let (there, _) = set.to(&device.reopen().await?).await?; // all of it, to another device
/// assert!(there.get("bias").is_some());
/// # Ok(()) });
/// ```
#[derive(Clone, Default)]
pub struct TensorSet {
    tensors: Named<Tensor>,
}

impl fmt::Debug for TensorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tensors.fmt(f)
    }
}

impl TensorSet {
    /// No tensors yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor, of any device; a name that is taken is an error.
    pub fn insert(&mut self, name: impl AsRef<str>, tensor: Tensor) -> Result<()> {
        self.tensors.insert(Arc::from(name.as_ref()), tensor)
    }

    /// The tensor of a name.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{HostView, Shipment};
    ///
    /// let mut shipment = Shipment::new();
    /// shipment.add("bias", HostView::new(&[1.0f32, 2.0], [2])?)?;
    /// let (set, _) = device.upload_set(&shipment)?;
    /// let bias = set.get("bias").expect("it is in the shipment");
    /// assert_eq!((bias + 1.0)?.read_now::<f32>()?, [2.0, 3.0]);
    /// assert!(set.get("weights").is_none());
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// The tensor of a name, which must be there; else the error has the names that are nearest.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{DType, ErrorKind, TensorSet};
    ///
    /// let mut set = TensorSet::new();
    /// set.insert("encoder.bias", device.ones([2], DType::F32)?)?;
    /// assert_eq!(set.tensor("encoder.bias")?.shape().dims(), [2]);
    /// let error = set.tensor("decoder.bias").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Missing);
    /// assert!(error.help().is_some_and(|help| help.ends_with("\"encoder.bias\"")), "{error:?}");
    /// # Ok(()) });
    /// ```
    pub fn tensor(&self, name: &str) -> Result<&Tensor> {
        self.get(name).ok_or_else(|| {
            let (of, near) = (self.len(), self.tensors.near(name));
            SetCause::Missing { name: name.to_owned(), of, near }.into()
        })
    }

    /// Takes out the tensor of a name, if there is one; the order of the others stays.
    pub fn remove(&mut self, name: &str) -> Option<Tensor> {
        self.tensors.remove(name)
    }

    /// Weights in blocks under this name, of `name.values` and `name.scales`: those of an
    /// [`Arrival::Blocks`], of a file of GGUF, or of a set of them that was saved.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Blocks;
    /// use wharf::{DType, HostView, Shipment};
    ///
    /// let mut shipment = Shipment::new();
    /// shipment.add_as("up", HostView::new(&[0.5f32; 3 * 64], [3, 64])?, Blocks::Q8)?;
    /// let (set, _) = device.upload_set(&shipment)?; // as those of a file
    /// let weights = set.quantized("up")?; // of "up.values" and "up.scales"
    /// let y = device.ones([2, 64], DType::F32)?.linear(&weights, None)?;
    /// assert_eq!(y.round()?.read_now::<f32>()?, [32.0; 6]);
    /// # Ok(()) });
    /// ```
    pub fn quantized(&self, name: &str) -> Result<Quantized> {
        let [values, scales] = Share::BOTH.map(|share| self.tensor(&share.of(name)));
        Quantized::of(values?, scales?)
    }

    /// Adds weights in blocks, as `name.values` and `name.scales`, of which [`Self::quantized`]
    /// makes the weights again; rows that are no whole blocks come back filled up with zeros. If
    /// one of the two names is taken, nothing is added.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Blocks;
    /// use wharf::{DType, TensorSet};
    ///
    /// let (weights, _) = device.ones([3, 64], DType::F32)?.quantize_now(Blocks::Q8)?;
    /// let mut set = TensorSet::new();
    /// set.insert_quantized("up", &weights)?;
    /// assert_eq!(set.names().collect::<Vec<_>>(), ["up.values", "up.scales"]);
    /// assert_eq!(set.quantized("up")?.shape().dims(), [3, 64]);
    /// # Ok(()) });
    /// ```
    pub fn insert_quantized(&mut self, name: impl AsRef<str>, weights: &Quantized) -> Result<()> {
        let names = Share::BOTH.map(|share| share.of(name.as_ref()));
        names.iter().try_for_each(|name| self.tensors.check(name))?;
        let parts = [weights.values(), weights.scales()];
        names.into_iter().zip(parts).try_for_each(|(name, part)| self.insert(name, part.clone()))
    }

    /// The names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tensors.iter().map(|(name, _)| name)
    }

    /// Names and tensors, in order.
    #[must_use]
    pub fn iter(&self) -> SetIter<'_> {
        SetIter(self.tensors.entries().iter())
    }

    /// How many tensors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.entries().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Carries this set to another device, as one act: see [`Tensor::to`]. All of it arrives, or
    /// nothing does.
    #[track_caller]
    pub fn to<'a>(
        &'a self,
        device: &'a Device,
    ) -> impl Future<Output = Result<(Self, SetReceipt)>> + use<'a> {
        self.moved(device, Drive::Wake, CallSite::of("set.to"), |_| {})
    }

    /// [`TensorSet::to`], with a callback for every chunk that has been staged.
    #[track_caller]
    pub fn to_with<'a, P: FnMut(Progress<'_>)>(
        &'a self,
        device: &'a Device,
        progress: P,
    ) -> impl Future<Output = Result<(Self, SetReceipt)>> + use<'a, P> {
        self.moved(device, Drive::Wake, CallSite::of("set.to_with"), progress)
    }

    /// [`TensorSet::to`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn to_now(&self, device: &Device) -> Result<(Self, SetReceipt)> {
        pollster::block_on(self.moved(device, Drive::Block, CallSite::of("set.to_now"), |_| {}))
    }

    /// [`TensorSet::to_with`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn to_with_now(
        &self,
        device: &Device,
        progress: impl FnMut(Progress<'_>),
    ) -> Result<(Self, SetReceipt)> {
        let call = CallSite::of("set.to_with_now");
        pollster::block_on(self.moved(device, Drive::Block, call, progress))
    }

    async fn moved<P: FnMut(Progress<'_>)>(
        &self,
        device: &Device,
        drive: Drive,
        site: CallSite,
        progress: P,
    ) -> Result<(Self, SetReceipt)> {
        let clock = Stopwatch::start();
        let passages = for_all(&self.tensors, |tensor| Passage::decide(tensor, device))?;
        passages.iter().try_for_each(|(_, passage)| passage.admit(site))?;
        let sizes: Vec<u64> = passages.iter().map(|(_, passage)| passage.bytes).collect();
        let mut storages = Vec::with_capacity(passages.len());
        for (i, (name, passage)) in passages.iter().enumerate() {
            let storage = passage.reserve(&sizes[i + 1..]);
            storages.push(storage.map_err(|error| error.during(cause::of(name)))?);
        }
        // Commands recorded so far may still use the memory that the set takes over.
        device.engine.flush()?;
        let mut meter = Meter::new(sizes.iter().sum(), progress);
        let mut arrived = Arrived::default();
        for ((name, passage), storage) in passages.into_iter().zip(storages) {
            let progress = |bytes| meter.add(&name, bytes);
            let carried = passage.carry(storage, drive, site, progress).await;
            arrived.add(name, carried)?;
        }
        Ok(arrived.unload(clock))
    }
}

/// Names and tensors of a set, in order.
#[derive(Clone, Debug)]
pub struct SetIter<'a>(core::slice::Iter<'a, (Arc<str>, Tensor)>);

impl<'a> Iterator for SetIter<'a> {
    type Item = (&'a str, &'a Tensor);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, tensor)| (&**name, tensor))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for SetIter<'_> {}

impl<'a> IntoIterator for &'a TensorSet {
    type Item = (&'a str, &'a Tensor);
    type IntoIter = SetIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for TensorSet {
    type Item = (Arc<str>, Tensor);
    type IntoIter = SetIntoIter;

    fn into_iter(self) -> Self::IntoIter {
        SetIntoIter(self.tensors.into_entries().into_iter())
    }
}

/// The names and tensors of a [`TensorSet`] that is taken apart.
#[derive(Debug)]
pub struct SetIntoIter(vec::IntoIter<(Arc<str>, Tensor)>);

impl Iterator for SetIntoIter {
    type Item = (Arc<str>, Tensor);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for SetIntoIter {}

/// The part of a set that has arrived. Dropping it removes that part from the device too.
#[derive(Default)]
struct Arrived {
    tensors: Named<Tensor>,
    receipts: Named<Receipt>,
    roundings: Named<Rounding>,
}

impl Arrived {
    fn add(&mut self, name: Arc<str>, carried: Result<(Tensor, Receipt)>) -> Result<()> {
        let (tensor, receipt) = carried.map_err(|error| error.during(cause::of(&name)))?;
        self.tensors.insert(Arc::clone(&name), tensor)?;
        self.receipts.insert(name, receipt)
    }

    fn unload(self, clock: Stopwatch) -> (TensorSet, SetReceipt) {
        let Self { tensors, receipts, roundings } = self;
        (TensorSet { tensors }, SetReceipt { receipts, roundings, elapsed: clock.elapsed() })
    }
}

/// Decides about every member; if any is refused, the error has all refusals in it.
fn for_all<'a, T, D>(
    members: &'a Named<T>,
    decide: impl Fn(&'a T) -> Result<D>,
) -> Result<Vec<(Arc<str>, D)>> {
    let (mut decided, mut refused) = (Vec::new(), Vec::<(Arc<str>, Error)>::new());
    for (name, member) in members.entries() {
        match decide(member) {
            Ok(decision) => decided.push((Arc::clone(name), decision)),
            Err(error) => refused.push((Arc::clone(name), error)),
        }
    }
    if refused.is_empty() {
        return Ok(decided);
    }
    Err(cause::refused(members.entries().len(), refused))
}

impl Device {
    /// Carries a set of host tensors to the device under the device's policy, as one act: all of it
    /// arrives, or nothing does and its memory is free again.
    ///
    /// Every tensor is negotiated and has its memory before a byte moves.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{HostView, Shipment};
    ///
    /// let (few, many) = ([0.5f32; 6], vec![0.5f32; 1 << 20]);
    /// let mut shipment = Shipment::new();
    /// shipment.add("few", HostView::new(&few, [3, 2])?)?;
    /// let (set, receipt) = device.upload_set(&shipment)?;
    /// assert_eq!((set.len(), receipt.values()), (1, 6));
    ///
    /// device.set_cap(Some(1 << 21));
    /// shipment.add("many", HostView::new(&many, [1 << 20])?)?;
    /// assert!(device.upload_set(&shipment).is_err()); // 4 MiB, and so neither arrives
    /// assert_eq!(device.memory().tensors, 1);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn upload_set(&self, shipment: &Shipment<'_>) -> Result<(TensorSet, SetReceipt)> {
        self.carry_set(shipment, CallSite::of("upload_set"), |_| {})
    }

    /// [`Device::upload_set`], with a callback for every chunk that has been staged.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{HostView, Shipment};
    ///
    /// let mut shipment = Shipment::new();
    /// shipment.add("weights", HostView::new(&[0.5f32; 6], [3, 2])?)?;
    /// let mut percent = 0;
    /// device.upload_set_with(&shipment, |progress| {
    ///     percent = 100 * progress.bytes_done / progress.bytes_total;
    /// })?;
    /// assert_eq!(percent, 100);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn upload_set_with(
        &self,
        shipment: &Shipment<'_>,
        progress: impl FnMut(Progress<'_>),
    ) -> Result<(TensorSet, SetReceipt)> {
        self.carry_set(shipment, CallSite::of("upload_set_with"), progress)
    }

    pub(crate) fn carry_set(
        &self,
        shipment: &Shipment<'_>,
        site: CallSite,
        progress: impl FnMut(Progress<'_>),
    ) -> Result<(TensorSet, SetReceipt)> {
        let (clock, engine) = (Stopwatch::start(), &self.engine);
        let orders = for_all(&shipment.goods, |goods| {
            let order = self.consign(goods.origin.clone(), goods.layout, goods.becoming)?;
            Ok((order, goods.weights.clone()))
        })?;
        orders.iter().try_for_each(|_| engine.books.admit(Direction::Up, site))?;
        let sizes: Vec<u64> = orders.iter().map(|(_, (order, _))| order.bytes).collect();
        let mut storages = Vec::with_capacity(orders.len());
        for (i, (name, (order, _))) in orders.iter().enumerate() {
            let storage = engine.allocate_before(order.bytes, &sizes[i + 1..]);
            storages.push(storage.map_err(|error| error.during(cause::of(name)))?);
        }
        // Commands recorded so far may still use the memory that the set takes over.
        engine.flush()?;
        let meter = RefCell::new(Meter::new(sizes.iter().sum(), progress));
        let mut arrived = Arrived::default();
        for ((name, (order, weights)), storage) in orders.into_iter().zip(storages) {
            let entry = engine.books.open(Direction::Up, order.to(), site);
            let staged = |bytes| meter.borrow_mut().add(&name, bytes);
            let carried = self.load(&order, storage, &entry, Stopwatch::start(), &staged);
            arrived.add(name, carried)?;
            if let Some((weights, rounding)) = weights.zip(order.rounding()) {
                arrived.roundings.insert(weights, rounding)?;
            }
        }
        Ok(arrived.unload(clock))
    }
}
