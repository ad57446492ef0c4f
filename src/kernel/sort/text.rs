//! The kernels of sorting.

use std::sync::Arc;

use crate::dtype::Class;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::lines::{consts, put};
use crate::wgsl::params::params;
use crate::wgsl::source::{Source, source};
use crate::wgsl::{Assembled, Entry, Region, Target, Writes, kept};

params! {
    struct RankJob {
        rows: u32,
        length: u32,
        fours: u32,
        mask: u32,
        first_group: u32,
    }

    struct RoundJob {
        rows: u32,
        length: u32,
        chunks: u32,
        each: u32,
        bit: u32,
    }

    struct SelectJob {
        rows: u32,
        length: u32,
        k: u32,
        part: u32,
        bits: [u32; 2],
    }

    struct RunningJob {
        count: u32,
        blocks: u32,
        each: u32,
    }
}

/// The longest list that is ranked: a step of the ranking for each item.
pub const RANKED_MAX: u32 = 2048;
/// Sorts short rows in one step.
pub const RANK: Entry =
    Entry::own("rank", source!("sort/rank.wgsl"), RANKED_MAX).told(RankJob::MEMBERS);
const FOUR_POSITIONS: Source = source!("sort/four_positions.wgsl");
const FOUR_WORDS: Source = source!("sort/four_words.wgsl");
const FOUR_PAIRS: Source = source!("sort/four_pairs.wgsl");
/// What reads four items at once.
const FOURS: [Source; 3] = [FOUR_POSITIONS, FOUR_WORDS, FOUR_PAIRS];
/// First step of a round of sorting: an invocation to a chunk.
pub const DIGITS: Entry = Entry::own("digits", source!("sort/digits.wgsl"), CORE_TRIPS)
    .with(&FOURS)
    .told(RoundJob::MEMBERS);
/// Last step of a round of sorting: an invocation to a chunk.
pub const PLACE: Entry = Entry::own("place", source!("sort/place.wgsl"), CORE_TRIPS)
    .with(&FOURS)
    .told(RoundJob::MEMBERS);
/// First step of a round of sorting: a workgroup to a chunk.
pub const DIGITS_GROUP: Entry =
    Entry::own("digits_group", source!("sort/digits_group.wgsl"), CORE_TRIPS)
        .clearing()
        .told(RoundJob::MEMBERS);
/// Last step of a round of sorting: a workgroup to a chunk.
pub const PLACE_GROUP: Entry =
    Entry::own("place_group", source!("sort/place_group.wgsl"), CORE_TRIPS)
        .clearing()
        .told(RoundJob::MEMBERS);
/// The most fours that one invocation adds up.
pub(super) const FOURS_MAX: u32 = 4096;
/// First step of running sums.
pub const SUMS: Entry =
    Entry::own("sums", source!("sort/sums.wgsl"), FOURS_MAX).told(RunningJob::MEMBERS);
/// Last step of running sums.
pub const RUNNING: Entry =
    Entry::own("running", source!("sort/running.wgsl"), FOURS_MAX).told(RunningJob::MEMBERS);

/// First step of running sums: a workgroup to a block.
pub const SUMS_GROUP: Entry = Entry::own("sums_group", source!("sort/sums_group.wgsl"), 256)
    .told(RunningJob::MEMBERS)
    .clearing();
/// Last step of running sums: a workgroup to a block.
pub const RUNNING_GROUP: Entry =
    Entry::own("running_group", source!("sort/running_group.wgsl"), 256)
        .told(RunningJob::MEMBERS)
        .clearing();

/// The order of words that are sorted by their own value, from which their key is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ranking {
    /// Whether they are floats, signed or unsigned.
    pub class: Class,
    /// Whether the largest comes first. NaN comes last, whichever way.
    pub descending: bool,
}

impl Ranking {
    /// The key of a word, in WGSL. Keys are compared as unsigned integers, and are in the order of
    /// the values.
    fn key(self) -> String {
        let rising = match self.class {
            // Magnitudes of negative numbers fall, and both zeros are one.
            Class::Float => "select(word | 0x80000000u, ~word, word > 0x80000000u)",
            Class::Signed => "word ^ 0x80000000u",
            Class::Unsigned | Class::Bool => "word",
        };
        let key = if self.descending { format!("~({rising})") } else { rising.into() };
        match self.class {
            Class::Float => {
                format!("select({key}, 0xffffffffu, (word & 0x7fffffffu) > 0x7f800000u)")
            }
            _ => key,
        }
    }
}

/// What a step of sorting reads: a word of a key and what goes along with it, of every item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Incoming {
    /// Words; their positions in their rows go along.
    Positions,
    /// Words that are sorted by their own value; they go along with the key computed from it.
    Words(Ranking),
    /// Pairs of a word and what goes along with it.
    Pairs,
}

/// What a step of sorting leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outgoing {
    /// Pairs of a word and what went along with it.
    Pairs,
    /// Only what went along.
    Second,
    /// Pairs for the next word of the keys: what another list has at a position, and the position.
    Led,
}

