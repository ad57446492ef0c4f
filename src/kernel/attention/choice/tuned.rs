//! Attention that is tuned for, and its choices as text.

use core::fmt;

use crate::dtype::DType;
use crate::kernel::choice::size::SizeText;
use crate::layout::Layout;

/// Attention to tune for: `[batch, heads, queries, length]` to `[batch, shared, keys, length]`, by
/// values `[batch, shared, keys, width]`. A mask makes no other size.
///
/// ```
/// use wharf::DType;
/// use wharf::tune::AttentionSize;
///
/// // 32 heads of 128 that share 8 heads of keys, one new token to 4096 others.
/// let decoding = AttentionSize::new(32, 1, 4096, 128, DType::F16).sharing(8).causal();
/// assert_eq!(decoding.to_string(), "f16 32 heads, sharing 8, of 1 to 4096 x 128, causal");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AttentionSize {
    /// Sequences.
    pub batch: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values, which divide those.
    pub shared: usize,
    /// Queries of a head.
    pub queries: usize,
    /// Keys of a head.
    pub keys: usize,
    /// Elements of a query and a key.
    pub length: usize,
    /// Elements of a value.
    pub width: usize,
    /// The dtype of all of them.
    pub dtype: DType,
    /// Whether the last query sees every key, and each before it one fewer.
    pub causal: bool,
}

impl AttentionSize {
    /// One sequence, heads with keys of their own, values as wide as keys.
    #[must_use]
    pub const fn new(
        heads: usize,
        queries: usize,
        keys: usize,
        length: usize,
        dtype: DType,
    ) -> Self {
        let (batch, shared, width, causal) = (1, heads, length, false);
        Self { batch, heads, shared, queries, keys, length, width, dtype, causal }
    }

    /// So many sequences.
    #[must_use]
    pub const fn batched(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// With so many heads of keys and values.
    #[must_use]
    pub const fn sharing(self, shared: usize) -> Self {
        Self { shared, ..self }
    }

    /// With later keys hidden.
    #[must_use]
    pub const fn causal(self) -> Self {
        Self { causal: true, ..self }
    }

    /// The size of attention by queries, keys and values, of four axes each.
    pub(crate) fn of_views(views: &[Layout], dtype: DType, causal: bool) -> Option<Self> {
        let dims = |i: usize| views.get(i)?.shape().dims().try_into().ok();
        let [batch, heads, queries, length] = dims(0)?;
        let ([_, shared, keys, _], [.., width]): ([usize; 4], [usize; 4]) = (dims(1)?, dims(2)?);
        Some(Self { batch, heads, shared, queries, keys, length, width, dtype, causal })
    }

    /// Shapes of queries, keys and values.
    pub(crate) const fn shapes(&self) -> [[usize; 4]; 3] {
        let Self { batch, heads, shared, queries, keys, length, width, .. } = *self;
        [
            [batch, heads, queries, length],
            [batch, shared, keys, length],
            [batch, shared, keys, width],
        ]
    }
}

impl SizeText for AttentionSize {
    fn kind(&self) -> String {
        format!("attention {}{}", self.dtype, if self.causal { " causal" } else { "" })
    }

    fn dims(&self) -> Vec<usize> {
        let Self { batch, heads, shared, queries, keys, length, width, .. } = *self;
        vec![batch, heads, shared, queries, keys, length, width]
    }

    fn read(kind: &[&str], dims: &[usize]) -> Option<Self> {
        let (
            ["attention", dtype, later @ ..],
            &[batch, heads, shared, queries, keys, length, width],
        ) = (kind, dims)
        else {
            return None;
        };
        let causal = match later {
            [] => false,
            ["causal"] => true,
            _ => return None,
        };
        let dtype = DType::named(dtype)?;
        Some(Self { batch, heads, shared, queries, keys, length, width, dtype, causal })
    }

    fn each(self, make: impl Fn(usize) -> usize) -> Self {
        let Self { batch, heads, shared, queries, keys, length, width, .. } = self;
        let [batch, heads, shared] = [batch, heads, shared].map(&make);
        let [queries, keys, length, width] = [queries, keys, length, width].map(&make);
        Self { batch, heads, shared, queries, keys, length, width, ..self }
    }
}

impl fmt::Display for AttentionSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, heads, shared, queries, keys, length, width, dtype, causal } = self;
        if *batch != 1 {
            write!(f, "{batch} of ")?;
        }
        write!(f, "{dtype} {heads} heads")?;
        if shared != heads {
            write!(f, ", sharing {shared}")?;
        }
        write!(f, ", of {queries} to {keys} x {length}")?;
        if width != length {
            write!(f, " by {width}")?;
        }
        f.write_str(if *causal { ", causal" } else { "" })
    }
}

/// Row groups of a workgroup, the most first.
pub(super) const GROUPS: [usize; 5] = [16, 8, 4, 2, 1];
/// Queries of a lane.
pub(super) const QUERIES: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// How attention is computed. What does not fit a size of the same class is put right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttentionChoice {
    /// By lanes: queries of each, and keys that are unrolled.
    Lanes { queries: usize, unrolled: usize },
    /// By workgroups: row groups of each, and parts of the keys.
    Workgroups { groups: usize, splits: usize },
}

impl AttentionChoice {
    /// As it stands in a file of tuned choices.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Lanes { queries, unrolled } => format!("lanes queries {queries} keys {unrolled}"),
            Self::Workgroups { groups, splits } => {
                format!("workgroups groups {groups} splits {splits}")
            }
        }
    }

    /// The choice of a text, if it is one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let &[by, first, one, second, other] = &*words else { return None };
        let (one, other) = (one.parse::<usize>().ok()?, other.parse::<usize>().ok()?);
        match (by, first, second) {
            ("lanes", "queries", "keys") if QUERIES.contains(&one) && (1..=8).contains(&other) => {
                Some(Self::Lanes { queries: one, unrolled: other })
            }
            ("workgroups", "groups", "splits") if GROUPS.contains(&one) && other > 0 => {
                Some(Self::Workgroups { groups: one, splits: other })
            }
            _ => None,
        }
    }
}
