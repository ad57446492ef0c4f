//! Products of matrices of every shape, lie, batch and dtype by every tile, against the oracle and
//! its bound.

use wharf::caps::{Caps, Feature};
use wharf::op::{Op, product_room};
use wharf::reference::{self, Number, matmul_dtype, matmul_keeps};
use wharf::testing::Inside;
use wharf::{Adapter, DType, Device, Target, Tensor};

use super::accuracy::met;
use super::pair::{Pair, bits, bits_of, count, value};
use super::probe::Random;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, Size, case, ensure, ensure_eq, is_slow, matters,
    show,
};

mod batches;
mod cooperative;
mod rungs;
mod scaled;
mod strips;
#[cfg(not(target_arch = "wasm32"))]
mod tables;
mod widened;

/// Every dimension is one of these.
const DIMS: &[usize] = &[0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 257];

/// Rows, quads of columns, lanes, passes along k: each of the tables' tiles, and odd ones.
const TILES: &[[u32; 4]] = &[
    [32, 2, 8, 1],
    [32, 1, 8, 1],
    [24, 2, 8, 1],
    [16, 4, 8, 1],
    [16, 2, 8, 1],
    [16, 1, 8, 1],
    [8, 4, 8, 1],
    [8, 2, 8, 1],
    [8, 1, 64, 1],
    [4, 4, 8, 1],
    [4, 2, 8, 1],
    [4, 1, 64, 1],
    [2, 4, 8, 1],
    [2, 1, 64, 1],
    [1, 4, 8, 1],
    [1, 1, 8, 1],
    [1, 1, 64, 1],
    [4, 2, 8, 2],
    [1, 4, 8, 5],
];

/// Batches of both sides, that broadcast.
const BATCHES: &[[&[usize]; 2]] = &[
    [&[], &[]],
    [&[3], &[3]],
    [&[], &[2]],
    [&[3], &[]],
    [&[2, 1], &[3]],
    [&[2, 3], &[2, 1]],
    [&[0], &[1]],
    [&[1], &[1]],
];

const DTYPES: &[DType] = &[
    DType::F32,
    DType::F16,
    DType::Bf16,
    DType::F64,
    DType::I32,
    DType::U32,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::I64,
];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, &tile) in TILES.iter().enumerate() {
        let name = format!("matmul::f32::tile_{}x{}x{}x{}", tile[0], tile[1], tile[2], tile[3]);
        cases.push(case!(name, |ctx| tiled(ctx, DType::F32, By::Tile(tile), 100 + i as u64)));
    }
    for &dtype in DTYPES {
        cases.push(case!(format!("matmul::{dtype}::chosen"), |ctx| chosen(ctx, dtype)).needs(
            adapter,
            DOWNGRADES[0],
            dtype,
        ));
        for (i, tile) in [[4, 2, 8, 1], [1, 1, 64, 2]].into_iter().enumerate() {
            let name = format!("matmul::{dtype}::tile_{}x{}", tile[0], tile[1]);
            if dtype == DType::F32 {
                continue;
            }
            let case = case!(name, |ctx| tiled(ctx, dtype, By::Tile(tile), i as u64)).needs(
                adapter,
                DOWNGRADES[0],
                dtype,
            );
            // Each of these is loaded like one dtype that is tested, and summed like another.
            let alike = matches!(dtype, DType::U8 | DType::I16 | DType::U32);
            let later = alike && is_slow(adapter.caps());
            cases.push(Case { size: if later { Size::Huge } else { Size::Usual }, ..case });
        }
    }
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        if matches!(downgrade.name, "small_bindings" | "baseline") {
            let name = format!("matmul::panels::{}", downgrade.name);
            cases.push(case!(name, |ctx| panels(ctx, downgrade)));
        }
    }
    cases.push(case!("matmul::many_batches", |ctx| batches::many(ctx)));
    cases.push(case!("matmul::refuses", |ctx| refuses(ctx)));
    cases.push(case!("matmul::tails", |ctx| tails(ctx)));
    cases.push(case!("matmul::alpha_and_beta", |ctx| scaled::alpha_and_beta(ctx)));
    cases.push(case!("matmul::deep_k", |ctx| deep(ctx)));
    cases.push(case!("matmul::propagates", |ctx| propagates(ctx)));
    let large = case!("matmul::past_one_binding", |ctx| past_one_binding(ctx));
    cases.push(Case { size: Size::Large, ..large });
    cases.extend(rungs::cases(adapter));
    #[cfg(not(target_arch = "wasm32"))]
    cases.extend(tables::cases());
    cases.extend(strips::cases(adapter));
    cases.extend(widened::cases(adapter));
    cases.extend(cooperative::cases(adapter));
    cases
}

