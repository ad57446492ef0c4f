//! Capsules: one operation with its inputs, its kernels and what came back, as one file.
//!
//! ```text
//! wharf capsule 2               four lines of text: format and version,
//! by wharf 0.1.0 on ADAPTER     who wrote it, where it ran,
//! OPERATION at FILE:LINE:COLUMN what was asked for,
//! AT is GOT, not WANT within .. and what was wrong
//! (an empty line)
//! claim, inputs, memory, dispatches, result, budget
//!                               numbers little-endian; texts, lists and data behind their length
//! ```
//!
//! Memory is regions: what was one range of a buffer to the dispatches. Each says which bytes of
//! which input lie where at first; all else is zero.

use std::collections::BTreeMap;
use std::path::Path;

use super::carry::{Blob, Carry, Left, absurd, by_field};
use super::cause::ShadowCause;
use super::words::at;
use crate::engine::Engine;
use crate::engine::docket::{Exhibit, Extract};
#[cfg(not(target_arch = "wasm32"))]
use crate::error::Cause as _;
use crate::error::Result;
use crate::proof::{Budget, Claim, judge};

const MAGIC: &str = "wharf capsule ";
const VERSION: &str = "2";
/// The most steps that a file may ask an oracle for.
const STEPS_MAX: u64 = 0x100_0000;
/// The most bytes of the lines of text.
const LINES_MAX: usize = 0x4000;

/// An operation that was wrong, with all that it takes to run it again:
/// [`Shadow::capsule`](super::Shadow::capsule), and `wharf doctor --replay FILE`.
///
/// It has the inputs of that operation as they are: whoever gets it sees them. It runs the kernels
/// that are in it, after naga has validated them. Its format stands in four lines of text at its
/// beginning: `wharf capsule 2`, then who wrote it on which adapter, the operation with the line
/// that asked for it, and what was wrong. Behind an empty line come the operation as data, its
/// inputs, the memory of its dispatches, their texts and parameters, and the result; numbers are
/// little-endian, and texts, lists and data follow their length. A file that is cut short, of
/// another version or absurd is an error, before anything is allocated for it.
///
/// ```
/// use wharf::ErrorKind;
/// use wharf::shadow::Capsule;
///
/// let error = Capsule::from_bytes(b"wharf capsule 7\n..").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::File);
/// assert!(error.to_string().contains("version 7, where this wharf reads version 2"), "{error}");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Capsule {
    pub(super) title: [String; 3],
    pub(super) claim: Claim,
    pub(super) inputs: Vec<Blob>,
    pub(super) regions: Vec<Area>,
    pub(super) dispatches: Vec<Act>,
    /// Where the result lies: parts of regions, one after the other.
    pub(super) outcome: Vec<Tract>,
    pub(super) result: Blob,
    pub(super) budget: [u64; 2],
}

/// Memory of the dispatches.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) bytes: u64,
    pub(super) first: Vec<Content>,
}

/// Bytes of an input, and where they lie.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Content {
    pub(super) at: u64,
    pub(super) input: usize,
    pub(super) from: u64,
    pub(super) bytes: u64,
}

/// A part of a region.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tract {
    pub(super) region: usize,
    pub(super) at: u64,
    pub(super) bytes: u64,
}

/// A dispatch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Act {
    pub(super) wgsl: String,
    /// The names of the capabilities that it needs, as they are printed.
    pub(super) needs: String,
    pub(super) clears: bool,
    pub(super) bindings: Vec<Tract>,
    pub(super) params: Vec<u32>,
    pub(super) groups: [u32; 3],
}

by_field! {
    Area { bytes, first }
    Content { at, input, from, bytes }
    Tract { region, at, bytes }
    Act { wgsl, needs, clears, bindings, params, groups }
}

/// What dispatches bind, put together to regions.
struct Ground(BTreeMap<u64, Vec<(u64, u64)>>);

impl Ground {
    fn of(bindings: impl Iterator<Item = Extract>) -> Self {
        let mut all: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for Extract { buffer_id, offset, bytes } in bindings {
            all.entry(buffer_id).or_default().push((offset, offset + bytes));
        }
        for ranges in all.values_mut() {
            ranges.sort_unstable();
            let mut merged: Vec<(u64, u64)> = Vec::new();
            for &(begin, end) in &*ranges {
                match merged.last_mut() {
                    Some(last) if begin < last.1 => last.1 = last.1.max(end),
                    _ => merged.push((begin, end)),
                }
            }
            *ranges = merged;
        }
        Self(all)
    }

