//! A set of tensors becomes an npz, byte for byte as `np.savez` writes it: streamed down, each
//! checksum written into its member's header once its last byte has passed.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::Crc;

use super::directory::{BEYOND, END, END_64, ENTRY, LOCATOR, MEMBER, NUMBERS_64, is_plain};
use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::error::Result;
use crate::io::cause::ArchiveCause;
use crate::io::npy::save::SavedArray;
use crate::io::unfinished::{unwritten, whole};
use crate::ledger::{CallSite, Direction};
use crate::set::{SetReceipt, TensorSet};
use crate::tensor::Tensor;
use crate::transfer::Receipt;

/// The version of the format that has sizes of 64 bits, and Unix, whose permissions are those of a
/// new file.
const VERSION: u16 = 45;
const SYSTEM: u16 = 3 << 8;
const PERMISSIONS: u32 = 0o600 << 16;

/// The first day that the format has.
const DATE: u16 = 1 << 5 | 1;

/// Names in UTF-8.
const UTF_8: u16 = 0x0800;

/// Where a member's header has its checksum.
const CRC_AT: u64 = 14;

/// From here on Python writes numbers in 64 bits.
const FAR: u64 = i32::MAX as u64;

impl TensorSet {
    /// Writes all tensors to a file of numpy's (npz), bit for bit, as `np.savez` does. Each comes
    /// down chunk by chunk and is on the host nowhere as a whole; the file has its name only once
    /// it is whole and on the disk. What lies column by column is written as it lies, as by
    /// [`Tensor::save_npy`].
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let mut set = wharf::TensorSet::new();
    /// set.insert("weight", device.ones([3, 2], wharf::DType::F32)?)?;
    /// let path = std::env::temp_dir().join(format!("wharf-{}.npz", std::process::id()));
    /// let receipt = set.save_npz(&path)?;
    /// assert!(receipt.is_exact(), "{receipt}");
    /// let (set, _) = device.upload_set(&wharf::io::Archive::open(&path)?.shipment()?)?;
    /// assert!(set.get("weight").is_some());
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn save_npz(&self, path: impl AsRef<Path>) -> Result<SetReceipt> {
        let site = CallSite::of("set.save_npz");
        for (_, tensor) in self {
            tensor.device().engine.books.admit(Direction::Down, site)?;
        }
        whole(path.as_ref(), |file| write(self, file, site))
    }
}

fn write(set: &TensorSet, file: &mut BufWriter<File>, site: CallSite) -> Result<SetReceipt> {
    let clock = Stopwatch::start();
    let (mut receipts, mut written, mut offset) = (Vec::new(), Vec::new(), 0);
    for (name, tensor) in set {
        let (member, receipt) = SavedMember::write(name, tensor, offset, file, site)
            .map_err(|error| error.during(format!("tensor {name:?}")))?;
        offset = member.end;
        receipts.push((name.into(), receipt));
        written.push(member);
    }
    let directory: Vec<u8> = written.iter().flat_map(SavedMember::entry).collect();
    let end = end(written.len() as u64, directory.len() as u64, offset);
    let done = file.write_all(&directory).and_then(|()| file.write_all(&end));
    done.map_err(unwritten)?;
    SetReceipt::of(receipts, clock)
}

/// A member that is in the file.
struct SavedMember {
    name: Vec<u8>,
    flags: u16,
    crc: u32,
    bytes: u64,
    offset: u64,
    end: u64,
}

impl SavedMember {
    fn write(
        name: &str,
        tensor: &Tensor,
        offset: u64,
        file: &mut BufWriter<File>,
        site: CallSite,
    ) -> Result<(Self, Receipt)> {
        let array = SavedArray::of(tensor)?;
        let header = &array.header;
        let bytes = header.len() as u64 + Engine::bytes_of(tensor.shape(), tensor.dtype())?;
        let member = format!("{name}.npy");
        if !is_plain(&member) {
            return Err(ArchiveCause::Path.into());
        }
        if member.len() > usize::from(u16::MAX) {
            let (bytes, most) = (member.len(), usize::from(u16::MAX));
            return Err(ArchiveCause::LongName { bytes, most }.into());
        }
        let flags = if member.is_ascii() { 0 } else { UTF_8 };
        let mut this = Self { name: member.into_bytes(), flags, crc: 0, bytes, offset, end: 0 };
        let before = this.header();
        this.end = offset + before.len() as u64 + bytes;
        let mut crc = Crc::new();
        crc.update(header);
        let begun = file.write_all(&before).and_then(|()| file.write_all(header));
        begun.map_err(unwritten)?;
        let mut take = |chunk: &[u8]| {
            crc.update(chunk);
            file.write_all(chunk).map_err(unwritten)
        };
        let receipt = array.pour(site, &mut take)?;
        this.crc = crc.sum();
        let mut patch = || {
            file.seek(SeekFrom::Start(offset + CRC_AT))?;
            file.write_all(&this.crc.to_le_bytes())?;
            file.seek(SeekFrom::Start(this.end))
        };
        patch().map_err(unwritten)?;
        Ok((this, receipt))
    }

