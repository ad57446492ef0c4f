//! How many cores a GPU is taken to have, which says how much is wished for it: the workgroups of
//! a product, the lanes of a sum, the parts of attention.
//!
//! A wish stands where it is used, as it was measured on an H100 of 132 cores. [`Breadth::share`]
//! makes of it what keeps another GPU as busy.

use super::{Backend, Caps, DeviceType};
use crate::dtype::DType;

/// How many cores a GPU is taken to have. One of them is as much of it as a workgroup of 256 lanes
/// keeps busy: NVIDIA's multiprocessor, AMD's compute unit, an Xe core, Apple's core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breadth {
    cores: u32,
    /// What one dispatch computes at most, in additions and multiplications.
    dispatch_work: u64,
}

/// Cores that wishes were measured for, in round numbers.
const MEASURED: u32 = 128;
/// A quarter of a second of the slowest core. Systems reset a device that is busy with one dispatch
/// for two.
const CORE_WORK_MAX: u64 = 8_000_000_000;
/// A core computes so many numbers of 32 bits while it computes one of 64, or four times as many,
/// where it was made for games.
pub(crate) const SLOWER: u64 = 16;
/// No chip is taken for less, or more.
const BOUNDS: [u32; 2] = [4, 1024];

/// Kinds of integrated GPUs, by words that the vendor's name and the chip's have; the first that
/// has all of them counts. As many cores as larger ones of a kind have: an idle core costs more
/// than a few workgroups too many. And as many of the slowest cores as the smallest of a kind is as
/// fast as: it takes a quarter of a second for a dispatch as well.
const KINDS: [(&[&str], u32, u32); 12] = [
    // Two of the next: 48 to 80 cores, each as fast as five of the slowest or more.
    (&["Apple", "Ultra"], 64, 64),
    // 24 to 40.
    (&["Apple", "Max"], 32, 32),
    // 7 to 10, and 14 to 20 of a Pro; 4 of a phone.
    (&["Apple"], 16, 16),
    // 40 compute units, where no other has half as many.
    (&["AMD", "8060S"], 40, 40),
    // Up to 8 compute units in Vega's time, up to 12 in RDNA 2's and 3's, 16 in RDNA 3.5's. Two,
    // where a display is all they are for, each as fast as three of the slowest.
    (&["AMD"], 16, 6),
    // 3 subslices in Gen 9, 6 in Tiger Lake, up to 8 Xe cores, 12 in Panther Lake. One and a half
    // in a UHD 600.
    (&["Intel"], 12, 2),
    // 48 multiprocessors, where boards of the Tegra kind have 2 to 20, and one had 1.
    (&["NVIDIA", "GB10"], 48, 48),
    (&["NVIDIA"], 20, 4),
    // 1 to 6 shader processors.
    (&["Qualcomm"], 6, 1),
    // 1 to 14 shader cores, most of them 4 to 10.
    (&["ARM"], 8, 1),
    // 1 to 4 clusters or cores.
    (&["Imagination"], 4, 1),
    // 2 or 3 slices of small processors.
    (&["Broadcom"], 4, 1),
];

impl Breadth {
    /// That of what was measured, and of whoever nobody knows. Small cards have three cores, and
    /// one dispatch is to take no more than a second there.
    pub(crate) const USUAL: Self = Self::by(MEASURED, MEASURED / 4);
    /// That of whatever a browser stands before: it tells neither the kind nor, mostly, the name,
    /// and ends what runs for long as a system does.
    const HIDDEN: Self = Self::by(MEASURED, 1);

    /// So many cores, as fast as so many of the slowest.
    const fn by(cores: u32, slowest: u32) -> Self {
        Self { cores, dispatch_work: slowest as u64 * CORE_WORK_MAX }
    }

    /// As chips of this kind are.
    pub(crate) fn of(caps: &Caps) -> Self {
        let identity = &caps.identity;
        match (identity.device_type, identity.backend) {
            (DeviceType::Integrated, _) => {}
            (DeviceType::Other, Backend::Browser) => return Self::HIDDEN,
            _ => return Self::USUAL,
        }
        let vendor = identity.vendor_name().unwrap_or("");
        let has = |word: &&str| vendor == *word || identity.name.contains(word);
        let kind = KINDS.iter().find(|(words, ..)| words.iter().all(has));
        kind.map_or(Self::USUAL, |(_, cores, slowest)| Self::by(*cores, *slowest))
    }

    /// As it was timed: how long a workgroup took alone, and so many at once.
    pub(crate) fn timed(groups: u32, [alone, all]: [f64; 2]) -> Option<Self> {
        let cores = f64::from(groups) * alone / all;
        // Nothing is as fast as many where a clock saw nothing.
        let [least, most] = BOUNDS;
        let cores = (cores.round() as u32).clamp(least, most);
        (alone > 0.0 && all > 0.0).then_some(Self::by(cores, cores))
    }

