//! Pools by the kernel of windows.

use super::Pooling;
use crate::dtype::DType;
use crate::error::Result;
use crate::fuse::What;
use crate::kernel::plan::taps::{self, Taps};
use crate::kernel::windows::text::Gather;
use crate::kernel::windows::{self, Windows, WindowsCore};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor::reduce::summed;

impl Tensor {
    /// What the windows over the last axes come to, as it is computed in; `None` where they are
    /// not for the kernel of windows.
    pub(super) fn folded<const D: usize>(
        &self,
        how: &Pooling<D>,
        name: &'static str,
        gather: Gather,
    ) -> Result<Option<Self>> {
        if self.dtype == DType::Bool || !(1..=3).contains(&D) {
            return Ok(None);
        }
        let (dims, first) = (self.shape().dims(), self.pooled_from::<D>()?);
        let segment = self.device.engine.segment_elements(*self.dtype);
        let (mut size, mut taps) = ([1; 3], Taps::single(1));
        for i in 0..D {
            let (to, dim, pad) = (3 - D + i, dims[first + i], how.padding[i]);
            let (count, step, reach) = (how.size[i], how.stride[i], how.dilation[i]);
            let reaches = taps::covers(count, reach) <= taps::padded(dim, pad);
            if count == 0 || reach == 0 || step == 0 || pad > count / 2 || !reaches {
                return Ok(None);
            }
            size[to] = count;
            taps.along(to, [dim, count], [reach, step], pad);
        }
        let result = [&dims[..first], &taps.result[3 - D..]].concat();
        let shape = Shape::new(result)?;
        let most = shape.elements().max(self.shape().elements());
        let nothing = shape.is_empty() || self.shape().is_empty();
        if nothing || most > segment || !windows::takes(&taps, size) {
            return Ok(None);
        }
        let lead =
            [dims[..first.min(1)].iter().product(), dims[first.min(1)..first].iter().product()];
        let volumes = [&lead[..], &[1; 2][..3 - D], &dims[first..]].concat();
        let what = What::core(WindowsCore { name, windows: Windows { gather, size, taps } });
        let volumes = self.reshape_copied(volumes)?;
        Ok(Some(Self::deferred(&self.device, what, vec![volumes.arg()], shape, summed(self.dtype))))
    }
}