/// All lies, or three where compilers take most of the time.
fn lies(caps: &Caps, seed: u64) -> &'static [usize] {
    if caps.identity.is_software() { &THREE[seed as usize % THREE.len()] } else { ALL }
}

/// Random elements of one dtype, of which operands are views.
struct Pool {
    pair: Pair,
    dtype: DType,
    random: Random,
    /// The ways in which its views lie.
    lies: &'static [usize],
}

const POOL: usize = 1 << 18;

const ALL: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];
/// Three of them for each of eight tiles, so that each meets most others somewhere: for drivers on
/// processors, which take a second to compile some of these kernels.
const THREE: [[usize; 3]; 8] =
    [[0, 3, 6], [1, 4, 7], [0, 2, 5], [1, 3, 6], [2, 4, 7], [0, 3, 5], [1, 4, 6], [2, 5, 7]];
/// The lies for large tiles: all that such a tile reads by quads and some that it does not. Only a
/// few, since compiling one takes a software driver a second.
const FEW: &[&[usize]] = &[&[0, 0, 1], &[1, 1, 4], &[0, 5, 6]];

impl Pool {
    async fn new(device: &Device, dtype: DType, seed: u64) -> Result<Self, String> {
        let mut random = Random::new(seed);
        let any = |random: &mut Random| match dtype.is_float() {
            true => Number::Float(random.below(1 << 24) as f64 / f64::from(1 << 23) - 1.0),
            false => Number::Int(i128::from(random.bits().cast_signed() >> (random.below(4) * 16))),
        };
        let elements = (0..POOL).map(|_| bits(dtype, any(&mut random))).collect();
        Ok(Self {
            pair: Pair::new(device, dtype, elements, &[POOL]).await?,
            dtype,
            random,
            lies: ALL,
        })
    }

    /// A view of this shape, lying in one of many ways.
    fn view(&mut self, batch: &[usize], rows: usize, columns: usize) -> wharf::Result<Tensor> {
        let lie = self.lies[self.random.below(self.lies.len())];
        self.lying(lie, batch, rows, columns)
    }

    /// A view that lies densely, at a whole quad or not; with a gap after each row; or with every
    /// second column, backwards. Each as it is or transposed.
    fn lying(
        &mut self,
        lie: usize,
        batch: &[usize],
        rows: usize,
        columns: usize,
    ) -> wharf::Result<Tensor> {
        let [outer, inner] = if lie.is_multiple_of(2) { [rows, columns] } else { [columns, rows] };
        let count = batch.iter().product::<usize>() * outer;
        let pitch = match lie / 2 {
            2 => inner.next_multiple_of(4) + 4 * self.random.below(2),
            3 => 2 * inner,
            _ => inner,
        };
        let pitch = if count * pitch < POOL { pitch } else { inner };
        let total = count * pitch;
        let first = 4 * self.random.below((POOL - total) / 4) + usize::from(lie / 2 == 1);
        let first = first.min(POOL - total);
        let dims = [batch, &[outer, pitch]].concat();
        let view = self.pair.tensor.slice(0, first..first + total)?.reshape(dims)?;
        let axis = batch.len() + 1;
        let view = match lie / 2 {
            2 => view.slice(axis, 0..inner)?,
            3 if pitch > inner => view.slice_step(axis, 0..pitch, -2)?,
            _ => view,
        };
        if lie.is_multiple_of(2) { Ok(view) } else { view.t() }
    }

