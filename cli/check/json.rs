//! The report as one JSON object.

use serde_json::{Value, json};
use wharf::Error;
use wharf::caps::Caps;

use super::Other;
use super::advice::takes;
use super::args::Options;
use super::freight::{Freight, Parcel, Verdict, way};
use super::show::{answer, name};

/// What there is to say where nothing could be asked.
pub(super) fn refused(options: &Options, error: &Error) -> Value {
    let help = Vec::from_iter(error.help());
    json!({ "file": options.file, "error": error.to_string(), "help": help })
}

/// The file on each adapter that is listed, where none of them was chosen.
pub(super) fn unchosen(options: &Options, error: &Error, others: &[Other<'_>]) -> Value {
    let help: Vec<String> = error.help().into_iter().chain(takes(others)).collect();
    json!({
        "file": options.file,
        "adapter": null,
        "verdict": Verdict::No.name(),
        "error": error.to_string(),
        "help": help,
        "elsewhere": others.iter().map(elsewhere).collect::<Vec<_>>(),
    })
}

pub(super) fn report(
    options: &Options,
    caps: &Caps,
    freight: &Freight<'_>,
    others: &[Other<'_>],
) -> Value {
    json!({
        "file": options.file,
        "adapter": name(caps),
        "verdict": freight.verdict().name(),
        "answer": answer(freight),
        "native": freight.count("native"),
        "packed": freight.count("packed"),
        "converted": freight.count("converted"),
        "rejected": freight.count("rejected"),
        "bytes": freight.fit.bytes,
        "bytes_reserve": freight.fit.bytes_reserve,
        "bytes_staging": freight.fit.bytes_staging,
        "segments": freight.fit.segments,
        "bytes_cap": freight.cap,
        "bytes_left": freight.left(),
        "help": freight.remedies,
        "tensors": freight.parcels.iter().map(tensor).collect::<Vec<_>>(),
        "elsewhere": others.iter().map(elsewhere).collect::<Vec<_>>(),
    })
}

fn elsewhere(other: &Other<'_>) -> Value {
    let freight = other.freight.as_ref().ok();
    json!({
        "index": other.index,
        "adapter": other.name,
        "verdict": freight.map_or(Verdict::No, Freight::verdict).name(),
        "answer": other.answer(),
        "rejected": freight.map(|freight| freight.count("rejected")),
        "bytes_reserve": freight.map(|freight| freight.fit.bytes_reserve),
    })
}

fn tensor(parcel: &Parcel<'_>) -> Value {
    let of = parcel.tensor;
    let refusal = parcel.how.as_ref().err();
    json!({
        "name": of.name(),
        "shape": of.shape().dims(),
        "dtype": of.dtype_name(),
        "how": way(parcel),
        "stored": parcel.stored,
        "bytes": parcel.fit.as_ref().map(|fit| fit.bytes),
        "segments": parcel.fit.as_ref().map(|fit| fit.segments),
        "error": refusal.map(|refusal| &refusal.why),
        "help": refusal.and_then(|refusal| refusal.help.as_ref()),
    })
}