    /// Every region with its buffer and its place there.
    fn regions(&self) -> impl Iterator<Item = (u64, (u64, u64))> {
        self.0.iter().flat_map(|(id, ranges)| ranges.iter().map(|range| (*id, *range)))
    }

    /// Where bytes lie, if all of them lie in one region.
    fn part(&self, place: Extract) -> Option<Tract> {
        let Extract { buffer_id, offset, bytes } = place;
        let holds = |(id, (begin, end)): (u64, (u64, u64))| {
            id == buffer_id && begin <= offset && offset + bytes <= end
        };
        let region = self.regions().position(holds)?;
        let (_, (begin, _)) = self.regions().nth(region)?;
        Some(Tract { region, at: offset - begin, bytes })
    }
}

impl Capsule {
    /// What was wrong, as a file; `None` if its result lies where no dispatch has written.
    pub(super) fn of(
        engine: &Engine,
        exhibit: &Exhibit,
        (inputs, result): (&[&[u8]], &[u8]),
        budget: Budget,
    ) -> Option<Self> {
        let bindings = exhibit.dispatches.iter().flat_map(|one| one.bindings.iter().copied());
        let ground = Ground::of(bindings);
        let laid = |id: u64, (begin, end): (u64, u64)| {
            let pieces =
                exhibit.inputs.pieces.iter().filter(move |(place, _)| place.buffer_id == id);
            let part = move |(place, staged): &(Extract, u64)| {
                let from = place.offset.max(begin);
                let to = (place.offset + place.bytes).min(end);
                let input = exhibit.inputs.values.iter().position(|v| v.contains(staged))?;
                let first = staged + (from.max(place.offset) - place.offset);
                let whole = exhibit.inputs.values[input].clone();
                let bytes = to.saturating_sub(from).min(whole.end.saturating_sub(first));
                let laid = Content { at: from - begin, input, from: first - whole.start, bytes };
                (bytes > 0).then_some(laid)
            };
            pieces.filter_map(part).collect()
        };
        let regions = ground
            .regions()
            .map(|(id, range)| Area { bytes: range.1 - range.0, first: laid(id, range) });
        let regions = regions.collect();
        let act = |one: &crate::engine::docket::JobNote| {
            let bindings = one.bindings.iter().map(|place| ground.part(*place));
            Some(Act {
                wgsl: one.kernel.wgsl.to_string(),
                needs: one.kernel.needs.to_string(),
                clears: one.kernel.clears,
                bindings: bindings.collect::<Option<_>>()?,
                params: one.params.clone(),
                groups: one.groups,
            })
        };
        let dispatches = exhibit.dispatches.iter().map(act).collect::<Option<_>>()?;
        let outcome = exhibit.result.pieces.iter().map(|(place, _)| ground.part(*place));
        let outcome = outcome.collect::<Option<_>>()?;
        let verdict = judge(&exhibit.claim, inputs, result, budget)?;
        let worst = verdict.worst?;
        let title = [
            format!("by wharf {} on {}", env!("CARGO_PKG_VERSION"), engine.gpu.name()),
            format!("{} at {}", exhibit.name, exhibit.line),
            format!("{} is {}", at(&exhibit.claim.tail, worst.element), worst.words()),
        ];
        Some(Self {
            title: title.map(|line| line.replace(char::is_control, " ")),
            claim: exhibit.claim.clone(),
            inputs: inputs.iter().map(|bytes| Blob(bytes.to_vec())).collect(),
            regions,
            dispatches,
            outcome,
            result: Blob(result.to_vec()),
            budget: [budget.steps, budget.seed],
        })
    }

