//! A tensor and, beside it on the host, what it must hold: raw bits and the layout that walks them.

use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wharf::reference::Number;
use wharf::{DType, Device, Layout, Shape, Tensor};

use super::probe::{Probe, of_dtype};
use crate::ctx::{show, stores};

/// How many (op, dtype, layout, size, caps) were compared in this run.
static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// Counts one comparison.
pub(crate) fn count() {
    COMPARED.fetch_add(1, Ordering::Relaxed);
}

/// Around the number in the closing line.
pub(crate) const SUMMARY: [&str; 2] = ["gpu tier: ", " elementwise cases"];

/// How many were compared in this process.
pub(crate) fn compared() -> usize {
    COMPARED.load(Ordering::Relaxed)
}

/// The closing line.
pub(crate) fn summary(compared: usize) -> String {
    let [before, after] = SUMMARY;
    format!("{before}{compared}{after}")
}

/// Every dtype that is computed with.
pub(crate) const COMPUTED: &[DType] = {
    let [computed @ .., DType::F8E4M3, DType::F8E5M2] = DType::ALL else { panic!("in this order") };
    computed
};

/// Those that are numbers.
pub(crate) const NUMBERS: &[DType] = {
    let [numbers @ .., DType::Bool] = COMPUTED else { panic!("in this order") };
    numbers
};

/// Elements as raw bits, of whatever dtype.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) tensor: Tensor,
    pub(crate) bits: Rc<Vec<u64>>,
    pub(crate) layout: Layout,
}

impl Pair {
    /// Row-major bits, uploaded as they are.
    pub(crate) async fn new(
        device: &Device,
        dtype: DType,
        bits: Vec<u64>,
        dims: &[usize],
    ) -> Result<Self, String> {
        let tensor = of_dtype!(dtype, upload(device, &bits, dims))?;
        let layout = Layout::dense(Shape::new(dims).map_err(show)?);
        Ok(Self { tensor, bits: Rc::new(bits), layout })
    }

    /// The bits that a read must yield.
    pub(crate) fn expected(&self) -> Vec<u64> {
        self.layout.places().map(|place| self.bits[place]).collect()
    }

    /// The elements in row-major order, broadcast to a shape.
    pub(crate) fn expected_in(&self, shape: &Shape) -> Result<Vec<u64>, String> {
        let layout = self.layout.broadcast_to(shape).map_err(show)?;
        Ok(layout.places().map(|place| self.bits[place]).collect())
    }
}

async fn upload<T: Probe>(device: &Device, bits: &[u64], dims: &[usize]) -> Result<Tensor, String> {
    let data: Vec<T> = bits.iter().map(|&b| T::from_bits(b)).collect();
    device.upload(&data, dims).map(|(tensor, _)| tensor).map_err(show)
}

async fn download<T: Probe>(tensor: &Tensor) -> wharf::Result<Vec<u64>> {
    Ok(tensor.read::<T>().await?.into_iter().map(T::to_bits).collect())
}

/// The bits of a tensor, in row-major order.
pub(crate) async fn bits_of(tensor: &Tensor) -> Result<Vec<u64>, String> {
    bits_of_or_error(tensor).await.map_err(show)
}

/// `bits_of` for tests of the error itself.
pub(crate) async fn bits_of_or_error(tensor: &Tensor) -> wharf::Result<Vec<u64>> {
    of_dtype!(tensor.dtype(), download(tensor))
}

/// The value of an element.
pub(crate) fn value(dtype: DType, bits: u64) -> Number {
    Number::decode(dtype, &bits.to_le_bytes()[..dtype.width()])
}

/// The element nearest to a value.
pub(crate) fn bits(dtype: DType, value: Number) -> u64 {
    let mut word = [0; 8];
    word[..dtype.width()].copy_from_slice(&value.encode(dtype));
    u64::from_le_bytes(word)
}

/// Whether the device stores this dtype as it is.
pub(crate) fn carries(device: &Device, dtype: DType) -> bool {
    stores(device.plan(), dtype)
}

/// The first index where two lists of bits differ, in words.
pub(crate) fn difference(dtype: DType, got: &[u64], want: &[u64]) -> Option<String> {
    if got.len() != want.len() {
        return Some(format!("{} values, not {}", got.len(), want.len()));
    }
    (0..got.len()).find(|&i| got[i] != want[i]).map(|i| {
        let (g, w) = (got[i], want[i]);
        let (gv, wv) = (value(dtype, g), value(dtype, w));
        let wrong = (0..got.len()).filter(|&i| got[i] != want[i]).count();
        let of = got.len();
        format!("index {i}: {g:#x} {gv:?}, not {w:#x} {wv:?} ({wrong} of {of} are wrong)")
    })
}
