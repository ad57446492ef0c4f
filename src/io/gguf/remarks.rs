//! The remarks of a file, read once somebody asks for them.

use super::{DEPTH_MAX, READ_MAX, Reader, meaningless, width};
use crate::error::Result;
use crate::io::cause::ArchiveCause;
use crate::io::remark::{Keep, REMARKS_MAX, Remark, Remarks, counted};

/// The most values of all lists, several times those of any vocabulary: one of a byte takes 32.
const VALUES_MAX: u64 = 1 << 22;

impl Reader<'_> {
    /// Those of the whole file for whose names `keep` says so.
    pub(super) fn remarks(&mut self, keep: Keep<'_>) -> Result<Remarks> {
        let [_, count] = self.counts()?;
        let (mut remarks, mut given, mut values) = (Remarks::new(), 0, 0);
        for _ in 0..count {
            let (name, kind) = (self.name()?, self.u32()?);
            let is_kept = keep(&name);
            given += usize::from(is_kept);
            if !is_kept || given > REMARKS_MAX {
                self.value(kind, 0)?;
                continue;
            }
            let remark = self.remark(kind, 0, &mut values);
            let remark = remark.map_err(|error| error.during(format!("remark {name:?}")))?;
            if remarks.contains_key(&name) {
                return Err(ArchiveCause::Twice { name }.into());
            }
            remarks.insert(name, remark);
        }
        counted(given)?;
        Ok(remarks)
    }

    /// A value, kept. `given` is how many there are in lists so far.
    fn remark(&mut self, kind: u32, depth: u32, given: &mut u64) -> Result<Remark> {
        match (kind, width(kind)) {
            (6, _) => Ok(Remark::Float(f32::from_le_bytes(self.bytes()?).into())),
            (12, _) => Ok(Remark::Float(f64::from_le_bytes(self.bytes()?))),
            (7, _) => match self.bytes()? {
                [byte @ (0 | 1)] => Ok(Remark::Bool(byte == 1)),
                [other] => Err(meaningless(format!("{other} is no bool")).into()),
            },
            (0 | 2 | 4 | 10, Some(bytes)) => Ok(Remark::Integer(self.number(bytes)?.into())),
            (_, Some(bytes)) => {
                let unused = 64 - 8 * bytes as u32;
                let signed = (self.number(bytes)? << unused).cast_signed() >> unused;
                Ok(Remark::Integer(signed.into()))
            }
            (8, None) => self.text("a text", READ_MAX).map(Remark::Text),
            (9, None) if depth < DEPTH_MAX => {
                let kind = self.u32()?;
                let count = self.count("values of a list", width(kind).unwrap_or(1))?;
                *given += count;
                if *given > VALUES_MAX {
                    return Err(ArchiveCause::Values { given: *given, most: VALUES_MAX }.into());
                }
                let mut values = Vec::with_capacity(count as usize);
                for _ in 0..count {
                    values.push(self.remark(kind, depth + 1, given)?);
                }
                Ok(Remark::List(values))
            }
            // Which is an error.
            _ => self.value(kind, depth).map(|()| Remark::List(Vec::new())),
        }
    }
}
