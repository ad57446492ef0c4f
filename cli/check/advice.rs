//! What would make a file arrive or fit, most useful first.

use wharf::DType;
use wharf::io::Archive;
use wharf::set::Arrival;
use wharf::tensor::Blocks;

use super::args::Options;
use super::freight::Freight;
use super::show::answer;
use super::{Asked, Other};
use crate::doctor::table::bytes;

/// What `--as` takes, what it stands for, and how a program says it.
type Narrower = (&'static str, Arrival, &'static str);

/// By what is lost, the least first: the next row is for files of which nothing in this one fits.
const NARROWER: [&[Narrower]; 4] = [
    &[("f32", Arrival::Numbers(DType::F32), "floats as `Some(DType::F32)`")],
    &[
        ("f16", Arrival::Numbers(DType::F16), "floats as `Some(DType::F16)`"),
        ("bf16", Arrival::Numbers(DType::Bf16), "floats as `Some(DType::Bf16)`"),
    ],
    &[("q8", Arrival::Blocks(Blocks::Q8), "matrices as `Some(Blocks::Q8)`")],
    &[("q4", Arrival::Blocks(Blocks::Q4), "matrices as `Some(Blocks::Q4)`")],
];

/// What helps a file that does not arrive as a whole.
pub(super) fn advise(
    freight: &Freight<'_>,
    archive: &Archive,
    asked: &Asked,
    options: &Options,
    others: &[Other<'_>],
) -> Vec<String> {
    if freight.is_whole() {
        return Vec::new();
    }
    let elsewhere = takes(others);
    let mut remedies = Vec::from_iter(elsewhere.clone());
    let under = |to, lossless| Freight::under(archive, asked, options, to, lossless);
    let permitted = !options.lossless && under(options.to, true).is_whole();
    if permitted {
        let text = "--lossless: `Policy::lossless()` narrows what is refused, where each value \
                    survives";
        remedies.push(text.into());
    }
    let mut narrow = narrower(options, asked.cap, |to| under(Some(to), options.lossless), "");
    if narrow.is_empty() && !options.lossless && !permitted {
        narrow = narrower(options, asked.cap, |to| under(Some(to), true), " --lossless");
    }
    remedies.extend(narrow);
    let refusals = freight.parcels.iter().filter_map(|parcel| parcel.how.as_ref().err());
    for help in refusals.filter_map(|refusal| refusal.help.clone()) {
        if !remedies.contains(&help) {
            remedies.push(help);
        }
    }
    if !freight.fits() {
        let fewer = "fewer tensors: `archive.keep(..)`";
        remedies.push(match elsewhere {
            Some(_) => fewer.into(),
            None => format!("an adapter with more memory, or {fewer}"),
        });
    }
    remedies
}

/// Of the first row in which anything does: each that makes all of it arrive and fit.
fn narrower<'a>(
    options: &Options,
    cap: Option<u64>,
    under: impl Fn(Arrival) -> Freight<'a>,
    permission: &str,
) -> Vec<String> {
    let of = cap.map_or_else(String::new, |cap| format!(" of {}", bytes(cap)));
    let say = |&(name, arrival, call): &Narrower| {
        let narrow = under(arrival);
        let helps = options.to != Some(arrival) && narrow.is_whole();
        let takes = bytes(narrow.fit.bytes_reserve);
        let call = format!("{call} in `archive.shipment_as(..)`");
        helps.then(|| format!("--as {name}{permission} takes {takes}{of}: {call}"))
    };
    let mut rows = NARROWER.iter().map(|row| row.iter().filter_map(say).collect::<Vec<_>>());
    rows.find(|row| !row.is_empty()).unwrap_or_default()
}

/// The listed adapter that takes all of it: first where that is known, with the fewest conversions.
pub(super) fn takes(others: &[Other<'_>]) -> Option<String> {
    let whole = others.iter().filter_map(|other| {
        let freight = other.freight.as_ref().ok().filter(|freight| freight.is_whole())?;
        Some((other, freight))
    });
    let worth = |freight: &Freight<'_>| (freight.cap.is_none(), freight.count("converted"));
    let (other, freight) = whole.min_by_key(|(_, freight)| worth(freight))?;
    Some(format!("--adapter {}, {}: {}", other.index, other.name, answer(freight)))
}

#[cfg(test)]
mod tests {
    use wharf::caps::Caps;

    use super::*;
    use crate::doctor::grammar::Words;

    /// An f32 matrix of 1.5 MiB.
    fn archive() -> Archive {
        let header = r#"{"w":{"dtype":"F32","shape":[1000,384],"data_offsets":[0,1536000]}}"#;
        let length = (header.len() as u64).to_le_bytes();
        let bytes = [&length[..], header.as_bytes(), &[0; 1_536_000]].concat();
        Archive::from_bytes(bytes).expect("a file")
    }

    /// What is said on an adapter with 1 MiB, beside others with so many.
    fn said(archive: &Archive, options: &Options, others: &[u64]) -> Vec<String> {
        let asked = |mib: u64| Asked { caps: Caps::webgpu_baseline(), cap: Some(mib << 20) };
        let others: Vec<Other<'_>> = (others.iter().enumerate())
            .map(|(i, mib)| Other {
                index: i + 1,
                name: format!("GPU {mib}"),
                freight: Ok(Freight::of(archive, &asked(*mib), options, &[])),
            })
            .collect();
        Freight::of(archive, &asked(1), options, &others).remedies
    }

    /// Two that are alike are told apart by their index.
    #[test]
    fn a_larger_adapter_that_is_listed_is_named() {
        let (archive, mut words) = (archive(), Words::default());
        words.free.push("file".into());
        let options = Options::of(&words).expect("a command line");
        let first = |others: &[u64]| said(&archive, &options, others)[0].clone();
        let named = first(&[1, 8, 8]);
        assert!(named.starts_with("--adapter 2, GPU 8: yes: every tensor"), "{named}");
        for small in [&[1][..], &[]] {
            let all = said(&archive, &options, small);
            assert!(!all.iter().any(|one| one.contains("--adapter")), "{all:?}");
            let last = "an adapter with more memory, or fewer tensors: `archive.keep(..)`";
            assert_eq!(all.last().map(String::as_str), Some(last), "{all:?}");
        }
        let all = said(&archive, &options, &[8]);
        assert!(!all.iter().any(|one| one.contains("with more memory")), "{all:?}");
    }
}