    fn bytes(&self) -> Vec<u8> {
        let width = self.dtype.width();
        self.pair.bits.iter().flat_map(|b| b.to_le_bytes()[..width].to_vec()).collect()
    }

    /// Compares a result with the product of two views of it.
    async fn check(&self, bytes: &[u8], sides: [&Tensor; 2], got: &Tensor) -> Outcome {
        check([bytes; 2], sides, got).await
    }
}

/// Compares a result with the product of two views of these bytes.
async fn check(bytes: [&[u8]; 2], sides: [&Tensor; 2], got: &Tensor) -> Outcome {
    let (a, b) = (sides[0].shape().dims(), sides[1].shape().dims());
    let (k, n) = (a[a.len() - 1], b[b.len() - 1]);
    let dtype = matmul_dtype(sides[0].dtype());
    let place = format!(
        "{:?} x {:?} for {:?}",
        sides[0].layout(),
        sides[1].layout(),
        got.device().target()
    );
    ensure_eq!(got.dtype(), dtype, "{place}");
    let dims = got.shape().dims();
    ensure_eq!(dims[dims.len() - 2..], [a[a.len() - 2], n], "{place}");
    let batch = &dims[..dims.len() - 2];
    let walk = |t: &Tensor| {
        let d = t.shape().dims();
        let to = [batch, &d[d.len() - 2..]].concat();
        t.layout().broadcast_to(to).map_err(show)
    };
    let layouts = [walk(sides[0])?, walk(sides[1])?];
    let [a, b] = [0, 1].map(|i| reference::Strided {
        dtype: sides[i].dtype(),
        bytes: bytes[i],
        offset: sides[i].layout().offset(),
        strides: layouts[i].strides(),
    });
    let want = reference::matmul(dims, k, &a, &b);
    let bits = bits_of(got).await.map_err(|e| format!("{place}: {e}"))?;
    count();
    ensure_eq!(bits.len(), want.len(), "{place}");
    for (i, (&got, &want)) in bits.iter().zip(&want).enumerate() {
        let got = value(dtype, got);
        ensure!(matmul_keeps(dtype, k, want, got), "{place}: index {i}: {got:?}, not {want:?}");
        if let (DType::F32, Number::Float(exact), Number::Float(got)) = (dtype, want.value, got) {
            let room = product_room(dtype, k) * want.scale;
            met("matmul", (got - exact).abs() / room, &format!("k = {k}"));
        }
    }
    Ok(())
}

/// A kernel of registers, asked for: rows and quads of an invocation, lanes, passes along k.
#[derive(Clone, Copy, Debug)]
enum By {
    Tile([u32; 4]),
    Strips([u32; 4]),
    Fused([u32; 4]),
    Sheets([u32; 4]),
}

impl By {
    fn product(self, a: &Tensor, b: &Tensor) -> wharf::Result<Tensor> {
        a.device().matmul_by(a, b, &self.kernel())
    }

    /// As a device is asked for it.
    fn kernel(self) -> String {
        let (name, [rows, quads, lanes, passes]) = match self {
            Self::Tile(sums) => ("tile", sums),
            Self::Strips(sums) => ("strips", sums),
            Self::Fused(sums) => ("fused", sums),
            Self::Sheets(sums) => ("sheets", sums),
        };
        format!("{name} sums {rows}x{} lanes {lanes} passes {passes}", 4 * quads)
    }
}

