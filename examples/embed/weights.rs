//! What the weights of the model are stored as, and how they come to a device.

use wharf::io::Archive;
use wharf::set::{Arrival, Progress, SetReceipt};
use wharf::tensor::Blocks;
use wharf::{DType, Device, Result};

use super::model::{self, Model};

/// What the weights are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Numbers(DType),
    /// Matrices in blocks.
    Blocks(Blocks),
}

impl Storage {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Numbers(dtype) => dtype.name(),
            Self::Blocks(form) => form.name(),
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        let float = name.parse().ok().filter(|dtype: &DType| dtype.is_float());
        let blocks = || name.parse().ok().filter(|form: &Blocks| form.is_made());
        float.map(Self::Numbers).or_else(|| blocks().map(Self::Blocks))
    }

    /// What a tensor of the file becomes, if not what it is: matrices are what takes the memory.
    fn of(self, name: &str, rank: usize) -> Option<Arrival> {
        match self {
            Self::Numbers(dtype) => (rank == 2).then_some(dtype.into()),
            Self::Blocks(form) => model::is_matrix(name).then_some(form.into()),
        }
    }
}

/// The model of a published file, and what became of its weights.
pub(crate) fn load(
    device: &Device,
    archive: Archive,
    storage: Storage,
    progress: impl FnMut(Progress<'_>),
) -> Result<(Model, SetReceipt)> {
    // The file has a list of positions too, and a pooler, which an embedding does not need.
    let archive = archive.keep(|tensor| {
        tensor.dtype().is_some_and(DType::is_float) && !tensor.name().starts_with("pooler.")
    });
    let shipment =
        archive.shipment_as(|tensor| storage.of(tensor.name(), tensor.shape().rank()))?;
    let (set, receipt) = device.upload_set_with(&shipment, progress)?;
    Ok((Model::of(&set)?, receipt))
}
