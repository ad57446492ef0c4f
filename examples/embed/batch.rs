//! Sequences of tokens that go through the model together.
//!
//! A sequence is padded to a length that its own decides, and goes only with those of the same: so
//! what is computed for it does not depend on what else there is.

use wharf::{Device, Result, Tensor};

/// The length that a sequence is padded to, at most a fifth of it padding.
fn padded_length(tokens: usize) -> usize {
    tokens.next_multiple_of((tokens.next_power_of_two() / 8).max(1))
}

/// How many of these sequences, shortest first, are a batch: so many at most.
pub(crate) fn alike<'a>(mut sequences: impl Iterator<Item = &'a [u32]>, most: usize) -> usize {
    let Some(shortest) = sequences.next() else { return 0 };
    let length = padded_length(shortest.len());
    let rest = sequences.take(most.saturating_sub(1));
    1 + rest.take_while(|sequence| padded_length(sequence.len()) == length).count()
}

/// The tokens of a batch, and which are no padding: `[sequences, length]`.
pub(crate) fn padded(device: &Device, sequences: &[&[u32]]) -> Result<(Tensor, Tensor)> {
    let length = sequences.iter().map(|ids| padded_length(ids.len())).max().unwrap_or(0);
    let (mut ids, mut there) = (Vec::new(), Vec::new());
    for sequence in sequences {
        let padding = length - sequence.len();
        ids.extend(sequence.iter().copied().chain(core::iter::repeat_n(0, padding)));
        there.extend((0..length).map(|i| i < sequence.len()));
    }
    let shape = [sequences.len(), length];
    Ok((device.upload(&ids, shape)?.0, device.upload(&there, shape)?.0))
}
