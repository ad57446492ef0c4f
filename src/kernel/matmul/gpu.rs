//! The choice of a kernel for a product on a GPU: a table, and what a shape makes of it.
//!
//! Nothing here was measured on hardware yet: the rates are what counts of loads, sums and
//! registers lead to expect, in parts of what the largest tile reaches. They only have to put the
//! kernels in the right order; where one overtakes the next is a matter of a factor of two or so.
//!
//! - A workgroup's tile of r rows by c columns reads (r + c) / 2 r c elements per multiplication:
//!   that is why large tiles win, once there are enough of them for every core.
//! - A product of a few rows is as fast as B is read, whatever is done with it: each row more is
//!   free, until the large tiles read B less often.
//! - Without workgroup memory to speak of there are registers: lanes along the columns, every
//!   element of A loaded by all of them.
//! - Bytes that are dense along k on both sides are read sixteen to a load and multiplied by the
//!   language's `dot4I8Packed` and `dot4U8Packed`, by registers and for few rows; tiles in
//!   workgroup memory hold them widened.
//!
//! Cooperative matrices are no rung of this table but candidates of tuning: see
//! [`cooperative`](super::cooperative).

use super::choice::{Because, Choice, Kernel, Size};
use super::cooperative::{self, Teams};
use super::text::Along;
use crate::caps::{Caps, Feature};
use crate::dtype::DType;

/// A kernel with its rates where the shape fills it: for B dense along its columns, and along k.
struct Rung {
    kernel: Kernel,
    /// Rows and quads of columns that an invocation sums; invocations.
    sums: [u32; 2],
    lanes: u32,
    rates: [f64; 2],
}

const fn group(sums: [u32; 2], lanes: u32, across: u32, depth: u32, rate: f64) -> Rung {
    Rung { kernel: Kernel::Group { across, depth }, sums, lanes, rates: [rate; 2] }
}

const fn vector(rows: u32, lanes: u32, across: u32, rates: [f64; 2]) -> Rung {
    let kernel = Kernel::Vector { across, subgroups: false };
    Rung { kernel, sums: [rows, 1], lanes, rates }
}

const fn registers(sums: [u32; 2], rate: f64) -> Rung {
    Rung { kernel: Kernel::Registers, sums, lanes: 64, rates: [rate; 2] }
}

const GPU: &[Rung] = &[
    // Sums, lanes, lanes across, k of a stage.
    group([8, 2], 256, 16, 16, 1.0), // 128 x 128
    group([8, 2], 128, 8, 16, 0.92), // 128 x 64
    group([8, 2], 64, 8, 16, 0.85),  // 64 x 64
    group([8, 2], 64, 8, 8, 0.80),   // the same for elements of 8 bytes
    group([4, 1], 64, 8, 16, 0.45),  // 32 x 32
    group([4, 1], 64, 8, 8, 0.42),
    // Rows, lanes, lanes across.
    vector(4, 64, 1, [0.010, 0.110]),
    vector(2, 64, 1, [0.006, 0.060]),
    vector(1, 64, 1, [0.003, 0.032]),
    vector(4, 128, 16, [0.110, 0.020]),
    vector(2, 256, 16, [0.060, 0.010]),
    vector(1, 256, 16, [0.032, 0.005]),
    registers([8, 1], 0.100),
    registers([4, 1], 0.060),
    registers([1, 1], 0.008),
];

/// Workgroups of 256 invocations that keep every core busy to the end.
const GROUPS_WANTED: f64 = 128.0;
/// The shortest k that is worth a pass of its own, and how many passes are still worth adding.
const PASS_K_MIN: usize = 256;
const PASSES_MAX: usize = 16;

/// What a kernel may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    lanes_max: u64,
    bytes_max: u64,
    subgroups: bool,
    /// Bytes of what is summed.
    width: u64,
    /// Of factors of this dtype.
    pub(super) teams: Option<Teams>,
}

impl Room {
    /// An adapter that sums in the dtype of a result.
    pub(super) fn of(caps: &Caps, given: DType) -> Self {
        let limits = &caps.limits;
        let width = given.width().max(4) as u64;
        Self {
            lanes_max: limits.invocations_max.min(limits.group_x_max),
            bytes_max: limits.group_storage_bytes_max,
            // Of other widths they would be a capability of their own; browsers spell them
            // otherwise.
            subgroups: caps.has(Feature::Subgroup) && width == 4 && !cfg!(target_family = "wasm"),
            width,
            teams: Teams::of(caps, given),
        }
    }

    pub(super) fn takes(&self, choice: &Choice) -> bool {
        let bytes = u64::from(choice.quads_shared()) * 4 * self.width;
        u64::from(choice.lanes) <= self.lanes_max && bytes <= self.bytes_max
    }
}

/// The best kernel for a product, and what it is worth. `right` is the axis along which neighbours
/// in B lie.
pub(super) fn best(room: &Room, size: Size, right: Along) -> (Choice, f64) {
    let mut best = GPU[GPU.len() - 1].choice();
    let mut most = 0.0;
    for rung in GPU {
        let mut choice = rung.choice();
        if !room.takes(&choice) {
            continue;
        }
        let (used, groups) = choice.use_of(size);
        let groups = groups * f64::from(choice.lanes) / 256.0;
        choice.passes = passes(size.k, groups);
        let rate = rung.rates[usize::from(right == Along::K)];
        let used = used * (groups * choice.passes as f64 / GROUPS_WANTED).min(1.0);
        if rate * used > most {
            most = rate * used;
            choice.because = Because::Best { rate, used };
            best = choice;
        }
    }
    if let Kernel::Vector { across: 1, subgroups } = &mut best.kernel {
        *subgroups = room.subgroups;
    }
    (best, most)
}