/// A few hundred shapes by one tile.
async fn tiled(ctx: &Ctx, dtype: DType, by: By, seed: u64) -> Outcome {
    let device = ctx.native().await?;
    let mut pool = Pool::new(&device, dtype, seed).await?;
    let bytes = pool.bytes();
    let rounds = if dtype == DType::F32 { 80 } else { 40 };
    let rounds = if is_slow(ctx.adapter.caps()) { rounds / 6 } else { rounds };
    let (By::Tile(sums) | By::Strips(sums) | By::Fused(sums) | By::Sheets(sums)) = by;
    if sums[0] * sums[1] >= 8 && !matches!(by, By::Strips(_)) {
        pool.lies = FEW[seed as usize % FEW.len()];
    } else {
        pool.lies = lies(ctx.adapter.caps(), seed);
    }
    for _ in 0..rounds {
        let [a, b] = shapes(&mut pool, 40_000)?;
        let got = by.product(&a, &b).map_err(show)?;
        pool.check(&bytes, [&a, &b], &got).await?;
    }
    Ok(())
}

/// Two views that can be multiplied, with at most this many multiplications.
fn shapes(pool: &mut Pool, work_max: usize) -> Result<[Tensor; 2], String> {
    loop {
        let [m, n, k] = [(); 3].map(|()| DIMS[pool.random.below(DIMS.len())]);
        let batch = BATCHES[pool.random.below(3 * BATCHES.len()).saturating_sub(2 * BATCHES.len())];
        let batches: usize = batch.iter().map(|b| b.iter().product::<usize>().max(1)).product();
        if m * n * k * batches <= work_max {
            return Ok([
                pool.view(batch[0], m, k).map_err(show)?,
                pool.view(batch[1], k, n).map_err(show)?,
            ]);
        }
    }
}

/// What the table chooses, for every class of kernels.
async fn chosen(ctx: &Ctx, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    for (i, target) in [Target::Cpu, Target::Cpu64, Target::Gpu].into_iter().enumerate() {
        let mut pool = Pool::new(&device.with_target(target), dtype, 7).await?;
        pool.lies = lies(ctx.adapter.caps(), i as u64);
        let bytes = pool.bytes();
        let rounds = if dtype == DType::F32 { 30 } else { 8 };
        let rounds = if is_slow(ctx.adapter.caps()) { rounds / 4 } else { rounds };
        for _ in 0..rounds {
            let [a, b] = shapes(&mut pool, 40_000)?;
            let got = a.matmul(&b).map_err(show)?;
            pool.check(&bytes, [&a, &b], &got).await?;
        }
    }
    let mut pool = Pool::new(&device, dtype, 8).await?;
    let bytes = pool.bytes();
    let [a, b] = [pool.view(&[], 130, 257), pool.view(&[], 257, 140)];
    let (a, b) = (a.map_err(show)?, b.map_err(show)?);
    pool.check(&bytes, [&a, &b], &a.matmul(&b).map_err(show)?).await?;
    // Rows and columns of rank 1.
    let (x, y) = (a.slice(0, 3..4).map_err(show)?, b.slice(1, 5..6).map_err(show)?);
    let (row, column) = (x.squeeze(0).map_err(show)?, y.squeeze(1).map_err(show)?);
    let pairs = [(row.matmul(&b), x.matmul(&b)), (a.matmul(&column), a.matmul(&y))];
    for (thin, thick) in pairs {
        let (thin, thick) = (thin.map_err(show)?, thick.map_err(show)?);
        ensure_eq!(thin.shape().rank(), 1, "a row or a column");
        ensure_eq!(bits_of(&thin).await?, bits_of(&thick).await?, "the same numbers");
    }
    let dot = row.matmul(&column).map_err(show)?;
    ensure_eq!(dot.shape().rank(), 0, "a row by a column");
    Ok(())
}

