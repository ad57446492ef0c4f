//! GGUF: values and blocks of ggml's, read.
//!
//! ```text
//! "GGUF", version, tensors, remarks
//! remarks: name, type, value                       passed over, but for alignment and shards
//! tensors: name, axes (the fastest first), type, offset
//! padding to the alignment, and the values of each tensor at its offset from here
//! ```
//!
//! A model in several files is opened by any of them. Each is a file of its own, which says which
//! one it is, and of how many.
//!
//! A tensor `name` in blocks that wharf has is two here, bit for bit: `name.values` and
//! `name.scales`, which [`TensorSet::quantized`] makes one; a file that has one of these besides is
//! refused.
//!
//! [`TensorSet::quantized`]: crate::TensorSet::quantized

mod remarks;

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use super::cause::ArchiveCause;
use super::entry::{FileTensor, Opened, shape};
use super::file::{FilePart, FileStretch, Pieces, stopped};
use super::remark::Remarked;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::host::blocks::{Blocks, Share};
use crate::host::supply::Supply;
use crate::layout::Layout;
use crate::shape::Shape;

/// Axes that a tensor of the format has, at most.
const DIMS_MAX: u32 = 4;

/// The most bytes of the name of a tensor or a remark.
const NAME_MAX: u64 = 64 << 10;

/// Lists within lists.
const DEPTH_MAX: u32 = 4;

/// The most bytes of a header that are read, several times those of any model: texts and lists of
/// numbers are passed over.
const READ_MAX: u64 = 64 << 20;

/// What a type of ggml's is to wharf.
#[derive(Clone, Copy)]
enum Counterpart {
    Plain(DType),
    Blocks(Blocks),
    Foreign,
}

/// A type of ggml's: its number, its name, so many values in so many bytes.
struct GgmlType {
    number: u32,
    name: &'static str,
    values: u64,
    bytes: u64,
    means: Counterpart,
}

const fn plain(number: u32, name: &'static str, dtype: DType) -> GgmlType {
    GgmlType {
        number,
        name,
        values: 1,
        bytes: dtype.width() as u64,
        means: Counterpart::Plain(dtype),
    }
}

const fn foreign(number: u32, name: &'static str, values: u64, bytes: u64) -> GgmlType {
    GgmlType { number, name, values, bytes, means: Counterpart::Foreign }
}

const fn blocks(number: u32, name: &'static str, form: Blocks) -> GgmlType {
    let (values, bytes) = (form.weights() as u64, form.bytes() as u64);
    GgmlType { number, name, values, bytes, means: Counterpart::Blocks(form) }
}

const KINDS: [GgmlType; 35] = [
    plain(0, "F32", DType::F32),
    plain(1, "F16", DType::F16),
    plain(30, "BF16", DType::Bf16),
    plain(28, "F64", DType::F64),
    plain(24, "I8", DType::I8),
    plain(25, "I16", DType::I16),
    plain(26, "I32", DType::I32),
    plain(27, "I64", DType::I64),
    blocks(8, "Q8_0", Blocks::Q8),
    blocks(2, "Q4_0", Blocks::Q4),
    blocks(3, "Q4_1", Blocks::Q4_1),
    blocks(6, "Q5_0", Blocks::Q5),
    blocks(7, "Q5_1", Blocks::Q5_1),
    blocks(12, "Q4_K", Blocks::Q4K),
    blocks(13, "Q5_K", Blocks::Q5K),
    blocks(14, "Q6_K", Blocks::Q6K),
    blocks(11, "Q3_K", Blocks::Q3K),
    blocks(10, "Q2_K", Blocks::Q2K),
    foreign(9, "Q8_1", 32, 36),
    foreign(15, "Q8_K", 256, 292),
    foreign(16, "IQ2_XXS", 256, 66),
    foreign(17, "IQ2_XS", 256, 74),
    foreign(18, "IQ3_XXS", 256, 98),
    foreign(19, "IQ1_S", 256, 50),
    foreign(20, "IQ4_NL", 32, 18),
    foreign(21, "IQ3_S", 256, 110),
    foreign(22, "IQ2_S", 256, 82),
    foreign(23, "IQ4_XS", 256, 136),
    foreign(29, "IQ1_M", 256, 56),
    foreign(34, "TQ1_0", 256, 54),
    foreign(35, "TQ2_0", 256, 66),
    foreign(39, "MXFP4", 32, 17),
    foreign(40, "NVFP4", 64, 36),
    foreign(41, "Q1_0", 128, 18),
    foreign(42, "Q2_0", 64, 18),
];

