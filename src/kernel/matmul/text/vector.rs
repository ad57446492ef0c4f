//! The text of a product of a few rows: how a workgroup's lanes stand, and how their sums are put
//! together.

use super::job::MatmulJob;
use super::tile::{Factors, K_MAX, Tile};
use crate::dtype::DType;
use crate::wgsl::lines::consts;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region};

/// The kernel. Its trips: quads of k and chunks of 256, by at least two lanes; batch dimensions;
/// putting the lanes together.
pub const VECTOR: Entry =
    Entry::new("matmul_vector", source!("matmul_vector.wgsl"), K_MAX / 8 + K_MAX / 256 + 8 + 256)
        .clearing()
        .told(MatmulJob::MEMBERS);

/// A kernel for a few rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vector {
    /// What one invocation sums. Ragged if k ends inside a quad.
    pub tile: Tile,
    /// Invocations.
    pub lanes: u32,
    /// Invocations along the columns; the others, a power of two, stand along k.
    pub across: u32,
    /// Whether neighbouring lanes stand along k.
    pub near_k: bool,
    /// Whether lanes are put together by subgroups, of whatever size: where all stand along k.
    pub subgroups: bool,
    /// Whether the subgroup is the workgroup.
    pub alone: bool,
    /// Whether a lane sums more of k than a chunk.
    pub deep: bool,
}

impl Vector {
    /// The regions of `matmul_vector.wgsl` that sum in the compute type of `dtype`.
    #[must_use]
    pub fn regions(&self, dtype: DType) -> Vec<Region> {
        let Self { tile, lanes, across, near_k, .. } = *self;
        let place = match near_k {
            true => "return vec2<u32>(lane / down, lane % down);",
            false => "return vec2<u32>(lane % across, lane / across);",
        };
        let together = match self.subgroups {
            true => Region::text("together", self.by_subgroups()).needing(Needs::SUBGROUPS),
            false => Region::text("together", self.by_tree()),
        };
        let arguments = if self.subgroups && !self.alone { SUBGROUP } else { "" };
        let store = tile.each(|r, q| {
            format!("product_store(group.z, row + {r}u, column + {}u, t{r}_{q});", 4 * q)
        });
        // A single chunk needs no sums beside the totals, which would take twice the registers, and
        // integers, which wrap, need none. Several quads that are loaded at once - bytes, or on a
        // CPU - always have them.
        let (clear, add, sum) = match self.deep && dtype.is_float() || tile.packed.is_some() {
            true => (
                tile.each(|r, q| format!("var s{r}_{q} = Quad();")),
                tile.each(|r, q| format!("t{r}_{q} += s{r}_{q};")),
                's',
            ),
            false => (String::new(), String::new(), 't'),
        };
        let step = |r, q, terms: &[Factors]| format!("{sum}{r}_{q} += {};", Factors::total(terms));
        vec![
            Region::text("types", tile.types(dtype)),
            Region::text("batch", tile.batch()),
            Region::text("places", tile.places()),
            Region::text("sums", tile.each(|r, q| format!("var t{r}_{q} = Quad();"))),
            Region::text("clear", clear),
            Region::text("step", tile.step(step)).needing(tile.checks()),
            Region::text("add", add),
            Region::text("team", consts([("lanes", lanes), ("across", across)])),
            Region::text("place", place),
            Region::text("arguments", arguments),
            together,
            Region::text("store", store),
        ]
    }

    /// A line for each sum, `i` being its number.
    fn each(&self, line: impl Fn(u32, u32, u32) -> String) -> String {
        self.tile.each(|r, q| line(r * self.tile.quads + q, r, q))
    }

    fn by_tree(&self) -> String {
        let mut text = "let home = own.y * across + own.x;\n".to_owned();
        text += &self.each(|i, r, q| format!("sh_sums[home + {i}u * lanes] = t{r}_{q};"));
        text += "for (var reach = down / 2u; reach > 0u; reach /= 2u) {\n    workgroupBarrier();\n";
        text += "    if own.y < reach {\n        let other = home + reach * across;\n";
        text += &self.each(|i, _, _| {
            let at = format!("{i}u * lanes");
            format!("        sh_sums[home + {at}] += sh_sums[other + {at}];")
        });
        text += "    }\n}\nif own.y > 0u {\n    return;\n}\n";
        text + &self.each(|i, r, q| format!("t{r}_{q} = sh_sums[home + {i}u * lanes];"))
    }

    /// By subgroups first; then one lane adds up what these come to.
    fn by_subgroups(&self) -> String {
        let mut text = self.each(|_, r, q| format!("t{r}_{q} = subgroupAdd(t{r}_{q});"));
        if self.alone {
            return text + "if lane > 0u {\n    return;\n}\n";
        }
        text += "if subgroup_lane == 0u {\n";
        text += &self.each(|i, r, q| format!("    sh_sums[subgroup + {i}u * lanes] = t{r}_{q};"));
        text += "}\nworkgroupBarrier();\nif lane > 0u {\n    return;\n}\n";
        text += &self.each(|i, r, q| format!("t{r}_{q} = sh_sums[{i}u * lanes];"));
        text += "for (var other = 1u; other < subgroups; other++) {\n";
        text += &self.each(|i, r, q| format!("    t{r}_{q} += sh_sums[other + {i}u * lanes];"));
        text + "}\n"
    }
}

const SUBGROUP: &str = "\
@builtin(subgroup_id) subgroup: u32,
@builtin(num_subgroups) subgroups: u32,
@builtin(subgroup_invocation_id) subgroup_lane: u32,
";