    /// What header and directory have alike.
    fn about(&self, sizes: [u64; 2]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for short in [VERSION, self.flags, 0, 0, DATE] {
            bytes.extend(short.to_le_bytes());
        }
        bytes.extend(self.crc.to_le_bytes());
        bytes.extend(sizes.into_iter().flat_map(word));
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes
    }

    /// Its sizes are always in 64 bits, as those of a file whose length is not known.
    fn header(&self) -> Vec<u8> {
        let extra = numbers_64(&[self.bytes, self.bytes]);
        let about = self.about([BEYOND, BEYOND]);
        let length = (extra.len() as u16).to_le_bytes();
        [MEMBER, &about, &length, &self.name, &extra].concat()
    }

    /// Its line of the directory.
    fn entry(&self) -> Vec<u8> {
        let (large, far) = (self.bytes > FAR, self.offset > FAR);
        let size = if large { BEYOND } else { self.bytes };
        let mut numbers = if large { vec![self.bytes; 2] } else { Vec::new() };
        numbers.extend(far.then_some(self.offset));
        let extra = if numbers.is_empty() { Vec::new() } else { numbers_64(&numbers) };
        let made = (VERSION | SYSTEM).to_le_bytes();
        let length = (extra.len() as u16).to_le_bytes();
        // No comment, the first part, nothing of the inside.
        let rest = [[0; 6].as_slice(), &PERMISSIONS.to_le_bytes()].concat();
        let offset = word(if far { BEYOND } else { self.offset });
        let about = self.about([size, size]);
        [ENTRY, &made, &about, &length, &rest, &offset, &self.name, &extra].concat()
    }
}

/// A number in 32 bits, of which the caller knows that it fits.
fn word(number: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = number.to_le_bytes();
    [a, b, c, d]
}

fn numbers_64(numbers: &[u64]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    [&NUMBERS_64.to_le_bytes()[..], &(bytes.len() as u16).to_le_bytes(), &bytes].concat()
}

/// How many members there are, and where the directory lies.
fn end(count: u64, size: u64, begin: u64) -> Vec<u8> {
    let mut end = Vec::new();
    if count > u16::MAX.into() || size > FAR || begin > FAR {
        let versions = [VERSION.to_le_bytes(), VERSION.to_le_bytes()].concat();
        let numbers: Vec<u8> =
            [count, count, size, begin].into_iter().flat_map(u64::to_le_bytes).collect();
        end.extend([END_64, &44u64.to_le_bytes(), &versions, &[0; 8], &numbers].concat());
        let place = (begin + size).to_le_bytes();
        end.extend([LOCATOR, &[0; 4], &place, &1u32.to_le_bytes()].concat());
    }
    let short = (count.min(u16::MAX.into()) as u16).to_le_bytes();
    let [size, begin] = [size, begin].map(|number| word(number.min(BEYOND)));
    end.extend([END, &[0; 4], &short, &short, &size, &begin, &[0; 2]].concat());
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_32_bits_are_behind_the_name_and_before_the_end() {
        let (bytes, offset, end) = (3 << 30, 5 << 30, 8 << 30);
        let name = b"x.npy".to_vec();
        let entry = SavedMember { name, flags: 0, crc: 7, bytes, offset, end }.entry();
        let extra = numbers_64(&[bytes, bytes, offset]);
        assert!(entry.ends_with(&[&b"x.npy"[..], &extra].concat()), "{entry:?}");
        assert_eq!(entry[30..32], (extra.len() as u16).to_le_bytes(), "how long they are");
        let there = [&entry[20..28], &entry[42..46]].concat();
        assert_eq!(there, [0xff; 12], "what stands in their places");
        let long = END_64.len() + 52 + LOCATOR.len() + 16 + END.len() + 18;
        for (begin, length) in [(FAR, 22), (FAR + 1, long), (offset, long)] {
            assert_eq!(super::end(1, 51, begin).len(), length, "a directory at {begin}");
        }
    }
}
