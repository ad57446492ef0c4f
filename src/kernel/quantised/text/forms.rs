//! Where the bytes of each form of blocks lie, and how sixteen of them become quads of numbers.
//!
//! ```text
//! q8     two sixteens to a block, a number to a byte
//! q4     one; its low halves are the first four quads, its high halves the others
//! q4_k   two sixteens to two blocks; their low halves are the first block, their high halves the
//!        second; a sum is of weights, not of values that a scale is still to multiply
//! others of 256 weights: two sixteens to a block, and two with its higher bits, by a table of
//!        where bits lie; a sum is of weights, too
//! ```
//!
//! A lane that shares its columns with others takes half of such a block at a time: all of it has
//! registers spilled on Intel's and Qualcomm's chips.

use crate::host::blocks::{BLOCK, BitPlane, Blocks, Share};
use crate::wgsl::lines::{lane, put};

/// Words of 32 bits in sixteen bytes.
const WORDS: u32 = 4;

/// Sixteen bytes of a column's weights, as one load.
pub(super) struct Sixteen {
    /// Which of the column, or of all that are staged.
    pub(super) place: String,
    /// Where their higher bits are, if they lie apart.
    pub(super) high: Option<String>,
    pub(super) quads: Vec<Quad>,
}

/// A quad of weights.
pub(super) struct Quad {
    /// Its word.
    word: u32,
    /// By how many bits it lies above the lowest of its bytes.
    shift: String,
    /// The same of its higher bits, if they lie apart.
    high: Option<String>,
    /// Its place in a block.
    pub(super) of_block: u32,
    /// The quad of X that it is multiplied by, counted from a row's first.
    pub(super) x: String,
    /// Which of the blocks of a trip it belongs to.
    block: u32,
}

/// Sixteen bytes in a block of 32, or loads of half of it where bits lie in several places.
pub(in super::super) const fn loads(form: Blocks) -> u32 {
    if is_split(form) {
        return 2;
    }
    (Share::Values.bytes(form) * BLOCK / form.weights() / 16) as u32
}

/// Whether the text of a form is made by the table of where bits lie.
pub(super) const fn is_split(form: Blocks) -> bool {
    matches!(form, Blocks::Q5K | Blocks::Q6K | Blocks::Q3K | Blocks::Q2K)
}

/// Where the sixteen bytes of a plane are that have half of block `b`, counted from the first of a
/// column whose large blocks have so many; and by how many bits its lie above the lowest.
fn in_plane(plane: BitPlane, sixteens: usize, b: &str, half: &str) -> [String; 2] {
    let BitPlane { first, width, bits, .. } = plane;
    let (wide, shifts) = (width / BLOCK, plane.shifts());
    let each = wide * shifts;
    let mut place = format!("{sixteens}u * ({b} >> 3u) + {}u + {half}", first / 16);
    if plane.groups > 1 {
        place += &format!(" + {}u * (({b} & 7u) / {each}u)", width / 16);
    }
    if wide > 1 {
        place += &format!(" + 2u * ({b} & {}u)", wide - 1);
    }
    [place, format!("{bits}u * (({b} & {}u) / {wide}u)", each - 1)]
}

/// Half of block `b`, where bits lie in several places: quads from this one on of so many to a
/// trip.
fn split(form: Blocks, [b, half]: [&str; 2], first: u32, trip: u32) -> Sixteen {
    let sixteens = Share::Values.bytes(form) / 16;
    let mut planes = form.planes().iter().map(|plane| in_plane(*plane, sixteens, b, half));
    let [place, shift] = planes.next().unwrap_or_default();
    let (high, above) = planes.next().map(|[place, shift]| (place, shift)).unzip();
    let quads = four(&shift, first, trip).map(|quad| Quad { high: above.clone(), ..quad });
    Sixteen { place, high, quads: quads.collect() }
}

/// Four quads, a word each; of which a trip has so many.
fn four(shift: &str, first: u32, trip: u32) -> impl Iterator<Item = Quad> {
    (0..WORDS).map(move |word| {
        let of_block = first + word;
        let x = format!("{trip}u * b + {of_block}u");
        Quad { word, shift: shift.into(), high: None, of_block, x, block: 0 }
    })
}

/// Four quads of a block of two whose halves sixteen bytes are.
fn four_of(block: u32) -> impl Iterator<Item = Quad> {
    (0..WORDS).map(move |word| {
        let x = format!("16u * (b >> 1u) + 4u * (b & 1u) + {}u", 2 * WORDS * block + word);
        Quad { word, shift: format!("{}u", 4 * block), high: None, of_block: word, x, block }
    })
}

