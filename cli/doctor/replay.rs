//! `--replay FILE`: what a shadow found wrong elsewhere, on the adapter at hand.

use std::path::Path;

use wharf::adapter::Listing;
use wharf::shadow::{Capsule, Replay};

use super::table::{Page, Tone, clean};

/// Replays a capsule; returns the exit code.
pub(crate) async fn replay(page: &Page, listing: &Listing, path: &Path) -> u8 {
    let capsule = match Capsule::open(path) {
        Ok(capsule) => capsule,
        Err(error) => {
            page.error(&error);
            return 2;
        }
    };
    page.heading("Capsule", &clean(capsule.origin()));
    let row = |title: &str, text: &str, tone: Tone| {
        page.row(&[(Tone::Plain, title, 11)], (tone, &clean(text)));
    };
    row("operation", capsule.operation(), Tone::Plain);
    row("recorded", capsule.finding(), Tone::Plain);
    match on_hand(listing, &capsule).await {
        Ok((name, replay)) => {
            row("here", &name, Tone::Plain);
            let tone = if replay.is_wrong { Tone::Bad } else { Tone::Good };
            row("", &replay.here, tone);
            let bits = if replay.is_same { "the recorded bits" } else { "other bits" };
            let verdict = if replay.is_wrong { "wrong here as well" } else { "right here" };
            page.blank();
            page.line(&[(tone, verdict), (Tone::Dim, &format!(": {bits}"))]);
            u8::from(replay.is_wrong)
        }
        Err(error) => {
            page.error(&error);
            2
        }
    }
}

async fn on_hand(listing: &Listing, capsule: &Capsule) -> wharf::Result<(String, Replay)> {
    let device = super::open(listing).await?;
    let identity = &device.caps().identity;
    let name = format!("{} ({})", identity.name, identity.backend.name());
    Ok((name, device.replay(capsule).await?))
}
