//! Sequences of tokens that go through the model together.

use wharf::{Device, Result, Tensor};

/// How many of these sequences, shortest first, are a batch: so many at most, of whose tokens at
/// most a fifth is padding.
pub(crate) fn alike<'a>(mut sequences: impl Iterator<Item = &'a [u32]>, most: usize) -> usize {
    let Some(shortest) = sequences.next() else { return 0 };
    let rest = sequences.take(most.saturating_sub(1));
    1 + rest.take_while(|sequence| 4 * sequence.len() <= 5 * shortest.len()).count()
}

/// The tokens of a batch, and which are no padding: `[sequences, tokens of the longest]`.
pub(crate) fn padded(device: &Device, sequences: &[&[u32]]) -> Result<(Tensor, Tensor)> {
    let longest = sequences.iter().map(|sequence| sequence.len()).max().unwrap_or(0);
    let shape = [sequences.len(), longest];
    let (mut ids, mut there) = (Vec::new(), Vec::new());
    for sequence in sequences {
        let padding = longest - sequence.len();
        ids.extend(sequence.iter().copied().chain(core::iter::repeat_n(0, padding)));
        there.extend((0..longest).map(|i| i < sequence.len()));
    }
    Ok((device.upload(&ids, shape)?.0, device.upload(&there, shape)?.0))
}
