//! Why a tensor does not arrive: the known causes, how wharf checks each, and what it finds here.
//!
//! Everything under "here" is found out on this machine while it is printed. The smaller
//! experiments are in [`live`](super::live).

use wharf::adapter::{Listing, Verdict};
use wharf::caps::Caps;
use wharf::diagnosis::Obstacle;
use wharf::plan::{How, negotiate};
use wharf::{Adapter, Device, Error, Policy};

use super::adapters::driver;
use super::live;
use super::table::{Page, Tone, count};

/// What the checks of causes look at.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    listing: &'a Listing,
    opened: Result<Device, Error>,
    /// The chosen adapter's error for a plan that was made for another.
    foreign: Option<Error>,
}

/// One finding, and whether it is good.
pub(crate) type Found = (Tone, String);

/// A cause, how it is checked, and the check.
struct Known {
    cause: &'static str,
    checked: &'static str,
    here: fn(&Scene<'_>) -> Vec<Found>,
}

const KNOWN: [Known; 9] = [
    Known {
        cause: "no device",
        checked: "every backend lists its adapters, and each that is not taken says why; software \
                  is never taken unasked",
        here: no_device,
    },
    Known {
        cause: "driver and loader do not match",
        checked: "where no hardware adapter is listed: the loader library, driver manifests, \
                  versions, device nodes, and the variables that hide any of them",
        here: driver_mismatch,
    },
    Known {
        cause: "the wrong device",
        checked: "a name that matches nothing is an error, never another adapter; a plan opens \
                  only the adapter it was made for",
        here: wrong_device,
    },
    Known {
        cause: "dtype",
        checked: "`adapter.negotiate(&policy)` decides for each dtype before a byte moves; what \
                  the policy does not allow is refused",
        here: dtype,
    },
    Known {
        cause: "layout",
        checked: "`HostView` takes any strides and reads in row-major order; a layout that leaves \
                  its data is an error with both numbers",
        here: |scene| with_device(scene, live::layout),
    },
    Known {
        cause: "memory",
        checked: "`device.fit(shape, dtype)` answers beforehand; tensors beyond one binding are \
                  cut into segments; running out is an error with what is live, pooled and capped",
        here: |scene| with_device(scene, live::memory),
    },
    Known {
        cause: "fragmentation",
        checked: "`device.memory()` counts free memory, `device.compact()` moves small tensors \
                  together; an allocation that is refused tries both by itself",
        here: |scene| with_device(scene, live::fragmentation),
    },
    Known {
        cause: "hidden copies",
        checked: "`device.ledger()` has every crossing with the line that caused it; \
                  `device.guard(Crossings::Deny)` makes each an error",
        here: |scene| with_device(scene, live::hidden_copies),
    },
    Known {
        cause: "doubled RAM",
        checked: "uploads are converted straight into chunks of a few MiB, of which a bounded \
                  number is in flight, whatever the tensor's size",
        here: |scene| with_device(scene, live::doubled_ram),
    },
];

/// Prints all of it; the exit code says whether there was a device to look at.
pub(crate) async fn explain(page: &Page, listing: &Listing) -> u8 {
    let scene = set_up(listing).await;
    page.heading(
        "My tensor did not arrive",
        "the known causes, how wharf checks each, what it finds here",
    );
    for (number, known) in (1..).zip(KNOWN) {
        page.blank();
        page.row(&[(Tone::Bold, &format!("{number}"), 3)], (Tone::Bold, known.cause));
        page.row(&[(Tone::Plain, "", 3), (Tone::Dim, "checked", 9)], (Tone::Dim, known.checked));
        for (i, (tone, text)) in (known.here)(&scene).iter().enumerate() {
            let label = if i == 0 { "here" } else { "" };
            page.row(&[(Tone::Plain, "", 3), (Tone::Dim, label, 9)], (*tone, text));
        }
    }
    u8::from(scene.opened.is_err()) * 2
}

async fn set_up(listing: &Listing) -> Scene<'_> {
    let (opened, foreign) = match listing.clone().into_chosen() {
        Err(error) => (Err(error), None),
        Ok(adapter) => {
            let other = negotiate(&Caps::webgpu_baseline(), &Policy::exact());
            let foreign = adapter.open(other).await.err();
            (adapter.open(adapter.negotiate(&Policy::exact())).await, foreign)
        }
    };
    Scene { listing, opened, foreign }
}

fn good(text: impl Into<String>) -> Found {
    (Tone::Good, text.into())
}

