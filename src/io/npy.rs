//! npy: one array of numpy's, behind a header that is a literal of Python.
//!
//! ```text
//! \x93NUMPY, version, length of the header,
//! {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//! ```
//!
//! An array in Fortran's order is carried as it lies, and is a column-major view on the device.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::cause::ArchiveCause;
use super::entry::{FileTensor, Opened, shape};
use super::file::{FilePart, Pieces};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::Shape;

#[cfg(not(target_family = "wasm"))]
pub(super) mod save;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The most bytes of a header: several times what numpy reads.
const HEADER_MAX: u64 = 64 << 10;

/// More axes than any array has.
const DIMS_MAX: usize = 64;

/// Every dtype that both have, as numpy describes it; one byte has no order.
pub(super) const DESCRIBED: [(&str, DType); 12] = [
    ("<f4", DType::F32),
    ("<f2", DType::F16),
    ("<f8", DType::F64),
    ("|i1", DType::I8),
    ("|u1", DType::U8),
    ("<i2", DType::I16),
    ("<u2", DType::U16),
    ("<i4", DType::I32),
    ("<u4", DType::U32),
    ("<i8", DType::I64),
    ("<u8", DType::U64),
    ("|b1", DType::Bool),
];

pub(super) fn begins(begin: &[u8]) -> bool {
    begin.starts_with(MAGIC)
}

/// The one array of a file, which has the file's name, if it has one.
pub(super) fn open(file: &Arc<Pieces>, path: Option<&Path>) -> Result<Opened> {
    let name = path.and_then(Path::file_stem).map_or("array".into(), OsStr::to_string_lossy);
    array(file, &name).map(|array| (vec![array], None))
}

fn array(file: &Arc<Pieces>, name: &str) -> Result<FileTensor> {
    let mut at = 0;
    let described = Described::read(file.len, |out| {
        at += out.len() as u64;
        file.read(at - out.len() as u64, out)
    })?;
    let Described { begin, shape, layout, descr, dtype } = described;
    let supply = dtype
        .map(|dtype| Arc::new(FilePart { file: Arc::clone(file), begin, dtype, layout }) as Arc<_>);
    let (name, dtype_name) = (Arc::from(name), Arc::from(descr));
    let bytes = file.len - begin;
    Ok(FileTensor { name, shape, dtype_name, bytes, supply, blocks: None })
}

/// What the header of an array says of its values, which are as many as there are bytes for.
pub(super) struct Described {
    /// Where the values begin.
    pub(super) begin: u64,
    pub(super) shape: Shape,
    pub(super) layout: Layout,
    /// The dtype as numpy describes it.
    pub(super) descr: String,
    /// `None` where wharf has no such dtype.
    pub(super) dtype: Option<DType>,
}

impl Described {
    /// Of an array of `len` bytes, which are read from the front.
    pub(super) fn read(len: u64, read: impl FnMut(&mut [u8]) -> Result<()>) -> Result<Self> {
        let (begin, text) = header(len, read)?;
        let Literal { descr, fortran, dims } = Literal::parse(&text)?;
        let shape = shape(&dims)?;
        let has = len - begin;
        // Some writers give a byte an order.
        let same = |known: &str| match known.strip_prefix('|') {
            Some(byte) => descr.strip_prefix(['|', '<', '>', '=']) == Some(byte),
            None => known == descr,
        };
        let dtype = DESCRIBED.iter().find(|(known, _)| same(known)).map(|(_, dtype)| *dtype);
        let needs = dtype.map(|dtype| shape.elements() as u128 * dtype.width() as u128);
        match needs {
            Some(needs) if needs > u128::from(has) => {
                Err(ArchiveCause::Cut { what: "the values need".into(), needs, has }.into())
            }
            Some(needs) if needs < u128::from(has) => {
                Err(ArchiveCause::Gap { begin: begin + needs as u64, end: len }.into())
            }
            _ => {
                let layout =
                    if fortran { Layout::column_major(shape) } else { Layout::dense(shape) };
                Ok(Self { begin, shape, layout, descr, dtype })
            }
        }
    }
}

