//! What becomes of every tensor of a file on one adapter, and whether all of them fit: on paper.

use wharf::caps::Caps;
use wharf::io::{Archive, FileTensor};
use wharf::memory::{Fit, fit_all};
use wharf::plan::{How, negotiate};
use wharf::set::Arrival;
use wharf::tensor::Blocks;
use wharf::{DType, Plan, Policy};

use super::Asked;
use super::args::Options;

/// One tensor there.
#[derive(Debug)]
pub(super) struct Parcel<'a> {
    pub(super) tensor: &'a FileTensor,
    /// How it gets there; why not, and what to do about it.
    pub(super) how: Result<How, Refusal>,
    /// What it would be there: a dtype, or blocks.
    pub(super) stored: Option<&'static str>,
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
    No,
}

impl Verdict {
    pub(super) const fn exit_code(self) -> u8 {
        match self {
            Self::Exactly => 0,
            Self::Converted => 1,
            Self::No => 2,
        }
    }

    /// One word.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Exactly => "exactly",
            Self::Converted => "converted",
            Self::No => "no",
        }
    }
}

/// What one tensor becomes under a plan.
fn parcel<'a>(plan: &Plan, caps: &Caps, tensor: &'a FileTensor, to: Option<Arrival>) -> Parcel<'a> {
    let refused = |why: String, help: Option<String>| Parcel {
        tensor,
        how: Err(Refusal { why, help }),
        stored: None,
        fit: None,
    };
    let Some(from) = tensor.dtype() else {
        let why = format!("wharf has no {}", tensor.dtype_name());
        return refused(why, Some("leave it out, `archive.keep(..)`, or convert the file".into()));
    };
    let count = tensor.shape().elements() as u64;
    let to = match to {
        Some(Arrival::Blocks(form)) if in_blocks(tensor, from, form) => {
            let bytes = count / form.weights() as u64 * form.bytes() as u64;
            let fit = fit_all(caps, None, &[bytes]);
            let how = How::Converted { to: DType::I8, lossless: false };
            return Parcel { tensor, how: Ok(how), stored: Some(form.name()), fit: Some(fit) };
        }
        Some(Arrival::Numbers(to)) if from.is_float() => Some(to),
        _ => None,
    };
    match plan.way(from, to) {
        Err(error) => refused(error.to_string(), error.help()),
        Ok(how) => {
            let stored = if let How::Converted { to, .. } = how { to } else { from };
            let fit = fit_all(caps, None, &[count.saturating_mul(stored.width() as u64)]);
            Parcel { tensor, how: Ok(how), stored: Some(stored.name()), fit: Some(fit) }
        }
    }
}

/// Whether [`Arrival::Blocks`] takes it.
fn in_blocks(tensor: &FileTensor, dtype: DType, form: Blocks) -> bool {
    let rows = matches!(tensor.shape().dims(), [_, k] if k % form.weights() == 0);
    rows && matches!(dtype, DType::F32 | DType::F16 | DType::Bf16)
}

impl<'a> Freight<'a> {
    pub(super) fn of(archive: &'a Archive, asked: &Asked, options: &Options) -> Self {
        let mut freight = Self::under(archive, asked, options, options.to, options.lossless);
        freight.remedies = freight.advise(archive, asked, options);
        freight
    }

    fn under(
        archive: &'a Archive,
        asked: &Asked,
        options: &Options,
        to: Option<Arrival>,
        lossless: bool,
    ) -> Self {
        let policy = if lossless { Policy::lossless() } else { Policy::exact() };
        let plan = negotiate(&asked.caps, &policy);
        let of = |tensor| parcel(&plan, &asked.caps, tensor, to);
        let parcels: Vec<Parcel<'_>> = archive.tensors().iter().map(of).collect();
        let sizes: Vec<u64> =
            parcels.iter().filter_map(|parcel| Some(parcel.fit.as_ref()?.bytes)).collect();
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

    /// How many parcels go so.
    pub(super) fn count(&self, name: &str) -> usize {
        let is = |parcel: &&Parcel<'_>| way(parcel) == name;
        self.parcels.iter().filter(is).count()
    }

    pub(super) fn verdict(&self) -> Verdict {
        match (self.count("rejected") == 0 && self.fits(), self.count("converted")) {
            (false, _) if self.remedies.iter().any(|remedy| remedy.starts_with("--lossless")) => {
                Verdict::Converted
            }
            (false, _) => Verdict::No,
            (true, 0) => Verdict::Exactly,
            (true, _) => Verdict::Converted,
        }
    }

    /// What would make it arrive or fit.
    fn advise(&self, archive: &Archive, asked: &Asked, options: &Options) -> Vec<String> {
        let mut remedies = Vec::new();
        let whole = |freight: &Freight<'_>| freight.count("rejected") == 0 && freight.fits();
        if whole(self) {
            return remedies;
        }
        if !options.lossless {
            let lossless = Freight::under(archive, asked, options, options.to, true);
            if whole(&lossless) {
                let text = "--lossless: `Policy::lossless()` narrows what is refused, where each \
                            value survives";
                remedies.push(text.into());
            }
        }
        let narrower = [DType::F16, DType::Bf16].map(|to| (to, Arrival::Numbers(to)));
        for (to, arrival) in narrower.into_iter().filter(|(_, to)| options.to != Some(*to)) {
            let narrow = Freight::under(archive, asked, options, Some(arrival), options.lossless);
            if whole(&narrow) {
                let bytes = crate::doctor::table::bytes(narrow.fit.bytes_reserve);
                remedies.push(format!(
                    "--as {to}: `archive.shipment_as(|_| Some(DType::{to:?}))` takes {bytes}"
                ));
            }
        }
        let refusals = self.parcels.iter().filter_map(|parcel| parcel.how.as_ref().err());
        for help in refusals.filter_map(|refusal| refusal.help.clone()) {
            if !remedies.contains(&help) {
                remedies.push(help);
            }
        }
        if !self.fits() {
            remedies
                .push("an adapter with more memory, or fewer tensors: `archive.keep(..)`".into());
        }
        remedies
    }
}

/// How a parcel goes, in a word.
pub(super) fn way(parcel: &Parcel<'_>) -> &'static str {
    parcel.how.as_ref().map_or("rejected", |how| how.name())
}
