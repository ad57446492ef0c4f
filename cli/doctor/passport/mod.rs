//! A passport: what an adapter says of itself and what was measured of it, as one hashed text.
//!
//! Everything here is awaited and prints nothing, so that a page in a browser makes the same
//! passport: the gpu tier has this folder as a module of its own. What is in a passport is said by
//! the table in [`schema`], which `docs/atlas/README.md` shows.

use core::future::Future;
use core::pin::Pin;

use serde_json::{Value, json};
use wharf::{Device, Error};

pub(crate) mod accuracy;
mod clock;
pub(crate) mod crossing;
pub(crate) mod document;
mod expected;
pub(crate) mod judged;
mod known;
mod measured;
pub(crate) mod probe;
pub(crate) mod quirks;
pub(crate) mod random;
pub(crate) mod rates;
pub(crate) mod schema;

use document::Passport;

/// An error and its help.
fn show(error: Error) -> String {
    format!("{error:?}")
}

/// What is measured of a device, under its name.
struct Part {
    name: &'static str,
    measure: for<'a> fn(&'a Device) -> Pin<Box<dyn Future<Output = Value> + 'a>>,
}

/// In this order: what is timed comes before what leaves memory in pieces.
const PARTS: [Part; 6] = [
    Part { name: "ceilings", measure: |device| Box::pin(measured::ceilings(device)) },
    Part { name: "quirks", measure: |device| Box::pin(measured::quirks(device)) },
    Part { name: "crossings", measure: |device| Box::pin(measured::crossings(device)) },
    Part { name: "cases", measure: |device| Box::pin(measured::cases(device)) },
    Part { name: "accuracy", measure: |device| Box::pin(measured::accuracy(device)) },
    Part { name: "tuned", measure: |device| Box::pin(measured::tuned(device)) },
];

/// Makes the passport of a device; `say` is called with the name of each part before it begins.
pub(crate) async fn make(device: &Device, mut say: impl FnMut(&str)) -> Passport {
    let mut parts = known::parts(device);
    for part in PARTS {
        say(part.name);
        parts.insert(part.name.into(), (part.measure)(device).await);
    }
    parts.insert("date".into(), json!(clock::today()));
    Passport::sealed(parts)
}