impl Incoming {
    /// All of them.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn all() -> Vec<Self> {
        let classes = [Class::Float, Class::Signed, Class::Unsigned];
        let words = classes.into_iter().flat_map(|class| {
            [false, true].map(|descending| Self::Words(Ranking { class, descending }))
        });
        [Self::Positions, Self::Pairs].into_iter().chain(words).collect()
    }

    /// What item `i` of a row is: its word, and that with what goes along.
    const fn lines(self) -> [&'static str; 2] {
        match self {
            Self::Positions => ["return items[i];", "return vec2<u32>(items[i], i - first);"],
            Self::Words(_) => {
                ["return key(items[i]);", "return vec2<u32>(key(items[i]), items[i]);"]
            }
            Self::Pairs => ["return items[i].x;", "return items[i];"],
        }
    }

    /// How four items are read.
    const fn four(self) -> Source {
        match self {
            Self::Positions => FOUR_POSITIONS,
            Self::Words(_) => FOUR_WORDS,
            Self::Pairs => FOUR_PAIRS,
        }
    }
}

impl Outgoing {
    /// All of them.
    #[cfg(feature = "testing")]
    pub const ALL: [Self; 3] = [Self::Pairs, Self::Second, Self::Led];

    /// What becomes of an item.
    const fn line(self) -> &'static str {
        match self {
            Self::Pairs => "sorted[at] = item;",
            Self::Second => "sorted[at] = item.y;",
            Self::Led => "sorted[at] = vec2<u32>(leads[first + item.y], item.y);",
        }
    }
}

/// How a step of sorting is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortStep {
    /// What it reads.
    pub load: Incoming,
    /// What it leaves; `None` if it only counts.
    pub store: Option<Outgoing>,
    /// Bits of a digit; 0 if all are ranked.
    pub bits: u32,
}

impl SortStep {
    /// Its kernel on a target.
    #[must_use]
    pub fn text(self, target: Target) -> Arc<Assembled> {
        let (entry, fours) = match (self.bits, self.store, target) {
            (0, ..) => (&RANK, false),
            (_, None, Target::Gpu) => (&DIGITS_GROUP, false),
            (_, None, _) => (&DIGITS, true),
            (_, Some(_), Target::Gpu) => (&PLACE_GROUP, false),
            (_, Some(_), _) => (&PLACE, true),
        };
        kept::worded(entry, &ReadBy { step: self, fours }, &[], 0, target)
    }
}

/// A step of sorting, and how it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ReadBy {
    step: SortStep,
    /// Whether an invocation reads four items at once.
    fours: bool,
}

impl Writes for ReadBy {
    fn regions(&self) -> Vec<Region> {
        let Self { step: SortStep { load, store, bits }, fours } = *self;
        let (pair, one) = ("vec2<u32>", "u32");
        let items = match load {
            _ if fours => "vec4<u32>",
            Incoming::Pairs => pair,
            _ => one,
        };
        let result = match store {
            None => ("read_write", "counts", one),
            Some(Outgoing::Second) => ("read_write", "sorted", one),
            Some(_) => ("read_write", "sorted", pair),
        };
        let starts = (store.is_some() && bits > 0).then_some(("read", "starts", one));
        let leads = (store == Some(Outgoing::Led)).then_some(("read", "leads", one));
        let bound = [Some(("read", "items", items)), starts, leads, Some(result)];
        let mut text = String::new();
        for (number, (access, name, of)) in bound.into_iter().flatten().enumerate() {
            put!(text, "@group(0) @binding({number}) var<storage, {access}> {name}: array<{of}>;");
        }
        if bits > 0 {
            text += &consts([("DIGITS", 1 << bits), ("lanes", GROUP)]);
        }
        if let Incoming::Words(by) = load {
            put!(text, "\nfn key(word: u32) -> u32 {{\n    return {};\n}}", by.key());
        }
        let [word, item] = load.lines();
        let lines = [("operands", &*text), ("word", word), ("item", item)];
        let stored = store.map(|store| ("put", store.line()));
        let lines = lines.into_iter().chain(stored).map(|(name, text)| Region::text(name, text));
        lines.chain(fours.then(|| Region::file("four", load.four()))).collect()
    }
}

/// Lanes of a workgroup that does a chunk.
const GROUP: u32 = Target::Gpu.workgroup();

/// The longest row that is selected from: an invocation of a CPU adapter loops 2 * 16 * 1024 and
/// 2 * 4096 times.
pub const SELECTED_MAX: usize = 1 << 15;
/// The first of a row of keys.
pub const SELECT: Entry = Entry::own("select", source!("sort/select.wgsl"), CORE_TRIPS)
    .with(&[TWO_WORDS])
    .told(SelectJob::MEMBERS);
const TWO_WORDS: Source = source!("sort/two_words.wgsl");

/// How `select` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Selecting {
    /// Whether keys are of two words.
    doubles: bool,
    lanes: u32,
}

impl Writes for Selecting {
    fn regions(&self) -> Vec<Region> {
        let lanes = Region::text("lanes", format!("const lanes = {}u;\n", self.lanes));
        let doubles = self.doubles.then(|| Region::file("keys", TWO_WORDS));
        [lanes].into_iter().chain(doubles).collect()
    }
}

/// `select` of keys of one word, or of two.
#[must_use]
pub fn select(doubles: bool, target: Target) -> Arc<Assembled> {
    kept::worded(&SELECT, &Selecting { doubles, lanes: target.workgroup() }, &[], 0, target)
}
