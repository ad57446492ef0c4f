//! From host data to a tensor: negotiated, carried, and accounted for.

use std::sync::Arc;

use super::Tensor;
use crate::clock::Stopwatch;
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::engine::Engine;
use crate::error::Result;
use crate::exec::Value;
use crate::host::HostView;
use crate::host::bytes::ByteView;
use crate::layout::Layout;
use crate::ledger::{CallSite, Direction, OpenCrossing};
use crate::plan::{How, Stored};
use crate::shape::IntoShape;
use crate::store::Storage;
use crate::transfer::{Receipt, Rules, UploadSource, up};

/// One upload, decided before a byte moves.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    source: UploadSource<'a>,
    from: DType,
    layout_from: Layout,
    to: Stored,
    how: How,
    /// Bytes on the device.
    pub(crate) bytes: u64,
}

impl<'a> Order<'a> {
    fn new(
        view: ByteView<'a>,
        layout_from: Layout,
        to: Stored,
        how: How,
        rules: Rules,
    ) -> Result<Self> {
        let (from, source) = (view.dtype, UploadSource::new(view, *to, rules)?);
        let bytes = Engine::bytes_of(layout_from.shape(), *to)?;
        Ok(Self { source, from, layout_from, to, how, bytes })
    }

    /// The dtype on the device.
    pub(crate) const fn to(&self) -> DType {
        self.to.dtype()
    }
}

impl Device {
    /// Carries row-major host data to the device under the device's policy. `shape` is an array, a
    /// slice, one number or `()`: see [`IntoShape`]; `data` has as many elements.
    ///
    /// The tensor arrives bit-exact, or converted with a receipt that counts what changed, or not
    /// at all: a dtype that the plan rejects is an error. The call returns once `data` has been
    /// taken.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, receipt) = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert!(receipt.is_exact());
    /// assert_eq!(x.slice(0, 1..2)?.to_vec::<i32>()?, [4, 5, 6]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn upload<T: Element>(
        &self,
        data: &[T],
        shape: impl IntoShape,
    ) -> Result<(Tensor, Receipt)> {
        self.upload_at(CallSite::of("upload"), data, shape)
    }

    /// [`Device::upload`] as a part of another call.
    pub(crate) fn upload_at<T: Element>(
        &self,
        site: CallSite,
        data: &[T],
        shape: impl IntoShape,
    ) -> Result<(Tensor, Receipt)> {
        let view = HostView::new(data, shape)?;
        self.execute(&self.order(view.bytes(), *view.layout())?, site)
    }

    /// [`Device::upload`] of host data of any layout; on the device it is row-major.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let columns = wharf::HostView::column_major(&[1, 2, 3, 4, 5, 6], [3, 2])?;
    /// let (x, _) = device.upload_view(&columns)?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn upload_view<T: Element>(&self, view: &HostView<'_, T>) -> Result<(Tensor, Receipt)> {
        self.execute(&self.order(view.bytes(), *view.layout())?, CallSite::of("upload_view"))
    }

    /// [`Device::upload`] as another dtype, named here: the call itself is the permission to
    /// convert. Anything becomes a float, integers become any integer that holds every value; never
    /// a float an integer, nor anything `bool`: those are [casts](Tensor::cast), for a kernel.
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
        let view = HostView::new(data, shape)?;
        let (carriage, stored) = self.plan().accept(to)?;
        let how = match (T::DTYPE == to, stored == to) {
            (true, _) => carriage.how,
            (false, true) => How::Converted { to, lossless: false },
            // The plan would convert once more, so it is one step straight to what the plan stores.
            (false, false) => How::Converted { to: *stored, lossless: false },
        };
        let order = Order::new(view.bytes(), *view.layout(), stored, how, self.rules(how))?;
        self.execute(&order, CallSite::of("upload_as"))
    }

    /// What the plan makes of host values.
    pub(crate) fn order<'a>(&self, view: ByteView<'a>, layout_from: Layout) -> Result<Order<'a>> {
        let (carriage, to) = self.plan().accept(view.dtype)?;
        Order::new(view, layout_from, to, carriage.how, self.rules(carriage.how))
    }

    pub(crate) fn rules(&self, how: How) -> Rules {
        let lossless = matches!(how, How::Converted { lossless: true, .. });
        Rules { lossless, finite: self.plan().policy().refuses_overflow() }
    }

    fn execute(&self, order: &Order<'_>, site: CallSite) -> Result<(Tensor, Receipt)> {
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
    pub(crate) fn load(
        &self,
        order: &Order<'_>,
        storage: Arc<Storage>,
        entry: &OpenCrossing<'_>,
        clock: Stopwatch,
        progress: &dyn Fn(u64),
    ) -> Result<(Tensor, Receipt)> {
        let staged = |bytes| {
            entry.add(bytes);
            progress(bytes);
        };
        let tally = up(&self.engine.gpu, &storage.pin(), &order.source, &staged)?;
        let (to, layout) = (order.to, Layout::dense(*order.layout_from.shape()));
        let pieces = storage.pieces();
        let receipt = Receipt {
            from: order.from,
            to: *to,
            how: order.how,
            layout_from: order.layout_from,
            layout_to: layout,
            tally,
            bytes_host: layout.shape().elements() as u64 * order.from.width() as u64,
            bytes_staged: order.bytes,
            bytes_device: pieces.iter().map(|piece| piece.bytes).sum(),
            segments: pieces.len() as u64,
            elapsed: clock.elapsed(),
        };
        Ok((Tensor::of(self.clone(), Value::new(storage), layout, to), receipt))
    }
}
