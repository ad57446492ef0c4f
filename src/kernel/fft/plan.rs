//! Passes: how rows of any length become lines that fit into workgroup memory.
//!
//! ```text
//! 2^a 3^b 5^c 7^d      as many passes as there have to be, of lines of about the same length
//! any other length     Bluestein: a convolution with a chirp, by transforms of a length at least
//!                      twice as long
//! reals                two to a number, if their count is even
//! ```

use super::text::{FftJob, FftLoad, FftPass, FftStore, RADICES, Spread, TILE};
use crate::count::{word, words, wrapped};
use crate::error::Result;

/// What is transformed into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fourier {
    /// Complex numbers.
    Forward,
    Back,
    /// Reals into the half of their spectrum.
    Reals,
    /// The half of a spectrum into reals.
    RealsBack,
}

impl Fourier {
    pub(crate) const ALL: [Self; 4] = [Self::Forward, Self::Back, Self::Reals, Self::RealsBack];

    /// Whether its input is complex, and its result.
    pub(crate) const fn complex(self) -> [bool; 2] {
        match self {
            Self::Forward | Self::Back => [true; 2],
            Self::Reals => [false, true],
            Self::RealsBack => [true, false],
        }
    }

    pub(super) const fn is_back(self) -> bool {
        matches!(self, Self::Back | Self::RealsBack)
    }

    /// Numbers of a row of its result, of so many that are transformed.
    pub(crate) const fn kept(self, size: usize) -> usize {
        match self {
            Self::Reals => size / 2 + 1,
            _ => size,
        }
    }

    /// Numbers of a row of its input, of so many that are transformed.
    pub(crate) const fn taken(self, size: usize) -> usize {
        match self {
            Self::RealsBack => size / 2 + 1,
            _ => size,
        }
    }
}

/// Where numbers lie while a transform is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shelf {
    Input,
    /// Memory for what lies between passes.
    Between(usize),
    Result,
}

/// One dispatch.
#[derive(Clone, Debug)]
pub(super) struct FftStage {
    pub(super) pass: FftPass,
    pub(super) job: FftJob,
    pub(super) groups: u32,
    pub(super) reads: Vec<Shelf>,
    pub(super) writes: Shelf,
}

/// All dispatches, in order, and the floats of each memory between them.
#[derive(Clone, Debug, Default)]
pub(super) struct FftPlan {
    pub(super) stages: Vec<FftStage>,
    pub(super) between: Vec<usize>,
}

/// The longest line of one of several passes: four lines of a tile follow each other in memory.
const LINE: usize = TILE / 4;

/// The prime factors of a length, the largest first; `None` if there is one above 7.
fn primes(mut length: usize) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for prime in [7, 5, 3, 2] {
        while length.is_multiple_of(prime) {
            length /= prime;
            all.push(prime);
        }
    }
    (length == 1).then_some(all)
}

/// The lengths of the lines of all passes, of a length of few factors.
fn lines(length: usize) -> Vec<usize> {
    if length <= TILE {
        return vec![length];
    }
    let primes = primes(length).unwrap_or_default();
    let mut passes = 2;
    loop {
        let mut all = vec![1; passes];
        for prime in &primes {
            if let Some(least) = all.iter_mut().min() {
                *least *= prime;
            }
        }
        if all.iter().all(|&line| line <= LINE) {
            all.sort_unstable_by(|a, b| b.cmp(a));
            return all;
        }
        passes += 1;
    }
}

/// A power of two, or three or five times one, that is at least this.
fn smooth(least: usize) -> usize {
    let by = |odd: usize| odd * least.div_ceil(odd).next_power_of_two();
    [1, 3, 5].map(by).into_iter().fold(usize::MAX, usize::min)
}

/// Floats that a transform of this size has in one piece of memory, for each row, at most.
pub(crate) fn floats(of: Fourier, size: usize) -> usize {
    let (_, length) = halved(of, size);
    let between = if primes(length).is_some() { length } else { smooth(2 * length - 1) };
    let [is_complex, yields_complex] = of.complex();
    let parts = |is_complex| if is_complex { 2 } else { 1 };
    let ends = [of.taken(size) * parts(is_complex), of.kept(size) * parts(yields_complex)];
    (2 * between).max(ends[0]).max(ends[1])
}

/// Whether reals are taken two to a number, and how many numbers there are then.
const fn halved(of: Fourier, size: usize) -> (bool, usize) {
    match of {
        Fourier::Reals | Fourier::RealsBack if size.is_multiple_of(2) => (true, size / 2),
        _ => (false, size),
    }
}

/// How a pass reads: what is done to numbers as they arrive, and where they lie.
#[derive(Clone, Copy, Debug)]
struct FftFrom {
    arrival: FftLoad,
    chirped: bool,
    swapped: bool,
    /// From row to row, number to number, part to part; and the parts of a row.
    strides: [u32; 4],
}

