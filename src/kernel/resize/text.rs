//! The text of a resized axis, and of images whose axes both become longer: elements and their
//! weights by name, `e2` and `w2` the third. Lines that are kept are `l0` and on.

use core::ops::Range;

use crate::op::Kind;
use crate::reference::Filter;
use crate::wgsl::lines::{LANES, StoredQuad, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Writes};

/// An axis.
pub const RESIZE: Entry = Entry::core("resize", source!("resize.wgsl")).told(ResizeJob::MEMBERS);
/// Both axes of images.
pub const ENLARGE: Entry =
    Entry::core("enlarge", source!("enlarge.wgsl")).told(EnlargeJob::MEMBERS);
/// An axis whose elements are means of what they cover.
pub const COVER: Entry = Entry::core("cover", source!("cover.wgsl")).told(CoverJob::MEMBERS);

params! {
    struct ResizeJob {
        columns: [u32; 4],
        size: [u32; 4],
        place: [u32; 4],
        stride: [u32; 4],
    }
}

params! {
    struct EnlargeJob {
        columns: [u32; 4],
        size: [u32; 4],
        place: [u32; 4],
        down: [i32; 4],
        stride: [u32; 4],
    }
}

params! {
    struct CoverJob {
        columns: [u32; 4],
        size: [u32; 4],
        axis: [u32; 4],
        stride: [u32; 4],
    }
}

/// How a quad of the result lies to the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lies {
    /// Across it, and is loaded as quads.
    Across,
    /// Across it, and is loaded by elements.
    AcrossEach,
    /// Along it: so many elements from the first that it needs to the last.
    Along(u32),
    /// Along it, and needs elements from all over it.
    Apart,
    /// Along one of two axes, with so many elements, and lanes walk down the other.
    Walked(u32),
}

impl Lies {
    /// Which elements of the axis a quad is.
    const fn place(self) -> &'static str {
        match self {
            Self::Across | Self::AcrossEach => "let i = vec4<u32>(line);\n",
            Self::Along(_) | Self::Apart | Self::Walked(_) => "let i = four;\n",
        }
    }
}

/// A quad of elements that are loaded one by one, of the place of each lane.
fn each(place: impl Fn(char) -> String) -> String {
    let parts = ['x', 'y', 'z', 'w'].map(|i| format!("head_0({}).x", place(i)));
    format!("vec4<Real>({})", parts.join(", "))
}

/// Writes a quad of the result, held in a variable.
fn stored(sum: &str, whole: bool) -> String {
    let within = ("first", "p.job.size.y");
    StoredQuad { quad: (sum, "vec4<Real>"), to: "to", within }.lines(whole)
}

/// The kernel for one kind of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResizeText {
    /// How its quads lie.
    pub lies: Lies,
    /// Whether sums are of four elements, by a cubic; otherwise of two.
    pub cubic: bool,
    /// What is summed: f32 or f64.
    pub kind: Kind,
    /// Whether lines of the result are whole quads. Otherwise it is stored by elements.
    pub whole: bool,
}

impl ResizeText {
    /// From the element before a place: which ones a sum is of.
    #[must_use]
    pub const fn taps(&self) -> Range<i32> {
        if self.cubic { -1..3 } else { 0..2 }
    }

    /// The elements that a quad along an axis is given at once.
    const fn elements(&self) -> Option<u32> {
        match self.lies {
            Lies::Along(elements) | Lies::Walked(elements) => Some(elements),
            _ => None,
        }
    }

    fn real(&self) -> String {
        // No place of a linear sum lies before the first element.
        let least = u32::from(!self.cubic);
        format!("alias Real = {};\nconst least = {least}u;\n", self.kind.name())
    }

