//! The report as one JSON object.

use serde_json::{Value, json};
use wharf::Error;
use wharf::caps::Caps;

use super::args::Options;
use super::freight::{Freight, Parcel, way};
use super::show::{answer, name};

/// What there is to say where nothing could be asked.
pub(super) fn refused(options: &Options, error: &Error) -> Value {
    json!({ "file": options.file, "error": error.to_string(), "help": error.help() })
}

pub(super) fn report(
    options: &Options,
    caps: &Caps,
    freight: &Freight<'_>,
    others: &[(String, Freight<'_>)],
) -> Value {
    let others: Vec<Value> = others
        .iter()
        .map(|(name, freight)| {
            let verdict = freight.verdict().name();
            json!({ "adapter": name, "verdict": verdict, "answer": answer(freight) })
        })
        .collect();
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
        "elsewhere": others,
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