    /// The file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = format!("{MAGIC}{VERSION}\n{}\n\n", self.title.join("\n")).into_bytes();
        self.claim.put(&mut out);
        self.inputs.put(&mut out);
        self.regions.put(&mut out);
        self.dispatches.put(&mut out);
        self.outcome.put(&mut out);
        self.result.put(&mut out);
        self.budget.put(&mut out);
        out
    }

    /// From a file's bytes, not checked yet.
    pub(super) fn unchecked(bytes: &[u8]) -> Result<Self> {
        let begin = || String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).into_owned();
        let rest = bytes.strip_prefix(MAGIC.as_bytes());
        let rest = rest.ok_or_else(|| ShadowCause::Format { begin: begin() })?;
        let mut left = Left(rest);
        let version = line(&mut left)?;
        if version != VERSION {
            return Err(ShadowCause::Version { version }.into());
        }
        let title = [line(&mut left)?, line(&mut left)?, line(&mut left)?];
        if !line(&mut left)?.is_empty() {
            return Err(absurd("more than four lines of text"));
        }
        let capsule = Self {
            title,
            claim: Carry::take(&mut left)?,
            inputs: Carry::take(&mut left)?,
            regions: Carry::take(&mut left)?,
            dispatches: Carry::take(&mut left)?,
            outcome: Carry::take(&mut left)?,
            result: Carry::take(&mut left)?,
            budget: Carry::take(&mut left)?,
        };
        if !left.0.is_empty() {
            return Err(absurd(format!("{} bytes behind its end", left.0.len())));
        }
        Ok(capsule)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// If it cannot be written.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        std::fs::write(path, self.to_bytes()).map_err(|error| {
            let (path, why) = (path.display().to_string(), error.to_string());
            ShadowCause::Unwritten { path, why }.by(error)
        })
    }

    /// Writes it into a folder; what became of it, in words.
    pub(super) fn told_in(&self, folder: &Path) -> String {
        #[cfg(not(target_arch = "wasm32"))]
        {
            use core::hash::{Hash, Hasher};
            let bytes = self.to_bytes();
            let mut hasher = std::hash::DefaultHasher::new();
            bytes.hash(&mut hasher);
            let name = self.operation().split(' ').next().unwrap_or_default();
            let name = crate::shared::in_file_name(name);
            let path = folder.join(format!("{name}-{:08x}.capsule", hasher.finish() >> 32));
            let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes));
            let path = path.display();
            match made {
                Ok(()) => format!("`wharf doctor --replay {path}` runs it on any adapter"),
                Err(error) => format!("{path} with it could not be written: {error}"),
            }
        }
        #[cfg(target_arch = "wasm32")]
        format!("there are no folders such as {} here", folder.display())
    }

    /// Which wharf wrote it, on which adapter.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.title[0]
    }

    /// The operation, and the line that asked for it.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.title[1]
    }

    /// What was wrong.
    #[must_use]
    pub fn finding(&self) -> &str {
        &self.title[2]
    }

    pub(super) const fn budget(&self) -> Budget {
        let steps = if self.budget[0] > STEPS_MAX { STEPS_MAX } else { self.budget[0] };
        Budget { steps, seed: self.budget[1] }
    }
}

/// A line of text.
fn line(left: &mut Left<'_>) -> Result<String> {
    let end = left.0.iter().take(LINES_MAX).position(|&byte| byte == b'\n');
    let (wanted, have) = (left.0.len() as u64 + 1, left.0.len() as u64);
    let end = end.ok_or(ShadowCause::Cut { what: "a line", wanted, left: have })?;
    let text = String::from_utf8_lossy(left.bytes("a line", end as u64)?).into_owned();
    left.bytes("a line's end", 1)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_one_region_up_to_the_farthest_end() {
        let range = |buffer_id, offset, bytes| Extract { buffer_id, offset, bytes };
        let bound = [range(7, 0, 100), range(7, 10, 20), range(7, 90, 20), range(7, 110, 5)];
        let ground = Ground::of(bound.into_iter().chain([range(3, 4, 8)]));
        let regions: Vec<_> = ground.regions().collect();
        assert_eq!(regions, [(3, (4, 12)), (7, (0, 110)), (7, (110, 115))]);
        let part = ground.part(range(7, 40, 70)).map(|part| (part.region, part.at, part.bytes));
        assert_eq!(part, Some((1, 40, 70)));
        assert!(ground.part(range(7, 100, 15)).is_none(), "in two regions");
    }
}