/// Every kernel of the table that there is room for, with the passes that it would have.
pub(super) fn candidates(room: &Room, size: Size) -> Vec<Choice> {
    let mut all = Vec::new();
    for rung in GPU {
        let mut choice = rung.choice();
        if !room.takes(&choice) {
            continue;
        }
        choice.passes = passes(size.k, choice.use_of(size).1 * f64::from(choice.lanes) / 256.0);
        all.push(choice);
        if let Kernel::Vector { across: 1, .. } = choice.kernel
            && room.subgroups
        {
            let kernel = Kernel::Vector { across: 1, subgroups: true };
            all.push(Choice { kernel, ..choice });
        }
    }
    let by_teams = cooperative::choices(room).map(|choice| {
        let groups = choice.use_of(size).1 * f64::from(choice.lanes) / 256.0;
        Choice { passes: passes(size.k, groups), ..choice }
    });
    all.extend(by_teams);
    all
}

/// Whether it is a kernel of the table, however many passes it makes.
pub(super) fn has(choice: &Choice) -> bool {
    let by_tree = |kernel| match kernel {
        Kernel::Vector { across: 1, .. } => Kernel::Vector { across: 1, subgroups: false },
        _ => kernel,
    };
    let of = |c: &Choice| (by_tree(c.kernel), c.rows, c.quads, c.lanes);
    cooperative::has(choice) || GPU.iter().any(|rung| of(&rung.choice()) == of(choice))
}

/// Passes along a deep k, where there are too few workgroups for the cores.
fn passes(k: usize, groups: f64) -> usize {
    let missing = (GROUPS_WANTED / groups).floor().max(1.0) as usize;
    missing.min(k / PASS_K_MIN).clamp(1, PASSES_MAX)
}

impl Rung {
    const fn choice(&self) -> Choice {
        let Self { kernel, sums: [rows, quads], lanes, .. } = *self;
        Choice { kernel, rows, quads, lanes, passes: 1, because: Because::Forced }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every adapter has.
    const LEAST: Room =
        Room { lanes_max: 256, bytes_max: 16_384, subgroups: false, width: 4, teams: None };
    const DISCRETE: Room =
        Room { lanes_max: 1024, bytes_max: 32_768, subgroups: true, width: 4, teams: None };

    fn choice(room: &Room, [batch, m, n, k]: [usize; 4], right: Along) -> String {
        best(room, Size { batch, m, n, k }, right).0.to_string()
    }

    #[test]
    fn shapes_meet_the_kernels_made_for_them() {
        for (dims, right, want) in [
            (
                [1, 4096, 4096, 4096],
                Along::Outer,
                "workgroup tiles of 128 x 128 by 16, 256 lanes, 1",
            ),
            ([1, 512, 512, 512], Along::Outer, "workgroup tiles of "),
            ([64, 128, 128, 128], Along::K, "workgroup tiles of "),
            ([1000, 16, 16, 16], Along::Outer, "workgroup tiles of 32 x 32"),
            ([1, 1, 4096, 4096], Along::Outer, "1 x 64 in 16 parts, 256 lanes"),
            ([1, 1, 4096, 4096], Along::K, "1 x 4 in 64 parts, by subgroups, 64 lanes, 1"),
            ([1, 3, 4096, 4096], Along::K, "4 x 4 in 64 parts, by subgroups"),
            ([1, 64, 64, 1 << 16], Along::K, "4 x 4 in 64 parts, by subgroups, 64 lanes, 2"),
        ] {
            let got = choice(&DISCRETE, dims, right);
            assert!(got.starts_with(want), "{dims:?}: {got}, not {want}");
        }
    }

    #[test]
    fn lesser_machines_get_what_fits() {
        let tiny = Room { lanes_max: 64, bytes_max: 1024, ..LEAST };
        let got = choice(&tiny, [1, 4096, 4096, 4096], Along::Outer);
        assert!(got.starts_with("a tile of 8 x 4, 64 lanes"), "{got}");
        let wide = Room { width: 8, ..LEAST };
        let got = choice(&wide, [1, 4096, 4096, 4096], Along::Outer);
        assert!(got.starts_with("workgroup tiles of 64 x 64"), "{got}");
    }

    /// The swizzle of workgroup memory, and the shader's way to number lanes.
    #[test]
    fn every_tile_is_one_that_the_shaders_take() {
        for rung in GPU {
            let (lanes, [rows, quads]) = (rung.lanes, rung.sums);
            match rung.kernel {
                Kernel::Registers => {}
                Kernel::Group { across, depth } => {
                    let eights = across.is_multiple_of(8) && (lanes / across).is_multiple_of(8);
                    assert!(eights && rows.is_multiple_of(4) && quads > 0, "{:?}", rung.kernel);
                    assert!([8, 16, 32].contains(&depth), "{depth}");
                }
                Kernel::Vector { across, .. } => {
                    assert!((lanes / across).is_power_of_two(), "{:?}", rung.kernel);
                }
                Kernel::Cooperative { .. } => panic!("not of this table: {:?}", rung.kernel),
            }
            assert!(LEAST.takes(&rung.choice()), "{:?}", rung.kernel);
        }
    }
}