pub(super) fn begins(begin: &[u8]) -> bool {
    begin.starts_with(b"GGUF")
}

/// The tensors of a file, and of those beside it where it is one of several.
pub(super) fn open(file: &Arc<Pieces>, path: Option<&Path>) -> Result<Opened> {
    let (mut names, mut first) = (BTreeSet::new(), (Arc::clone(file), None));
    let (own, tensors) = one(file, &mut names)?;
    let mut shards = BTreeMap::from([(own.shard, tensors)]);
    if own.shards > 1 {
        let name = path.and_then(Path::file_name).and_then(OsStr::to_str);
        let begin = name.and_then(|name| name.strip_suffix(&*own.ending(own.shard)));
        let alone = ArchiveCause::OneShard { shard: own.shard, of: own.shards };
        let (path, begin) = path.zip(begin).ok_or(alone)?;
        for shard in (1..=own.shards).filter(|shard| *shard != own.shard) {
            let file = format!("{begin}{}", own.ending(shard));
            let pieces = Pieces::beside(path, &file)?;
            let (other, tensors) = one(&pieces, &mut names)
                .map_err(|error| error.during(format!("shard {file:?}")))?;
            if (other.shard, other.shards) != (shard, own.shards) {
                let (shard, of) = (other.shard, other.shards);
                return Err(ArchiveCause::OtherShard { file, shard, of }.into());
            }
            shards.insert(shard, tensors);
            if shard == 1 {
                first = (pieces, Some(file));
            }
        }
        let (has, wants) = (names.len() as u64, own.tensors);
        if wants > 0 && has != wants {
            return Err(ArchiveCause::Lost { has, wants }.into());
        }
    }
    let tensors: Vec<FileTensor> = shards.into_values().flatten().collect();
    distinct(&tensors)?;
    let (file, shard) = first;
    Ok((tensors, Some(Remarked { file, shard, read: |file, keep| Reader::of(file).remarks(keep) })))
}

/// What one file says of itself, and its tensors, whose names are none of these, and are added.
fn one(
    file: &Arc<Pieces>,
    names: &mut BTreeSet<String>,
) -> Result<(ModelRemarks, Vec<FileTensor>)> {
    let mut text = Reader::of(file);
    let [count, remarks] = text.counts()?;
    let remarks = ModelRemarks::read(&mut text, remarks)?;
    let mut specs = Vec::new();
    for _ in 0..count {
        let spec = Laid::read(&mut text)?;
        if !names.insert(spec.name.clone()) {
            return Err(ArchiveCause::Twice { name: spec.name }.into());
        }
        specs.push(spec);
    }
    let align = remarks.align;
    let begin = text.at.next_multiple_of(align);
    specs.sort_by_key(|spec| spec.offset);
    let ends = specs.iter().skip(1).map(|next| next.offset);
    let ends = ends.chain([file.len.saturating_sub(begin)]);
    let (mut tensors, mut last) = (Vec::new(), 0);
    for (spec, end) in specs.iter().zip(ends) {
        let placed = spec.place(file, (begin, align), last..end, &mut tensors);
        last = placed.map_err(|error| error.during(format!("tensor {:?}", spec.name)))?;
    }
    Ok((remarks, tensors))
}

/// What is kept of the remarks.
struct ModelRemarks {
    align: u64,
    /// Which of several files this is, counted from 1, and how many there are.
    shard: u64,
    shards: u64,
    /// Tensors in all of them; 0 where that is not said.
    tensors: u64,
}

