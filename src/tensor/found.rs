//! What is as long as the data says: where a condition holds, and what occurs at all.
//!
//! A shape is known on the host, so how many there are has to cross: a future reads that one
//! number, under its own name in the ledger, and all else stays on the device.
//!
//! ```text
//! holds    0 1 1 0 1
//! so far   0 1 2 2 3     its last is the number that crosses
//! place    - 0 1 - 2     where each position that holds goes
//! ```

use core::future::Future;

use super::Tensor;
use super::cause::TensorCause;
use super::keys::Order;
use crate::dtype::DType;
use crate::engine::site::asked_at;
use crate::error::{Error, Result};
use crate::gpu::Drive;
use crate::kernel::index_space;
use crate::ledger::CallSite;

/// What occurs in a tensor: see [`Tensor::unique`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unique {
    /// Each value once, the smallest first.
    pub values: Tensor,
    /// For every element of the tensor the place of its value, as u32, in the tensor's shape.
    pub inverse: Tensor,
    /// How often each value occurs, as u32.
    pub counts: Tensor,
}

impl Tensor {
    /// The coordinates of all elements that are not zero, in row-major order, as u32 `[count,
    /// rank]`. How many there are is read, and waited for: four bytes cross, and the rest stays on
    /// the device.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[0, 7, 0, 8, 9, 0], [2, 3])?;
    /// let places = x.nonzero().await?;
    /// assert_eq!(places.read_now::<u32>()?, [0, 1, 1, 0, 1, 1]);
    /// assert_eq!(x.nonzero().await?.shape().dims(), [3, 2]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "argwhere")]
    #[track_caller]
    pub fn nonzero(&self) -> impl Future<Output = Result<Self>> + use<'_> {
        self.coordinates(Drive::Wake, CallSite::of("nonzero"))
    }

    /// [`Tensor::nonzero`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn nonzero_now(&self) -> Result<Self> {
        pollster::block_on(self.coordinates(Drive::Block, CallSite::of("nonzero_now")))
    }

    /// The elements where a mask holds, in row-major order, as a list; shapes broadcast. How many
    /// there are is read, and waited for: four bytes cross, and the rest stays on the device.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[3.0f32, -1.0, 4.0], [3])?;
    /// let positive = x.masked_select(&x.gt(0.0)?).await?;
    /// assert_eq!(positive.read_now::<f32>()?, [3.0, 4.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "compress")]
    #[track_caller]
    pub fn masked_select<'a>(
        &'a self,
        mask: &'a Self,
    ) -> impl Future<Output = Result<Self>> + use<'a> {
        self.masked(mask, Drive::Wake, CallSite::of("masked_select"))
    }

    /// [`Tensor::masked_select`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn masked_select_now(&self, mask: &Self) -> Result<Self> {
        let call = CallSite::of("masked_select_now");
        pollster::block_on(self.masked(mask, Drive::Block, call))
    }

    /// Every value that occurs, once, in order, with how often and where: by a stable
    /// [sort](Tensor::argsort) of all elements as one list of 8 bytes each, which has to lie in one
    /// segment. Zeros of either sign are one, each NaN is one of its own, and comes last. How many
    /// there are is read, and waited for: four bytes cross, and the rest stays on the device.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[30, 10, 30, 20], [4])?;
    /// let found = x.unique().await?;
    /// assert_eq!(found.values.read_now::<i32>()?, [10, 20, 30]);
    /// assert_eq!(found.counts.read_now::<u32>()?, [1, 1, 2]);
    /// assert_eq!(found.inverse.read_now::<u32>()?, [2, 0, 2, 1]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn unique(&self) -> impl Future<Output = Result<Unique>> + use<'_> {
        self.occurring(Drive::Wake, CallSite::of("unique"))
    }

    /// [`Tensor::unique`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn unique_now(&self) -> Result<Unique> {
        pollster::block_on(self.occurring(Drive::Block, CallSite::of("unique_now")))
    }

    async fn coordinates(&self, drive: Drive, call: CallSite) -> Result<Self> {
        let named = |error: Error| error.during(call.call);
        let search = asked_at(call.location, || {
            let holds = match self.dtype() {
                DType::Bool => self.clone(),
                _ => self.ne(0u8)?,
            };
            Search::of(&holds)
        });
        let places = search.map_err(named)?.places(drive, call).await?;
        let coordinates = || {
            let dims = self.shape().dims();
            let mut columns = Vec::new();
            let mut rest = places.clone();
            for &dim in dims.iter().rev() {
                let dim = dim.max(1) as u32; // all positions are words
                columns.push(rest.rem(dim)?);
                rest = (rest / dim)?;
            }
            columns.reverse();
            match columns.len() {
                0 => places.reshape([places.shape().elements(), 1])?.slice(1, ..0),
                _ => Self::stack(&columns, 1),
            }
        };
        asked_at(call.location, coordinates).map_err(named)
    }

    async fn masked(&self, mask: &Self, drive: Drive, call: CallSite) -> Result<Self> {
        let named = |error: Error| error.during(call.call);
        let search = asked_at(call.location, || {
            self.device.engine.same_device(&mask.device.engine)?;
            if mask.dtype() != DType::Bool {
                let (what, dtype, only) = ("mask", mask.dtype(), "bool");
                return Err(TensorCause::Only { what, dtype, only }.into());
            }
            let shape = self.shape().broadcast(mask.shape())?;
            let list = self.broadcast_to(shape)?.flatten(..)?;
            Ok((Search::of(&mask.broadcast_to(shape)?)?, list))
        });
        let (search, list) = search.map_err(named)?;
        let places = search.places(drive, call).await?;
        asked_at(call.location, || list.picked(call.call, &places, 0, 1))
    }

    async fn occurring(&self, drive: Drive, call: CallSite) -> Result<Unique> {
        let named = |error: Error| error.during(call.call);
        let sorted = asked_at(call.location, || {
            let list = self.flatten(..)?;
            let order = list.argsort(0, Order::Ascending)?;
            let sorted = list.picked(call.call, &order, 0, 1)?;
            let begins = match sorted.shape().elements() {
                0 => self.device.zeros(0, DType::Bool)?.on_behalf_of(&[&sorted])?,
                count => {
                    let first = self.device.ones(1, DType::Bool)?;
                    let other = sorted.slice(0, 1..)?.ne(&sorted.slice(0, ..count - 1)?)?;
                    Self::concat(&[first, other], 0)?
                }
            };
            Ok((order, sorted, Search::of(&begins)?))
        });
        let (order, sorted, search) = sorted.map_err(named)?;
        let begins = search.places(drive, call).await?;
        let told = || {
            let count = sorted.shape().elements();
            let end = self.device.full(1, count, DType::U32)?;
            let ends = match begins.shape().elements() {
                0 => begins.clone(),
                _ => Self::concat(&[&begins.slice(0, 1..)?, &end], 0)?,
            };
            let place = (&search.so_far - 1u32)?;
            let inverse = place.scatter(0, &order, &place)?;
            Ok(Unique {
                values: sorted.picked(call.call, &begins, 0, 1)?,
                inverse: inverse.reshape(*self.shape())?,
                counts: (ends - &begins)?,
            })
        };
        asked_at(call.location, told).map_err(named)
    }
}

/// A list of what holds, and how many do so far.
struct Search {
    holds: Tensor,
    so_far: Tensor,
}

impl Search {
    fn of(holds: &Tensor) -> Result<Self> {
        index_space(holds.shape().elements())?;
        let holds = holds.flatten(..)?;
        let so_far = holds.cumsum(0)?;
        Ok(Self { holds, so_far })
    }

    /// The positions that hold, as u32: their number is read.
    async fn places(&self, drive: Drive, call: CallSite) -> Result<Tensor> {
        let count = match self.holds.shape().elements() {
            0 => 0,
            count => {
                let last = self.so_far.slice(0, count - 1..)?;
                last.read_all::<u32>(drive, call).await?.iter().sum::<u32>()
            }
        };
        asked_at(call.location, || {
            let place = (&self.so_far - 1u32)?;
            let keys = self.holds.choose(&place, u32::MAX)?.contiguous()?.operand()?;
            self.holds.device.last_of(&keys, count as usize)
        })
    }
}
