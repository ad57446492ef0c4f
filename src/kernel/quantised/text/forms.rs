//! Where the bytes of each form of blocks lie, and how sixteen of them become quads of numbers.
//!
//! ```text
//! q8     two sixteens to a block, a number to a byte
//! q4     one; its low halves are the first four quads, its high halves the others
//! q4_k   two sixteens to two blocks; their low halves are the first block, their high halves the
//!        second; a sum is of weights, not of values that a scale is still to multiply
//! ```

use crate::host::blocks::{BLOCK, Blocks, Share};
use crate::wgsl::lines::{lane, put};

/// Words of 32 bits in sixteen bytes.
const WORDS: u32 = 4;

/// Sixteen bytes of a column's weights, as one load.
pub(super) struct Sixteen {
    /// Which of the column, or of all that are staged.
    pub(super) place: String,
    pub(super) quads: Vec<Quad>,
}

/// A quad of weights.
pub(super) struct Quad {
    /// Its word.
    word: u32,
    /// By how many bits it lies above the lowest of its bytes.
    shift: String,
    /// Its place in a block.
    pub(super) of_block: u32,
    /// The quad of X that it is multiplied by, counted from a row's first.
    pub(super) x: String,
    /// Which of the blocks of a trip it belongs to.
    block: u32,
}

/// Sixteen bytes in a block of 32.
pub(in super::super) const fn loads(form: Blocks) -> u32 {
    (Share::Values.bytes(form) * BLOCK / form.weights() / 16) as u32
}

/// Four quads, a word each; of which a trip has so many.
fn four(shift: &'static str, first: u32, trip: u32) -> impl Iterator<Item = Quad> {
    (0..WORDS).map(move |word| {
        let of_block = first + word;
        let x = format!("{trip}u * b + {of_block}u");
        Quad { word, shift: shift.into(), of_block, x, block: 0 }
    })
}

/// Four quads of a block of two whose halves sixteen bytes are.
fn four_of(block: u32) -> impl Iterator<Item = Quad> {
    (0..WORDS).map(move |word| {
        let x = format!("16u * (b >> 1u) + 4u * (b & 1u) + {}u", 2 * WORDS * block + word);
        Quad { word, shift: format!("{}u", 4 * block), of_block: word, x, block }
    })
}

impl Sixteen {
    /// Those of block `b` of a column.
    pub(super) fn of_block(form: Blocks) -> Vec<Self> {
        let two = |place: &str, shift| {
            let half = |half: u32| Self {
                place: format!("{place} + {half}u"),
                quads: four(shift, WORDS * half, 2 * WORDS).collect(),
            };
            vec![half(0), half(1)]
        };
        match form {
            Blocks::Q8 => two("2u * b", "0u"),
            Blocks::Q4 => vec![Self::alone(form)],
            Blocks::Q4K => two("(b & 0xfffffffeu)", "4u * (b & 1u)"),
        }
    }

    /// Number `b` of a column, for a lane that takes no other in a trip.
    pub(super) fn alone(form: Blocks) -> Self {
        let place = "b".into();
        match form {
            Blocks::Q8 => Self { place, quads: four("0u", 0, WORDS).collect() },
            Blocks::Q4 => {
                let low = four("0u", 0, 2 * WORDS);
                Self { place, quads: low.chain(four("4u", WORDS, 2 * WORDS)).collect() }
            }
            Blocks::Q4K => Self { place, quads: four_of(0).chain(four_of(1)).collect() },
        }
    }

    /// What has half a block: number `half_block` of block `b`, where `scale` is the first block of
    /// a column.
    pub(super) fn of_half(form: Blocks) -> Self {
        let (place, shift) = match form {
            Blocks::Q8 => ("(scale + b) * 2u + half_block", "0u"),
            Blocks::Q4 => ("scale + b", "4u * half_block"),
            Blocks::Q4K => ("scale + (b & 0xfffffffeu) + half_block", "4u * (b & 1u)"),
        };
        Self { place: place.into(), quads: four(shift, 0, 2 * WORDS).collect() }
    }
}

/// What a quad of sixteen bytes says, before any scale.
fn values(form: Blocks, sixteen: &str, quad: &Quad) -> String {
    let Quad { word, shift, .. } = quad;
    let word = format!("{sixteen}.{}", lane(*word));
    match form {
        Blocks::Q8 => format!("vec4<f32>(decode_i8({word}))"),
        Blocks::Q4 => format!("quad_q4({word}, {shift})"),
        Blocks::Q4K => format!("nibbles({word}, {shift})"),
    }
}

/// A quad of numbers of column `c`, from load `load`: values that the scale is still to multiply,
/// or weights.
pub(super) fn numbers(form: Blocks, (load, c): (usize, u32), quad: &Quad) -> String {
    let values = values(form, &format!("w{load}_{c}"), quad);
    match (form, quad.block) {
        (Blocks::Q8 | Blocks::Q4, _) => values,
        (Blocks::Q4K, block) => format!("m{block}_{c}.x * {values} - m{block}_{c}.y"),
    }
}

/// A quad of weights from sixteen bytes `w`, whose scale is `s`.
pub(super) fn weights(form: Blocks, quad: &Quad) -> String {
    let values = values(form, "w", quad);
    match form {
        Blocks::Q8 | Blocks::Q4 => format!("s * {values}"),
        Blocks::Q4K => format!("s.x * {values} - s.y"),
    }
}

/// The scale of block `b` of one column.
pub(super) const fn scale(form: Blocks) -> &'static str {
    match form {
        Blocks::Q8 | Blocks::Q4 => "head_2(scale + b).x",
        Blocks::Q4K => "scale_q4_k(head_2((scale + b) >> 3u), b & 7u)",
    }
}

/// What a trip needs before its numbers: scales and minima of the blocks of four columns, which are
/// block `b` or the two that sixteen bytes are of.
pub(super) fn before(form: Blocks, two: bool) -> String {
    let mut text = String::new();
    for c in (0..4).filter(|_| form == Blocks::Q4K) {
        put!(text, "let h_{c} = head_2((scale.{} + b) >> 3u);", lane(c));
        let blocks: &[(u32, &str)] =
            if two { &[(0, "b & 6u"), (1, "(b & 6u) + 1u")] } else { &[(0, "b & 7u")] };
        for (block, at) in blocks {
            put!(text, "let m{block}_{c} = scale_q4_k(h_{c}, {at});");
        }
    }
    text
}

/// The sums of a trip by the scales of its block, of four columns; and what says those.
pub(super) fn scaled(form: Blocks, block: &str) -> [String; 2] {
    if form == Blocks::Q4K {
        return [String::new(), String::new()];
    }
    let scale = |c: u32| format!("head_2(scale.{} + {block}).x", lane(c));
    let four = [0, 1, 2, 3].map(scale).join(", ");
    [format!("let scales = vec4<f32>({four});\n"), "scales * ".into()]
}
