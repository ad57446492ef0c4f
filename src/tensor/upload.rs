//! From host data to a tensor: negotiated, carried, and accounted for.

use std::sync::{Arc, Mutex};

use super::{Rounding, Tensor};
use crate::clock::Stopwatch;
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::engine::Engine;
use crate::error::Result;
use crate::exec::Value;
use crate::host::blocks::{Blocks, Losses, Share, check};
use crate::host::bytes::ByteView;
use crate::host::cause::CarriageCause;
use crate::host::supply::Supply;
use crate::host::{Handover, HostArray, HostBytes, HostView};
use crate::layout::Layout;
use crate::ledger::{CallSite, Direction, OpenCrossing};
use crate::plan::{How, Stored};
use crate::shape::{IntoShape, Shape};
use crate::shared::lock;
use crate::store::Storage;
use crate::transfer::StreamSource;
use crate::transfer::{BlockSource, Fill, Receipt, Rules, UploadSource, up};

/// What host values are to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Becoming {
    /// What the plan makes of them.
    Planned,
    /// A dtype that was named.
    Number(DType),
    /// One part of blocks.
    Blocks(Blocks, Share),
}

/// One upload, decided before a byte moves.
#[derive(Debug)]
pub(crate) struct Consignment<'a> {
    source: Box<dyn Fill + 'a>,
    from: DType,
    layout_from: Layout,
    /// How it lies on the device.
    layout_to: Layout,
    to: Stored,
    how: How,
    /// Bytes on the device.
    pub(crate) bytes: u64,
    /// Bytes on the host, once for both parts of blocks.
    bytes_host: u64,
    /// What becoming blocks did to them, which the values' part tells.
    losses: Option<(Blocks, Arc<Mutex<Losses>>)>,
}

/// Where the values of an upload come from.
#[derive(Clone, Debug)]
pub(crate) enum Provenance<'a> {
    Memory(ByteView<'a>),
    Stream(Arc<dyn Supply + 'a>),
}

impl Provenance<'_> {
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Memory(view) => view.dtype,
            Self::Stream(supply) => supply.dtype(),
        }
    }

    const fn is_memory(&self) -> bool {
        matches!(self, Self::Memory(_))
    }

    /// How values of this shape lie on the device. What is handed over piece by piece keeps its
    /// order, of which a view is free.
    fn layout_to(&self, shape: &Shape) -> Layout {
        match self {
            Self::Memory(_) => Layout::dense(*shape),
            Self::Stream(supply) => supply.layout(),
        }
    }
}

impl<'a> Provenance<'a> {
    /// The values as the device has them.
    #[track_caller]
    fn fill(self, to: DType, rules: Rules) -> Result<Box<dyn Fill + 'a>> {
        Ok(match self {
            Self::Memory(view) => Box::new(UploadSource::new(view, to, rules)?),
            Self::Stream(supply) => Box::new(StreamSource::new(supply, to, rules)?),
        })
    }
}

impl Consignment<'_> {
    /// The dtype on the device.
    pub(crate) const fn to(&self) -> DType {
        self.to.dtype()
    }

    /// What becoming blocks did to its weights, once they have been carried.
    pub(crate) fn rounding(&self) -> Option<Rounding> {
        let (form, losses) = self.losses.as_ref()?;
        let losses = *lock(losses);
        Some(Rounding::of(self.from, *form, *self.layout_from.shape(), &losses))
    }
}

impl Device {
    /// Carries row-major host data to the device under the device's policy. `shape` is an array, a
    /// slice, one number or `()`: see [`IntoShape`]; `data` has as many elements.
    ///
    /// The tensor arrives bit-exact, or converted with a receipt that counts what changed, or not
    /// at all: a dtype that the plan rejects is an error. The call returns once `data` has been
    /// taken. Carried at once; it waits only where much is on its way already.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, receipt) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert!(receipt.is_exact());
    /// assert_eq!(x.slice(0, 1..2)?.read_now::<i32>()?, [4, 5, 6]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("from_slice", "from_vec"))]
    #[track_caller]
    pub fn upload<T: Element>(
        &self,
        data: &[T],
        shape: impl IntoShape,
    ) -> Result<(Tensor, Receipt)> {
        self.upload_at(CallSite::of("upload"), &HostView::new(data, shape)?.into())
    }

    /// [`Device::upload_view`] as a part of another call.
    #[track_caller]
    pub(crate) fn upload_at(
        &self,
        site: CallSite,
        view: &HostBytes<'_>,
    ) -> Result<(Tensor, Receipt)> {
        self.upload_becoming(site, view, Becoming::Planned)
    }

