//! What small dispatches take by themselves: how those that are timed together share their time.

use std::collections::HashMap;
use std::sync::Mutex;

use super::Ticket;
use crate::shared::lock;

/// A dispatch that binds no more may take less than its timestamp.
const SMALL_BYTES: u64 = 128 << 10;
/// So are dispatches of a software driver that take no more nanoseconds: all of its threads meet
/// for a timestamp.
const SHORT: f64 = 1e6;
/// So often a small dispatch is timed by itself. Once would be its first run, which is slow.
const TIMES: u32 = 2;
/// Kinds that are kept; others are always timed by themselves.
const KINDS_MAX: usize = 4096;

/// What makes two dispatches alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Likeness {
    kernel: &'static str,
    bytes: u64,
    flops: u64,
}

/// How often a kind has been given a time of its own, and the least it took in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Solo {
    times: u32,
    least: f64,
}

/// All kinds of a device.
#[derive(Debug, Default)]
pub(crate) struct Solos {
    kinds: Mutex<HashMap<Likeness, Solo>>,
    /// What takes no longer is short, in nanoseconds.
    short: f64,
}

const fn likeness(ticket: &Ticket) -> Likeness {
    Likeness { kernel: ticket.kernel, bytes: ticket.bytes, flops: ticket.flops }
}

impl Solos {
    pub(super) fn new(is_software: bool) -> Self {
        Self { short: if is_software { SHORT } else { 0.0 }, ..Self::default() }
    }

    /// Whether a dispatch is small, or known to be short, and its like was timed by itself often
    /// enough; counts it if not.
    pub(super) fn knows(&self, ticket: &Ticket) -> bool {
        let kinds = &mut *lock(&self.kinds);
        let (like, room) = (likeness(ticket), kinds.len() < KINDS_MAX);
        if !(room || kinds.contains_key(&like)) {
            return false;
        }
        let known = kinds.entry(like).or_insert(Solo { times: 0, least: f64::INFINITY });
        let often = known.times == TIMES;
        known.times += u32::from(!often);
        often && (ticket.bytes <= SMALL_BYTES || known.least <= self.short)
    }

    /// That one took so many nanoseconds by itself.
    pub(super) fn note(&self, ticket: &Ticket, nanoseconds: f64) {
        if let Some(known) = lock(&self.kinds).get_mut(&likeness(ticket)) {
            known.least = known.least.min(nanoseconds);
        }
    }

    /// The shares of tickets in a time of all of them: what each took by itself, or the same for
    /// each where that is not known of one.
    pub(super) fn shares(&self, tickets: &[Ticket]) -> Vec<f64> {
        let kinds = lock(&self.kinds);
        let least = |ticket| kinds.get(&likeness(ticket)).map_or(0.0, |known| known.least);
        let each: Vec<f64> = tickets.iter().map(least).collect();
        let known = each.iter().all(|time| *time > 0.0 && time.is_finite());
        let weigh =
            |(ticket, time): (&Ticket, &f64)| ticket.count as f64 * if known { *time } else { 1.0 };
        let weights: Vec<f64> = tickets.iter().zip(&each).map(weigh).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use core::panic::Location;

    use super::*;

    fn ticket(kernel: &'static str, bytes: u64, count: u64) -> Ticket {
        Ticket { count, kernel, line: Location::caller(), bytes, flops: 0 }
    }

    #[test]
    fn small_ones_are_known_after_two_times_of_their_own() {
        let (solos, small) = (Solos::default(), ticket("k", SMALL_BYTES, 1));
        assert_eq!([(); 4].map(|()| solos.knows(&small)), [false, false, true, true]);
        assert!(!solos.knows(&ticket("k", 64, 1)), "another size is another kind");
        let large = ticket("k", SMALL_BYTES + 1, 1);
        assert_eq!([(); 4].map(|()| solos.knows(&large)), [false; 4], "always by itself");
        let software = Solos::new(true);
        assert_eq!([(); 3].map(|()| software.knows(&large)), [false; 3], "nothing is known of it");
        software.note(&large, SHORT + 1.0);
        assert!(!software.knows(&large), "it takes long");
        software.note(&large, SHORT);
        assert!(software.knows(&large), "it is short");
        solos.note(&large, 1.0);
        assert!(!solos.knows(&large), "a GPU has a timestamp for each");
    }

    #[test]
    fn only_so_many_kinds_are_kept() {
        let solos = Solos::default();
        for bytes in 0..KINDS_MAX as u64 + 1 {
            solos.knows(&ticket("k", bytes, 1));
            solos.knows(&ticket("k", bytes, 1));
        }
        assert!(solos.knows(&ticket("k", KINDS_MAX as u64 - 1, 1)), "the last that had room");
        assert!(!solos.knows(&ticket("k", KINDS_MAX as u64, 1)), "one too many");
    }

    #[test]
    fn a_time_is_shared_by_what_each_took() {
        let (solos, fast, slow) = (Solos::default(), ticket("fast", 8, 2), ticket("slow", 8, 1));
        solos.knows(&fast);
        solos.knows(&slow);
        assert_eq!(solos.shares(&[fast, slow]), [2.0 / 3.0, 1.0 / 3.0], "nothing is known yet");
        for (ticket, nanoseconds) in [(&fast, 900.0), (&fast, 100.0), (&slow, 600.0)] {
            solos.note(ticket, nanoseconds);
        }
        assert_eq!(solos.shares(&[fast, slow]), [0.25, 0.75], "the least counts");
        assert_eq!(solos.shares(&[slow]), [1.0]);
    }
}