/// Operands and results of several segments.
async fn panels(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut pool = Pool::new(&device, DType::F32, 3).await?;
    let bytes = pool.bytes();
    // Only the pool has several segments; views of it cross them.
    for [m, n, k] in [[300, 40, 500], [40, 300, 700], [9, 5, 25_000], [301, 399, 11], [400, 500, 8]]
    {
        for _ in 0..3 {
            let a = pool.view(&[], m, k).map_err(show)?;
            let b = pool.view(&[], k, n).map_err(show)?;
            let got = a.matmul(&b).map_err(show)?;
            pool.check(&bytes, [&a, &b], &got).await?;
        }
    }
    scaled::scaled(&mut pool, [300, 44, 500]).await?;
    scaled::scaled(&mut pool, [40, 300, 700]).await?;
    for (left, right) in [(&[3][..], &[][..]), (&[2, 2], &[2])] {
        let a = pool.view(left, 150, 100).map_err(show)?;
        let b = pool.view(right, 100, 120).map_err(show)?;
        let got = a.matmul(&b).map_err(show)?;
        pool.check(&bytes, [&a, &b], &got).await?;
    }
    // Both sides in one segment each, the result in several.
    for batch in [&[6][..], &[2, 3]] {
        let a = pool.lying(0, batch, 150, 4).map_err(show)?;
        let b = pool.lying(1, batch, 4, 120).map_err(show)?;
        let got = a.matmul(&b).map_err(show)?;
        pool.check(&bytes, [&a, &b], &got).await?;
    }
    batches::in_segments(&mut pool, &bytes).await
}

/// Operations after a product are computed in its kernel, with the same result as apart from it.
async fn tails(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for dtype in [DType::F32, DType::F16, DType::I32] {
        let mut pool = Pool::new(&device, dtype, 5).await?;
        for [m, n, k] in [[33, 64, 40], [16, 31, 17], [1, 257, 129], [65, 8, 600]] {
            for passes in [1, 3] {
                let sides = [pool.view(&[], m, k), pool.view(&[], k, n)];
                let sides = sides.map(|side| side.map_err(show));
                let others = [pool.view(&[], 1, n), pool.view(&[], m, n)];
                let others = others.map(|other| other.map_err(show));
                let ([a, b], [bias, scale]) = (sides, others);
                let (a, b, bias, scale) = (a?, b?, bias?, scale?);
                let place = format!("{dtype} {m} x {n} x {k} in {passes}");
                let product = || By::Tile([4, 2, 8, passes]).product(&a, &b).map_err(show);
                let then = |t: &Tensor| (t.mul_add(2, &bias)? * &scale)?.relu();
                let apart = product()?;
                bits_of(&apart).await?;
                let want = bits_of(&then(&apart).map_err(show)?).await?;
                let got = bits_of(&then(&product()?).map_err(show)?).await?;
                count();
                let near =
                    |(&got, &want): (&u64, &u64)| match [value(dtype, got), value(dtype, want)] {
                        // Computed apart, the product is rounded to f16 first.
                        [Number::Float(a), Number::Float(b)] if dtype == DType::F16 => {
                            (a - b).abs() <= (b.abs() + 32.0) / 512.0
                        }
                        [a, b] => a == b,
                    };
                ensure!(got.iter().zip(&want).all(near), "{place}: {got:?} {want:?}");
            }
        }
    }
    behind(&device).await?;
    layers(&device).await
}

/// What comes before a product in its expression may be of another dtype.
async fn behind(device: &Device) -> Outcome {
    for (dtype, narrow) in [(DType::F32, DType::F16), (DType::I32, DType::U8)] {
        let numbers: Vec<i32> = (0..33 * 40).map(|i| i * 7 % 31).collect();
        let (x, _) = device.upload(&numbers, [33, 40]).map_err(show)?;
        let [a, first] = [dtype, narrow].map(|dtype| x.cast(dtype).map_err(show));
        let (a, first) = (a?, first?.slice(1, ..33).map_err(show)?);
        let product = || a.t().and_then(|t| a.matmul(&t)).map_err(show);
        let then = |product: &Tensor| (first.cast(dtype)? - product)? - &first.cast(dtype)?.t()?;
        let apart = product()?;
        for computed in [&a, &first, &apart] {
            computed.compute().map_err(show)?;
        }
        let want = bits_of(&then(&apart).map_err(show)?).await?;
        ensure_eq!(bits_of(&then(&product()?).map_err(show)?).await?, want, "{dtype}");
    }
    Ok(())
}

