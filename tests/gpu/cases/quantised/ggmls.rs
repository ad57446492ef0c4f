//! Blocks as ggml's own program writes them, and what it makes of them.

use wharf::tensor::{Blocks, Quantised};
use wharf::{DType, Device, Target, Tensor, half};

use super::{Random, count};
use crate::ctx::{Ctx, Outcome, ensure, ensure_eq, show};

/// What ggml's blocks of 256 weights are made of: bytes of values and of scales, in their order,
/// and where in the scales factors of f16 lie.
pub(super) struct Parts {
    pub(super) form: Blocks,
    pub(super) name: &'static str,
    order: &'static [(Part, usize)],
    factors: &'static [usize],
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Values,
    Scales,
}

pub(super) const PARTS: [Parts; 5] = [
    Parts {
        form: Blocks::Q4K,
        name: "q4_k",
        order: &[(Part::Scales, 16), (Part::Values, 128)],
        factors: &[0, 2],
    },
    Parts {
        form: Blocks::Q2K,
        name: "q2_k",
        order: &[(Part::Scales, 16), (Part::Values, 64), (Part::Scales, 4)],
        factors: &[16, 18],
    },
    Parts {
        form: Blocks::Q3K,
        name: "q3_k",
        order: &[(Part::Values, 96), (Part::Scales, 14)],
        factors: &[12],
    },
    Parts {
        form: Blocks::Q5K,
        name: "q5_k",
        order: &[(Part::Scales, 16), (Part::Values, 160)],
        factors: &[0, 2],
    },
    Parts {
        form: Blocks::Q6K,
        name: "q6_k",
        order: &[(Part::Values, 192), (Part::Scales, 18)],
        factors: &[16],
    },
];

impl Parts {
    fn bytes(&self, of: Part) -> usize {
        self.order.iter().filter(|(part, _)| *part == of).map(|(_, bytes)| bytes).sum()
    }

    /// Rows of so many blocks.
    fn of(&self, device: &Device, rows: usize, parts: [Vec<u8>; 2]) -> Result<Quantised, String> {
        let [values, scales] = parts;
        let (width, beside) = (values.len() / rows.max(1), scales.len() / rows.max(1));
        let (values, _) = device.upload(&values, [rows, width]).map_err(show)?;
        let scales = if self.factors[0] == 0 {
            let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
            let words: Vec<u32> = scales.chunks(4).map(word).collect();
            device.upload(&words, [rows, beside / 4])
        } else {
            let short = |two: &[u8]| u16::from_le_bytes([two[0], two[1]]);
            let shorts: Vec<u16> = scales.chunks(2).map(short).collect();
            device.upload(&shorts, [rows, beside / 2])
        };
        let weights = Quantised::of(&values, &scales.map_err(show)?.0).map_err(show)?;
        // Nothing looks like any form of these dtypes.
        ensure!(width == 0 || weights.form() == self.form, "{:?} by its parts", weights.form());
        Ok(weights)
    }

    pub(super) fn random(
        &self,
        device: &Device,
        [rows, blocks]: [usize; 2],
        random: &mut Random,
    ) -> Result<Quantised, String> {
        let [values, mut scales] = [Part::Values, Part::Scales].map(|part| {
            let bytes = rows * blocks * self.bytes(part);
            (0..bytes).map(|_| random.below(256) as u8).collect::<Vec<u8>>()
        });
        for block in scales.chunks_mut(self.bytes(Part::Scales)) {
            for &at in self.factors {
                let number = (random.below(1 << 10) as f64 - 400.0) / f64::from(1 << 20);
                block[at..at + 2].copy_from_slice(&half::f16::from_f64(number).to_le_bytes());
            }
        }
        self.of(device, rows, [values, scales])
    }

    /// The two parts of blocks as a file has them.
    fn apart(&self, file: &[u8]) -> [Vec<u8>; 2] {
        let [mut values, mut scales] = [Vec::new(), Vec::new()];
        let mut rest = file;
        while !rest.is_empty() {
            for &(part, bytes) in self.order {
                let (own, later) = rest.split_at(bytes);
                let to = if part == Part::Values { &mut values } else { &mut scales };
                to.extend_from_slice(own);
                rest = later;
            }
        }
        [values, scales]
    }
}

/// The same elements behind so many others.
fn behind(all: &Tensor, first: usize) -> wharf::Result<Tensor> {
    let others = all.device().zeros([first], all.dtype())?;
    let list = Tensor::concat(&[&others, &all.flatten(..)?], 0)?;
    list.compute()?;
    list.slice(0, first..)?.reshape(*all.shape())
}

