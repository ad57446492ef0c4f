//! What goes into a shipment, and what it is to arrive as.

use core::fmt;
use std::sync::Arc;

use super::named::Named;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::blocks::{Blocks, Share};
use crate::layout::Layout;
use crate::tensor::{Becoming, Provenance};

/// What a tensor of a set arrives as, where that is named: a dtype, or weights in blocks.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::tensor::Blocks;
/// use wharf::{HostView, Shipment};
///
/// let weights: Vec<f32> = (0..128).map(|i| i as f32 * 0.01).collect();
/// let mut shipment = Shipment::new();
/// shipment.add_as("weights", HostView::new(&weights, [2, 64])?, Blocks::Q8)?;
/// let (set, receipt) = device.upload_set(&shipment)?; // a quarter of f32, at no time more
/// assert_eq!(set.quantized("weights")?.shape().dims(), [2, 64]);
/// let rounding = receipt.rounding("weights").expect("they became blocks");
/// assert!(rounding.abs_error_max < 0.006, "{rounding}");
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arrival {
    /// Numbers of this dtype.
    Numbers(DType),
    /// Blocks of this form, as [`Tensor::quantize`] makes them: two tensors, `name.values` and
    /// `name.scales`, which [`TensorSet::quantized`] makes one. Weights are `[out, in]` of f32, f16
    /// or bf16, and `in` is whole blocks.
    ///
    /// They are quantized on the host while they are staged, one part after the other, so that
    /// neither they nor the other part is anywhere as a whole: what is handed over piece by piece
    /// is read twice. Both parts have a receipt; that of the values counts every weight.
    ///
    /// [`Tensor::quantize`]: crate::Tensor::quantize
    /// [`TensorSet::quantized`]: crate::TensorSet::quantized
    Blocks(Blocks),
}

impl From<DType> for Arrival {
    fn from(dtype: DType) -> Self {
        Self::Numbers(dtype)
    }
}

impl From<Blocks> for Arrival {
    fn from(form: Blocks) -> Self {
        Self::Blocks(form)
    }
}

/// Host values, and what they are to become.
#[derive(Clone)]
pub(super) struct Goods<'a> {
    pub(super) origin: Provenance<'a>,
    pub(super) layout: Layout,
    pub(super) becoming: Becoming,
    /// The name of the weights whose values these are.
    pub(super) weights: Option<Arc<str>>,
}

impl<'a> Goods<'a> {
    /// Adds a tensor, or both parts of it.
    pub(super) fn insert(
        goods: &mut Named<Self>,
        name: &str,
        (origin, layout): (Provenance<'a>, Layout),
        to: Option<Arrival>,
    ) -> Result<()> {
        let becoming = match to {
            None => Becoming::Planned,
            Some(Arrival::Numbers(dtype)) => Becoming::Number(dtype),
            Some(Arrival::Blocks(form)) => {
                for share in Share::BOTH {
                    goods.check(&share.of(name))?;
                }
                for share in Share::BOTH {
                    let (origin, becoming) = (origin.clone(), Becoming::Blocks(form, share));
                    let weights = (share == Share::Values).then(|| Arc::from(name));
                    goods.insert(
                        share.of(name).into(),
                        Self { origin, layout, becoming, weights },
                    )?;
                }
                return Ok(());
            }
        };
        goods.insert(Arc::from(name), Self { origin, layout, becoming, weights: None })
    }
}

impl fmt::Debug for Goods<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.origin.dtype(), self.layout)?;
        match self.becoming {
            Becoming::Planned => Ok(()),
            Becoming::Number(to) => write!(f, " as {to}"),
            Becoming::Blocks(form, share) => write!(f, " as {}, {share:?}", form.name()),
        }
    }
}