impl Sixteen {
    /// Those of block `b` of a column.
    pub(super) fn of_block(form: Blocks) -> Vec<Self> {
        let two = |place: &str, shift| {
            let half = |half: u32| Self {
                place: format!("{place} + {half}u"),
                high: None,
                quads: four(shift, WORDS * half, 2 * WORDS).collect(),
            };
            vec![half(0), half(1)]
        };
        match form {
            Blocks::Q8 => two("2u * b", "0u"),
            Blocks::Q4K => two("(b & 0xfffffffeu)", "4u * (b & 1u)"),
            Blocks::Q4 => Self::alone(form),
            Blocks::Q5K | Blocks::Q6K | Blocks::Q3K | Blocks::Q2K => [0, 1]
                .map(|half| split(form, ["b", &format!("{half}u")], WORDS * half, 2 * WORDS))
                .into(),
        }
    }

    /// What a lane takes in trip `b` of a column that others have the other trips of.
    pub(super) fn alone(form: Blocks) -> Vec<Self> {
        let one = |quads: Vec<Quad>| vec![Self { place: "b".into(), high: None, quads }];
        match form {
            Blocks::Q8 => one(four("0u", 0, WORDS).collect()),
            Blocks::Q4 => {
                let low = four("0u", 0, 2 * WORDS);
                one(low.chain(four("4u", WORDS, 2 * WORDS)).collect())
            }
            Blocks::Q4K => one(four_of(0).chain(four_of(1)).collect()),
            Blocks::Q5K | Blocks::Q6K | Blocks::Q3K | Blocks::Q2K => {
                vec![split(form, ["(b >> 1u)", "(b & 1u)"], 0, WORDS)]
            }
        }
    }

    /// What has half a block: number `half_block` of block `b`, where `scale` is the first block of
    /// a column.
    pub(super) fn of_half(form: Blocks) -> Self {
        let (place, shift) = match form {
            Blocks::Q8 => ("(scale + b) * 2u + half_block", "0u"),
            Blocks::Q4 => ("scale + b", "4u * half_block"),
            Blocks::Q4K => ("scale + (b & 0xfffffffeu) + half_block", "4u * (b & 1u)"),
            Blocks::Q5K | Blocks::Q6K | Blocks::Q3K | Blocks::Q2K => {
                let half = split(form, ["b", "half_block"], 0, 2 * WORDS);
                return half.from(&column(form, "scale"));
            }
        };
        let quads = four(shift, 0, 2 * WORDS).collect();
        Self { place: place.into(), high: None, quads }
    }

    /// Counted from where a column begins.
    fn from(mut self, column: &str) -> Self {
        self.place = format!("{column} + {}", self.place);
        self.high = self.high.map(|place| format!("{column} + {place}"));
        self
    }
}

/// The first sixteen bytes of a column whose first block is `scale`.
pub(super) fn column(form: Blocks, scale: &str) -> String {
    let sixteens = Share::Values.bytes(form) / 16;
    if is_split(form) {
        format!("{sixteens}u * ({scale} / 8u)")
    } else {
        format!("{}u * {scale}", loads(form))
    }
}

/// What a quad of sixteen bytes `w`, and of their higher bits `g`, says before any scale; `load` is
/// which of them.
fn values(form: Blocks, load: &str, quad: &Quad) -> String {
    let Quad { word, shift, .. } = quad;
    let at = lane(*word);
    let word = format!("w{load}.{at}");
    match (form, form.planes(), &quad.high) {
        (Blocks::Q8, ..) => format!("vec4<f32>(decode_i8({word}))"),
        (Blocks::Q4, ..) => format!("quad_q4({word}, {shift})"),
        (Blocks::Q4K, ..) => format!("nibbles({word}, {shift})"),
        (_, [low, high, ..], Some(above)) => {
            let low_bits = masked(&word, shift, low.bits);
            let high_bits = masked(&format!("g{load}.{at}"), above, high.bits);
            format!("bytes_from({low_bits} | ({high_bits} << {}u), {})", low.bits, zero(form))
        }
        (_, planes, _) => {
            let bits = planes.first().map_or(8, |low| low.bits);
            format!("bytes_from({}, {})", masked(&word, shift, bits), zero(form))
        }
    }
}

/// So many bits of each byte of a word, above the lowest `shift`.
fn masked(word: &str, shift: &str, bits: usize) -> String {
    let mask = 0x0101_0101_u32 * ((1 << bits) - 1);
    format!("(({word} >> ({shift})) & {mask:#x}u)")
}

/// 2^23, and the value that is zero.
const fn zero(form: Blocks) -> &'static str {
    match form {
        Blocks::Q6K => "8388640.0",
        Blocks::Q3K => "8388612.0",
        _ => "8388608.0",
    }
}