    /// As it stands in a file.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let [least, most] = BOUNDS;
        let cores = text.parse().ok().filter(|cores| (least..=most).contains(cores));
        cores.map(|cores| Self::by(cores, cores))
    }

    pub(crate) const fn cores(self) -> u32 {
        self.cores
    }

    /// What one dispatch computes at most, in additions and multiplications.
    pub(crate) const fn dispatch_work(self) -> u64 {
        self.dispatch_work
    }

    /// As broad, for what is computed in this dtype.
    pub(crate) const fn computing(self, dtype: DType) -> Self {
        let slower = if dtype.width() < 8 { 1 } else { SLOWER };
        Self { dispatch_work: self.dispatch_work / slower, ..self }
    }

    /// How many rows of a product, of so many columns and terms each, one dispatch computes at
    /// most.
    pub(crate) fn rows_at_once(self, columns: usize, terms: usize) -> usize {
        let row = (columns as u64).saturating_mul(terms as u64).saturating_mul(2);
        usize::try_from(self.dispatch_work() / row.max(1)).unwrap_or(usize::MAX)
    }

    /// As broad, if a dispatch computed no more than this.
    #[cfg(feature = "testing")]
    pub(crate) const fn in_dispatches_of(self, work: u64) -> Self {
        Self { dispatch_work: work, ..self }
    }

    /// Its part of what was measured to be enough for a GPU of the usual breadth; never nothing.
    pub(crate) const fn share(self, measured: usize) -> usize {
        // In a browser a count has 32 bits.
        let share = (measured as u64).saturating_mul(self.cores as u64).div_ceil(MEASURED as u64);
        if share > usize::MAX as u64 { usize::MAX } else { share as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::{Identity, fixtures};

    /// Chips that share the system's memory, and nobody else, are taken for smaller ones.
    #[test]
    fn every_chip_that_could_be_read_is_as_broad_as_its_kind() {
        let known = [
            ("apple_m2", 16),
            ("intel:skl", 12),
            ("intel:tgl", 12),
            ("intel:mtl", 12),
            ("intel:lnl", 12),
            ("amd:renoir", 16),
            ("amd:gfx1150", 16),
        ];
        for (name, caps) in fixtures::all() {
            let own = known.iter().find(|(own, _)| *own == name).map(|(_, cores)| *cores);
            let phone = name.starts_with("adreno:").then_some(6);
            let want = own.or(phone).unwrap_or(128);
            assert_eq!(Breadth::of(&caps).cores(), want, "{name}");
        }
        let integrated = |vendor, name: &str| {
            let (mut caps, device_type) = (Caps::webgpu_baseline(), DeviceType::Integrated);
            caps.identity = Identity { vendor, name: name.into(), device_type, ..caps.identity };
            Breadth::of(&caps).cores()
        };
        assert_eq!(integrated(0, "Apple M3 Ultra"), 64);
        assert_eq!(integrated(0x106b, "Apple M1 Max (G13C C0)"), 32);
        assert_eq!(integrated(0x1002, "AMD Radeon 8060S Graphics (RADV GFX1151)"), 40);
        assert_eq!(integrated(0x13b5, "Mali-G715"), 8);
        assert_eq!(integrated(0x10de, "NVIDIA GB10"), 48);
        assert_eq!(integrated(0x10de, "NVIDIA Tegra Orin (nvgpu)"), 20);
        assert_eq!(integrated(0x1af4, "virtio"), 128, "of no kind");
    }

    /// By what the smallest chip of each kind was seen to reach, or by half of what it could.
    #[test]
    fn no_chip_of_a_kind_is_busy_with_one_dispatch_for_long() {
        let smallest: [(&str, u64); 5] = [
            ("Apple A12", 250),
            ("AMD Raphael, 2 compute units", 197),
            ("Intel UHD 600", 48),
            ("NVIDIA Tegra X1", 200),
            ("Qualcomm Adreno 505", 25),
        ];
        for (name, giga) in smallest {
            let (mut caps, device_type) = (Caps::webgpu_baseline(), DeviceType::Integrated);
            caps.identity = Identity { name: name.into(), device_type, ..caps.identity };
            let work = Breadth::of(&caps).dispatch_work();
            let behind = Breadth::of(&fixtures::browser());
            assert_eq!(behind.cores(), MEASURED, "a browser hides how many there are");
            for (way, work) in [("", work), (" behind a browser", behind.dispatch_work())] {
                let tenths = work / (giga * 100_000_000);
                assert!(tenths <= 5, "{name}{way} would take {tenths} tenths of a second");
            }
        }
    }

    #[test]
    fn wishes_are_as_measured_where_nobody_knows_better_and_never_nothing() {
        let usual = Breadth::USUAL;
        assert_eq!([1 << 16, 512, 64, 1].map(|n| usual.share(n)), [1 << 16, 512, 64, 1]);
        assert_eq!([1 << 16, 512, 64, 1].map(|n| Breadth::by(6, 1).share(n)), [3072, 24, 3, 1]);
        assert_eq!(Breadth::by(1024, 1024).share(1 << 16), 1 << 19);
        assert_eq!(Breadth::by(1024, 1024).share(usize::MAX), u64::MAX.div_ceil(128) as usize);
    }

    #[test]
    fn cores_are_how_many_workgroups_take_the_time_of_one() {
        let cores = |groups, times| Breadth::timed(groups, times).map(Breadth::cores);
        assert_eq!(cores(1024, [2e-3, 15.5e-3]), Some(132));
        assert_eq!(cores(64, [3e-3, 27.4e-3]), Some(7));
        assert_eq!(cores(16, [1e-3, 8e-3]), Some(4), "no fewer");
        assert_eq!(cores(4096, [1e-3, 1e-3]), Some(1024), "no more");
        for nothing in [[0.0, 1.0], [1.0, 0.0], [-1.0, 1.0], [f64::NAN, 1.0]] {
            assert_eq!(cores(64, nothing), None, "{nothing:?}");
        }
        let parsed = ["4", "132", "1024"].map(|text| Breadth::parse(text).map(Breadth::cores));
        assert_eq!(parsed, [4, 132, 1024].map(Some));
        for text in ["3", "1025", "-4", "many", ""] {
            assert_eq!(Breadth::parse(text), None, "{text:?}");
        }
    }
}
