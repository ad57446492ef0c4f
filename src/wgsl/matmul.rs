//! The text of a matmul by register tiles: what is written for a tile, and for the ways in which
//! its operands lie.
//!
//! A tile is unrolled into names - `s2_1` is row 2, quad 1 - because not every compiler keeps an
//! array of sums in registers.

use core::fmt::Write as _;

use crate::dtype::DType;
use crate::op::Kind;

/// Along which axis an operand is read by quads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Along {
    /// Along k: rows of A, columns of B.
    K,
    /// Along the other: columns of A, rows of B.
    Outer,
    /// Along neither: element by element, at any strides.
    Neither,
}

/// A kernel by register tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Rows of a tile; whole fours where A is read along its rows.
    pub rows: u32,
    /// Quads of columns.
    pub quads: u32,
    /// How A and B are read.
    pub along: [Along; 2],
    /// Whether k ends inside a quad.
    pub ragged: bool,
}

/// The text of one region after the other.
pub type Text = Vec<(&'static str, String)>;

impl Tile {
    /// The regions of `matmul.wgsl` that sum in the compute type of `dtype`.
    #[must_use]
    pub fn regions(&self, dtype: DType) -> Text {
        let kind = Kind::of(dtype).name();
        let types = format!(
            "alias Quad = vec4<{kind}>;\nconst rows = {}u;\nconst quads = {}u;\n",
            self.rows, self.quads
        );
        let clear = self.each(|r, q| format!("var s{r}_{q} = Quad();"));
        let add = self.each(|r, q| format!("t{r}_{q} += s{r}_{q};"));
        vec![
            ("types", types),
            ("operands", self.operands()),
            ("clear", clear),
            ("step", self.step()),
            ("add", add),
            ("sums", self.each(|r, q| format!("var t{r}_{q} = Quad();"))),
            ("store", self.each(store)),
        ]
    }

    fn each(&self, line: impl Fn(u32, u32) -> String) -> String {
        let places = (0..self.rows).flat_map(|r| (0..self.quads).map(move |q| (r, q)));
        places.map(|(r, q)| line(r, q) + "\n").collect()
    }

    fn operands(&self) -> String {
        let [a, b] = self.along;
        let (row, column) = ("min(row, p.job.size.x - 1u)", "min(column, p.job.size.y - 1u)");
        let a = match a {
            Along::K => format!("    return head_0(at + {row} * p.job.step.x + k);\n"),
            Along::Outer => format!("    return head_0(at + k * p.job.step.y + ({row} >> 2u));\n"),
            Along::Neither => {
                four("head_0", &format!("at + {row} * p.job.step.x + 4u * k * d"), "p.job.step.y")
            }
        };
        let b = match b {
            Along::K => format!("    return head_1(at + {column} * p.job.step.w + k);\n"),
            Along::Outer => {
                format!("    return head_1(at + k * p.job.step.z + ({column} >> 2u));\n")
            }
            Along::Neither => four("head_1", "at + k * p.job.step.z + column * d", "p.job.step.w"),
        };
        format!(
            "fn left(at: u32, row: u32, k: u32) -> Quad {{\n{a}}}\n\n\
             fn right(at: u32, column: u32, k: u32) -> Quad {{\n{b}}}\n"
        )
    }

    /// Everything for four of k.
    fn step(&self) -> String {
        let mut text = String::new();
        if self.ragged {
            text.push_str(
                "let inside = vec4<u32>(4u * k) + vec4<u32>(0u, 1u, 2u, 3u) \
                 < vec4<u32>(p.job.size.z);\n",
            );
        }
        for q in 0..self.quads {
            self.step_right(&mut text, q);
        }
        for r in 0..self.rows {
            self.step_left(&mut text, r);
            let a = |k| match self.along[0] {
                Along::Outer => format!("a{k}_{}.{}", r / 4, lane(r)),
                _ => format!("a{r}.{}", lane(k)),
            };
            for q in 0..self.quads {
                let terms: String = (0..4).map(|k| format!(" + {} * b{k}_{q}", a(k))).collect();
                put(&mut text, format_args!("s{r}_{q} = s{r}_{q}{terms};"));
            }
        }
        text
    }

    /// Four quads of B, one for each k.
    fn step_right(&self, text: &mut String, q: u32) {
        let column = format!("column + {}u", 4 * q);
        if self.along[1] == Along::K {
            for c in 0..4 {
                let value = self.whole(&format!("right(at.y, {column} + {c}u, k)"));
                put(text, format_args!("let t{c}_{q} = {value};"));
            }
        }
        for k in 0..4 {
            let value = match self.along[1] {
                Along::K => {
                    let x = lane(k);
                    format!("Quad(t0_{q}.{x}, t1_{q}.{x}, t2_{q}.{x}, t3_{q}.{x})")
                }
                _ => self.part(&format!("right(at.y, {column}, 4u * k + {k}u)"), k),
            };
            put(text, format_args!("let b{k}_{q} = {value};"));
        }
    }

    /// A quad of A along k, or for every fourth row four quads along the rows.
    fn step_left(&self, text: &mut String, r: u32) {
        if self.along[0] != Along::Outer {
            let value = self.whole(&format!("left(at.x, row + {r}u, k)"));
            put(text, format_args!("let a{r} = {value};"));
        } else if r.is_multiple_of(4) {
            for k in 0..4 {
                let value = self.part(&format!("left(at.x, row + {r}u, 4u * k + {k}u)"), k);
                put(text, format_args!("let a{k}_{} = {value};", r / 4));
            }
        }
    }

    /// A quad along k, zero past its end: what lies there may be NaN.
    fn whole(&self, value: &str) -> String {
        if self.ragged { format!("select(Quad(), {value}, inside)") } else { value.into() }
    }

    /// A quad of one k.
    fn part(&self, value: &str, k: u32) -> String {
        if self.ragged {
            format!("select(Quad(), {value}, inside.{})", lane(k))
        } else {
            value.into()
        }
    }
}

fn lane(n: u32) -> char {
    ['x', 'y', 'z', 'w'][n as usize % 4]
}

/// The body of a function that gathers four elements, `d` apart.
fn four(head: &str, first: &str, d: &str) -> String {
    format!(
        "    let d = {d};\n    let e = {first};\n    return Quad({head}(e).x, {head}(e + d).x, \
         {head}(e + 2u * d).x, {head}(e + 3u * d).x);\n"
    )
}

fn store(r: u32, q: u32) -> String {
    format!("store(batch_row, row + {r}u, column + {}u, t{r}_{q});", 4 * q)
}

fn put(text: &mut String, line: core::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(line);
    text.push('\n');
}
