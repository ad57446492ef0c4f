//! Operands that are dense along k, several quads to a load.

use super::tile::{Packed, Tile};
use crate::wgsl::form::Form;
use crate::wgsl::lines::{lane, put};

impl Packed {
    /// Declares the quads of what was loaded as `name`: `name_0`, `name_1`, ..
    fn names(self, name: &str) -> String {
        let Self::Wide(form) = self else { return String::new() };
        let each = |i| format!("let {name}_{i} = {};\n", quad(form, name, i));
        (0..self.quads()).map(each).collect()
    }

    /// The product of two loads.
    fn terms(self, a: &str, b: &str) -> String {
        let lanes = || (0..4).map(lane);
        match self {
            Self::Wide(_) => (0..self.quads())
                .flat_map(|i| lanes().map(move |x| format!(" + {a}_{i}.{x} * {b}_{i}.{x}")))
                .collect(),
            Self::Bytes { signed } => {
                let each = |x| dot(signed, &format!("{a}.{x}"), &format!("{b}.{x}"));
                lanes().map(|x| format!(" + {}", each(x))).collect()
            }
        }
    }
}

/// The products of two words of four bytes each, added up.
pub(super) fn dot(signed: bool, a: &str, b: &str) -> String {
    let function = if signed { "dot4I8Packed" } else { "dot4U8Packed" };
    format!("{function}({a}, {b})")
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
    pub(super) fn step_packed(&self, packed: Packed) -> String {
        let mut text = String::new();
        let mut load = |name: &str, from: String| {
            put!(text, "let {name} = {from};");
            text += &packed.names(name);
        };
        for r in 0..self.rows {
            load(&format!("a{r}"), format!("head_0(pa{r} + k)"));
        }
        for c in 0..4 * self.quads {
            load(&format!("c{c}"), format!("head_1(pb{c} + k)"));
        }
        for (r, c) in (0..self.rows).flat_map(|r| (0..4 * self.quads).map(move |c| (r, c))) {
            let terms = packed.terms(&format!("a{r}"), &format!("c{c}"));
            let sum = format!("s{r}_{}.{}", c / 4, lane(c));
            put!(text, "{sum} = {sum}{terms};");
        }
        text
    }
}