/// `linear` is a product with the transposed weight, a sum and an activation.
async fn layers(device: &Device) -> Outcome {
    let mut pool = Pool::new(device, DType::F32, 6).await?;
    let x = pool.view(&[2, 5], 3, 40).map_err(show)?;
    let w = pool.view(&[], 24, 40).map_err(show)?;
    let bias = pool.view(&[], 1, 24).and_then(|b| b.squeeze(0)).map_err(show)?;
    let got = x.linear(&w, Some(&bias)).and_then(|y| y.relu()).map_err(show)?;
    let plain = w.t().and_then(|w| x.matmul(&w)).map_err(show)?;
    bits_of(&plain).await?;
    let want = plain.apply(Op::Add, &[(&bias).into()]).and_then(|t| t.relu()).map_err(show)?;
    ensure_eq!(bits_of(&got).await?, bits_of(&want).await?, "a layer by parts");
    Ok(())
}

/// k beyond what one pass loops over, beyond the loops of llvmpipe, and beyond small segments.
async fn deep(ctx: &Ctx) -> Outcome {
    deep_on(&ctx.native().await?).await?;
    deep_on(&ctx.device(DOWNGRADES[4]).await?.with_target(Target::Gpu)).await
}

async fn deep_on(device: &Device) -> Outcome {
    let k = 600_007;
    let ones = device.full([1, 1], 1.0f32, DType::F32).map_err(show)?;
    let a = ones.broadcast_to([2, k]).map_err(show)?;
    let b = device
        .full([1, 1], 0.1f32, DType::F32)
        .and_then(|t| t.broadcast_to([k, 5]))
        .map_err(show)?;
    let want = f64::from(0.1f32) * k as f64;
    let by = |by: By| by.product(&a, &b);
    for product in [a.matmul(&b), by(By::Tile([1, 1, 8, 1])), by(By::Strips([4, 1, 8, 1]))] {
        let got = product.map_err(show)?.read::<f32>().await.map_err(show)?;
        for got in got {
            let exact = reference::Exact { value: Number::Float(want), scale: want };
            let got = Number::Float(got.into());
            ensure!(matmul_keeps(DType::F32, k, exact, got), "{got:?}, not {want}");
        }
    }
    Ok(())
}

/// NaN and infinity reach exactly the results that they are terms of. Values beyond an operand's
/// edge reach none.
async fn propagates(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    // Rows of 8 of which 5 count: NaN lies in every gap.
    let mut data = vec![f32::NAN; 16 * 8];
    for row in 0..16 {
        data[row * 8..row * 8 + 5].fill(1.0);
    }
    data[3 * 8 + 2] = f32::INFINITY;
    let (t, _) = device.upload(&data, [16, 8]).map_err(show)?;
    let a = t.slice(1, 0..5).map_err(show)?;
    let b = a.t().map_err(show)?;
    let sums = [[4, 1, 8, 1], [1, 1, 8, 1], [8, 2, 8, 2]];
    let others = [By::Strips([8, 2, 8, 1]), By::Fused([4, 2, 8, 1]), By::Sheets([8, 1, 8, 2])];
    for by in sums.map(By::Tile).into_iter().chain(others) {
        let got = by.product(&a, &b).map_err(show)?.read::<f32>().await.map_err(show)?;
        for (i, got) in got.into_iter().enumerate() {
            let reached = i / 16 == 3 || i % 16 == 3;
            let want = if reached { f32::INFINITY } else { 5.0 };
            ensure_eq!(got, want, "index {i} by {by:?}");
        }
    }
    Ok(())
}

