//! Operands dense along k, read 32 bytes at a time: as four 64-bit integers, whose words are
//! decoded here. llvmpipe pays by the load and lane, whatever the width.

use super::{Tile, lane, put};
use crate::wgsl::form::Form;

/// Bytes of a load.
const BYTES: u32 = 32;

/// Quads of elements in a load.
#[must_use]
pub const fn quads_of(form: Form) -> u32 {
    BYTES / 4 / form.width()
}

/// Quad `i` of what was loaded under this name.
fn quad(form: Form, name: &str, i: u32) -> String {
    let bytes = 4 * form.width();
    let words = format!("words4({name}.{})", ["xy", "zw"][(i * bytes / 16) as usize % 2]);
    let words = match (bytes, i % 4) {
        (16, _) => format!("bitcast<{}>({words})", form.quad()),
        (8, i) => format!("{words}.{}", ["xy", "zw"][i as usize % 2]),
        (_, i) => format!("{words}.{}", lane(i)),
    };
    format!("decode_{}({words})", form.name())
}

impl Tile {
    /// Everything for as much of k as a load holds.
    pub(super) fn step_packed(&self, form: Form) -> String {
        let (mut text, loads) = (String::new(), quads_of(form));
        let mut load = |name: &str, from: String| {
            put(&mut text, format_args!("let {name} = {from};"));
            for i in 0..loads {
                put(&mut text, format_args!("let {name}_{i} = {};", quad(form, name, i)));
            }
        };
        for r in 0..self.rows {
            load(&format!("a{r}"), format!("head_0(pa{r} + k)"));
        }
        let mut sums = Vec::new();
        for c in 0..4 * self.quads {
            let name = format!("c{c}");
            load(&name, format!("head_1(pb{c} + k)"));
            sums.push(name);
        }
        for r in 0..self.rows {
            for (c, name) in (0..).zip(&sums) {
                let terms = (0..loads).flat_map(|i| (0..4).map(move |k| (i, lane(k))));
                let terms: String =
                    terms.map(|(i, x)| format!(" + a{r}_{i}.{x} * {name}_{i}.{x}")).collect();
                let sum = format!("s{r}_{}.{}", c / 4, lane(c));
                put(&mut text, format_args!("{sum} = {sum}{terms};"));
            }
        }
        text
    }
}
