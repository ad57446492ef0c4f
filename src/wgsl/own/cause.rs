//! What can be wrong with a kernel of the user's own, before it is given anything.

use crate::error::causes;
use crate::wgsl::scan::Spot;

/// What to do about what naga says.
const NAGA: &str =
    "this is WGSL's own rule: mend the text there; `wharf::custom` says what wharf adds to it";

causes! {
    pub(crate) enum OwnCause;

    /// What naga says.
    Wrong { name: String, spot: Spot, why: String }, Shader:
        ("{name}:{}:{}: {why}{}", spot.line, spot.column, spot.picture())
        help ("{NAGA}");
    /// What naga says, where it does not know the place.
    Somewhere { name: String, why: String }, Shader:
        ("{name}: {why}")
        help ("{NAGA}");
    /// What is wharf's own rule.
    Portable { name: String, spot: Spot, why: String }, Shader:
        ("{name}:{}:{}: {why}{}", spot.line, spot.column, spot.picture())
        help ("`wharf::custom::Kernel` says how arrays of `V` and operations of wharf's are used");
    NoEntry { name: String }, Shader:
        ("{name}: there is no compute entry point")
        help ("mark its function: `@compute @workgroup_size(64)`");
    Entries { name: String, entries: String }, Shader:
        ("{name}: several compute entry points: {entries}")
        help ("a kernel has one: put each into a text of its own");
    Binding { name: String, spot: Spot, binding: String, why: String }, Shader:
        ("{name}:{}:{}: binding {binding}: {why}{}", spot.line, spot.column, spot.picture())
        help ("a kernel takes `var<storage> x: array<f32>`, of f32, i32, u32, f16, f64, i64 or \
               u64, vec2 or vec4 of them, or atomics; and one `var<uniform>`");
    Endless { name: String, spot: Spot }, Shader:
        ("{name}:{}:{}: nothing ends this loop{}", spot.line, spot.column, spot.picture())
        help ("give it a `break`, a `return` or a condition: the device would be lost");
    Silent { name: String }, Shader:
        ("{name}: it writes nothing")
        help ("declare what it writes as `var<storage, read_write>`");
    Override { name: String, given: String, has: String }, Shader:
        ("{name}: there is no override {given:?}, {}",
         if has.is_empty() { "nor any other" } else { has })
        help ("declare it in the WGSL: `override N: u32 = 64;`");
}
