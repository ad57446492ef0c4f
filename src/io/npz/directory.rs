//! What lies in a zip: its directory, which is at its end, beside what its members say themselves.
//! Nothing in either is believed.
//!
//! ```text
//! member: header, data            for each
//! directory: name, method, sizes, checksum and place of each
//! end: how many, and where the directory lies; before it, for large ones, the same in 64 bits
//! ```

use std::collections::BTreeSet;
use std::io::{BufReader, Read};

use crate::error::Result;
use crate::io::cause::ArchiveCause;
use crate::io::file::{Pieces, stopped};

pub(super) const ENTRY: &[u8] = b"PK\x01\x02";
pub(super) const MEMBER: &[u8] = b"PK\x03\x04";
pub(super) const END: &[u8] = b"PK\x05\x06";
pub(super) const END_64: &[u8] = b"PK\x06\x06";
pub(super) const LOCATOR: &[u8] = b"PK\x06\x07";

const END_BYTES: u64 = 22;
const END_64_BYTES: u64 = 56;
const LOCATOR_BYTES: u64 = 20;
const ENTRY_BYTES: u64 = 46;
const MEMBER_BYTES: u64 = 30;

/// What stands for a number that has 64 bits elsewhere.
pub(super) const BEYOND: u64 = 0xffff_ffff;
const BEYOND_16: u64 = 0xffff;

/// What comes before those numbers.
pub(super) const NUMBERS_64: u16 = 1;

/// How a deflater went about it, sizes behind the data, and names in UTF-8: what changes nothing.
const FLAGS: u16 = 0x080e;
const SIZES_BEHIND: u16 = 0x0008;

/// Nothing inflates to more than so many times its size.
const RATIO_MAX: u64 = 1032;

const SUFFIX: &str = ".npy";

/// A member, as directory and header have it.
#[derive(Clone, Debug)]
pub(super) struct ZipMember {
    /// Without the suffix.
    pub(super) name: String,
    pub(super) deflated: bool,
    pub(super) crc: u32,
    /// Where its data begins in the file, and how long it is there.
    pub(super) begin: u64,
    pub(super) packed: u64,
    /// How long it is in the end.
    pub(super) bytes: u64,
}

/// A name that means the same place everywhere: what is no path out of a folder.
pub(super) fn is_plain(name: &str) -> bool {
    let odd = |c: char| c == '\\' || c.is_control();
    !name.starts_with('/') && !name.contains(odd) && name.split('/').all(|part| part != "..")
}

fn meaningless(why: String) -> ArchiveCause {
    ArchiveCause::Header { why }
}

fn cut(what: &str, needs: u64, has: u64) -> ArchiveCause {
    ArchiveCause::Cut { what: what.into(), needs: needs.into(), has }
}

/// Numbers that lie behind each other.
struct LittleEndian<'a>(&'a [u8]);

impl<'a> LittleEndian<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        let Some((now, later)) = self.0.split_at_checked(bytes) else {
            return Err(cut("a field needs", bytes as u64, self.0.len() as u64).into());
        };
        self.0 = later;
        Ok(now)
    }

    /// A number of so many bytes.
    fn number(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)))
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(self.number(2)? as u16)
    }

    fn sign(&mut self, sign: &[u8], of: &str) -> Result<()> {
        if self.take(sign.len())? == sign { Ok(()) } else { Err(meaningless(no(of)).into()) }
    }
}

fn no(what: &str) -> String {
    format!("where {what} should be there is none")
}

/// Where the directory lies, and how many members it has.
struct Place {
    begin: u64,
    end: u64,
    count: u64,
}

/// The end of the file: the last that is as long as it says.
fn place(file: &Pieces) -> Result<Place> {
    let tail = (END_BYTES + BEYOND_16).min(file.len);
    let mut bytes = vec![0; tail as usize];
    file.read(file.len - tail, &mut bytes)?;
    let fits = |at: &usize| {
        let rest = &bytes[*at..];
        let comment = rest.get(20..22).map(|n| usize::from(n[0]) | usize::from(n[1]) << 8);
        rest.starts_with(END) && comment.is_some_and(|n| rest.len() == END_BYTES as usize + n)
    };
    let at = (0..bytes.len())
        .rev()
        .find(fits)
        .ok_or_else(|| meaningless("no end of a directory is there: it may be cut short".into()))?;
    let mut end = LittleEndian(&bytes[at + END.len()..]);
    let disks = [end.u16()?, end.u16()?];
    let counts = [end.number(2)?, end.number(2)?];
    let (size, begin) = (end.number(4)?, end.number(4)?);
    let at = file.len - tail + at as u64;
    let said = [(counts[0], BEYOND_16), (counts[1], BEYOND_16), (size, BEYOND), (begin, BEYOND)];
    let (all, stop) = match far(file, at)? {
        Some((all, stop)) => (all, stop),
        None => (said.map(|(number, _)| number), at),
    };
    // Two sizes of which one is a lie.
    for ((near, beyond), far) in said.into_iter().zip(all) {
        if near != far && near != beyond {
            return Err(meaningless(format!("its end says {near}, in 64 bits {far}")).into());
        }
    }
    let [here, count, size, begin] = all;
    if disks != [0, 0] || here != count {
        return Err(meaningless("it is one of several parts".into()).into());
    }
    if begin.checked_add(size) != Some(stop) {
        let why = format!("its directory has {size} bytes at {begin}, and ends at {stop}");
        return Err(meaningless(why).into());
    }
    if u128::from(count) * u128::from(ENTRY_BYTES) > u128::from(size) {
        let needs = u128::from(count) * u128::from(ENTRY_BYTES);
        return Err(
            ArchiveCause::Cut { what: "the directory needs".into(), needs, has: size }.into()
        );
    }
    Ok(Place { begin, end: stop, count })
}

