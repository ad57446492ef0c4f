//! A set of tensors becomes a file, streamed down: no tensor is ever on the host as a whole.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use super::cause::ArchiveCause;
use super::remark::counted;
use super::safetensors::{DIALECT, HEADER_MAX, LENGTH_BYTES, REMARKS, WORD_MAX};
use super::unfinished::{unwritten, whole};
use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::error::{Result, mistake};
use crate::gpu::Drive;
use crate::ledger::{CallSite, Direction};
use crate::set::{SetReceipt, TensorSet};
use crate::tensor::Tensor;

impl TensorSet {
    /// Writes all tensors to a file of safetensors, bit for bit. Each comes down chunk by chunk and
    /// is on the host nowhere as a whole. The file has its name only once it is whole and on the
    /// disk: what was there before stays until then, where this fails, and where the machine does.
    ///
    /// The receipt is that of the reads; nothing is converted.
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<SetReceipt> {
        self.save_at(path.as_ref(), &BTreeMap::new(), CallSite::of("set.save"))
    }

    /// [`TensorSet::save`] with remarks, texts by name, as `__metadata__` of the file: what
    /// [`Archive::remarks`] reads. Of two under one name the last stays. Some programs load no
    /// file whose `format` is not `pt`.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::{TensorSet, io};
    ///
    /// let mut set = TensorSet::new();
    /// set.insert("weight", device.ones([3, 2], wharf::DType::F32)?)?;
    /// let path = std::env::temp_dir().join(format!("wharf-{}-pt", std::process::id()));
    /// set.save_with_remarks(&path, [("format", "pt")])?;
    ///
    /// let remarks = io::Archive::open(&path)?.remarks(|_| true)?;
    /// let texts = remarks.iter().filter_map(|(name, remark)| Some((name, remark.as_text()?)));
    /// set.save_with_remarks(&path, texts)?; // those of one file in another
    /// assert_eq!(remarks["format"], io::Remark::Text("pt".into()));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok(()) });
    /// ```
    ///
    /// [`Archive::remarks`]: crate::io::Archive::remarks
    #[track_caller]
    pub fn save_with_remarks(
        &self,
        path: impl AsRef<Path>,
        remarks: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
    ) -> Result<SetReceipt> {
        let site = CallSite::of("set.save_with_remarks");
        let remarks: Vec<_> = remarks.into_iter().collect();
        let remarks = remarks.iter().map(|(name, text)| (name.as_ref(), text.as_ref()));
        self.save_at(path.as_ref(), &remarks.collect(), site)
    }

    fn save_at(
        &self,
        path: &Path,
        remarks: &BTreeMap<&str, &str>,
        site: CallSite,
    ) -> Result<SetReceipt> {
        for (_, tensor) in self {
            tensor.device().engine.books.admit(Direction::Down, site)?;
        }
        whole(path, |file| write(self, remarks, file, site))
    }
}

fn write(
    set: &TensorSet,
    remarks: &BTreeMap<&str, &str>,
    file: &mut impl Write,
    site: CallSite,
) -> Result<SetReceipt> {
    let clock = Stopwatch::start();
    let mut tensors: Vec<(&str, &Tensor)> = set.iter().collect();
    // The widest first, so that every tensor is aligned for its dtype.
    tensors.sort_by_key(|(_, tensor)| core::cmp::Reverse(tensor.dtype().width()));
    let header = header(&tensors, remarks)?;
    let length = (header.len() as u64).to_le_bytes();
    let begun = file.write_all(&length).and_then(|()| file.write_all(header.as_bytes()));
    begun.map_err(unwritten)?;
    let mut receipts = Vec::new();
    for (name, tensor) in tensors {
        let mut take = |chunk: &[u8]| file.write_all(chunk).map_err(unwritten);
        let poured = pollster::block_on(tensor.pour(Drive::Block, site, &mut take));
        let receipt = poured.map_err(|error| error.during(format!("tensor {name:?}")))?;
        receipts.push((name.into(), receipt));
    }
    SetReceipt::of(receipts, clock)
}

/// The header, filled up to a multiple of eight bytes.
fn header(tensors: &[(&str, &Tensor)], remarks: &BTreeMap<&str, &str>) -> Result<String> {
    let (mut text, mut begin) = (String::from("{"), 0);
    counted(remarks.len())?;
    if !remarks.is_empty() {
        let _ = write!(text, "\"{REMARKS}\":{}", json(remarks)?);
    }
    for (name, tensor) in tensors {
        check(name).map_err(|error| error.during(format!("tensor {name:?}")))?;
        let (shape, dtype) = (tensor.shape(), tensor.dtype());
        let known = DIALECT.iter().find(|known| known.dtype == Some(dtype));
        let known = known.ok_or_else(|| mistake("save", format!("no name for {dtype}")))?.name;
        let name = json(name)?;
        let end = Engine::bytes_of(shape, dtype)?.saturating_add(begin);
        let comma = if text.len() > 1 { "," } else { "" };
        let dims = shape.dims();
        let _ = write!(
            text,
            "{comma}{name}:{{\"dtype\":\"{known}\",\"shape\":{dims:?},\
             \"data_offsets\":[{begin},{end}]}}"
        );
        begin = end;
    }
    text.push('}');
    let whole = text.len().next_multiple_of(LENGTH_BYTES as usize);
    text.extend(core::iter::repeat_n(' ', whole - text.len()));
    let bytes = text.len() as u64;
    if bytes > HEADER_MAX {
        return Err(ArchiveCause::LongHeader { bytes, most: HEADER_MAX }.into());
    }
    Ok(text)
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> Result<String> {
    serde_json::to_string(value).map_err(|error| mistake("save", error.to_string()))
}

/// Whether a reader of the format would take it for a name.
fn check(name: &str) -> Result<()> {
    if name == REMARKS {
        return Err(ArchiveCause::Reserved.into());
    }
    if name.len() > WORD_MAX {
        return Err(ArchiveCause::LongName { bytes: name.len(), most: WORD_MAX }.into());
    }
    Ok(())
}
