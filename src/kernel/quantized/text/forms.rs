//! Where the bytes of each form of blocks lie, and how sixteen of them become quads of numbers.
//!
//! ```text
//! q8     two sixteens to a block, a number to a byte
//! q4 ..  q5_1: one; its low halves are the first four quads, its high halves the others, and a
//!        fifth bit lies with what the block has in common
//! q4_k   two sixteens to two blocks; their low halves are the first block, their high halves the
//!        second
//! others of 256 weights: two sixteens to a block, and two with its higher bits, by a table of
//!        where bits lie
//! ```
//!
//! Where blocks have one scale and nothing else, a sum is of values, which it is still to multiply;
//! or else of weights.
//!
//! A lane that shares its columns with others takes half of a large block at a time. With whole
//! blocks the compilers of Intel's and Qualcomm's chips spill registers.

use crate::host::blocks::{BLOCK, BitPlane, Blocks, ScaleSpec, Share};
use crate::wgsl::lines::{lane, put};

/// Words of 32 bits in sixteen bytes.
const WORDS: u32 = 4;

/// Sixteen bytes of a column's weights, as one load.
pub(super) struct Sixteen {
    /// Which of the column, or of all that are staged.
    pub(super) place: String,
    /// Where their higher bits are, if they lie apart.
    pub(super) above: Option<Above>,
    pub(super) quads: Vec<Quad>,
}

/// Where bits lie that sixteen bytes do not have.
pub(super) enum Above {
    /// In sixteen others.
    Sixteen(String),
    /// In a word of what block `b` has in common.
    Word,
}

impl Above {
    /// Its load, where `weight` and `scale` are the first of a column.
    pub(super) fn load(&self, form: Blocks, [weight, scale]: [&str; 2]) -> String {
        match self {
            Self::Sixteen(place) => format!("head_1({weight} + {place})"),
            Self::Word if form == Blocks::Q5_1 => {
                format!("own_words(head_2(({scale} + b) >> 1u), {scale} + b).y")
            }
            Self::Word => {
                let part = |i: u32| format!("head_2(3u * ({scale} + b) + {i}u).x");
                format!("({} | ({} << 16u))", part(1), part(2))
            }
        }
    }
}

/// A quad of weights.
pub(super) struct Quad {
    /// Its word.
    word: u32,
    /// By how many bits it lies above the lowest of its bytes.
    shift: String,
    /// By how many its higher bits do, if they lie apart.
    high: Option<String>,
    /// Its place in a block.
    pub(super) of_block: u32,
    /// The quad of X that it is multiplied by, counted from a row's first.
    pub(super) x: String,
    /// Which of the blocks of a trip it belongs to.
    block: u32,
}

/// How the bytes of a form lie.
enum Packing {
    /// A number to each.
    Bytes,
    /// Sixteen are a block.
    Halves,
    /// Sixteen are half of two blocks.
    Pairs,
    /// In several places, by the table of where bits lie.
    Split,
}

const fn packing(form: Blocks) -> Packing {
    match form {
        Blocks::Q8 => Packing::Bytes,
        Blocks::Q4 | Blocks::Q4_1 | Blocks::Q5 | Blocks::Q5_1 => Packing::Halves,
        Blocks::Q4K => Packing::Pairs,
        Blocks::Q5K | Blocks::Q6K | Blocks::Q3K | Blocks::Q2K => Packing::Split,
    }
}

/// Whether a block has one scale and nothing else, which sums of its values are multiplied by.
pub(super) const fn is_scaled_late(form: Blocks) -> bool {
    form.common().parts == 1 && form.common().factors.len() == 1
}

/// Sixteen bytes in a block of 32, or loads of half of it where bits lie in several places.
pub(in super::super) const fn loads(form: Blocks) -> u32 {
    match packing(form) {
        Packing::Split => 2,
        _ => (Share::Values.bytes(form) * BLOCK / form.weights() / 16) as u32,
    }
}

