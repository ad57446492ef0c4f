//! Blocks as ggml's own program writes them, and what it makes of them.

use wharf::tensor::{Blocks, Quantized};
use wharf::{DType, Device, HostBytes, Target, Tensor, half};

use super::{Random, count};
use crate::ctx::{Ctx, Outcome, ensure, ensure_eq, show};

/// What ggml's blocks are made of: bytes of values and of scales, in their order, and where in the
/// scales factors of f16 lie.
pub(super) struct Parts {
    pub(super) form: Blocks,
    /// The dtype of the scales.
    dtype: DType,
    order: &'static [(Part, usize)],
    factors: &'static [usize],
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Values,
    Scales,
}

pub(super) const PARTS: [Parts; 9] = [
    Parts {
        form: Blocks::Q4,
        dtype: DType::F16,
        order: &[(Part::Scales, 2), (Part::Values, 16)],
        factors: &[0],
    },
    Parts {
        form: Blocks::Q4_1,
        dtype: DType::F16,
        order: &[(Part::Scales, 4), (Part::Values, 16)],
        factors: &[0, 2],
    },
    Parts {
        form: Blocks::Q5,
        dtype: DType::U16,
        order: &[(Part::Scales, 6), (Part::Values, 16)],
        factors: &[0],
    },
    Parts {
        form: Blocks::Q5_1,
        dtype: DType::U32,
        order: &[(Part::Scales, 8), (Part::Values, 16)],
        factors: &[0, 2],
    },
    Parts {
        form: Blocks::Q4K,
        dtype: DType::U32,
        order: &[(Part::Scales, 16), (Part::Values, 128)],
        factors: &[0, 2],
    },
    Parts {
        form: Blocks::Q2K,
        dtype: DType::U16,
        order: &[(Part::Scales, 16), (Part::Values, 64), (Part::Scales, 4)],
        factors: &[16, 18],
    },
    Parts {
        form: Blocks::Q3K,
        dtype: DType::U16,
        order: &[(Part::Values, 96), (Part::Scales, 14)],
        factors: &[12],
    },
    Parts {
        form: Blocks::Q5K,
        dtype: DType::U32,
        order: &[(Part::Scales, 16), (Part::Values, 160)],
        factors: &[0, 2],
    },
    Parts {
        form: Blocks::Q6K,
        dtype: DType::U16,
        order: &[(Part::Values, 192), (Part::Scales, 18)],
        factors: &[16],
    },
];

/// A tensor in a file, from so many bytes before its end on; and the numbers of it, at the end of
/// another.
pub(super) struct Golden {
    pub(super) form: Blocks,
    file: &'static [u8],
    before: usize,
    dims: [usize; 2],
    want: &'static [u8],
}

macro_rules! golden {
    ($form:ident, $dims:expr, $file:literal, $name:literal, $before:expr) => {
        Golden {
            form: Blocks::$form,
            file: include_bytes!(concat!("../../../goldens/files/", $file, ".gguf")),
            before: $before,
            dims: $dims,
            want: include_bytes!(concat!("../../../goldens/files/", $file, "_", $name, ".npy")),
        }
    };
}

/// Tensors lie one after the other, each at a multiple of 32.
pub(super) const GOLDENS: [Golden; 9] = [
    golden!(Q4, [4, 96], "four_bits", "odd", 2400),
    golden!(Q4K, [5, 768], "four_bits", "super", 2176),
    golden!(Q4_1, [5, 96], "small_blocks", "q4_1", 1056),
    golden!(Q5, [5, 96], "small_blocks", "q5_0", 736),
    golden!(Q5_1, [5, 96], "small_blocks", "q5_1", 384),
    golden!(Q2K, [3, 512], "large_blocks", "q2_k", 3520),
    golden!(Q3K, [3, 512], "large_blocks", "q3_k", 3008),
    golden!(Q5K, [3, 512], "large_blocks", "q5_k", 2336),
    golden!(Q6K, [3, 512], "large_blocks", "q6_k", 1280),
];

impl Parts {
    fn bytes(&self, of: Part) -> usize {
        self.order.iter().filter(|(part, _)| *part == of).map(|(_, bytes)| bytes).sum()
    }

    /// Rows of so many blocks.
    fn of(&self, device: &Device, rows: usize, parts: [Vec<u8>; 2]) -> Result<Quantized, String> {
        let [values, scales] = parts;
        let (width, beside) = (values.len() / rows.max(1), scales.len() / rows.max(1));
        let (values, _) = device.upload(&values, [rows, width]).map_err(show)?;
        let beside = [rows, beside / self.dtype.width()];
        let scales = HostBytes::new(&scales, beside, self.dtype).map_err(show)?;
        let (scales, _) = device.upload_view(scales).map_err(show)?;
        let weights = Quantized::of(&values, &scales).map_err(show)?;
        // Nothing looks like any form of these dtypes.
        ensure!(width == 0 || weights.form() == self.form, "{:?} by its parts", weights.form());
        Ok(weights)
    }

    pub(super) fn random(
        &self,
        device: &Device,
        [rows, blocks]: [usize; 2],
        random: &mut Random,
    ) -> Result<Quantized, String> {
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
pub(super) async fn ggml(ctx: &Ctx, golden: &'static Golden) -> Outcome {
    let Golden { form, file, before, dims, want } = *golden;
    let parts = PARTS.iter().find(|parts| parts.form == form).ok_or("no parts")?;
    let weights = dims[0] * dims[1];
    let own = &file[file.len() - before..][..weights / form.weights() * form.bytes()];
    let device = ctx.native().await?;
    let blocks = parts.of(&device, dims[0], parts.apart(own))?;
    ensure_eq!(blocks.shape().dims(), dims, "the shape");
    let want: Vec<f32> = want[want.len() - 4 * weights..]
        .chunks(4)
        .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        .collect();
    as_ggml(&device, &blocks, &want).await
}

/// Weights are these numbers, bit for bit: as numbers, by index, and multiplied by ones.
async fn as_ggml(device: &Device, weights: &Quantized, want: &[f32]) -> Outcome {
    let Some(&[n, k]) = weights.shape().dims().first_chunk() else {
        return Err("no matrix".into());
    };
    let got = weights.dequantize(DType::F32).map_err(show)?;
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
            let product = one.linear(weights, None).map_err(show)?;
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
        let late = Quantized::of(&values?, &heads?).map_err(show)?;
        let product = one.linear(&late, None).and_then(|x| x.t()).map_err(show)?;
        let got = product.read::<f32>().await.map_err(show)?;
        ensure!(got == want, "{n} x {k} behind others");
    }
    count();
    Ok(())
}