/// Weights of the values of a quad, by what its block has in common, `m`: the scale and the minimum
/// of a block, or the scales of its two halves and their minima.
fn by_common(form: Blocks, m: &str, values: &str, [scale, minimum]: [&str; 2]) -> String {
    match form {
        Blocks::Q8 | Blocks::Q4 => format!("{m} * {values}"),
        Blocks::Q4K | Blocks::Q5K => format!("{m}.x * {values} - {m}.y"),
        Blocks::Q6K | Blocks::Q3K => format!("{scale} * {values}"),
        Blocks::Q2K => format!("{scale} * {values} - {minimum}"),
    }
}

/// A quad of numbers of column `c`, from load `load`: values that the scale is still to multiply,
/// or weights.
pub(super) fn numbers(form: Blocks, (load, c): (usize, u32), quad: &Quad) -> String {
    let values = values(form, &format!("{load}_{c}"), quad);
    let m = format!("m{}_{c}", quad.block);
    let half = (quad.of_block / WORDS) as usize;
    let [scale, minimum] = [["x", "y"], ["z", "w"]].map(|of| format!("{m}.{}", of[half]));
    match form {
        Blocks::Q8 | Blocks::Q4 => values,
        _ => by_common(form, &m, &values, [&scale, &minimum]),
    }
}

/// A quad of weights from sixteen bytes `w`, whose scale is `s`.
pub(super) fn weights(form: Blocks, quad: &Quad) -> String {
    let values = values(form, "", quad);
    let second = "half_block > 0u";
    let of = [format!("select(s.x, s.y, {second})"), format!("select(s.z, s.w, {second})")];
    by_common(form, "s", &values, [&of[0], &of[1]])
}

/// What block `b` has in common, in a column whose first block is `scale`.
pub(super) fn common(form: Blocks, scale: &str, b: &str) -> String {
    let large = format!("(({scale} + {b}) >> 3u)");
    let part = |all: u32, at: &str| format!("head_2({all}u * {large} + {at}).x");
    let own = format!("({b} & 7u)");
    match form {
        Blocks::Q8 | Blocks::Q4 => format!("head_2({scale} + {b}).x"),
        Blocks::Q4K | Blocks::Q5K => format!("scale_q4_k(head_2({large}), {own})"),
        Blocks::Q6K => format!("scale_q6_k({}, {})", part(9, &own), part(9, "8u")),
        Blocks::Q3K => {
            let low = part(7, &format!("({b} & 3u)"));
            let high = part(7, &format!("4u + ({b} & 1u)"));
            let factor = part(7, "6u");
            format!("scale_q3_k({low} >> ({b} & 4u), {high} >> ({b} & 6u), {factor})")
        }
        Blocks::Q2K => {
            let [both, scale, least] = [part(10, &own), part(10, "8u"), part(10, "9u")];
            format!("scale_q2_k({both}, {scale}, {least})")
        }
    }
}

/// What a trip needs before its numbers: scales and minima of the blocks of four columns, which are
/// block `b`, or the two that sixteen bytes are of where a lane takes those alone.
pub(super) fn before(form: Blocks, alone: bool) -> String {
    let mut text = String::new();
    if matches!(form, Blocks::Q8 | Blocks::Q4) {
        return text;
    }
    for c in 0..4 {
        let scale = format!("scale.{}", lane(c));
        if alone && form == Blocks::Q4K {
            put!(text, "let h_{c} = head_2(({scale} + b) >> 3u);");
            put!(text, "let m0_{c} = scale_q4_k(h_{c}, b & 6u);");
            put!(text, "let m1_{c} = scale_q4_k(h_{c}, (b & 6u) + 1u);");
        } else if alone {
            // Half a block: its own first.
            let all = common(form, &scale, "(b >> 1u)");
            let [same, other] = match form {
                Blocks::Q2K => ["xyzw", "yxwz"],
                _ => ["xy", "yx"],
            };
            if form == Blocks::Q5K {
                put!(text, "let m0_{c} = {all};");
            } else {
                put!(text, "let h_{c} = {all};");
                put!(text, "let m0_{c} = select(h_{c}.{same}, h_{c}.{other}, (b & 1u) > 0u);");
            }
        } else {
            put!(text, "let m0_{c} = {};", common(form, &scale, "b"));
        }
    }
    text
}

/// The sums of a trip by the scales of its block, of four columns; and what says those.
pub(super) fn scaled(form: Blocks, block: &str) -> [String; 2] {
    if !matches!(form, Blocks::Q8 | Blocks::Q4) {
        return [String::new(), String::new()];
    }
    let scale = |c: u32| format!("head_2(scale.{} + {block}).x", lane(c));
    let four = [0, 1, 2, 3].map(scale).join(", ");
    [format!("let scales = vec4<f32>({four});\n"), "scales * ".into()]
}