/// How a pass writes: into which memory, and what is done to numbers as they leave.
#[derive(Clone, Copy, Debug)]
struct FftTo {
    shelf: Shelf,
    departure: FftStore,
    leaves: bool,
    swaps: bool,
    kept: usize,
    scale: f64,
}

/// How a pass is cut: the numbers of a line lie `across` apart, and passes before it have done
/// lines of `done` numbers. A run is `run` lines that follow each other: a row has `runs` of these,
/// and there are `all` of them.
#[derive(Clone, Copy, Debug)]
struct FftCut {
    line: usize,
    across: usize,
    done: usize,
    run: usize,
    runs: usize,
    all: usize,
}

/// Rows of a plan in the making.
struct Planning {
    rows: usize,
    /// Numbers of a row.
    size: usize,
    lanes: u32,
    plan: FftPlan,
}

impl FftFrom {
    /// Numbers that lie dense, as a pass stores them.
    fn dense(length: usize) -> Result<Self> {
        let [row, parts] = words([2 * length; 2])?;
        let (arrival, strides) = (FftLoad::Pairs, [row, 2, 1, parts]);
        Ok(Self { arrival, chirped: false, swapped: false, strides })
    }
}

impl FftTo {
    const fn plain(shelf: Shelf, kept: usize) -> Self {
        let departure = FftStore::Pairs;
        Self { shelf, departure, leaves: false, swaps: false, kept, scale: 1.0 }
    }
}

impl FftPlan {
    /// That of rows of an input with these strides - from row to row, number to number and part to
    /// part - and so many numbers in each, by workgroups of so many invocations.
    pub(super) fn of(
        of: Fourier,
        [rows, size]: [usize; 2],
        (strides, given): ([isize; 3], usize),
        lanes: u32,
    ) -> Result<Self> {
        let [is_complex, yields_complex] = of.complex();
        let (pairs, length) = halved(of, size);
        let [row, number, part] = strides.map(wrapped);
        let strides = match (is_complex, pairs) {
            (true, _) => [row, number, part, word(2 * given)?],
            (false, true) => [row, number.wrapping_mul(2), number, word(given)?],
            (false, false) => [row, number, 0, word(given)?],
        };
        let arrival = match (of, pairs) {
            (Fourier::RealsBack, true) => FftLoad::Halved,
            (Fourier::RealsBack, false) => FftLoad::Mirrored,
            (Fourier::Reals, false) => FftLoad::Reals,
            _ => FftLoad::Pairs,
        };
        let departure = match (of, pairs) {
            (Fourier::Reals, true) => FftStore::Halves,
            _ if yields_complex || pairs => FftStore::Pairs,
            _ => FftStore::Reals,
        };
        let back = of.is_back();
        let source = FftFrom { arrival, chirped: false, swapped: back, strides };
        let kept = match departure {
            FftStore::Halves => length + 1,
            FftStore::Pairs if pairs => length,
            _ => of.kept(size),
        };
        let scale = if back { 1.0 / size as f64 } else { 1.0 };
        let sink = FftTo { departure, swaps: back, scale, ..FftTo::plain(Shelf::Result, kept) };
        let mut planning = Planning { rows, size: length, lanes, plan: Self::default() };
        match primes(length) {
            Some(_) => planning.transformed(rows, length, (source, sink), &[Shelf::Input])?,
            None => planning.convolved(source, sink)?,
        }
        Ok(planning.plan)
    }
}

impl Planning {
    /// Memory for so many numbers.
    fn shelf(&mut self, numbers: usize) -> Shelf {
        self.plan.between.push(2 * numbers);
        Shelf::Between(self.plan.between.len() - 1)
    }

    /// Bluestein's way: `jk` is half of `j^2 + k^2 - (k - j)^2`.
    fn convolved(&mut self, source: FftFrom, sink: FftTo) -> Result<()> {
        let length = smooth(2 * self.size - 1);
        let filter = self.shelf(length);
        let chirps = FftFrom {
            arrival: FftLoad::Chirps,
            strides: [0, 0, 0, word(length)?],
            ..FftFrom::dense(length)?
        };
        self.transformed(1, length, (chirps, FftTo::plain(filter, length)), &[])?;
        let spectra = self.shelf(self.rows * length);
        let chirped = FftFrom { chirped: true, ..source };
        let ends = (chirped, FftTo::plain(spectra, length));
        self.transformed(self.rows, length, ends, &[Shelf::Input])?;
        let filtered =
            FftFrom { arrival: FftLoad::Filtered, swapped: true, ..FftFrom::dense(length)? };
        let sink = FftTo { leaves: true, scale: sink.scale / length as f64, ..sink };
        self.transformed(self.rows, length, (filtered, sink), &[spectra, filter])
    }

