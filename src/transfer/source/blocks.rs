//! Weights that become blocks on their way: numbers go through a small buffer, and what is staged
//! is their values, or their scales. Each part is made in a pass of its own, so that neither the
//! numbers nor the other part is ever anywhere as a whole.

use std::sync::{Arc, Mutex};

use super::{Fill, Rules};
use crate::count::index;
use crate::dtype::DType;
use crate::error::{Result, mistake};
use crate::host::Tally;
use crate::host::blocks::{BLOCK, Blocks, Losses, Maker, Share};
use crate::host::cause::CarriageCause;
use crate::shared::lock;

/// Blocks that are made at once: their weights take 256 KiB.
const AT_ONCE: usize = 2048;

/// One part of the blocks of weights, which `numbers` hands over as f32.
#[derive(Debug)]
pub(crate) struct BlockSource<'a> {
    numbers: Box<dyn Fill + 'a>,
    part: (Blocks, Share),
    maker: Maker,
    from: DType,
    rules: Rules,
    /// What quantizing has done, which the values' pass tells.
    losses: Arc<Mutex<Losses>>,
}

impl<'a> BlockSource<'a> {
    pub(crate) fn new(
        numbers: Box<dyn Fill + 'a>,
        (part, maker): ((Blocks, Share), Maker),
        from: DType,
        rules: Rules,
    ) -> Self {
        Self { numbers, part, maker, from, rules, losses: Arc::default() }
    }

    /// Where the losses are told.
    pub(crate) fn losses(&self) -> Arc<Mutex<Losses>> {
        Arc::clone(&self.losses)
    }

    /// The error for a block that has no scale, where that is refused.
    fn overflow(&self, weights: &[f32; BLOCK], first: u64) -> CarriageCause {
        let most = |a: &usize, b: &usize| weights[*a].abs().total_cmp(&weights[*b].abs());
        let at = (0..BLOCK).max_by(most).unwrap_or(0);
        let (index, value) = (first + at as u64, weights[at].to_string());
        CarriageCause::Overflow { from: self.from, to: DType::F16, index, value }
    }
}

impl Fill for BlockSource<'_> {
    fn to(&self) -> DType {
        let (form, share) = self.part;
        share.dtype(form)
    }

    fn fill(
        &self,
        first: usize,
        mut out: wgpu::WriteOnly<'_, [u8]>,
        bytes: u64,
        tally: &mut Tally,
    ) -> Result<()> {
        if self.numbers.to() != DType::F32 {
            return Err(mistake("blocks", format!("of {}", self.numbers.to())));
        }
        let (form, share) = self.part;
        let each = share.each(form);
        let (count, width) = (index(bytes)? / self.to().width(), self.to().width());
        let (mut at, mut done) = (first, 0);
        let mut strip = vec![[0f32; BLOCK]; (count.div_ceil(each) + 1).min(AT_ONCE)];
        let mut losses = *lock(&self.losses);
        while done < count {
            let (block, skipped) = (at / each, at % each);
            let blocks = (skipped + count - done).div_ceil(each).min(strip.len());
            let weights: &mut [u8] = bytemuck::cast_slice_mut(&mut strip[..blocks]);
            let size = weights.len() as u64;
            let whole = wgpu::WriteOnly::from_mut(weights);
            self.numbers.fill(block * BLOCK, whole, size, &mut Tally::default())?;
            for (i, weights) in strip[..blocks].iter().enumerate() {
                let made = (self.maker)(weights);
                let begin = ((block + i) * BLOCK) as u64;
                let finite = || weights.iter().all(|w| w.is_finite());
                if self.rules.finite && made.scale.is_infinite() && finite() {
                    return Err(self.overflow(weights, begin).into());
                }
                // Chunks may begin and end within a block.
                let from = if i == 0 { skipped } else { 0 };
                let n = (each - from).min(count - done);
                let mut place = out.slice(done * width..(done + n) * width);
                match share {
                    Share::Values => {
                        // A block is counted with its first element.
                        if from == 0 {
                            made.count(weights, begin, (tally, &mut losses));
                        }
                        place.copy_from_slice(&made.stored()[from..from + n]);
                    }
                    Share::Scales => place.copy_from_slice(&made.scale.to_le_bytes()),
                }
                done += n;
            }
            at = first + done;
        }
        out.slice(count * width..).fill(0);
        *lock(&self.losses) = losses;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostView;
    use crate::host::blocks::check;
    use crate::transfer::UploadSource;

    /// A chunk may begin and end within a block, and is longer than what is made at once.
    #[test]
    fn a_part_is_what_the_whole_has_there() {
        let count = (AT_ONCE + 3) * BLOCK;
        let weights: Vec<f32> = (0..count).map(|i| (i * 7919 % 1009) as f32 - 500.0).collect();
        let view = HostView::new(&weights, [1, count]).unwrap();
        let forms = Blocks::ALL.iter().copied().filter(|form| form.is_made());
        let parts = forms.flat_map(|form| Share::BOTH.map(|share| (form, share)));
        for (form, share) in parts {
            let (width, each) = (share.dtype(form).width(), share.each(form));
            let all = count / BLOCK * each;
            let maker = check(form, DType::F32, view.layout().shape()).unwrap();
            let fill = |first: usize, n: usize| {
                let numbers = UploadSource::new(view.bytes(), DType::F32, Rules::default());
                let numbers: Box<dyn Fill> = Box::new(numbers.unwrap());
                let source =
                    BlockSource::new(numbers, ((form, share), maker), DType::F32, Rules::default());
                let (mut out, mut tally) = (vec![9u8; n * width + 3], Tally::default());
                let whole = wgpu::WriteOnly::from_mut(&mut out[..]);
                source.fill(first, whole, (n * width) as u64, &mut tally).unwrap();
                assert_eq!(out.split_off(n * width), [0; 3], "filled up");
                (out, tally.values(), tally.first_changed)
            };
            let (whole, counted, changed) = fill(0, all);
            let values = |n: usize| if share == Share::Values { n as u64 } else { 0 };
            assert_eq!(counted, values(count));
            for (first, n) in [(0, 1), (5, 70), (31, 2), (33, 64), (all - 40, 40), (1, all - 2)] {
                let (part, counted, _) = fill(first, n);
                let place = format!("{form:?} {share:?} {first} {n}");
                assert!(part == whole[first * width..][..n * width], "{place}");
                let begun = (first..first + n).filter(|at| at % each == 0).count();
                assert_eq!(counted, values(begun * BLOCK), "{place}");
            }
            assert_eq!(changed, fill(0, all.min(64)).2, "the first that changed");
        }
    }
}
