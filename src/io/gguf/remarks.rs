//! The remarks of a file, read once somebody asks for them.

use super::{DEPTH_MAX, READ_MAX, Reader, meaningless, width};
use crate::error::Result;
use crate::io::cause::ArchiveCause;
use crate::io::remark::{Keep, REMARKS_MAX, Remark, Remarks};

/// The most values of all lists, several times those of any vocabulary: one of a byte takes 32.
const VALUES_MAX: u64 = 1 << 22;

impl Reader<'_> {
    /// Those of the whole file for whose names `keep` says so.
    pub(super) fn remarks(&mut self, keep: Keep<'_>) -> Result<Remarks> {
        let [_, count] = self.counts()?;
        let (mut remarks, mut left) = (Remarks::new(), VALUES_MAX);
        for _ in 0..count {
            let (name, kind) = (self.name()?, self.u32()?);
            if !keep(&name) {
                self.value(kind, 0)?;
                continue;
            }
            let remark = self.remark(kind, 0, &mut left);
            let remark = remark.map_err(|error| error.during(format!("remark {name:?}")))?;
            if remarks.len() == REMARKS_MAX {
                return Err(meaningless(format!("more than {REMARKS_MAX} remarks")).into());
            }
            if remarks.contains_key(&name) {
                return Err(ArchiveCause::Twice { name }.into());
            }
            remarks.insert(name, remark);
        }
        Ok(remarks)
    }

    /// A value, kept. `left` is how many more there may be in lists.
    fn remark(&mut self, kind: u32, depth: u32, left: &mut u64) -> Result<Remark> {
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
                *left = left.checked_sub(count).ok_or_else(|| {
                    meaningless(format!("lists of more than {VALUES_MAX} values"))
                })?;
                let mut values = Vec::with_capacity(count as usize);
                for _ in 0..count {
                    values.push(self.remark(kind, depth + 1, left)?);
                }
                Ok(Remark::List(values))
            }
            // Which is an error.
            _ => self.value(kind, depth).map(|()| Remark::List(Vec::new())),
        }
    }
}