impl ModelRemarks {
    fn read(text: &mut Reader<'_>, count: u64) -> Result<Self> {
        let mut own = Self { align: 32, shard: 0, shards: 0, tensors: 0 };
        for _ in 0..count {
            let (name, kind) = (text.name()?, text.u32()?);
            let kept = match &*name {
                "general.alignment" => Some(&mut own.align),
                "split.no" => Some(&mut own.shard),
                "split.count" => Some(&mut own.shards),
                "split.tensors.count" => Some(&mut own.tensors),
                _ => None,
            };
            match kept.zip(width(kind)) {
                Some((kept, bytes)) => *kept = text.number(bytes)?,
                None => text.value(kind, 0)?,
            }
        }
        own.shard = own.shard.saturating_add(1);
        if !own.align.is_power_of_two() || own.align > NAME_MAX {
            return Err(meaningless(format!("an alignment of {}", own.align)).into());
        }
        Ok(own)
    }

    /// How the name of a shard ends.
    fn ending(&self, shard: u64) -> String {
        format!("-{shard:05}-of-{:05}.gguf", self.shards)
    }
}

/// Names were different in the file: two that are alike now are a part of blocks and another
/// tensor.
fn distinct(tensors: &[FileTensor]) -> Result<()> {
    let mut names = BTreeSet::new();
    let Some(twice) = tensors.iter().find(|tensor| !names.insert(&*tensor.name)) else {
        return Ok(());
    };
    let part = twice.name.to_string();
    let whole = part.rsplit_once('.').map_or(&*part, |(whole, _)| whole);
    let whole = format!("tensor {whole:?}");
    Err(Error::from(ArchiveCause::Claimed { part }).during(whole))
}

fn meaningless(why: String) -> ArchiveCause {
    ArchiveCause::Header { why }
}

/// A tensor as the header has it.
struct Laid {
    name: String,
    /// The slowest axis first.
    dims: Vec<u64>,
    kind: u32,
    offset: u64,
}

impl Laid {
    fn read(text: &mut Reader<'_>) -> Result<Self> {
        let name = text.name()?;
        let axes = text.u32()?;
        if axes > DIMS_MAX {
            return Err(meaningless(format!("{axes} axes, {DIMS_MAX} are the most")).into());
        }
        let mut dims = (0..axes).map(|_| text.u64()).collect::<Result<Vec<u64>>>()?;
        dims.reverse();
        Ok(Self { name, dims, kind: text.u32()?, offset: text.u64()? })
    }

    /// Checks it against its own numbers, and the room that its neighbours leave; returns where it
    /// ends.
    fn place(
        &self,
        file: &Arc<Pieces>,
        (header, align): (u64, u64),
        room: Range<u64>,
        tensors: &mut Vec<FileTensor>,
    ) -> Result<u64> {
        let kind = KINDS.iter().find(|kind| kind.number == self.kind);
        let shape = shape(&self.dims)?;
        let row = self.dims.last().copied().unwrap_or(1);
        if let Some(kind) = kind.filter(|kind| !row.is_multiple_of(kind.values)) {
            let why = format!("rows of {row} are not whole blocks of {}", kind.values);
            return Err(meaningless(why).into());
        }
        if !self.offset.is_multiple_of(align) {
            let why = format!("its offset {} is no multiple of {align}", self.offset);
            return Err(meaningless(why).into());
        }
        if self.offset < room.start {
            return Err(ArchiveCause::Overlap { begin: self.offset, end: room.start }.into());
        }
        // What is newer than the table may have any size: it is all that is there.
        let needs = kind.map_or(room.end.saturating_sub(self.offset).into(), |kind| {
            shape.elements() as u128 / u128::from(kind.values) * u128::from(kind.bytes)
        });
        let whole = u128::from(header) + u128::from(self.offset) + needs;
        if whole > u128::from(file.len) {
            let what = "the file needs".into();
            return Err(ArchiveCause::Cut { what, needs: whole, has: file.len }.into());
        }
        let (bytes, begin) = (needs as u64, header + self.offset);
        self.arrive(file, kind, shape, begin..begin + bytes, tensors)?;
        Ok(self.offset + bytes)
    }