/// The numbers of the end in 64 bits, if there are any, and where they lie.
fn far(file: &Pieces, end: u64) -> Result<Option<([u64; 4], u64)>> {
    let Some(at) = end.checked_sub(LOCATOR_BYTES) else { return Ok(None) };
    let mut bytes = [0; LOCATOR_BYTES as usize];
    file.read(at, &mut bytes)?;
    let Some(locator) = bytes.strip_prefix(LOCATOR) else { return Ok(None) };
    let mut locator = LittleEndian(locator);
    locator.take(4)?;
    let begin = locator.number(8)?;
    if begin.checked_add(END_64_BYTES).is_none_or(|end| end > at) {
        return Err(cut("the end in 64 bits needs", begin.saturating_add(END_64_BYTES), at).into());
    }
    let mut bytes = [0; END_64_BYTES as usize];
    file.read(begin, &mut bytes)?;
    let mut far = LittleEndian(&bytes);
    far.sign(END_64, "an end in 64 bits")?;
    if far.number(8)?.checked_add(begin + 12) != Some(at) {
        return Err(meaningless("its end in 64 bits is not as long as it says".into()).into());
    }
    far.take(12)?;
    let mut number = || far.number(8);
    Ok(Some(([number()?, number()?, number()?, number()?], begin)))
}

/// The members, in the order in which they lie in the file.
pub(super) fn members(file: &Pieces) -> Result<Vec<ZipMember>> {
    let place = place(file)?;
    let mut stream = BufReader::new(file.stream(place.begin, place.end - place.begin));
    let (mut at, mut entries) = (place.begin, Vec::new());
    while at < place.end {
        let entry = DirectoryLine::read(&mut stream, &mut at, place.end)?;
        entries.push(entry);
    }
    if entries.len() as u64 != place.count {
        let (there, count) = (entries.len(), place.count);
        return Err(meaningless(format!("it has {there} members, and says {count}")).into());
    }
    entries.sort_by_key(|entry| entry.offset);
    let (mut members, mut names, mut last) = (Vec::new(), BTreeSet::new(), 0);
    for entry in entries {
        let name = entry.name.clone();
        if !names.insert(name.clone()) {
            return Err(ArchiveCause::Twice { name }.into());
        }
        let member = entry.member(file, last, place.begin);
        let member = member.map_err(|error| error.during(format!("member {name:?}")))?;
        last = member.begin + member.packed;
        members.push(member);
    }
    Ok(members)
}

/// A line of the directory.
struct DirectoryLine {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    bytes: u64,
    /// Where its header lies.
    offset: u64,
}

impl DirectoryLine {
    fn read(stream: &mut impl Read, at: &mut u64, end: u64) -> Result<Self> {
        let mut take = |bytes: u64| -> Result<Vec<u8>> {
            if bytes > end - *at {
                return Err(cut("an entry of the directory needs", bytes, end - *at).into());
            }
            let mut taken = vec![0; bytes as usize];
            stream.read_exact(&mut taken).map_err(stopped)?;
            *at += bytes;
            Ok(taken)
        };
        let fixed = take(ENTRY_BYTES)?;
        let mut fixed = LittleEndian(&fixed);
        fixed.sign(ENTRY, "an entry of the directory")?;
        fixed.take(4)?;
        let (flags, method) = (fixed.u16()?, fixed.u16()?);
        fixed.take(4)?;
        let crc = fixed.number(4)? as u32;
        let (packed, bytes) = (fixed.number(4)?, fixed.number(4)?);
        let (name, extra, comment) = (fixed.number(2)?, fixed.number(2)?, fixed.number(2)?);
        fixed.take(8)?;
        let offset = fixed.number(4)?;
        let (name, extra) = (take(name)?, take(extra)?);
        take(comment)?;
        let name =
            String::from_utf8(name).map_err(|_| meaningless("a name is not UTF-8".into()))?;
        let mut sizes = [bytes, packed, offset];
        wide(&extra, &mut sizes).map_err(|error| error.during(format!("member {name:?}")))?;
        let [bytes, packed, offset] = sizes;
        Ok(Self { name, flags, method, crc, packed, bytes, offset })
    }