/// The error and its help.
pub(crate) fn refusal(tone: Tone, error: &Error) -> Vec<Found> {
    let help = error.help().unwrap_or_default();
    let help = help.lines().map(|line| (Tone::Dim, format!("help: {line}")));
    core::iter::once((tone, error.to_string())).chain(help).collect()
}

/// A check that needs a device, where there is one.
fn with_device(scene: &Scene<'_>, check: fn(&Device) -> wharf::Result<Vec<Found>>) -> Vec<Found> {
    match &scene.opened {
        Err(_) => vec![(Tone::Caution, "not checked: no device is open".into())],
        Ok(device) => check(device).unwrap_or_else(|error| refusal(Tone::Bad, &error)),
    }
}

fn describe(adapter: &Adapter) -> String {
    let id = &adapter.caps().identity;
    format!("{} ({}, {})", id.name, id.backend.name(), id.device_type.name())
}

fn no_device(scene: &Scene<'_>) -> Vec<Found> {
    let entries = &scene.listing.entries;
    let hardware = entries.iter().filter(|e| !e.adapter.caps().identity.is_software()).count();
    let listed =
        format!("{} listed, {hardware} of hardware", count(entries.len() as u64, "adapter"));
    let mut found = match &scene.opened {
        Ok(device) => vec![good(format!("{listed}; chosen: {}", describe(device.adapter())))],
        Err(error) => {
            let mut found = vec![(Tone::Bad, listed)];
            found.extend(refusal(Tone::Bad, error));
            found
        }
    };
    found.extend(scene.listing.notes.iter().map(|note| (Tone::Plain, note.clone())));
    found
}

/// Causes in drivers and loaders, not in what the user chose.
const OF_DRIVERS: [Obstacle; 12] = [
    Obstacle::BackendCompiledOut,
    Obstacle::DriverVariable,
    Obstacle::DriverFilter,
    Obstacle::LoaderMissing,
    Obstacle::NvidiaGraphics,
    Obstacle::NvidiaVersions,
    Obstacle::NodePermission,
    Obstacle::NodeMissing,
    Obstacle::VendorDriver,
    Obstacle::ManifestBroken,
    Obstacle::ManifestMissing,
    Obstacle::GlMissing,
];

fn driver_mismatch(scene: &Scene<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for finding in scene.listing.findings.iter().filter(|f| OF_DRIVERS.contains(&f.cause)) {
        let tone = if finding.blocking { Tone::Bad } else { Tone::Caution };
        found.push((tone, finding.found.clone()));
        found.push((Tone::Dim, format!("help: {}", finding.remedy)));
    }
    if found.is_empty() {
        found.push(good("nothing is wrong with them, as far as can be read"));
    }
    for (index, entry) in scene.listing.entries.iter().enumerate() {
        let name = &entry.adapter.caps().identity.name;
        found.push((
            Tone::Plain,
            format!(
                "{index}: {name}: loads, and says it is {}",
                driver(&entry.adapter.caps().identity)
            ),
        ));
    }
    found
}

fn wrong_device(scene: &Scene<'_>) -> Vec<Found> {
    let entries = scene.listing.entries.iter().enumerate();
    let mut found: Vec<Found> = entries
        .map(|(index, entry)| {
            let taken = entry.verdict == Verdict::Chosen;
            let tone = if taken { Tone::Good } else { Tone::Plain };
            let but = if taken { "" } else { "not chosen: " };
            (tone, format!("{index}: {}: {but}{}", describe(&entry.adapter), entry.verdict))
        })
        .collect();
    if found.is_empty() {
        found.push((Tone::Caution, "there is none to choose from".into()));
    }
    if let Some(error) = &scene.foreign {
        found.push(good(format!("tried with another adapter's plan, and refused: {error}")));
    }
    found
}

fn dtype(scene: &Scene<'_>) -> Vec<Found> {
    let Some(adapter) = scene.listing.chosen() else {
        return vec![(Tone::Caution, "not checked: no adapter is chosen".into())];
    };
    let plan = adapter.negotiate(&Policy::exact());
    let names = |how: How| {
        let rows = plan.carriages().iter().filter(|c| c.how == how);
        rows.map(|c| c.dtype.name()).collect::<Vec<_>>().join(" ")
    };
    let mut found = vec![
        good(format!("native, bit-exact: {}", names(How::Native))),
        good(format!("packed, bit-exact: {}", names(How::Packed))),
    ];
    let rejected: Vec<_> = plan.carriages().iter().filter(|c| c.how == How::Rejected).collect();
    if rejected.is_empty() {
        found.push(good("refused: none"));
    }
    let rows =
        rejected.iter().map(|c| (Tone::Caution, format!("refused: {}: {}", c.dtype, c.because)));
    found.extend(rows);
    found
}