    fn arrive(
        &self,
        file: &Arc<Pieces>,
        kind: Option<&GgmlType>,
        shape: Shape,
        place: Range<u64>,
        tensors: &mut Vec<FileTensor>,
    ) -> Result<()> {
        let (file, begin) = (Arc::clone(file), place.start);
        let number = || format!("type {}", self.kind).into();
        let dtype_name: Arc<str> = kind.map_or_else(number, |kind| kind.name.into());
        let means = kind.map_or(Counterpart::Foreign, |kind| kind.means);
        let blocks = if let Counterpart::Blocks(form) = means { Some(form) } else { None };
        let mut add = |name: &str, shape, bytes, supply| {
            let (name, dtype_name) = (Arc::from(name), Arc::clone(&dtype_name));
            tensors.push(FileTensor { name, shape, dtype_name, bytes, supply, blocks });
        };
        match means {
            Counterpart::Foreign => add(&self.name, shape, place.end - begin, None),
            Counterpart::Plain(dtype) => {
                let part = FilePart { file, begin, dtype, layout: Layout::dense(shape) };
                add(&self.name, shape, place.end - begin, Some(Arc::new(part)));
            }
            Counterpart::Blocks(form) => {
                let count = (place.end - begin) / form.bytes() as u64;
                for of in Share::BOTH {
                    let (shape, bytes) = (of.shape(form, &shape)?, of.bytes(form) as u64);
                    let supply = BlocksPart { file: Arc::clone(&file), begin, form, of, shape };
                    add(&of.of(&self.name), shape, count * bytes, Some(Arc::new(supply)));
                }
            }
        }
        Ok(())
    }
}

/// One part of all blocks of a tensor.
#[derive(Debug)]
struct BlocksPart {
    file: Arc<Pieces>,
    begin: u64,
    form: Blocks,
    of: Share,
    shape: Shape,
}

/// The bytes of a block as a file has them, one part after another.
fn parts_in_file(form: Blocks) -> [(Share, usize); 3] {
    let [front, behind] = form.common().around.map(|n| n * Share::Scales.dtype(form).width());
    let values = Share::Values.bytes(form);
    [(Share::Scales, front), (Share::Values, values), (Share::Scales, behind)]
}

/// Blocks that are read at once.
const AT_ONCE: usize = 1024;

impl BlocksPart {
    /// What is of this part in a block, from byte `inside` on; returns what is left to write.
    fn own<'a>(&self, block: &[u8], mut inside: usize, mut out: &'a mut [u8]) -> &'a mut [u8] {
        let mut rest = block;
        for (of, bytes) in parts_in_file(self.form) {
            let (part, later) = rest.split_at(bytes.min(rest.len()));
            rest = later;
            if of == self.of {
                let part = &part[inside.min(part.len())..];
                inside = inside.saturating_sub(bytes);
                let (now, next) = out.split_at_mut(part.len().min(out.len()));
                now.copy_from_slice(&part[..now.len()]);
                out = next;
            }
        }
        out
    }
}

impl Supply for BlocksPart {
    fn dtype(&self) -> DType {
        self.of.dtype(self.form)
    }

    fn layout(&self) -> Layout {
        Layout::dense(self.shape)
    }

    fn read(&self, first: u64, out: &mut [u8]) -> Result<()> {
        let size = self.of.bytes(self.form);
        let (whole, mut out) = (self.form.bytes(), out);
        let (mut block, mut inside) = (first / size as u64, (first % size as u64) as usize);
        let mut scratch = vec![0; AT_ONCE * whole];
        while !out.is_empty() {
            let count = (inside + out.len()).div_ceil(size).min(AT_ONCE);
            let blocks = &mut scratch[..count * whole];
            self.file.read(self.begin + block * whole as u64, blocks)?;
            for part in blocks.chunks(whole) {
                (out, inside) = (self.own(part, inside, out), 0);
            }
            block += count as u64;
        }
        Ok(())
    }
}