/// Operands that cannot be multiplied are refused at the call.
async fn refuses(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let of = |dims: &[usize], dtype| device.zeros(dims, dtype).map_err(show);
    let says = |a: &[usize], b: &[usize], want: &str| -> Outcome {
        let got = of(a, DType::F32)?.matmul(&of(b, DType::F32)?).map(drop);
        ensure_eq!(got.map_err(|e| format!("{e:?}")), Err(want.to_owned()), "{a:?} {b:?}");
        Ok(())
    };
    says(
        &[32, 784],
        &[128, 784],
        "matmul: inner dimensions differ: left [32, 784], right [128, 784] (784 against 128)
  help: transpose the right side: `right.t()`",
    )?;
    says(
        &[784, 32],
        &[784, 128],
        "matmul: inner dimensions differ: left [784, 32], right [784, 128] (32 against 784)
  help: transpose the left side: `left.t()`",
    )?;
    says(
        &[],
        &[3],
        "matmul: a scalar has neither rows nor columns: left [], right [3]
  help: multiply by a scalar element by element: `mul`",
    )?;
    says(
        &[2, 4, 5],
        &[3, 5, 6],
        "matmul: batches: [2] and [3] do not broadcast: 2 against 3 on axis 0
  help: of two dimensions that differ one must be 1; `unsqueeze` adds an axis of length 1",
    )?;
    let (a, b) = (of(&[2, 2], DType::F32)?, of(&[2, 2], DType::I32)?);
    let error = a.matmul(&b).map(drop).map_err(|e| format!("{e:?}"));
    let want = "matmul: dtypes differ: left f32, right i32
  help: cast one side, such as the right one to f32: `cast`";
    ensure_eq!(error, Err(want.to_owned()), "mixed dtypes");
    let layer = |weight: &[usize]| -> Result<_, String> {
        let layer = of(&[2, 3], DType::F32)?.linear(&of(weight, DType::F32)?, None);
        Ok(layer.map(drop).map_err(|e| e.to_string()).err().unwrap_or_default())
    };
    let want = "linear: inner dimensions differ: left [2, 3], weights [3, 4] (3 against 4)";
    ensure_eq!(layer(&[3, 4])?, want, "a weight that is not transposed");
    ensure_eq!(layer(&[3])?, "linear: weights [3] of rank 1, not [out, in]", "a list");
    let bools = of(&[2, 2], DType::Bool)?;
    let error = bools.matmul(&bools).map(drop).map_err(|e| e.to_string());
    ensure_eq!(error, Err("matmul: bool has no product of matrices".to_owned()), "bool");
    Ok(())
}

/// Operands of 200 MiB each.
async fn past_one_binding(ctx: &Ctx) -> Outcome {
    past_one_binding_on(&ctx.native().await?).await
}

async fn past_one_binding_on(device: &Device) -> Outcome {
    let (long, k) = (1 << 19, 100);
    let wide: Vec<f32> = (0..long * k).map(|i| (i % 1013) as f32 / 1013.0).collect();
    let (t, _) = device.upload(&wide, [long, k]).map_err(show)?;
    let narrow: Vec<f32> = (0..k * 4).map(|i| (i % 17) as f32 / 17.0).collect();
    let (v, _) = device.upload(&narrow, [k, 4]).map_err(show)?;
    let down = t.matmul(&v).map_err(show)?.read::<f32>().await.map_err(show)?;
    for row in (0..long).step_by(997) {
        for column in 0..4 {
            let terms =
                (0..k).map(|i| f64::from(wide[row * k + i]) * f64::from(narrow[i * 4 + column]));
            let want: f64 = terms.sum();
            let got = f64::from(down[row * 4 + column]);
            ensure!((got - want).abs() <= want * 1e-5, "row {row}: {got}, not {want}");
        }
    }
    // Sums this memory over the long axis: k is cut at the segments.
    let ones = device
        .full([1, 1], 1.0f32, DType::F32)
        .and_then(|t| t.broadcast_to([1, long]))
        .map_err(show)?;
    let sums = ones.matmul(&t).map_err(show)?.read::<f32>().await.map_err(show)?;
    for (column, got) in sums.into_iter().enumerate() {
        let want: f64 = (0..long).map(|row| f64::from(wide[row * k + column])).sum();
        let exact = reference::Exact { value: Number::Float(want), scale: want };
        let got = Number::Float(got.into());
        ensure!(matmul_keeps(DType::F32, long, exact, got), "column {column}: {got:?}, not {want}");
    }
    Ok(())
}