    /// Checks it against its own header, against the member that ends at `last`, and against where
    /// the directory begins.
    fn member(self, file: &Pieces, last: u64, directory: u64) -> Result<ZipMember> {
        let Self { name, flags, method, crc, packed, bytes, offset } = self;
        if !is_plain(&name) {
            return Err(ArchiveCause::Path.into());
        }
        let Some(name) = name.strip_suffix(SUFFIX) else { return Err(ArchiveCause::Alien.into()) };
        if flags & !FLAGS != 0 {
            return Err(meaningless(format!("flags {flags:#06x}: encrypted, or patched")).into());
        }
        let deflated = match method {
            0 => false,
            8 => true,
            method => return Err(ArchiveCause::Method { method }.into()),
        };
        if !deflated && packed != bytes {
            let why = format!("it is stored, of {bytes} bytes in {packed}");
            return Err(meaningless(why).into());
        }
        if bytes > packed.saturating_mul(RATIO_MAX) {
            return Err(ArchiveCause::Swollen { packed, bytes }.into());
        }
        if offset < last {
            return Err(ArchiveCause::Overlap { begin: offset, end: last }.into());
        }
        let begin = offset.checked_add(MEMBER_BYTES).filter(|begin| *begin <= directory);
        let Some(begin) = begin else {
            let needs = offset.saturating_add(MEMBER_BYTES);
            return Err(cut("its header needs", needs, directory).into());
        };
        let mut fixed = [0; MEMBER_BYTES as usize];
        file.read(offset, &mut fixed)?;
        let mut fixed = LittleEndian(&fixed);
        fixed.sign(MEMBER, "its header")?;
        fixed.take(2)?;
        let told = (fixed.u16()?, fixed.u16()?);
        fixed.take(4)?;
        let sums = [fixed.number(4)?, fixed.number(4)?, fixed.number(4)?];
        let (length, extra) = (fixed.number(2)?, fixed.number(2)?);
        // What is behind the data is 0 here, and what has 64 bits elsewhere is not here.
        let agrees = |here: u64, there: u64| {
            here == there || here == BEYOND || (here == 0 && flags & SIZES_BEHIND != 0)
        };
        let sizes = sums.into_iter().zip([crc.into(), packed, bytes]);
        let alike = told == (flags, method) && length == (name.len() + SUFFIX.len()) as u64;
        let begin = begin + length + extra;
        if !alike || sizes.into_iter().any(|(here, there)| !agrees(here, there)) {
            return Err(meaningless("its header and the directory differ".into()).into());
        }
        if begin.checked_add(packed).is_none_or(|end| end > directory) {
            return Err(cut("its data needs", begin.saturating_add(packed), directory).into());
        }
        let mut there = vec![0; length as usize];
        file.read(offset + MEMBER_BYTES, &mut there)?;
        if there.strip_suffix(SUFFIX.as_bytes()) != Some(name.as_bytes()) {
            return Err(meaningless("its header has another name".into()).into());
        }
        Ok(ZipMember { name: name.into(), deflated, crc, begin, packed, bytes })
    }
}

/// Replaces the numbers that do not fit 32 bits, in their order.
fn wide(extra: &[u8], numbers: &mut [u64; 3]) -> Result<()> {
    let mut missing = numbers.iter_mut().filter(|number| **number == BEYOND).peekable();
    let mut extra = LittleEndian(extra);
    while missing.peek().is_some() && !extra.0.is_empty() {
        let (kind, length) = (extra.u16()?, extra.number(2)?);
        let mut field = LittleEndian(extra.take(length as usize)?);
        if kind == NUMBERS_64 {
            missing.by_ref().try_for_each(|number| -> Result<()> {
                *number = field.number(8)?;
                Ok(())
            })?;
        }
    }
    if missing.peek().is_some() {
        return Err(meaningless("its sizes in 64 bits are missing".into()).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_32_bits_are_read_in_their_order() {
        let (a, b, c) = (3 << 32, 5 << 33, 7 << 34);
        let extra = |numbers: &[u64]| -> Vec<u8> {
            let numbers: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            let length = (numbers.len() as u16).to_le_bytes();
            // Behind a field that is another's.
            let other = [9, 0, 2, 0, 1, 2];
            [&other[..], &NUMBERS_64.to_le_bytes(), &length, &numbers].concat()
        };
        for (near, there, want) in [
            ([BEYOND; 3], &[a, b, c][..], [a, b, c]),
            ([51, 51, BEYOND], &[c], [51, 51, c]),
            ([BEYOND, BEYOND, 7], &[a, b], [a, b, 7]),
        ] {
            let mut numbers = near;
            wide(&extra(there), &mut numbers).expect("they are there");
            assert_eq!(numbers, want);
        }
        assert!(wide(&extra(&[a, b]), &mut [BEYOND; 3]).is_err(), "one is missing");
    }
}