/// The header, read from the front; nothing in it is believed.
struct Reader<'a> {
    stream: BufReader<FileStretch<&'a Pieces>>,
    at: u64,
    len: u64,
    /// Bytes that were not passed over.
    read: u64,
}

/// Bytes of a remark of this type, if all have as many.
const fn width(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

impl<'a> Reader<'a> {
    fn of(file: &'a Pieces) -> Self {
        Self { stream: BufReader::new(file.stream(0, file.len)), at: 0, len: file.len, read: 0 }
    }

    /// What a file begins with, at the end of which is how many tensors it has, and remarks.
    fn counts(&mut self) -> Result<[u64; 2]> {
        if !begins(&self.bytes::<4>()?) {
            return Err(meaningless("it is no GGUF".into()).into());
        }
        let version = self.u32()?;
        if (2..=3).contains(&version.swap_bytes()) {
            return Err(ArchiveCause::BigEndian.into());
        }
        if !(2..=3).contains(&version) {
            return Err(ArchiveCause::Version { version, reads: "2 and 3" }.into());
        }
        Ok([self.count("tensors", 24)?, self.count("remarks", 13)?])
    }

    /// Whether there is so much left.
    fn has(&mut self, bytes: u128) -> Result<()> {
        let needs = u128::from(self.at) + bytes;
        if needs > u128::from(self.len) {
            let what = "the header needs".into();
            return Err(ArchiveCause::Cut { what, needs, has: self.len }.into());
        }
        Ok(())
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<()> {
        let bytes = out.len() as u64;
        self.has(bytes.into())?;
        self.read += bytes;
        if self.read > READ_MAX {
            let (what, bytes) = ("a header", self.read);
            return Err(ArchiveCause::Large { what, bytes, most: READ_MAX }.into());
        }
        self.stream.read_exact(out).map_err(stopped)?;
        self.at += bytes;
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// A number of at most eight bytes.
    fn number(&mut self, bytes: u64) -> Result<u64> {
        let mut number = [0; 8];
        self.fill(&mut number[..bytes as usize])?;
        Ok(u64::from_le_bytes(number))
    }

    fn u32(&mut self) -> Result<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// How many of something there are, each of which takes so many bytes at least.
    fn count(&mut self, what: &str, each: u64) -> Result<u64> {
        let count = self.u64()?;
        self.has(u128::from(count) * u128::from(each))
            .map_err(|error| error.during(format!("{count} {what}")))?;
        Ok(count)
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        self.has(bytes.into())?;
        let had = bytes.min(self.stream.buffer().len() as u64);
        self.stream.consume(had as usize);
        self.stream.get_mut().skip(bytes - had);
        self.at += bytes;
        Ok(())
    }

    fn name(&mut self) -> Result<String> {
        self.text("a name", NAME_MAX)
    }

    fn text(&mut self, what: &'static str, most: u64) -> Result<String> {
        let bytes = self.u64()?;
        if bytes > most {
            return Err(ArchiveCause::Large { what, bytes, most }.into());
        }
        // Before memory is taken for it.
        self.has(bytes.into())?;
        let mut text = vec![0; bytes as usize];
        self.fill(&mut text)?;
        String::from_utf8(text).map_err(|_| meaningless(format!("{what} is not UTF-8")).into())
    }

    /// Passes over a value.
    fn value(&mut self, kind: u32, depth: u32) -> Result<()> {
        if let Some(bytes) = width(kind) {
            return self.skip(bytes);
        }
        match kind {
            8 => {
                let bytes = self.u64()?;
                self.skip(bytes)
            }
            9 if depth < DEPTH_MAX => {
                let kind = self.u32()?;
                let width = width(kind);
                let count = self.count("values of a list", width.unwrap_or(1))?;
                match width {
                    Some(bytes) => self.skip(count * bytes),
                    None => (0..count).try_for_each(|_| self.value(kind, depth + 1)),
                }
            }
            9 => Err(meaningless(format!("lists in more than {DEPTH_MAX} lists")).into()),
            other => Err(meaningless(format!("no type {other} of a remark")).into()),
        }
    }
}
