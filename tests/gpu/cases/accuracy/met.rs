//! What results came to at worst, of operations that are judged where they are tested.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Of each operation the largest part of its bound that a result of f32 has needed, and where.
static MET: Mutex<BTreeMap<String, (f64, String)>> = Mutex::new(BTreeMap::new());

/// Takes a result into account that needed so much of its bound.
pub(crate) fn met(name: &str, part: f64, place: &str) {
    let mut all = MET.lock().unwrap_or_else(PoisonError::into_inner);
    let (worst, at) = all.entry(name.to_owned()).or_default();
    if part > *worst {
        (*worst, *at) = (part, place.to_owned());
    }
}

/// All of it so far.
pub(super) fn all() -> BTreeMap<String, (f64, String)> {
    MET.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