/// Where the sixteen bytes of a plane are that have half of block `b`, counted from the first of a
/// column whose large blocks have so many; and by how many bits its lie above the lowest.
fn in_plane(plane: BitPlane, sixteens: usize, b: &str, half: &str) -> [String; 2] {
    let BitPlane { first, width, bits, .. } = plane;
    let wide = width / BLOCK;
    let each = wide * plane.shifts();
    let mut place = format!("{sixteens}u * ({b} >> 3u) + {}u + {half}", first / 16);
    if each < 8 {
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
    let (above, high) = planes.next().map(|[place, high]| (Above::Sixteen(place), high)).unzip();
    let quads = four(&shift, first, trip).map(|quad| Quad { high: high.clone(), ..quad });
    Sixteen { place, above, quads: quads.collect() }
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

/// Quads whose fifth bits are in a word, if they have those: of each the four behind so many.
fn with_fifth(form: Blocks, quads: impl Iterator<Item = Quad>, behind: &str) -> Vec<Quad> {
    let has = form.planes().len() > 1;
    let high = |quad: &Quad| has.then(|| format!("{}u{behind}", WORDS * quad.of_block));
    quads.map(|quad| Quad { high: high(&quad), ..quad }).collect()
}

impl Sixteen {
    /// Whose higher bits are in no other sixteen.
    fn whole(form: Blocks, place: String, quads: Vec<Quad>) -> Self {
        let above = (form.planes().len() > 1).then_some(Above::Word);
        Self { place, above, quads }
    }

    /// Those of block `b` of a column.
    pub(super) fn of_block(form: Blocks) -> Vec<Self> {
        let two = |place: &str, shift| {
            [0, 1].map(|half| {
                let quads = four(shift, WORDS * half, 2 * WORDS).collect();
                Self::whole(form, format!("{place} + {half}u"), quads)
            })
        };
        match packing(form) {
            Packing::Bytes => two("2u * b", "0u").into(),
            Packing::Pairs => two("(b & 0xfffffffeu)", "4u * (b & 1u)").into(),
            Packing::Halves => Self::alone(form),
            Packing::Split => [0, 1]
                .map(|half| split(form, ["b", &format!("{half}u")], WORDS * half, 2 * WORDS))
                .into(),
        }
    }

    /// What a lane takes in trip `b` of a column that others have the other trips of.
    pub(super) fn alone(form: Blocks) -> Vec<Self> {
        let one = |quads: Vec<Quad>| vec![Self::whole(form, "b".into(), quads)];
        match packing(form) {
            Packing::Bytes => one(four("0u", 0, WORDS).collect()),
            Packing::Halves => {
                let low = four("0u", 0, 2 * WORDS);
                one(with_fifth(form, low.chain(four("4u", WORDS, 2 * WORDS)), ""))
            }
            Packing::Pairs => one(four_of(0).chain(four_of(1)).collect()),
            Packing::Split => vec![split(form, ["(b >> 1u)", "(b & 1u)"], 0, WORDS)],
        }
    }

    /// What has half a block: number `half_block` of block `b`, where `scale` is the first block of
    /// a column.
    pub(super) fn of_half(form: Blocks) -> Self {
        let [b, half] = ["b", "half_block"];
        let four = |shift| four(shift, 0, 2 * WORDS);
        match packing(form) {
            Packing::Bytes => Self::whole(form, format!("2u * {b} + {half}"), four("0u").collect()),
            Packing::Halves => {
                let quads = with_fifth(form, four("4u * half_block"), " + 16u * half_block");
                Self::whole(form, b.into(), quads)
            }
            Packing::Pairs => {
                let place = format!("({b} & 0xfffffffeu) + {half}");
                Self::whole(form, place, four("4u * (b & 1u)").collect())
            }
            Packing::Split => split(form, [b, half], 0, 2 * WORDS),
        }
    }
}

/// The first sixteen bytes of a column whose first block is `scale`.
pub(super) fn column(form: Blocks, scale: &str) -> String {
    match packing(form) {
        Packing::Split => format!("{}u * ({scale} / 8u)", Share::Values.bytes(form) / 16),
        _ => format!("{}u * {scale}", loads(form)),
    }
}

/// What a quad of sixteen bytes `w`, and of their higher bits `g`, says before any scale; `load` is
/// which of them.
fn values(form: Blocks, load: &str, quad: &Quad) -> String {
    let Quad { word, shift, .. } = quad;
    let at = lane(*word);
    let word = format!("w{load}.{at}");
    // 2^23, and the value that is zero.
    let zero = format!("{}.0", (1 << 23) + form.zero());
    match (form.planes(), &quad.high) {
        ([low], _) if low.bits == 8 => format!("vec4<f32>(decode_i8({word}))"),
        ([low], _) if low.bits == 4 => format!("nibbles({word}, {shift}, {zero})"),
        ([low, high], Some(above)) => {
            let low_bits = masked(&word, shift, low.bits);
            let high_bits = if high.of == Share::Scales {
                format!("fifth_bits(g{load}, {above})")
            } else {
                let bits = masked(&format!("g{load}.{at}"), above, high.bits);
                format!("({bits} << {}u)", low.bits)
            };
            format!("bytes_from({low_bits} | {high_bits}, {zero})")
        }
        (planes, _) => {
            let bits = planes.first().map_or(8, |low| low.bits);
            format!("bytes_from({}, {zero})", masked(&word, shift, bits))
        }
    }
}

/// So many bits of each byte of a word, above the lowest `shift`.
fn masked(word: &str, shift: &str, bits: usize) -> String {
    let mask = 0x0101_0101_u32 * ((1 << bits) - 1);
    format!("(({word} >> ({shift})) & {mask:#x}u)")
}

/// Weights of the values of a quad, by what its block has in common, `m`: the scale and the minimum
/// of a block, or the scales of its two halves and their minima.
fn by_common(form: Blocks, m: &str, values: &str, [scale, minimum]: [&str; 2]) -> String {
    match form {
        Blocks::Q8 | Blocks::Q4 | Blocks::Q5 => format!("{m} * {values}"),
        Blocks::Q4_1 | Blocks::Q5_1 => format!("{m}.x * {values} + {m}.y"),
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
    if is_scaled_late(form) {
        return values;
    }
    by_common(form, &m, &values, [&scale, &minimum])
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
    let small = format!("({scale} + {b})");
    match form {
        Blocks::Q8 | Blocks::Q4 => format!("head_2({scale} + {b}).x"),
        Blocks::Q4_1 => format!("vec2<f32>(head_2(2u * {small}).x, head_2(2u * {small} + 1u).x)"),
        Blocks::Q5 => format!("factors(head_2(3u * {small}).x).x"),
        Blocks::Q5_1 => format!("factors(own_words(head_2({small} >> 1u), {small}).x)"),
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
    if is_scaled_late(form) {
        return text;
    }
    let ScaleSpec { parts, factors, .. } = form.common();
    for c in 0..4 {
        let scale = format!("scale.{}", lane(c));
        match packing(form) {
            Packing::Pairs if alone => {
                put!(text, "let h_{c} = head_2(({scale} + b) >> 3u);");
                put!(text, "let m0_{c} = scale_q4_k(h_{c}, b & 6u);");
                put!(text, "let m1_{c} = scale_q4_k(h_{c}, (b & 6u) + 1u);");
            }
            Packing::Split if alone && parts > form.weights() / BLOCK => {
                // Half a block: its own first.
                let [same, other] = if factors.len() > 1 { ["xyzw", "yxwz"] } else { ["xy", "yx"] };
                put!(text, "let h_{c} = {};", common(form, &scale, "(b >> 1u)"));
                put!(text, "let m0_{c} = select(h_{c}.{same}, h_{c}.{other}, (b & 1u) > 0u);");
            }
            way => {
                let trip = if alone && matches!(way, Packing::Split) { "(b >> 1u)" } else { "b" };
                put!(text, "let m0_{c} = {};", common(form, &scale, trip));
            }
        }
    }
    text
}

/// The sums of a trip by the scales of its block, of four columns; and what says those.
pub(super) fn scaled(form: Blocks, block: &str) -> [String; 2] {
    if !is_scaled_late(form) {
        return [String::new(), String::new()];
    }
    let scale = |c: u32| common(form, &format!("scale.{}", lane(c)), block);
    let four = [0, 1, 2, 3].map(scale).join(", ");
    [format!("let scales = vec4<f32>({four});\n"), "scales * ".into()]
}