    const fn weigh(&self) -> &'static str {
        if self.cubic { "return weigh_cubic(far);" } else { "return Real(1) - far;" }
    }

    /// Places and weights of all elements that are loaded.
    fn weights(&self) -> String {
        let mut text = String::new();
        let taps = self.taps().enumerate();
        let name = if self.elements().is_some() { 'u' } else { 'w' };
        for (n, tap) in taps.clone() {
            put!(text, "let {name}{n} = weigh(abs(vec4<Real>({tap}) - places.part));");
        }
        let step = "p.job.stride.y";
        let Some(elements) = self.elements() else {
            let one = if self.lies == Lies::Apart { "" } else { ".x" };
            for (n, tap) in taps {
                put!(text, "let p{n} = held_inside(before + {tap}, p.job.place.w){one} * {step};");
            }
            return text;
        };
        put!(text, "let on = before - before.x;");
        for n in 0..elements.cast_signed() {
            let at = self.taps().start + n;
            let place = format!("vec4<i32>(before.x + {at})");
            put!(text, "let p{n} = held_inside({place}, p.job.place.w).x * {step};");
            let none = String::from("vec4<Real>()");
            let own = (0..self.taps().len() as i32).filter(|tap| *tap <= n);
            let weight = own.fold(none, |others, tap| {
                format!("select({others}, u{tap}, on == vec4<i32>({}))", n - tap)
            });
            put!(text, "let w{n} = {weight};");
        }
        text
    }

    fn take(&self) -> String {
        let mut text = String::new();
        for n in 0..self.elements().unwrap_or(self.taps().len() as u32) {
            let element = match self.lies {
                Lies::Across => format!("head_0(begin + p{n} + (first >> 2u))"),
                Lies::AcrossEach => each(|i| format!("begin + p{n} + four.{i} * p.job.stride.z")),
                Lies::Along(_) | Lies::Walked(_) => format!("head_0(begin + p{n})"),
                Lies::Apart => each(|i| format!("begin + p{n}.{i}")),
            };
            put!(text, "let e{n} = {element};");
            put!(text, "s += part_of_sum(e{n}, w{n});");
        }
        text
    }

    /// What a lane that walks does besides.
    fn walk(&self) -> Vec<Region> {
        let Range { start, end } = self.taps();
        let (mut kept, mut keep, mut sum) = (String::new(), String::new(), String::new());
        let from = [0, 1, 2, 3].map(|n| (start + n).to_string()).join(", ");
        put!(sum, "let v = weigh(abs(vec4<Real>({from}) - part_y));");
        put!(sum, "var t = vec4<Real>();");
        for (n, lane) in self.taps().enumerate().map(|(n, _)| (n, LANES[n])) {
            put!(kept, "var l{n} = vec4<Real>();");
            let next = if start + n as i32 + 1 < end { format!("l{}", n + 1) } else { "s".into() };
            put!(keep, "l{n} = {next};");
            put!(sum, "t += part_of_sum(l{n}, vec4<Real>(v.{lane}));");
        }
        // One line before the first that is needed, and from the last that is needed to the next.
        let (before, ahead) = (1 - start, 1 - (end - 2));
        let begun = format!(
            "var last = reached / p.job.down.z - {before};\n\
             var bound = (last + {ahead}) * p.job.down.z;\n"
        );
        vec![
            Region::text("kept", kept),
            Region::text("begun", begun),
            Region::text("keep", keep),
            Region::text("sum", sum),
        ]
    }
}

impl Writes for ResizeText {
    fn regions(&self) -> Vec<Region> {
        let walked = matches!(self.lies, Lies::Walked(_));
        let mut regions = if walked { self.walk() } else { Vec::new() };
        regions.extend([
            Region::text("real", self.real()).needing(Needs::of(self.kind)),
            Region::text("weigh", self.weigh()),
            Region::text("place", self.lies.place()),
            Region::text("taps", self.weights()),
            Region::text("take", self.take()),
            Region::text("store", stored(if walked { "t" } else { "s" }, self.whole)),
        ]);
        regions
    }
}

/// The kernel for one kind of means of what is covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoverText {
    /// How its quads lie: never along or walked, as what is covered is as much as there is.
    pub lies: Lies,
    /// What weighs elements.
    pub filter: Filter,
    /// What is summed: f32 or f64.
    pub kind: Kind,
    /// Whether lines of the result are whole quads. Otherwise it is stored by elements.
    pub whole: bool,
}

impl Writes for CoverText {
    fn regions(&self) -> Vec<Region> {
        let element = match self.lies {
            Lies::Across => String::from("head_0(place + (first >> 2u))"),
            Lies::AcrossEach => each(|i| format!("place + four.{i} * p.job.stride.z")),
            _ => String::from("vec4<Real>(head_0(place).x)"),
        };
        let weigh = match self.filter {
            Filter::Even => "return vec4<Real>(1);",
            Filter::Linear => "return Real(1) - far;",
            Filter::Cubic => "return weigh_softly(far);",
        };
        let real = format!("alias Real = {};\n", self.kind.name());
        vec![
            Region::text("real", real).needing(Needs::of(self.kind)),
            Region::text("weigh", weigh),
            Region::text("place", self.lies.place()),
            Region::text("take", format!("let e = {element};\n")),
            Region::text("store", stored("s", self.whole)),
        ]
    }
}
