//! What becomes of every tensor of a file on one adapter, and whether all of them fit: on paper.

use std::collections::BTreeSet;

use wharf::caps::Caps;
use wharf::io::{Archive, FileTensor};
use wharf::memory::{Fit, fit_all};
use wharf::plan::{How, negotiate};
use wharf::set::Arrival;
use wharf::tensor::Blocks;
use wharf::{DType, Plan, Policy};

use super::args::Options;
use super::{Asked, Other, advice};
use crate::doctor::table::quote;

/// Of each block: what can be made has one scale of f16 to a block.
const SCALE_BYTES: u64 = 2;

/// What the two tensors of blocks are called, behind a name.
const BLOCK_PARTS: [&str; 2] = ["values", "scales"];

/// One tensor of the file, there.
#[derive(Debug)]
pub(super) struct Parcel<'a> {
    pub(super) tensor: &'a FileTensor,
    /// How it gets there; why not, and what to do about it.
    pub(super) how: Result<How, Refusal>,
    /// What it would be there: a dtype, or blocks.
    pub(super) stored: Option<&'static str>,
    /// The bytes of each tensor that it becomes.
    pub(super) parts: Vec<u64>,
    /// What it takes there.
    pub(super) fit: Option<Fit>,
}

/// Why a tensor does not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) why: String,
    pub(super) help: Option<String>,
}

/// All tensors of a file on one adapter.
#[derive(Debug)]
pub(super) struct Freight<'a> {
    pub(super) parcels: Vec<Parcel<'a>>,
    /// All that arrive, together.
    pub(super) fit: Fit,
    pub(super) cap: Option<u64>,
    pub(super) reserve: u64,
    /// What would help, most useful first.
    pub(super) remedies: Vec<String>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Exactly,
    Converted,
    /// One of these, where nobody says how much memory there is.
    Unknown,
    No,
}

impl Verdict {
    pub(super) const fn exit_code(self) -> u8 {
        match self {
            Self::Exactly => 0,
            Self::Converted => 1,
            Self::No => 2,
            Self::Unknown => 3,
        }
    }

    /// One word.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Exactly => "exactly",
            Self::Converted => "converted",
            Self::Unknown => "unknown",
            Self::No => "no",
        }
    }
}

fn refused(tensor: &FileTensor, why: String, help: Option<String>) -> Parcel<'_> {
    let how = Err(Refusal { why, help });
    Parcel { tensor, how, stored: None, parts: Vec::new(), fit: None }
}

/// What one tensor becomes under a plan.
fn parcel<'a>(plan: &Plan, caps: &Caps, tensor: &'a FileTensor, to: Option<Arrival>) -> Parcel<'a> {
    let Some(from) = tensor.dtype() else {
        let why = format!("wharf has no {}", tensor.dtype_name());
        return refused(
            tensor,
            why,
            Some("leave it out, `archive.keep(..)`, or convert the file".into()),
        );
    };
    let count = tensor.shape().elements() as u64;
    let to = match to.filter(|_| tensor.blocks().is_none()) {
        Some(Arrival::Blocks(form)) if in_blocks(tensor, from, form) => {
            let blocks = count / form.weights() as u64;
            let scales = blocks * SCALE_BYTES;
            // Two tensors, as they are on a device.
            let parts = vec![blocks * form.bytes() as u64 - scales, scales];
            let fit = fit_all(caps, None, &parts);
            let how = How::Converted { to: DType::I8, lossless: false };
            let stored = Some(form.name());
            return Parcel { tensor, how: Ok(how), stored, parts, fit: Some(fit) };
        }
        Some(Arrival::Numbers(to)) if from.is_float() => Some(to),
        _ => None,
    };
    match plan.way(from, to) {
        Err(error) => refused(tensor, error.to_string(), error.help()),
        Ok(how) => {
            let stored = if let How::Converted { to, .. } = how { to } else { from };
            let parts = vec![count.saturating_mul(stored.width() as u64)];
            let fit = fit_all(caps, None, &parts);
            Parcel { tensor, how: Ok(how), stored: Some(stored.name()), parts, fit: Some(fit) }
        }
    }
}

