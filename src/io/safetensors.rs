//! safetensors: eight bytes of length, a header in JSON, and the values.
//!
//! ```text
//! {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..}
//! ```
//!
//! The values of all tensors lie behind each other, without a gap and without anything after them.

use core::fmt;
use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _};
use serde::de::{MapAccess, SeqAccess, Visitor};

use super::cause::ArchiveCause;
use super::entry::{FileTensor, Opened, shape};
use super::file::{FilePart, Pieces, stopped};
use super::remark::{Keep, REMARKS_MAX, Remark, Remarked, Remarks, counted};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::RANK_MAX;

/// The most bytes of a header that any reader of the format accepts.
pub(super) const HEADER_MAX: u64 = 100_000_000;

/// Bytes of the length before the header.
pub(super) const LENGTH_BYTES: u64 = 8;

/// The most bytes of a name, and of every other text that is kept or quoted.
pub(super) const WORD_MAX: usize = 64 << 10;

/// Where a tensor's name would stand, remarks do.
pub(super) const REMARKS: &str = "__metadata__";

/// More axes than any tensor has, so that no list of them takes memory.
const DIMS_MAX: usize = 64;

/// A dtype of the format.
pub(super) struct Dialect {
    pub(super) name: &'static str,
    bits: u32,
    /// What wharf calls it, if it has it.
    pub(super) dtype: Option<DType>,
}

const fn dialect(name: &'static str, bits: u32, dtype: Option<DType>) -> Dialect {
    Dialect { name, bits, dtype }
}

/// Every dtype of the format.
pub(super) const DIALECT: [Dialect; 22] = [
    dialect("F32", 32, Some(DType::F32)),
    dialect("F16", 16, Some(DType::F16)),
    dialect("BF16", 16, Some(DType::Bf16)),
    dialect("F64", 64, Some(DType::F64)),
    dialect("I8", 8, Some(DType::I8)),
    dialect("U8", 8, Some(DType::U8)),
    dialect("I16", 16, Some(DType::I16)),
    dialect("U16", 16, Some(DType::U16)),
    dialect("I32", 32, Some(DType::I32)),
    dialect("U32", 32, Some(DType::U32)),
    dialect("I64", 64, Some(DType::I64)),
    dialect("U64", 64, Some(DType::U64)),
    dialect("BOOL", 8, Some(DType::Bool)),
    dialect("F8_E4M3", 8, Some(DType::F8E4M3)),
    dialect("F8_E5M2", 8, Some(DType::F8E5M2)),
    dialect("F8_E8M0", 8, None),
    dialect("F8_E4M3FNUZ", 8, None),
    dialect("F8_E5M2FNUZ", 8, None),
    dialect("F6_E2M3", 6, None),
    dialect("F6_E3M2", 6, None),
    dialect("F4", 4, None),
    dialect("C64", 64, None),
];

/// A file in this format begins with the length of its header, which begins with a brace. One that
/// is too short for that is still said to be one: nothing else has no mark.
pub(super) fn begins(begin: &[u8]) -> bool {
    begin.get(8).is_none_or(|&byte| byte == b'{')
}

/// The tensors of a file.
pub(super) fn open(file: &Arc<Pieces>, _: Option<&Path>) -> Result<Opened> {
    let (Header { mut specs, .. }, begin) = header(file, None)?;
    specs.sort_by_key(|spec| (spec.begin, spec.end));
    let mut end = 0;
    let mut tensors = Vec::with_capacity(specs.len());
    for spec in &specs {
        let placed = spec.place(file, begin, end);
        tensors.push(placed.map_err(|error| error.during(format!("tensor {:?}", spec.name)))?);
        end = spec.end;
    }
    match file.len - begin {
        there if there < end => Err(cut("the values need", end, there)),
        there if there > end => Err(ArchiveCause::Gap { begin: end, end: there }.into()),
        _ => {
            let file = Arc::clone(file);
            Ok((tensors, Some(Remarked { file, shard: None, read: remarks })))
        }
    }
}

/// The remarks for whose names `keep` says so.
fn remarks(file: &Pieces, keep: Keep<'_>) -> Result<Remarks> {
    let (Header { remarks, given, .. }, _) = header(file, Some(keep))?;
    counted(given)?;
    Ok(remarks)
}

