//! Attention with lengths, windows, caps and masks, each alone and together.

use wharf::reference::places;
use wharf::tensor::Attention;
use wharf::{DType, Tensor};

use super::{Random, Shown, carried, devices, near, room, show};
use crate::cases::views::Move::Permute;
use crate::ctx::{Case, Ctx, Outcome, case, ensure_eq};

pub(super) fn cases() -> Vec<Case> {
    vec![case!("vocabulary::attending::what_is_hidden", |ctx| hidden(ctx))]
}

/// Batches, heads, shared heads, queries, keys, lengths of keys and of values.
const FORMS: &[[usize; 7]] =
    &[[2, 4, 2, 5, 7, 8, 4], [2, 2, 1, 7, 4, 4, 8], [2, 2, 2, 1, 9, 4, 6], [1, 2, 1, 20, 20, 8, 8]];

#[derive(Clone, Copy, Debug, Default)]
struct How {
    lengths: bool,
    window: Option<[usize; 2]>,
    cap: Option<f32>,
    causal: bool,
    mask: bool,
    first: bool,
}

fn hows() -> Vec<How> {
    let none = How::default();
    vec![
        How { lengths: true, ..none },
        How { window: Some([2, 1]), ..none },
        How { window: Some([1, 0]), causal: true, lengths: true, ..none },
        How { cap: Some(1.5), ..none },
        How { cap: Some(0.5), causal: true, mask: true, ..none },
        // Too large for anything to be capped.
        How { cap: Some(f32::MAX), ..none },
        How { cap: Some(3.0), lengths: true, window: Some([3, 3]), mask: true, ..none },
        How { mask: true, lengths: true, ..none },
        How { first: true, causal: true, ..none },
        How { first: true, causal: true, mask: true, lengths: true, ..none },
        How { first: true, causal: true, cap: Some(1.5), window: Some([2, 0]), ..none },
        How { first: true, window: Some([2, 1]), ..none },
    ]
}

async fn hidden(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(51);
    for (n, device) in devices(ctx).await?.into_iter().enumerate() {
        for dtype in carried(&device, &[DType::F32, DType::F16]) {
            for form in FORMS.iter().take(if n < 2 { 4 } else { 2 }) {
                let &[batch, heads, shared, queries, keys, d, e] = form;
                let turned = [Permute(vec![0, 2, 1, 3])];
                let q =
                    Shown::new(&device, &mut random, dtype, (&[batch, queries, heads, d], &turned))
                        .await?;
                let k = Shown::new(&device, &mut random, dtype, (&[batch, shared, keys, d], &[]))
                    .await?;
                let v = Shown::new(&device, &mut random, dtype, (&[batch, shared, keys, e], &[]))
                    .await?;
                let mask =
                    Shown::new(&device, &mut random, DType::Bool, (&[queries, keys], &[])).await?;
                // One batch has no key.
                let lengths: Vec<f64> =
                    (0..batch).map(|i| if i == 1 { 0.0 } else { (keys / 2) as f64 }).collect();
                let lengths = Shown::of(&device, DType::I32, lengths, (&[batch], &[])).await?;
                for how in hows() {
                    let attention = asked(how, &lengths.tensor, &mask.tensor);
                    let got = q.tensor.attention(&k.tensor, &v.tensor, &attention).map_err(show)?;
                    ensure_eq!(got.dtype(), dtype, "the dtype");
                    let dims = [batch, heads, queries, e];
                    let want: Vec<f64> = places(&dims)
                        .map(|at| {
                            let &[b, h, i, c] = &at[..] else { return 0.0 };
                            let own = h / (heads / shared);
                            let first = if how.first { 0 } else { keys as i64 - queries as i64 };
                            let place = i as i64 + first;
                            let sees = |j: usize| {
                                let apart = j as i64 - place;
                                (!how.lengths || (j as f64) < lengths.values[b])
                                    && how.window.is_none_or(|[l, r]| {
                                        -(l as i64) <= apart && apart <= r as i64
                                    })
                                    && (!how.causal || apart <= 0)
                                    && (!how.mask || mask.at(&[i, j]) != 0.0)
                            };
                            let score = |j: usize| {
                                let product: f64 = (0..d)
                                    .map(|c| q.at(&[b, h, i, c]) * k.at(&[b, own, j, c]))
                                    .sum();
                                let score = product / (d as f64).sqrt();
                                how.cap.map_or(score, |cap| {
                                    f64::from(cap) * (score / f64::from(cap)).tanh()
                                })
                            };
                            let seen: Vec<usize> = (0..keys).filter(|&j| sees(j)).collect();
                            let sum: f64 = seen.iter().map(|&j| score(j).exp()).sum();
                            let weighted = |&j: &usize| score(j).exp() * v.at(&[b, own, j, c]);
                            if seen.is_empty() {
                                0.0
                            } else {
                                seen.iter().map(weighted).sum::<f64>() / sum
                            }
                        })
                        .collect();
                    let name = format!("{dtype} {form:?} {how:?} for {:?}", device.target());
                    near(&name, &got, &dims, &want, 4.0 * room(dtype)).await?;
                }
            }
        }
    }
    Ok(())
}

fn asked(how: How, lengths: &Tensor, mask: &Tensor) -> Attention {
    let mut attention = Attention::new();
    if how.lengths {
        attention = attention.lengths(lengths);
    }
    if let Some([before, after]) = how.window {
        attention = attention.window(before, after);
    }
    if let Some(cap) = how.cap {
        attention = attention.softcap(cap);
    }
    if how.causal {
        attention = attention.causal();
    }
    if how.first {
        attention = attention.first_aligned();
    }
    if how.mask {
        attention = attention.masked(mask);
    }
    attention
}
