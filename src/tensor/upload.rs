//! From host data to a tensor: negotiated, carried, and accounted for.

use core::panic::Location;

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
use crate::ledger::{Crossing, Direction};
use crate::plan::How;
use crate::shape::IntoShape;
use crate::transfer::{Receipt, Rules, Source, up};

/// One upload, decided before it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) to: DType,
    pub(crate) how: How,
    pub(crate) rules: Rules,
}

impl Device {
    /// Carries row-major host data to the device under the device's policy.
    ///
    /// The tensor arrives bit-exact, or converted with a receipt that counts what changed, or not at all.
    #[track_caller]
    pub fn upload<T: Element>(
        &self,
        data: &[T],
        shape: impl IntoShape,
    ) -> Result<(Tensor, Receipt)> {
        self.carry(&HostView::new(data, shape)?, "upload", Location::caller())
    }

    /// Carries host data of any layout; on the device it is row-major.
    #[track_caller]
    pub fn upload_view<T: Element>(&self, view: &HostView<'_, T>) -> Result<(Tensor, Receipt)> {
        self.carry(view, "upload_view", Location::caller())
    }

    /// Carries row-major host data as another dtype, named here: the call itself is the permission to convert.
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
            // The plan would convert once more: one step straight to what it stores.
            (false, false) => How::Converted { to: stored, lossless: false },
        };
        let rules = self.rules(how);
        self.execute(
            view.bytes(),
            *view.layout(),
            Order { to: stored, how, rules },
            "upload_as",
            Location::caller(),
        )
    }

    fn carry<T: Element>(
        &self,
        view: &HostView<'_, T>,
        call: &'static str,
        location: &'static Location<'static>,
    ) -> Result<(Tensor, Receipt)> {
        let (carriage, to) = self.plan().accept(T::DTYPE)?;
        let order = Order { to, how: carriage.how, rules: self.rules(carriage.how) };
        self.execute(view.bytes(), *view.layout(), order, call, location)
    }

    pub(crate) fn rules(&self, how: How) -> Rules {
        let lossless = matches!(how, How::Converted { lossless: true, .. });
        Rules { lossless, finite: self.plan().policy().refuses_overflow() }
    }

    fn execute(
        &self,
        view: ByteView<'_>,
        layout_from: Layout,
        order: Order,
        call: &'static str,
        location: &'static Location<'static>,
    ) -> Result<(Tensor, Receipt)> {
        let clock = Stopwatch::start();
        let engine = &self.engine;
        engine.books.admit(Direction::Up, call, location)?;
        let (from, to) = (view.dtype, order.to);
        let source = Source::new(view, to, order.rules)?;
        let layout = Layout::dense(*layout_from.shape());
        let elements = layout.shape().elements() as u64;
        let bytes = Engine::bytes_of(layout.shape(), to)?;
        let storage = engine.allocate(bytes, &[])?;
        // Commands recorded so far may still use the memory that this tensor takes over.
        engine.flush()?;
        let tally = up(&engine.gpu, &storage.pin(), &source, &|_| {})?;
        let elapsed = clock.elapsed();
        let pieces = storage.pieces();
        engine.books.note(Crossing {
            direction: Direction::Up,
            bytes,
            dtype: to,
            call,
            location,
            duration: elapsed,
        });
        let receipt = Receipt {
            from,
            to,
            how: order.how,
            layout_from,
            layout_to: layout,
            tally,
            bytes_host: elements * from.width() as u64,
            bytes_staged: bytes,
            bytes_device: pieces.iter().map(|piece| piece.bytes).sum(),
            segments: pieces.len() as u64,
            elapsed,
        };
        Ok((Tensor::of(self.clone(), Value::new(storage), layout, to), receipt))
    }
}