/// The header, checked against the length of the file, and where the values begin. It has the
/// remarks for whose names `keep` says so.
fn header(file: &Pieces, keep: Option<Keep<'_>>) -> Result<(Header, u64)> {
    let mut length = [0; LENGTH_BYTES as usize];
    if file.len < LENGTH_BYTES {
        return Err(cut("the length of the header needs", LENGTH_BYTES, file.len));
    }
    file.read(0, &mut length)?;
    let header = u64::from_le_bytes(length);
    if header > HEADER_MAX {
        let what = "a header";
        return Err(ArchiveCause::Large { what, bytes: header, most: HEADER_MAX }.into());
    }
    let begin = LENGTH_BYTES + header;
    if begin > file.len {
        return Err(cut("the header with its length needs", begin, file.len));
    }
    let stream = BufReader::new(file.stream(LENGTH_BYTES, header));
    Ok((parse(stream, HeaderSeed(keep))?, begin))
}

fn cut(what: &str, needs: u64, has: u64) -> crate::error::Error {
    ArchiveCause::Cut { what: what.into(), needs: needs.into(), has }.into()
}

/// Reads one JSON value and nothing else, without holding its text.
pub(super) fn parse<T>(
    stream: impl std::io::Read,
    seed: impl for<'de> DeserializeSeed<'de, Value = T>,
) -> Result<T> {
    let mut json = serde_json::Deserializer::from_reader(stream);
    let parsed = seed.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    parsed.map_err(|error| match error.is_io() {
        true => stopped(error.into()),
        false => ArchiveCause::Header { why: error.to_string() }.into(),
    })
}

/// A tensor as the header has it.
struct Spec {
    name: String,
    dtype: String,
    dims: Vec<u64>,
    begin: u64,
    end: u64,
}

impl Spec {
    /// Checks it against its neighbours and its own numbers. `last` is where the one before ends.
    fn place(&self, file: &Arc<Pieces>, header: u64, last: u64) -> Result<FileTensor> {
        let Self { name, dtype, dims, begin, end } = self;
        let (&begin, &end) = (begin, end);
        if end < begin {
            return Err(ArchiveCause::Backwards { begin, end }.into());
        }
        if begin < last {
            return Err(ArchiveCause::Overlap { begin, end: last }.into());
        }
        if begin > last {
            return Err(ArchiveCause::Gap { begin: last, end: begin }.into());
        }
        // What has too many axes is not carried: the others are.
        let (merged, named) = match dims.len() {
            ..=RANK_MAX => (dims.clone(), dtype.clone()),
            rank => {
                let (first, rest) = dims.split_at(rank - RANK_MAX + 1);
                let first = first.iter().fold(1, |all: u64, &dim| all.saturating_mul(dim));
                let named = format!("{dtype} of {rank} axes, {RANK_MAX} are the most");
                ([&[first], rest].concat(), named)
            }
        };
        let (shape, bytes) = (shape(&merged)?, end - begin);
        // What is newer than this table is not carried, and may have any size.
        let known = DIALECT.iter().find(|known| known.name == dtype);
        let needs =
            known.map(|known| (shape.elements() as u128 * u128::from(known.bits)).div_ceil(8));
        if let Some(needs) = needs.filter(|needs| *needs != u128::from(bytes)) {
            let (dims, dtype) = (dims.clone(), dtype.clone());
            return Err(ArchiveCause::Bytes { dims, dtype, needs, has: bytes }.into());
        }
        let carried = known.filter(|_| dims.len() <= RANK_MAX);
        let supply = carried.and_then(|known| known.dtype).map(|dtype| {
            let part = FilePart {
                file: Arc::clone(file),
                // Whether the file reaches so far is asked once all have their places.
                begin: header.saturating_add(begin),
                dtype,
                layout: Layout::dense(shape),
            };
            Arc::new(part) as Arc<_>
        });
        let (name, dtype_name) = (Arc::from(name.as_str()), Arc::from(named));
        Ok(FileTensor { name, shape, dtype_name, bytes, supply, blocks: None })
    }
}

/// All tensors of a header, and the remarks that are kept.
#[derive(Default)]
struct Header {
    specs: Vec<Spec>,
    remarks: Remarks,
    /// How many remarks were to be kept.
    given: usize,
}