/// Where the values begin, and the literal before them.
fn header(len: u64, mut read: impl FnMut(&mut [u8]) -> Result<()>) -> Result<(u64, String)> {
    let cut = |needs: u64| {
        let what = "the header needs".into();
        ArchiveCause::Cut { what, needs: needs.into(), has: len }
    };
    let mut start = [0; 12];
    if len < start.len() as u64 {
        return Err(cut(start.len() as u64).into());
    }
    read(&mut start)?;
    if !begins(&start) {
        return Err(meaningless("it is no array of numpy's".into()).into());
    }
    let [.., major, _, a, b, c, d] = start;
    let (before, length) = match major {
        1 => (10, u64::from(u16::from_le_bytes([a, b]))),
        2 | 3 => (12, u64::from(u32::from_le_bytes([a, b, c, d]))),
        other => {
            return Err(ArchiveCause::Version { version: other.into(), reads: "1 to 3" }.into());
        }
    };
    if length > HEADER_MAX {
        let what = "a header";
        return Err(ArchiveCause::Large { what, bytes: length, most: HEADER_MAX }.into());
    }
    if before + length > len {
        return Err(cut(before + length).into());
    }
    // Of the oldest version its first bytes have been read.
    let mut text = start[before as usize..].to_vec();
    let (had, length) = (text.len(), length as usize);
    text.resize(length.max(had), 0);
    read(&mut text[had..])?;
    text.truncate(length);
    let text = match major {
        // In Latin-1 a byte is a letter, of the same number.
        1 | 2 => text.into_iter().map(char::from).collect(),
        _ => String::from_utf8(text).map_err(|_| meaningless("it is not UTF-8".into()))?,
    };
    Ok((before + length as u64, text))
}

fn meaningless(why: String) -> ArchiveCause {
    ArchiveCause::Header { why }
}

/// What the header says.
struct Literal {
    descr: String,
    fortran: bool,
    dims: Vec<u64>,
}

/// A literal of Python that is read from the front.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// Whether this comes next; then it is taken.
    fn takes(&mut self, word: &str) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(word);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn require(&mut self, word: &str) -> Result<()> {
        if self.takes(word) { Ok(()) } else { Err(self.unexpected(word).into()) }
    }

    fn unexpected(&self, word: &str) -> ArchiveCause {
        let there: String = self.0.chars().take(16).collect();
        meaningless(format!("{word} was expected, there is {there:?}"))
    }

    fn string(&mut self) -> Result<&'a str> {
        let quote = if self.takes("'") { '\'' } else { '"' };
        if quote == '"' {
            self.require("\"")?;
        }
        let (text, rest) = self.0.split_once(quote).ok_or_else(|| self.unexpected("a quote"))?;
        self.0 = rest;
        Ok(text)
    }

    /// What describes a dtype: a string, or a list of the fields of a record, as it is written.
    fn descr(&mut self) -> Result<&'a str> {
        let (begin, mut depth) = (self.0.trim_start(), 0);
        if !begin.starts_with('[') {
            return self.string();
        }
        loop {
            self.0 = self.0.trim_start_matches(|c: char| !"[]'\"".contains(c));
            if self.takes("[") {
                depth += 1;
            } else if !self.takes("]") {
                // Brackets in it are none.
                self.string()?;
            } else if depth == 1 {
                return Ok(&begin[..begin.len() - self.0.len()]);
            } else {
                depth -= 1;
            }
        }
    }

    fn number(&mut self) -> Result<u64> {
        self.0 = self.0.trim_start();
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        let number = digits.parse().map_err(|_| self.unexpected("a dimension"))?;
        self.0 = rest;
        Ok(number)
    }

    fn tuple(&mut self) -> Result<Vec<u64>> {
        self.require("(")?;
        let mut dims = Vec::new();
        while !self.takes(")") {
            if dims.len() == DIMS_MAX {
                return Err(meaningless(format!("more than {DIMS_MAX} dimensions")).into());
            }
            dims.push(self.number()?);
            // Python 2 wrote it behind a number of 64 bits where its own have 32.
            self.takes("L");
            if !self.takes(",") {
                self.require(")")?;
                break;
            }
        }
        Ok(dims)
    }

    fn truth(&mut self) -> Result<bool> {
        if self.takes("True") { Ok(true) } else { self.require("False").map(|()| false) }
    }
}

impl Literal {
    fn parse(text: &str) -> Result<Self> {
        let mut text = Text(text);
        let (mut descr, mut fortran, mut dims) = (None, None, None);
        text.require("{")?;
        while !text.takes("}") {
            let field = text.string()?;
            text.require(":")?;
            let again = match field {
                "descr" => descr.replace(text.descr()?.to_owned()).is_some(),
                "fortran_order" => fortran.replace(text.truth()?).is_some(),
                "shape" => dims.replace(text.tuple()?).is_some(),
                other => return Err(meaningless(format!("what is {other:?}?")).into()),
            };
            if again {
                return Err(meaningless(format!("{field:?} is there twice")).into());
            }
            if !text.takes(",") {
                text.require("}")?;
                break;
            }
        }
        if !text.0.trim().is_empty() {
            return Err(text.unexpected("the end").into());
        }
        let missing = |field: &str| meaningless(format!("{field:?} is missing"));
        Ok(Self {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            dims: dims.ok_or_else(|| missing("shape"))?,
        })
    }
}
