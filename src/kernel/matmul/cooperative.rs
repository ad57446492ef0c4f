//! Products by cooperative matrices: squares of f16 (or f32) that a subgroup multiplies as one,
//! summed in f32.
//!
//! The built-in table never chooses them: nothing here was measured on hardware, and some drivers
//! only pretend to have them. They are candidates of [`Device::tune`](crate::Device::tune), which
//! compares them with the oracle and times them before one may win.
//!
//! - wgpu calls them experimental, and a device may ask for them with a token that only an `unsafe`
//!   function gives: a user's, by [`Adapter::experimental`](crate::Adapter::experimental).
//! - naga writes them as SPIR-V and MSL; for HLSL and GLSL it has no way to.
//! - A subgroup has a size that the driver chooses within the adapter's range. A workgroup has as
//!   many invocations as its subgroups of the largest size, which the size in use divides, as
//!   Vulkan demands. If it is smaller there are more subgroups than multiply.
//! - Factors are what is stored: nothing is rounded on the way in. In which order, and in how many
//!   bits, a driver sums a square's products is its affair; chunks of 256 are added in f32.

use super::choice::{Because, Choice, Kernel};
use super::gpu::Room;
use crate::caps::{Caps, Feature};
use crate::dtype::DType;

/// What subgroups can multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Teams {
    /// Whether there are squares of 8 and of 16.
    sides: [bool; 2],
    /// The largest subgroup.
    size: u32,
}

impl Teams {
    /// For products of this dtype.
    pub(super) fn of(caps: &Caps, dtype: DType) -> Option<Self> {
        let features = [Feature::CooperativeMatrix, Feature::Subgroup, Feature::ShaderF16];
        // What is stored natively is what is multiplied; the kernel's text has f16 in any case.
        let possible = features.iter().all(|&feature| caps.has(feature));
        let has = |side| {
            let found = |c: &&crate::caps::CooperativeShape| c.side == side && c.factors == dtype;
            caps.cooperative.iter().any(|c| found(&c) && c.sums == DType::F32)
        };
        let sides = [8, 16].map(has);
        let size = u32::try_from(caps.limits.subgroup_max).ok()?;
        (possible && sides.contains(&true)).then_some(Self { sides, size })
    }
}

/// Side of a square; squares of a subgroup, down and across; subgroups, down and across; k of a
/// stage.
struct Rung(u32, [u32; 2], [u32; 2], u32);

const RUNGS: &[Rung] = &[
    Rung(16, [4, 2], [2, 4], 16), // 128 x 128
    Rung(16, [2, 2], [2, 2], 32), // 64 x 64
    Rung(16, [2, 2], [1, 1], 16), // 32 x 32
    Rung(8, [4, 4], [2, 2], 16),  // 64 x 64
    Rung(8, [2, 2], [2, 2], 16),  // 32 x 32
    Rung(8, [2, 2], [1, 1], 16),  // 16 x 16
];

impl Rung {
    const fn choice(&self, team: u32) -> Choice {
        let Self(side, squares, [down, across], depth) = *self;
        let kernel = Kernel::Cooperative { side, down, across, depth };
        let (rows, quads) = (squares[0] * side, squares[1] * side / 4);
        let (lanes, because) = (team * down * across, Because::Forced);
        Choice { kernel, rows, quads, lanes, passes: 1, because }
    }
}

/// Those that there is room for.
pub(super) fn choices(room: &Room) -> impl Iterator<Item = Choice> {
    let all = room.teams.into_iter().flat_map(|teams| RUNGS.iter().map(move |r| (teams, r)));
    let has = |(teams, rung): &(Teams, &Rung)| teams.sides[usize::from(rung.0 == 16)];
    let each = all.filter(has).map(|(teams, rung)| rung.choice(teams.size));
    each.filter(|choice| room.takes(choice))
}

/// Whether it is one for subgroups of some size.
pub(super) fn has(choice: &Choice) -> bool {
    let Kernel::Cooperative { down, across, .. } = choice.kernel else { return false };
    let of = |c: &Choice| (c.kernel, c.rows, c.quads, c.lanes);
    let team = choice.lanes / (down * across).max(1);
    RUNGS.iter().any(|rung| of(&rung.choice(team)) == of(choice))
}

/// Whether a choice can be run here, if it is one of these: a tuned one may come from a device that
/// was allowed more.
pub(super) fn runs_on(room: Option<&Room>, choice: &Choice) -> bool {
    let Kernel::Cooperative { side, down, across, .. } = choice.kernel else { return true };
    let teams = room.filter(|room| room.takes(choice)).and_then(|room| room.teams);
    let enough = |size| choice.lanes == size * down * across;
    teams.is_some_and(|teams| enough(teams.size) && teams.sides[usize::from(side == 16)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    fn names(caps: &Caps, dtype: DType) -> Vec<String> {
        let text = |choice: Choice| choice.text();
        choices(&Room::of(caps, dtype)).map(text).collect()
    }

    #[test]
    fn only_who_may_gets_them() {
        let plain = fixtures::nvidia_vulkan();
        assert_eq!(names(&plain, DType::F16), Vec::<String>::new(), "nobody has allowed it");
        let mut caps = plain;
        caps.features = caps.features.with(Feature::CooperativeMatrix);
        assert_eq!(
            names(&caps, DType::F16),
            [
                "cooperative 16 2x4 deep 16 sums 64x32 lanes 256 passes 1",
                "cooperative 16 2x2 deep 32 sums 32x32 lanes 128 passes 1",
                "cooperative 16 1x1 deep 16 sums 32x32 lanes 32 passes 1",
            ]
        );
        for dtype in [DType::F32, DType::Bf16, DType::I8] {
            assert_eq!(names(&caps, dtype), Vec::<String>::new(), "{dtype}");
        }
        let without = caps.clone().without(Feature::CooperativeMatrix);
        assert_eq!(names(&without, DType::F16), Vec::<String>::new(), "a downgrade");
        let room = Room::of(&caps, DType::F16);
        let choice = choices(&room).next().expect("there are three");
        assert!(runs_on(Some(&room), &choice), "where it was tuned");
        assert!(!runs_on(Some(&Room::of(&without, DType::F16)), &choice), "elsewhere");
    }

    /// Whole squares in a stage, rows of it and the tiles at 16 bytes.
    #[test]
    fn every_tile_is_one_that_the_shader_takes() {
        for rung in RUNGS {
            let Rung(side, _, _, depth) = *rung;
            let [rows, columns] = rung.choice(32).tile();
            assert!(depth.is_multiple_of(side) && 64 % (depth / 4) == 0, "{depth} of {side}");
            assert!(rows.is_multiple_of(8) && columns.is_multiple_of(8), "{rows} x {columns}");
            assert!(has(&rung.choice(8)), "known by its text");
        }
    }
}