    #[track_caller]
    fn upload_becoming(
        &self,
        site: CallSite,
        view: &HostBytes<'_>,
        becoming: Becoming,
    ) -> Result<(Tensor, Receipt)> {
        let order = self.consign(Provenance::Memory(view.view()), *view.layout(), becoming)?;
        self.execute(&order, site)
    }

    /// [`Device::upload`] of host data of any layout; on the device it is row-major. Carried
    /// at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{DType, HostBytes, HostView};
    ///
    /// let columns = HostView::column_major(&[1, 2, 3, 4, 5, 6], [3, 2])?;
    /// let (x, _) = device.upload_view(columns)?;
    /// assert_eq!(x.read_now::<i32>()?, [1, 4, 2, 5, 3, 6]);
    ///
    /// // Bytes whose dtype only the program's input says.
    /// let bytes = HostBytes::new(&[1, 0, 2, 1], [2], DType::U16)?;
    /// let (x, _) = device.upload_view(bytes)?;
    /// assert_eq!(x.read_now::<u16>()?, [1, 258]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn upload_view<'a>(&self, view: impl Into<HostBytes<'a>>) -> Result<(Tensor, Receipt)> {
        self.upload_at(CallSite::of("upload_view"), &view.into())
    }

    /// [`Device::upload_as`] of host data of any layout; on the device it is row-major. Carried at
    /// once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{DType, HostView};
    ///
    /// let columns = HostView::column_major(&[1.0f64, 0.1, 3.0, 4.0], [2, 2])?;
    /// let (x, receipt) = device.upload_view_as(columns, DType::F32)?;
    /// assert_eq!(x.read_now::<f32>()?, [1.0, 3.0, 0.1, 4.0]);
    /// assert_eq!(receipt.tally.rounded, 1);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn upload_view_as<'a>(
        &self,
        view: impl Into<HostBytes<'a>>,
        to: DType,
    ) -> Result<(Tensor, Receipt)> {
        self.upload_becoming(CallSite::of("upload_view_as"), &view.into(), Becoming::Number(to))
    }

    /// [`Device::upload`] of values that bring their shape along: a number, arrays of arrays, a
    /// slice or a vector of them, an iterator of known length, an array of `ndarray` of any
    /// strides; see [`HostArray`]. Nothing is copied on the host. Carried at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.tensor([[1.0f32, 2.0], [3.0, 4.0]])?;
    /// let (y, _) = device.tensor(vec![[1i32, 2, 3]; 5])?;
    /// assert_eq!((x.shape().dims(), y.shape().dims()), (&[2, 2][..], &[5, 3][..]));
    /// # Ok(()) });
    /// ```
    ///
    /// The dtype is Rust's type, and the plan says what becomes of it. Floats without a suffix are
    /// `f64` in Rust, not `f32`: where the plan rejects those, it is an error; one suffix makes an
    /// `f32` of all of them, as above, and so does [`Device::tensor_as`].
    #[doc(alias("from_array", "from_numpy"))]
    #[track_caller]
    pub fn tensor(&self, values: impl HostArray) -> Result<(Tensor, Receipt)> {
        self.tensor_at(CallSite::of("tensor"), &values, Becoming::Planned)
    }

    /// [`Device::tensor`] as another dtype, named here, as [`Device::upload_as`] does it. Carried
    /// at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, receipt) = device.tensor_as([[1.0, 2.0], [0.5, 0.1]], wharf::DType::F32)?;
    /// assert_eq!(x.read_now::<f32>()?, [1.0, 2.0, 0.5, 0.1]);
    /// assert_eq!(receipt.tally.rounded, 1, "{receipt}");
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn tensor_as(&self, values: impl HostArray, to: DType) -> Result<(Tensor, Receipt)> {
        self.tensor_at(CallSite::of("tensor_as"), &values, Becoming::Number(to))
    }

    #[track_caller]
    fn tensor_at(
        &self,
        site: CallSite,
        values: &impl HostArray,
        becoming: Becoming,
    ) -> Result<(Tensor, Receipt)> {
        let (origin, layout) = match values.lend()? {
            Handover::View(view) => (Provenance::Memory(view.bytes()), *view.layout()),
            Handover::Pieces(pieces) => (Provenance::Stream(pieces.supply), pieces.layout),
        };
        let order = self.consign(origin, layout, becoming)?;
        self.execute(&order, site)
    }

    /// [`Device::upload`] as another dtype, named here: the call itself is the permission to
    /// convert. Anything becomes a float, integers become any integer that holds every value; never
    /// a float an integer, nor anything `bool`: those are [casts](Tensor::cast), for a kernel.
    /// Carried at once.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, receipt) = device.upload_as(&[0.5f32, 0.1], [2], wharf::DType::F16)?;
    /// assert_eq!((x.dtype(), receipt.tally.rounded), (wharf::DType::F16, 1));
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn upload_as<T: Element>(
        &self,
        data: &[T],
        shape: impl IntoShape,
        to: DType,
    ) -> Result<(Tensor, Receipt)> {
        let (site, view) = (CallSite::of("upload_as"), HostView::new(data, shape)?.into());
        self.upload_becoming(site, &view, Becoming::Number(to))
    }

    /// What the plan makes of host values, or of those as what was named.
    pub(crate) fn consign<'a>(
        &self,
        origin: Provenance<'a>,
        layout_from: Layout,
        becoming: Becoming,
    ) -> Result<Consignment<'a>> {
        let from = origin.dtype();
        let (how, to) = match becoming {
            Becoming::Planned => self.plan().route(from, None)?,
            Becoming::Number(to) => self.plan().route(from, Some(to))?,
            Becoming::Blocks(form, share) => {
                return self.consign_blocks(origin, layout_from, (form, share));
            }
        };
        let bytes = Engine::bytes_of(layout_from.shape(), *to)?;
        let layout_to = origin.layout_to(layout_from.shape());
        let source = origin.fill(*to, self.rules(how))?;
        let bytes_host = layout_from.shape().elements() as u64 * from.width() as u64;
        let losses = None;
        Ok(Consignment { source, from, layout_from, layout_to, to, how, bytes, bytes_host, losses })
    }

    /// One part of weights as blocks. Their bytes and values on the host are counted once, by the
    /// part of the values.
    fn consign_blocks<'a>(
        &self,
        origin: Provenance<'a>,
        layout_from: Layout,
        (form, share): (Blocks, Share),
    ) -> Result<Consignment<'a>> {
        let (from, shape) = (origin.dtype(), *layout_from.shape());
        let (maker, dtype) = (check(form, from, &shape)?, share.dtype(form));
        if !origin.is_memory() && !layout_from.is_dense() {
            return Err(CarriageCause::Columns { shape }.into());
        }
        let (_, to) = self.plan().route(dtype, None)?;
        if *to != dtype {
            return Err(CarriageCause::NoConversion { from, to: dtype }.into());
        }
        let how = How::Converted { to: *to, lossless: false };
        let numbers = origin.fill(DType::F32, Rules::default())?;
        let source = BlockSource::new(numbers, ((form, share), maker), from, self.rules(how));
        let (of_values, losses) = (share == Share::Values, source.losses());
        let layout_to = Layout::dense(share.shape(form, &shape)?);
        let bytes_host = shape.elements() as u64 * from.width() as u64;
        Ok(Consignment {
            source: Box::new(source),
            from,
            layout_from,
            layout_to,
            to,
            how,
            bytes: Engine::bytes_of(layout_to.shape(), *to)?,
            bytes_host: if of_values { bytes_host } else { 0 },
            losses: of_values.then_some((form, losses)),
        })
    }

    pub(crate) fn rules(&self, how: How) -> Rules {
        let lossless = matches!(how, How::Converted { lossless: true, .. });
        Rules { lossless, finite: self.plan().policy().refuses_overflow() }
    }

    #[track_caller]
    fn execute(&self, order: &Consignment<'_>, site: CallSite) -> Result<(Tensor, Receipt)> {
        let (clock, engine) = (Stopwatch::start(), &self.engine);
        engine.books.admit(Direction::Up, site)?;
        let entry = engine.books.open(Direction::Up, order.to(), site);
        let storage = engine.allocate(order.bytes, &[])?;
        // Commands recorded so far may still use the memory that this tensor takes over.
        engine.flush()?;
        self.load(order, storage, &entry, clock, &|_| {})
    }

    /// Fills memory that has been allocated for an order. What was recorded before has been
    /// submitted.
    #[track_caller]
    pub(crate) fn load(
        &self,
        order: &Consignment<'_>,
        storage: Arc<Storage>,
        entry: &OpenCrossing<'_>,
        clock: Stopwatch,
        progress: &dyn Fn(u64),
    ) -> Result<(Tensor, Receipt)> {
        let staged = |bytes| {
            entry.add(bytes);
            progress(bytes);
        };
        let tally = up(&self.engine.gpu, &storage.pin(), &*order.source, &staged)?;
        let (to, layout) = (order.to, order.layout_to);
        let pieces = storage.pieces();
        let receipt = Receipt {
            from: order.from,
            to: *to,
            how: order.how,
            layout_from: order.layout_from,
            layout_to: layout,
            tally,
            bytes_host: order.bytes_host,
            bytes_staged: order.bytes,
            bytes_device: pieces.iter().map(|piece| piece.bytes).sum(),
            segments: pieces.len() as u64,
            elapsed: clock.elapsed(),
        };
        Ok((Tensor::of(self.clone(), Value::new(storage), layout, to), receipt))
    }
}
