//! A search for faults where only memory, crossings and the order of things can go wrong: no kernel
//! runs here.

use std::env;

use crate::device;
use crate::search::Search;

/// More steps, or another seed: `WHARF_STORIES=1000000 WHARF_STORIES_SEED=7`.
fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn every_story_survives_every_failure() {
    let (steps, seed) = (number("WHARF_STORIES", 100_000), number("WHARF_STORIES_SEED", 1));
    let search = Search { seed, length: 20, steps, computes: false };
    let found = pollster::block_on(search.run(async || Ok(device(|caps| caps))));
    let found = found.unwrap_or_else(|what| panic!("{what}"));
    println!("{found}");
    assert!(found.met > found.stories * 20, "few failures were met: {found}");
    assert!(found.said * 4 > found.met, "few failures were told: {found}");
    assert!(found.dropped > found.stories * 3, "few reads were dropped: {found}");
}