/// Whether [`Arrival::Blocks`] takes it.
fn in_blocks(tensor: &FileTensor, dtype: DType, form: Blocks) -> bool {
    let rows = matches!(tensor.shape().dims(), [_, k] if k % form.weights() == 0);
    rows && matches!(dtype, DType::F32 | DType::F16 | DType::Bf16)
        && tensor.layout().is_some_and(|layout| layout.is_dense())
}

/// Refuses blocks of which a part would have the name of a tensor that arrives under its own.
fn refuse_claimed(parcels: &mut [Parcel<'_>]) {
    let (blocks, numbers): (Vec<_>, Vec<_>) =
        parcels.iter_mut().partition(|parcel| parcel.parts.len() == BLOCK_PARTS.len());
    let names: BTreeSet<&str> = numbers.iter().map(|parcel| parcel.tensor.name()).collect();
    for parcel in blocks {
        let parts = BLOCK_PARTS.map(|part| format!("{}.{part}", parcel.tensor.name()));
        let Some(part) = parts.iter().find(|part| names.contains(&***part)) else { continue };
        let why = format!("in blocks it would be {}, which is another tensor's name", quote(part));
        let help = "let it arrive as numbers, or leave one of the two out (`archive.keep(..)`)";
        *parcel = refused(parcel.tensor, why, Some(help.into()));
    }
}

impl<'a> Freight<'a> {
    /// On an adapter, and what would help there or on one of the others.
    pub(super) fn of(
        archive: &'a Archive,
        asked: &Asked,
        options: &Options,
        others: &[Other<'_>],
    ) -> Self {
        let mut freight = Self::under(archive, asked, options, options.to, options.lossless);
        freight.remedies = advice::advise(&freight, archive, asked, options, others);
        freight
    }

    pub(super) fn under(
        archive: &'a Archive,
        asked: &Asked,
        options: &Options,
        to: Option<Arrival>,
        lossless: bool,
    ) -> Self {
        let policy = if lossless { Policy::lossless() } else { Policy::exact() };
        let plan = negotiate(&asked.caps, &policy);
        let of = |tensor| parcel(&plan, &asked.caps, tensor, to);
        let mut parcels: Vec<Parcel<'_>> = archive.tensors().iter().map(of).collect();
        refuse_claimed(&mut parcels);
        let sizes: Vec<u64> = parcels.iter().flat_map(|one| one.parts.iter().copied()).collect();
        let fit = fit_all(&asked.caps, asked.cap, &sizes);
        let (cap, reserve) = (asked.cap, options.reserve);
        Self { parcels, fit, cap, reserve, remedies: Vec::new() }
    }

    /// Bytes that are left under the cap.
    pub(super) fn left(&self) -> Option<u64> {
        self.cap.map(|cap| cap.saturating_sub(self.fit.bytes_reserve))
    }

    pub(super) fn fits(&self) -> bool {
        self.fit.fits && self.left().is_none_or(|left| left >= self.reserve)
    }

    /// Whether every tensor arrives, and all of them fit, for all that is known.
    pub(super) fn is_whole(&self) -> bool {
        self.count("rejected") == 0 && self.fits()
    }

    /// How many parcels go so.
    pub(super) fn count(&self, name: &str) -> usize {
        let is = |parcel: &&Parcel<'_>| way(parcel) == name;
        self.parcels.iter().filter(is).count()
    }

    pub(super) fn verdict(&self) -> Verdict {
        let permitted = || self.remedies.iter().any(|remedy| remedy.starts_with("--lossless"));
        match (self.is_whole(), self.count("converted")) {
            (false, _) if !permitted() => Verdict::No,
            _ if self.cap.is_none() => Verdict::Unknown,
            (true, 0) => Verdict::Exactly,
            _ => Verdict::Converted,
        }
    }
}

/// How a parcel goes, in a word.
pub(super) fn way(parcel: &Parcel<'_>) -> &'static str {
    parcel.how.as_ref().map_or("rejected", |how| how.name())
}
