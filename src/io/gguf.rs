//! GGUF: values and blocks of ggml's, read.
//!
//! ```text
//! "GGUF", version, tensors, remarks
//! remarks: name, type, value                       skipped, but for the alignment
//! tensors: name, axes (the fastest first), type, offset
//! padding to the alignment, and the values of each tensor at its offset from here
//! ```
//!
//! A tensor `name` in blocks that wharf has is two here, bit for bit: `name.values` and
//! `name.scales`, which [`TensorSet::quantised`] makes one; a file that has one of these besides is
//! refused.
//!
//! [`TensorSet::quantised`]: crate::TensorSet::quantised

use std::collections::BTreeSet;
use std::io::{BufReader, Read, copy, sink};
use std::path::Path;
use std::sync::Arc;

use super::cause::ArchiveCause;
use super::entry::{FileTensor, shape};
use super::file::{FilePart, FileStretch, Pieces};
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

const KINDS: [GgmlType; 34] = [
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
];

pub(super) fn begins(begin: &[u8]) -> bool {
    begin.starts_with(b"GGUF")
}

/// The tensors of a file.
pub(super) fn open(file: &Arc<Pieces>, _: Option<&Path>) -> Result<Vec<FileTensor>> {
    let mut text = Reader::of(file);
    text.skip(4)?;
    let version = text.u32()?;
    if (2..=3).contains(&version.swap_bytes()) {
        return Err(ArchiveCause::BigEndian.into());
    }
    if !(2..=3).contains(&version) {
        return Err(ArchiveCause::Version { version, reads: "2 and 3" }.into());
    }
    let (count, remarks) = (text.count("tensors", 24)?, text.count("remarks", 13)?);
    let mut align = 32;
    for _ in 0..remarks {
        text.remark(&mut align)?;
    }
    let mut names = BTreeSet::new();
    let mut specs = Vec::new();
    for _ in 0..count {
        let spec = Laid::read(&mut text)?;
        if !names.insert(spec.name.clone()) {
            return Err(ArchiveCause::Twice { name: spec.name }.into());
        }
        specs.push(spec);
    }
    let begin = text.at.next_multiple_of(align);
    specs.sort_by_key(|spec| spec.offset);
    let (mut tensors, mut end) = (Vec::new(), 0);
    for spec in specs {
        let placed = spec.place(file, begin, (end, align), &mut tensors);
        end = placed.map_err(|error| error.during(format!("tensor {:?}", spec.name)))?;
    }
    distinct(&tensors)?;
    Ok(tensors)
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

    /// Checks it against its neighbours and its own numbers; returns where it ends.
    fn place(
        &self,
        file: &Arc<Pieces>,
        header: u64,
        (last, align): (u64, u64),
        tensors: &mut Vec<FileTensor>,
    ) -> Result<u64> {
        let kind = KINDS.iter().find(|kind| kind.number == self.kind);
        let kind = kind.ok_or(ArchiveCause::Unknown { kind: self.kind })?;
        let shape = shape(&self.dims)?;
        let row = self.dims.last().copied().unwrap_or(1);
        if !row.is_multiple_of(kind.values) {
            let why = format!("rows of {row} are not whole blocks of {}", kind.values);
            return Err(meaningless(why).into());
        }
        if !self.offset.is_multiple_of(align) {
            let why = format!("its offset {} is no multiple of {align}", self.offset);
            return Err(meaningless(why).into());
        }
        if self.offset < last {
            return Err(ArchiveCause::Overlap { begin: self.offset, end: last }.into());
        }
        let needs = shape.elements() as u128 / u128::from(kind.values) * u128::from(kind.bytes);
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
        kind: &GgmlType,
        shape: Shape,
        place: core::ops::Range<u64>,
        tensors: &mut Vec<FileTensor>,
    ) -> Result<()> {
        let (file, begin) = (Arc::clone(file), place.start);
        let dtype_name: Arc<str> = Arc::from(kind.name);
        let mut add = |name: &str, shape, bytes, supply| {
            let (name, dtype_name) = (Arc::from(name), Arc::clone(&dtype_name));
            tensors.push(FileTensor { name, shape, dtype_name, bytes, supply });
        };
        match kind.means {
            Counterpart::Foreign => add(&self.name, shape, place.end - begin, None),
            Counterpart::Plain(dtype) => {
                let part = FilePart { file, begin, dtype, layout: Layout::dense(shape) };
                add(&self.name, shape, place.end - begin, Some(Arc::new(part)));
            }
            Counterpart::Blocks(form) => {
                let blocks = (place.end - begin) / kind.bytes;
                for of in Share::BOTH {
                    let (shape, bytes) = (of.shape(form, &shape)?, of.bytes(form) as u64);
                    let supply = BlocksPart { file: Arc::clone(&file), begin, form, of, shape };
                    add(&of.of(&self.name), shape, blocks * bytes, Some(Arc::new(supply)));
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
}

impl<'a> Reader<'a> {
    fn of(file: &'a Pieces) -> Self {
        Self { stream: BufReader::new(file.stream(0, file.len)), at: 0, len: file.len }
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

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.has(N as u128)?;
        let mut bytes = [0; N];
        let read = self.stream.read_exact(&mut bytes);
        read.map_err(|error| ArchiveCause::Unreadable { why: error.to_string() })?;
        self.at += N as u64;
        Ok(bytes)
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
        let skipped = copy(&mut self.stream.by_ref().take(bytes), &mut sink());
        skipped.map_err(|error| ArchiveCause::Unreadable { why: error.to_string() })?;
        self.at += bytes;
        Ok(())
    }

    fn name(&mut self) -> Result<String> {
        let bytes = self.u64()?;
        if bytes > NAME_MAX {
            return Err(ArchiveCause::Large { what: "a name", bytes, most: NAME_MAX }.into());
        }
        self.has(bytes.into())?;
        let mut text = vec![0; bytes as usize];
        let read = self.stream.read_exact(&mut text);
        read.map_err(|error| ArchiveCause::Unreadable { why: error.to_string() })?;
        self.at += bytes;
        String::from_utf8(text).map_err(|_| meaningless("a name is not UTF-8".into()).into())
    }

    fn remark(&mut self, align: &mut u64) -> Result<()> {
        const U32: u32 = 4;
        let (name, kind) = (self.name()?, self.u32()?);
        if name == "general.alignment" && kind == U32 {
            *align = self.u32()?.into();
            if !align.is_power_of_two() || *align > NAME_MAX {
                return Err(meaningless(format!("an alignment of {align}")).into());
            }
            return Ok(());
        }
        self.value(kind, 0)
    }

    fn value(&mut self, kind: u32, depth: u32) -> Result<()> {
        match kind {
            0 | 1 | 7 => self.skip(1),
            2 | 3 => self.skip(2),
            4..=6 => self.skip(4),
            10..=12 => self.skip(8),
            8 => {
                let bytes = self.u64()?;
                self.skip(bytes)
            }
            9 if depth < DEPTH_MAX => {
                let kind = self.u32()?;
                let count = self.count("values of a list", 1)?;
                (0..count).try_for_each(|_| self.value(kind, depth + 1))
            }
            9 => Err(meaningless(format!("lists in more than {DEPTH_MAX} lists")).into()),
            other => Err(meaningless(format!("no type {other} of a remark")).into()),
        }
    }
}