/// What reads a header, with the remarks for whose names this says so.
struct HeaderSeed<'k>(Option<Keep<'k>>);

impl<'de> DeserializeSeed<'de> for HeaderSeed<'_> {
    type Value = Header;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Header, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for HeaderSeed<'_> {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Header, A::Error> {
        let (mut header, mut names) = (Header::default(), BTreeSet::new());
        while let Some(HeaderText(name)) = map.next_key()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("{name:?} is there twice")));
            }
            if name == REMARKS {
                map.next_value_seed(RemarkTexts(&mut header, &mut self.0))?;
                continue;
            }
            let Fields { dtype, dims, place } = map.next_value()?;
            header.specs.push(Spec { name, dtype, dims, begin: place.0, end: place.1 });
        }
        Ok(header)
    }
}

/// Texts by name, which are kept or passed over.
struct RemarkTexts<'h, 'k>(&'h mut Header, &'h mut Option<Keep<'k>>);

impl<'de> DeserializeSeed<'de> for RemarkTexts<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RemarkTexts<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("texts by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(Header { remarks, given, .. }, keep) = self;
        let Some(keep) = keep else {
            while map.next_entry::<AnyText, AnyText>()?.is_some() {}
            return Ok(());
        };
        while let Some(name) = map.next_key::<String>()? {
            let is_kept = keep(&name);
            *given += usize::from(is_kept);
            if is_kept && *given <= REMARKS_MAX {
                remarks.insert(name, Remark::Text(map.next_value()?));
            } else {
                let AnyText = map.next_value()?;
            }
        }
        Ok(())
    }
}

/// A text that is passed over, however long.
struct AnyText;

impl<'de> Deserialize<'de> for AnyText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Letters;
        impl Visitor<'_> for Letters {
            type Value = AnyText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<AnyText, E> {
                Ok(AnyText)
            }
        }
        from.deserialize_str(Letters)
    }
}

/// A text that is kept, or quoted in a message.
pub(super) struct HeaderText(pub(super) String);

impl<'de> Deserialize<'de> for HeaderText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Letters;
        impl Visitor<'_> for Letters {
            type Value = HeaderText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<HeaderText, E> {
                let bytes = text.len();
                if bytes > WORD_MAX {
                    let why = format!("a text of {bytes} bytes, {WORD_MAX} are the most");
                    return Err(E::custom(why));
                }
                Ok(HeaderText(text.to_owned()))
            }
        }
        from.deserialize_str(Letters)
    }
}

/// What the header says of a tensor.
struct Fields {
    dtype: String,
    dims: Vec<u64>,
    place: (u64, u64),
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OneTensor;
        impl<'de> Visitor<'de> for OneTensor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("dtype, shape and data_offsets of a tensor")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let (mut dtype, mut dims, mut place) = (None, None, None);
                while let Some(HeaderText(field)) = map.next_key()? {
                    let again = match field.as_str() {
                        "dtype" => dtype.replace(map.next_value::<HeaderText>()?.0).is_some(),
                        "shape" => dims.replace(map.next_value::<Dims>()?.0).is_some(),
                        "data_offsets" => place.replace(map.next_value()?).is_some(),
                        other => return Err(A::Error::custom(format!("what is {other:?}?"))),
                    };
                    if again {
                        return Err(A::Error::custom(format!("{field:?} is there twice")));
                    }
                }
                Ok(Fields {
                    dtype: dtype.ok_or_else(|| A::Error::missing_field("dtype"))?,
                    dims: dims.ok_or_else(|| A::Error::missing_field("shape"))?,
                    place: place.ok_or_else(|| A::Error::missing_field("data_offsets"))?,
                })
            }
        }
        from.deserialize_map(OneTensor)
    }
}

/// A shape, not yet checked.
struct Dims(Vec<u64>);

impl<'de> Deserialize<'de> for Dims {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct DimList;
        impl<'de> Visitor<'de> for DimList {
            type Value = Dims;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of dimensions")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Dims, A::Error> {
                let mut dims = Vec::new();
                while let Some(dim) = seq.next_element()? {
                    if dims.len() == DIMS_MAX {
                        return Err(A::Error::custom(format!("more than {DIMS_MAX} dimensions")));
                    }
                    dims.push(dim);
                }
                Ok(Dims(dims))
            }
        }
        from.deserialize_seq(DimList)
    }
}
