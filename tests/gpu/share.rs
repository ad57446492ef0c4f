//! Which cases belong to each of several pages, or runs, that share the table.

use crate::ctx::{Case, Size};

/// The number of a page or run, from 0, and how many there are.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    number: usize,
    of: usize,
}

impl Share {
    /// Reads `2/4`, the second of four.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').map(|(number, of)| (number.parse(), of.parse()));
        match numbers {
            Some((Ok(number), Ok(of))) if (1..=of).contains(&number) => {
                Ok(Self { number: number - 1, of })
            }
            _ => Err(format!("a part is written as 2/4, not {text}")),
        }
    }

    /// Whether a case belongs to this share. Cases are scattered, because neighbours in the table
    /// cost alike. Large cases take gigabytes, so one takes them all.
    pub(crate) fn holds(self, case: &Case) -> bool {
        if case.size > Size::Usual {
            return self.number == 0;
        }
        // FNV-1a
        let hash = case.name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        (hash >> 32) % self.of as u64 == self.number as u64
    }
}
