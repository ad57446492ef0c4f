//! The first few of each row of keys, without sorting the others.

use std::sync::Arc;

use super::plain::{Kept, Plain, whole};
use super::text::{SelectJob, select};
use crate::count::words as words_of;
use crate::engine::Site;
use crate::error::{Result, mistake};
use crate::exec::Value;
use crate::kernel::Operand;
use crate::wgsl::grid::fold;

/// Where the first `k` of each row of `length` keys are, in the order in which they lie. A key is
/// some words, the lowest first, of so many bits each; the other bits are zero.
pub(crate) fn first(
    site: Site<'_>,
    keys: &[(Operand, u32)],
    length: usize,
    k: usize,
) -> Result<Arc<Value>> {
    let words: Vec<_> = keys.iter().map(|(words, _)| whole(site, words)).collect::<Result<_>>()?;
    let kept = words.iter().map(Kept::new).collect::<Result<Vec<_>>>()?;
    let mut values: Vec<_> = kept.iter().map(|kept| &kept.value).collect();
    let bits = match keys {
        [(_, low)] => [*low, 0],
        [(_, low), (_, high)] => [*low, *high],
        _ => return Err(mistake("select", "keys of neither one word nor two")),
    };
    let rows = keys[0].0.layout.shape().elements() / length.max(1);
    let lanes = site.target.workgroup();
    let plainly = Plain { site };
    let places = plainly.memory((rows * k) as u64 * 4, &values)?;
    values.push(&places.value);
    let [rows, length, k] = words_of([rows, length, k])?;
    let job = SelectJob { rows, length, k, part: length.div_ceil(lanes), bits };
    let kernel = select(keys.len() == 2, site.target);
    plainly.by_groups(&kernel, &values, job.words(), fold(rows))?;
    places.value.inherit(words.iter().map(|words| &**words));
    Ok(places.value)
}
