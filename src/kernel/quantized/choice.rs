//! Products with weights in blocks that are tuned for, and their choices as text.

use core::fmt;

use super::text::QuantizedTile;
use crate::host::blocks::Blocks;
use crate::kernel::choice::size::SizeText;

/// A product with weights in blocks to tune for: rows of `depth` f32 by a weight `[columns,
/// depth]`.
///
/// ```
/// use wharf::tensor::Blocks;
/// use wharf::tune::WeightsSize;
///
/// let layer = WeightsSize::new(1, 4096, 4096, Blocks::Q8);
/// assert_eq!(layer.to_string(), "1 x 4096 x 4096, weights of q8");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct WeightsSize {
    /// Rows of the result.
    pub rows: usize,
    /// Columns of the result, which are the weight's rows.
    pub columns: usize,
    /// What is summed over: whole blocks.
    pub depth: usize,
    /// The form of the blocks.
    pub form: Blocks,
}

impl WeightsSize {
    /// So many rows and columns, and what is summed over.
    #[must_use]
    pub const fn new(rows: usize, columns: usize, depth: usize, form: Blocks) -> Self {
        Self { rows, columns, depth, form }
    }
}

impl SizeText for WeightsSize {
    fn kind(&self) -> String {
        format!("weights {}", self.form.name())
    }

    fn dims(&self) -> Vec<usize> {
        vec![self.rows, self.columns, self.depth]
    }

    fn read(kind: &[&str], dims: &[usize]) -> Option<Self> {
        let (&["weights", form], &[rows, columns, depth]) = (kind, dims) else { return None };
        Some(Self { rows, columns, depth, form: Blocks::named(form)? })
    }

    fn each(self, make: impl Fn(usize) -> usize) -> Self {
        let [rows, columns, depth] = [self.rows, self.columns, self.depth].map(make);
        Self { rows, columns, depth, ..self }
    }
}

impl fmt::Display for WeightsSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, depth, form } = self;
        write!(f, "{rows} x {columns} x {depth}, weights of {}", form.name())
    }
}

/// How a product with weights in blocks is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeightsChoice {
    /// Numbers are made of all weights first, and multiplied as such.
    Numbers,
    /// Blocks become numbers in registers.
    Tile(QuantizedTile),
}

impl WeightsChoice {
    /// As it stands in a file of tuned choices.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Numbers => "numbers".into(),
            Self::Tile(QuantizedTile::Registers { rows, shared: false }) => {
                format!("registers {rows}")
            }
            Self::Tile(QuantizedTile::Registers { rows, shared: true }) => {
                format!("registers {rows} together")
            }
            Self::Tile(QuantizedTile::Few { rows, lanes: [all, down] }) => {
                format!("few {rows} lanes {all} down {down}")
            }
            Self::Tile(QuantizedTile::Staged { rows }) => format!("staged {rows}"),
        }
    }

    /// The choice of a text, if it is one that a kernel can be written for.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let power = |word: &str, most: u32| {
            word.parse::<u32>().ok().filter(|&n| n.is_power_of_two() && n <= most)
        };
        let tile = match *words {
            ["numbers"] => return Some(Self::Numbers),
            ["registers", rows] => {
                QuantizedTile::Registers { rows: power(rows, 16)?, shared: false }
            }
            ["registers", rows, "together"] => {
                QuantizedTile::Registers { rows: power(rows, 16)?, shared: true }
            }
            ["few", rows, "lanes", all, "down", down] => {
                let all = power(all, 256)?;
                QuantizedTile::Few { rows: power(rows, 4)?, lanes: [all, power(down, all)?] }
            }
            ["staged", rows] => QuantizedTile::Staged { rows: power(rows, 4)? },
            _ => return None,
        };
        Some(Self::Tile(tile))
    }
}