/// What ggml's own program wrote, and the numbers that it makes of that, bit for bit; and a product
/// with them.
pub(super) async fn ggml(ctx: &Ctx) -> Outcome {
    const FILE: &[u8] = include_bytes!("../../../goldens/files/four_bits.gguf");
    const ODD: &[u8] = include_bytes!("../../../goldens/files/four_bits_odd.npy");
    const SUPER: &[u8] = include_bytes!("../../../goldens/files/four_bits_super.npy");
    let device = ctx.native().await?;
    // Tensors lie at the end of the file, one after the other.
    let odd = (&FILE[FILE.len() - 2400..][..216], 18, ODD, [4, 96]);
    let super_blocks = (&FILE[FILE.len() - 2176..][..2160], 144, SUPER, [5, 768]);
    for (file, each, want, dims) in [odd, super_blocks] {
        let head = if each == 18 { 2 } else { 16 };
        let values: Vec<u8> = file.chunks(each).flat_map(|block| block[head..].to_vec()).collect();
        let heads: Vec<u8> = file.chunks(each).flat_map(|block| block[..head].to_vec()).collect();
        let (values, _) = device.upload(&values, [dims[0], dims[1] / 2]).map_err(show)?;
        let heads = if each == 18 {
            let halves = heads.chunks(2).map(|two| half::f16::from_le_bytes([two[0], two[1]]));
            device.upload(&halves.collect::<Vec<_>>(), [dims[0], dims[1] / 32])
        } else {
            let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
            let words: Vec<u32> = heads.chunks(4).map(word).collect();
            device.upload(&words, [dims[0], dims[1] / 64])
        };
        let weights = Quantised::of(&values, &heads.map_err(show)?.0).map_err(show)?;
        ensure_eq!(weights.shape().dims(), dims, "the shape");
        let want: Vec<f32> = want[want.len() - 4 * dims[0] * dims[1]..]
            .chunks(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        as_ggml(&device, &weights, &want).await?;
    }
    Ok(())
}

/// Blocks of 256, which lie one tensor after the other at the end of the file, each at a multiple
/// of 32.
pub(super) async fn large(ctx: &Ctx, parts: &'static Parts) -> Outcome {
    const FILE: &[u8] = include_bytes!("../../../goldens/files/large_blocks.gguf");
    const WANT: [&[u8]; 4] = [
        include_bytes!("../../../goldens/files/large_blocks_q2_k.npy"),
        include_bytes!("../../../goldens/files/large_blocks_q3_k.npy"),
        include_bytes!("../../../goldens/files/large_blocks_q5_k.npy"),
        include_bytes!("../../../goldens/files/large_blocks_q6_k.npy"),
    ];
    let bytes = |parts: &Parts| 6 * (parts.bytes(Part::Values) + parts.bytes(Part::Scales));
    let place = PARTS[1..].iter().position(|other| other.form == parts.form).unwrap_or(0);
    let after: usize = PARTS[1 + place..].iter().map(|p| bytes(p).next_multiple_of(32)).sum();
    let own = &FILE[FILE.len() - after..][..bytes(parts)];
    let device = ctx.native().await?;
    let weights = parts.of(&device, 3, parts.apart(own))?;
    ensure_eq!(weights.shape().dims(), [3, 512], "the shape");
    let want = WANT[place];
    let want: Vec<f32> = want[want.len() - 4 * 3 * 512..]
        .chunks(4)
        .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        .collect();
    as_ggml(&device, &weights, &want).await
}

/// Weights are these numbers, bit for bit: as numbers, by index, and multiplied by ones.
async fn as_ggml(device: &Device, weights: &Quantised, want: &[f32]) -> Outcome {
    let Some(&[n, k]) = weights.shape().dims().first_chunk() else {
        return Err("no matrix".into());
    };
    let got = weights.dequantise(DType::F32).map_err(show)?;
    let got = got.read::<f32>().await.map_err(show)?;
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        ensure!(got == want, "{n} x {k} {i}: {got}, not {want}");
    }
    let (index, _) = device.upload(&[2u32, 0, 2], [3]).map_err(show)?;
    let rows = weights.embedding(&index).map_err(show)?.read::<f32>().await.map_err(show)?;
    let named = [2, 0, 2].map(|row| &want[row * k..][..k]).concat();
    ensure!(rows == named, "{n} x {k}: rows by index");
    // A one in each place in turn: the weights themselves.
    for target in [device.target(), Target::Gpu] {
        let one = device.with_target(target).eye(k, k, DType::F32).map_err(show)?;
        for rows in [k, 3, 1] {
            let one = one.slice(0, 0..rows).map_err(show)?;
            let product = one.linear(weights, None, None).map_err(show)?;
            let got = product.t().map_err(show)?.read::<f32>().await.map_err(show)?;
            let wanted = want.chunks(k).flat_map(|row| &row[..rows]);
            let same = got.iter().zip(wanted).all(|(got, want)| got == want);
            ensure!(same, "{n} x {k} for {target:?}: columns by {rows} ones");
            let turned = one.matmul(weights.t()).and_then(|x| x.t()).map_err(show)?;
            let turned = turned.read::<f32>().await.map_err(show)?;
            ensure!(turned == got, "{n} x {k} for {target:?}: as the right side of a product");
        }
        // What neither begins at a quad of scales nor at sixteen values.
        let [values, heads] = [(weights.values(), 8), (weights.scales(), 5)]
            .map(|(all, first)| behind(all, first).map_err(show));
        let late = Quantised::of(&values?, &heads?).map_err(show)?;
        let product = one.linear(&late, None, None).and_then(|x| x.t()).map_err(show)?;
        let got = product.read::<f32>().await.map_err(show)?;
        ensure!(got == want, "{n} x {k} behind others");
    }
    count();
    Ok(())
}