    /// Rows of numbers of few factors, in as many passes as that takes.
    fn transformed(
        &mut self,
        rows: usize,
        length: usize,
        (source, sink): (FftFrom, FftTo),
        reads: &[Shelf],
    ) -> Result<()> {
        let lines = lines(length);
        let is_apart = sink.departure == FftStore::Halves && (lines.len() > 1 || sink.leaves);
        let numbers = if sink.leaves { self.size } else { length };
        let last = match is_apart {
            true => FftTo {
                shelf: self.shelf(rows * numbers),
                departure: FftStore::Pairs,
                kept: numbers,
                ..sink
            },
            false => sink,
        };
        let mut done = 1;
        let (mut from, mut reads) = (source, reads.to_vec());
        for (i, &line) in lines.iter().enumerate() {
            let is_last = i + 1 == lines.len();
            let to = match is_last {
                true => last,
                false => FftTo::plain(self.shelf(rows * length), length),
            };
            let across = length / line;
            let (spread, run, runs) = match (lines.len(), done) {
                (1, _) => (Spread::Whole, rows, 1),
                (_, 1) => (Spread::First, across, 1),
                _ => (Spread::Later, done, across / done),
            };
            let all = if spread == Spread::Whole { 1 } else { rows * runs };
            let cut = FftCut { line, across, done, run, runs, all };
            self.stage(cut, spread, (from, to), reads)?;
            reads = vec![to.shelf];
            from = FftFrom::dense(length)?;
            done *= line;
        }
        if is_apart {
            let from = FftFrom { arrival: FftLoad::Parted, ..FftFrom::dense(numbers)? };
            let to = FftTo::plain(sink.shelf, sink.kept);
            let cut = FftCut { line: 1, across: 1, done: 1, run: sink.kept, runs: 1, all: rows };
            self.stage(cut, Spread::First, (from, to), reads)?;
        }
        Ok(())
    }

    /// Adds a pass.
    fn stage(
        &mut self,
        FftCut { line, across, done, run, runs, all }: FftCut,
        spread: Spread,
        (source, sink): (FftFrom, FftTo),
        reads: Vec<Shelf>,
    ) -> Result<()> {
        let most = (TILE / line).ilog2().min(run.next_power_of_two().ilog2());
        let tiles = run.div_ceil(1 << most);
        let steps = steps(line);
        let [sevens, fives, threes, fours, twos] = words(steps)?;
        let pass = FftPass {
            arrival: source.arrival,
            chirped: source.chirped,
            spread,
            radices: steps.map(|count| count > 0),
            leaves: sink.leaves,
            departure: sink.departure,
            lanes: self.lanes,
        };
        let [line_word, across, on] = words([line, across, done])?;
        let beside = if spread == Spread::Later { 1 } else { line_word };
        let [run, tiles_word, runs, all_word] = words([run, tiles, runs, all])?;
        let job = FftJob {
            source: source.strides,
            line: [line_word, most, across, on],
            run: [run, tiles_word, runs, all_word],
            steps: [fours, twos, threes, fives],
            sevens,
            beside,
            size: word(self.size)?,
            kept: word(sink.kept)?,
            swapped: source.swapped,
            swaps: sink.swaps,
            scale: sink.scale as f32,
        };
        let groups = word(tiles * all)?;
        self.plan.stages.push(FftStage { pass, job, groups, reads, writes: sink.shelf });
        Ok(())
    }
}

/// How many steps of each radix a line takes.
fn steps(mut line: usize) -> [usize; 5] {
    RADICES.map(|radix| {
        let mut count = 0;
        while line.is_multiple_of(radix) {
            line /= radix;
            count += 1;
        }
        count
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of every row is loaded by one tile, and stored by one.
    #[test]
    fn lines_fit_and_cover_their_rows() {
        for size in (1..700).chain([1024, 1025, 4096, 4099, 65_536, 1 << 20, 823_543, 1 << 24]) {
            for of in Fourier::ALL {
                let plan = FftPlan::of(of, [3, size], ([1; 3], of.taken(size)), 8).expect("a plan");
                for stage in &plan.stages {
                    let place = format!("{size} {of:?}: {stage:?}");
                    let FftJob { line, run, .. } = stage.job;
                    assert!((line[0] << line[1]) as usize <= TILE, "{place}");
                    assert!(run[1] << line[1] >= run[0], "{place}");
                    assert_eq!(stage.groups, run[1] * run[3], "{place}");
                    let once = stage.pass.spread != Spread::Whole || run[3] == 1;
                    assert!(once, "{place}: the rows are tiled once");
                }
                assert_eq!(plan.stages.last().map(|stage| stage.writes), Some(Shelf::Result));
                assert!(plan.stages.len() <= 16, "{size} {of:?}: {} passes", plan.stages.len());
            }
        }
    }

    #[test]
    fn lengths_come_apart_into_lines() {
        assert_eq!(lines(1024), [1024]);
        assert_eq!(lines(2048), [64, 32]);
        assert_eq!(lines(1 << 19), [128, 64, 64]);
        assert_eq!(lines(7 * 7 * 7 * 7), [49, 49]);
        assert_eq!(lines(1 << 24), [256, 256, 256]);
        assert!(primes(4099).is_none() && primes(22).is_none());
        for least in 1..3000 {
            let length = smooth(least);
            assert!(length >= least && length < 2 * least && primes(length).is_some(), "{least}");
        }
    }
}
