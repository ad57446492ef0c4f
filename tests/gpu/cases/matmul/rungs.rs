//! Every kernel of the GPU class, forced on whatever adapter there is: tiles in workgroup memory,
//! and kernels for few rows. Every tile of the table and odd ones.

use wharf::testing::Inside;

use super::*;
use crate::drivers::mesa_major;

/// A kernel that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rung {
    /// Rows and quads of an invocation, lanes, lanes across, k of a stage, passes along k.
    Group([u32; 6]),
    /// The numbers of `Group`, with totals in workgroup memory.
    Lean([u32; 6]),
    /// Rows and quads of an invocation, lanes, lanes across, passes along k.
    Vector([u32; 5]),
    /// The numbers of `Vector`, summed by subgroups.
    Subgroups([u32; 5]),
}

const GROUPS: &[[u32; 6]] = &[
    [8, 2, 256, 16, 16, 1],
    [8, 2, 128, 8, 16, 1],
    [8, 2, 64, 8, 16, 1],
    [8, 2, 64, 8, 8, 1],
    [4, 1, 64, 8, 16, 1],
    [4, 1, 64, 8, 8, 1],
    // Blocks of one operand in several turns, stages of one turn, passes.
    [4, 1, 64, 8, 32, 1],
    [4, 2, 128, 16, 8, 3],
    [8, 1, 128, 16, 16, 2],
    // Fewer lanes along an axis than a quad of banks.
    [4, 1, 64, 16, 16, 1],
    // For processors of fewer registers.
    [8, 1, 256, 16, 16, 1],
    [8, 1, 128, 16, 16, 1],
    [8, 1, 64, 8, 8, 1],
];

/// Those whose totals lie in workgroup memory, and an odd one.
const LEAN: &[[u32; 6]] = &[
    [8, 1, 64, 8, 16, 1],
    [8, 1, 128, 16, 16, 1],
    [8, 1, 256, 16, 16, 1],
    [4, 1, 64, 32, 16, 1],
    [4, 1, 256, 16, 16, 1],
    [4, 1, 128, 16, 16, 1],
    // Two quads of columns, stages of one turn, passes.
    [4, 2, 64, 16, 8, 2],
];

const VECTORS: &[[u32; 5]] = &[
    [4, 1, 64, 1, 1],
    [2, 1, 64, 1, 1],
    [1, 1, 64, 1, 1],
    [4, 1, 128, 16, 1],
    [2, 1, 256, 16, 1],
    [1, 1, 256, 16, 1],
    // Two quads of columns, passes, two lanes along k.
    [3, 2, 32, 2, 2],
    [1, 1, 64, 32, 3],
];

/// The most of k that is summed without totals.
const CHUNK: usize = 256;

/// Pairs of the ways in which operands lie: read by quads along either axis, or by element.
const PAIRS: &[&[usize]] = &[&[0, 1], &[1, 4], &[0, 6], &[5, 2]];

impl Rung {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let groups = GROUPS.iter().map(|&tile| Self::Group(tile));
        let vectors = VECTORS.iter().map(|&tile| Self::Vector(tile));
        let along_k = VECTORS.iter().filter(|tile| tile[3] == 1);
        let lean = LEAN.iter().map(|&tile| Self::Lean(tile));
        groups.chain(lean).chain(vectors).chain(along_k.map(|&tile| Self::Subgroups(tile)))
    }

    /// A few rungs that stand for all, for dtypes that change nothing else in the kernel's text.
    pub(super) fn few() -> [Self; 5] {
        [
            Self::Group(GROUPS[4]),
            Self::Vector(VECTORS[0]),
            Self::Vector(VECTORS[7]),
            Self::Subgroups(VECTORS[0]),
            Self::Lean(LEAN[3]),
        ]
    }

    /// Rungs with totals in registers and in workgroup memory.
    fn deep() -> [Self; 3] {
        [Self::Group(GROUPS[4]), Self::Lean(LEAN[0]), Self::Lean(LEAN[3])]
    }

    fn name(self) -> String {
        let (name, numbers) = match self {
            Self::Group(tile) => ("group", tile.to_vec()),
            Self::Lean(tile) => ("lean", tile.to_vec()),
            Self::Vector(tile) => ("vector", tile.to_vec()),
            Self::Subgroups(tile) => ("subgroups", tile.to_vec()),
        };
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        format!("{name}_{}", numbers.join("x"))
    }

    /// Whether an adapter can run it for such a k: of several chunks there are totals.
    pub(super) fn runs_on(self, caps: &Caps, dtype: DType, k: usize) -> bool {
        let width = matmul_dtype(dtype).width().max(4) as u64;
        let (lanes, quads) = match self {
            Self::Group([rows, quads, lanes, across, depth, _])
            | Self::Lean([rows, quads, lanes, across, depth, _]) => {
                // With the most padding that a stage has.
                let stage = depth * (rows / 4 * (lanes / across + 5) + quads * (across + 5));
                let totals = matches!(self, Self::Lean(_)) && dtype.is_float() && k > CHUNK;
                (lanes, stage + if totals { rows * quads * lanes } else { 0 })
            }
            Self::Vector([rows, quads, lanes, ..]) | Self::Subgroups([rows, quads, lanes, ..]) => {
                (lanes, rows * quads * lanes)
            }
        };
        let subgroups =
            !matches!(self, Self::Subgroups(_)) || caps.has(Feature::Subgroup) && width == 4;
        let room = u64::from(quads) * 4 * width <= caps.limits.group_storage_bytes_max;
        u64::from(lanes) <= caps.limits.invocations_max && room && subgroups
    }

    pub(super) fn product(self, a: &Tensor, b: &Tensor) -> wharf::Result<Tensor> {
        a.device().matmul_by(a, b, &self.kernel())
    }

    /// As a device is asked for it.
    pub(super) fn kernel(self) -> String {
        let (scheme, [rows, quads, lanes, passes]) = match self {
            Self::Group([rows, quads, lanes, across, depth, passes]) => {
                (format!("group {across} deep {depth}"), [rows, quads, lanes, passes])
            }
            Self::Lean([rows, quads, lanes, across, depth, passes]) => {
                (format!("group {across} deep {depth} lean"), [rows, quads, lanes, passes])
            }
            Self::Vector([rows, quads, lanes, across, passes]) => {
                (format!("vector {across}"), [rows, quads, lanes, passes])
            }
            Self::Subgroups([rows, quads, lanes, across, passes]) => {
                (format!("vector {across} subgroups"), [rows, quads, lanes, passes])
            }
        };
        let columns = 4 * quads;
        format!("{scheme} sums {rows}x{columns} lanes {lanes} passes {passes}")
    }
}

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &dtype in DTYPES {
        cases.push(case!(format!("matmul::{dtype}::rows"), |ctx| rows_by(ctx, dtype)).needs(
            adapter,
            DOWNGRADES[0],
            dtype,
        ));
    }
    for dtype in [DType::I8, DType::U8] {
        cases.push(case!(format!("matmul::{dtype}::dots"), |ctx| dots(ctx, dtype)));
    }
    for (i, rung) in Rung::all().enumerate() {
        let name = format!("matmul::f32::{}", rung.name());
        let case = case!(name, |ctx| forced(ctx, DType::F32, rung, 200 + i as u64))
            .unless(!rung.runs_on(adapter.caps(), DType::F32, CHUNK), "a rung");
        // The largest of the table and the odd ones always run. Those between differ only in
        // numbers.
        let between = matches!(rung, Rung::Group([8, 2, _, 8, ..]));
        let size = if between { Size::Large } else { Size::Usual };
        cases.push(Case { size, ..case });
    }
    for &dtype in DTYPES.iter().filter(|dtype| **dtype != DType::F32) {
        let name = format!("matmul::{dtype}::groups");
        let case = case!(name, |ctx| few(ctx, dtype)).needs(adapter, DOWNGRADES[0], dtype);
        let alike = matches!(dtype, DType::U8 | DType::I16 | DType::U32);
        cases.push(Case { size: if alike { Size::Large } else { Size::Usual }, ..case });
    }
    for rung in Rung::deep() {
        let case = case!(format!("matmul::deep::{}", rung.name()), |ctx| deep(ctx, rung));
        cases.push(case.unless(!rung.runs_on(adapter.caps(), DType::F32, 2 * CHUNK), "a rung"));
    }
    cases.push(case!("matmul::groups::passes", |ctx| passes_by(ctx)));
    cases.push(case!("matmul::groups::long", |ctx| long(ctx)));
    cases.push(case!("matmul::groups::tails", |ctx| tails_by(ctx)));
    cases.push(case!("matmul::groups::propagates", |ctx| propagates_by(ctx)));
    cases.push(case!("matmul::groups::folds", |ctx| folds(ctx)));
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        if downgrade.name == "small_bindings" {
            cases.push(case!("matmul::groups::panels", |ctx| panels_by(ctx, downgrade)));
        }
    }
    let large = case!("matmul::groups::past_one_binding", |ctx| past_by(ctx));
    cases.push(Case { size: Size::Large, ..large });
    cases
}

/// Newer Mesas cut a kernel at its barriers by passes that take seconds.
fn has_slow_barriers(caps: &Caps) -> bool {
    mesa_major(&caps.identity.driver_info) >= 24
}

/// Some dozens of shapes by one rung.
async fn forced(ctx: &Ctx, dtype: DType, rung: Rung, seed: u64) -> Outcome {
    let device = ctx.native().await?;
    let device = device.with_target(Target::Gpu);
    let mut pool = Pool::new(&device, dtype, seed).await?;
    let bytes = pool.bytes();
    let slow = is_slow(ctx.adapter.caps()) || has_slow_barriers(ctx.adapter.caps());
    // Few lies for large tiles: compiling one more takes a software driver a second.
    let large = matches!(rung, Rung::Group([8, ..]) | Rung::Lean([8, ..]));
    let rounds = match (dtype, large, slow) {
        (DType::F32, false, false) => 40,
        (DType::F32, true, false) => 12,
        _ => 6,
    };
    pool.lies = match (large, slow) {
        (true, _) => PAIRS[seed as usize % PAIRS.len()],
        (false, false) if dtype == DType::F32 => lies(ctx.adapter.caps(), seed),
        _ => FEW[seed as usize % FEW.len()],
    };
    let work_max = if large && !slow { 300_000 } else { 60_000 };
    let mut left = rounds;
    while left > 0 {
        let [a, b] = shapes(&mut pool, work_max)?;
        let k = a.shape().dims().last().copied().unwrap_or(0);
        if !rung.runs_on(device.caps(), dtype, k) {
            continue;
        }
        left -= 1;
        let got = rung.product(&a, &b).map_err(show)?;
        pool.check(&bytes, [&a, &b], &got).await.map_err(|e| format!("{rung:?}: {e}"))?;
    }
    Ok(())
}

/// Passes along k that are batches of one dispatch, of products that have batches themselves; and
/// what they leave of k, or passes that are too short to be alike.
async fn passes_by(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut pool = Pool::new(&device.with_target(Target::Gpu), DType::F32, 23).await?;
    let bytes = pool.bytes();
    for (i, [left, right]) in BATCHES.iter().enumerate() {
        for (passes, k) in [(2, 64), (3, 96), (4, 32), (4, 100), (3, 103), (16, 70), (5, 18)] {
            let a = pool.lying(i % 2, left, 9, k).map_err(show)?;
            let b = pool.lying(i % 3, right, k, 24).map_err(show)?;
            let rung =
                [Rung::Group([4, 1, 64, 8, 16, passes]), Rung::Vector([2, 1, 64, 8, passes])];
            let got = rung[i % 2].product(&a, &b).map_err(show)?;
            let place = |e| format!("{left:?} x {right:?}, {k} in {passes}: {e}");
            pool.check(&bytes, [&a, &b], &got).await.map_err(place)?;
        }
    }
    Ok(())
}

/// Few rows and columns of more terms than a kernel loops over: as many parts as that takes, side
/// by side, and what they leave. Every term is a small integer, so that sums are exact.
async fn long(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let (m, k, n) = (3, (1 << 18) + 77, 2);
    let a: Vec<f32> = (0..m * k).map(|i| (i % 5) as f32).collect();
    let b: Vec<f32> = (0..k * n).map(|i| (i / 7 % 3) as f32).collect();
    let (left, _) = device.upload(&a, [m, k]).map_err(show)?;
    let (right, _) = device.upload(&b, [k, n]).map_err(show)?;
    let got = left.matmul(&right).map_err(show)?.read::<f32>().await.map_err(show)?;
    let sum = |i: usize, j: usize| (0..k).map(|t| f64::from(a[i * k + t] * b[t * n + j])).sum();
    let want: Vec<f64> = (0..m * n).map(|at| sum(at / n, at % n)).collect();
    ensure_eq!(got.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(), want, "{m} x {n} x {k}");
    Ok(())
}

async fn few(ctx: &Ctx, dtype: DType) -> Outcome {
    let caps = ctx.adapter.caps();
    let rungs = Rung::few().into_iter().enumerate();
    for (i, rung) in rungs.filter(|(_, rung)| rung.runs_on(caps, dtype, CHUNK)) {
        forced(ctx, dtype, rung, 300 + i as u64).await?;
    }
    Ok(())
}

/// Rows by weights stored as `[out, in]`, at every alignment that wide loads may need. The kernels
/// are those that the table chooses, and forced ones.
async fn rows_by(ctx: &Ctx, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    let mut pool = Pool::new(&device, dtype, 11).await?;
    let bytes = pool.bytes();
    let shapes = [
        ([1, 9, 32], [0, 32]),
        ([1, 31, 4128], [64, 0]),
        ([2, 8, 1056], [16, 8]),
        ([2, 5, 48], [8, 24]),
        ([3, 12, 96], [32, 4]),
        ([4, 1, 8], [0, 0]),
    ];
    let shapes = if is_slow(ctx.adapter.caps()) { &shapes[..3] } else { &shapes[..] };
    let (caps, is_gpu) = (device.caps(), device.target() == Target::Gpu);
    // The lanes of a software driver are one subgroup, or share nothing.
    let shares = is_gpu || [caps.limits.subgroup_min, caps.limits.subgroup_max] == [8; 2];
    let subgroups = caps.has(Feature::Subgroup) && dtype.width() <= 4 && shares;
    for &([m, n, k], firsts) in shapes {
        for batch in [1, 2] {
            let mut side = |rows: usize, first: usize| {
                let first = first + 64 * pool.random.below(100);
                let flat = pool.pair.tensor.slice(0, first..first + batch * rows * k);
                flat.and_then(|t| t.reshape([batch, rows, k])).map_err(show)
            };
            let (x, w) = (side(m, firsts[0])?, side(n, firsts[1])?.t().map_err(show)?);
            let rung = [(m as u32).min(2), 2, 8, 1, 1];
            let rung = if subgroups { Rung::Subgroups(rung) } else { Rung::Vector(rung) };
            for got in [x.matmul(&w), rung.product(&x, &w)] {
                let place = |e| format!("{m} x {n} x {k}: {e}");
                pool.check(&bytes, [&x, &w], &got.map_err(show)?).await.map_err(place)?;
            }
        }
    }
    Ok(())
}

/// Bytes by WGSL's own dot product: k in whole loads and not, at every offset in a word and in a
/// load, with extreme values.
async fn dots(ctx: &Ctx, dtype: DType) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let mut random = Random::new(21);
    let lowest = if dtype == DType::I8 { 0x80 } else { 0xff };
    let extreme = |random: &mut Random| match random.below(3) {
        0 => random.bits() & 0xff,
        1 => 0x7f,
        _ => lowest,
    };
    let elements = (0..POOL).map(|i| if i < 4096 { lowest } else { extreme(&mut random) });
    let pair = Pair::new(&device, dtype, elements.collect(), &[POOL]).await?;
    let pool = Pool { pair, dtype, random, lies: ALL };
    let bytes = pool.bytes();
    let few: [fn(&Tensor, &Tensor) -> wharf::Result<Tensor>; 7] = [
        |a, b| a.matmul(b),
        |a, b| Rung::Vector([4, 1, 64, 1, 1]).product(a, b),
        |a, b| Rung::Vector([1, 1, 64, 16, 2]).product(a, b),
        |a, b| Rung::Group([4, 1, 64, 8, 16, 1]).product(a, b),
        |a, b| Rung::Group([4, 2, 32, 8, 8, 3]).product(a, b),
        |a, b| Rung::Lean([4, 1, 64, 32, 16, 1]).product(a, b),
        |a, b| By::Tile([8, 1, 64, 1]).product(a, b),
    ];
    let shapes = [[1, 5, 16], [3, 8, 48], [9, 33, 400], [37, 40, 560], [2, 7, 50], [4, 4, 3]];
    for [m, n, k] in shapes {
        for first in [[0, 0], [5008, 6400], [5004, 6400], [5008, 6401]] {
            let side = |rows: usize, first: usize| {
                let flat = pool.pair.tensor.slice(0, first..first + rows * k);
                flat.and_then(|t| t.reshape([rows, k])).map_err(show)
            };
            let (a, b) = (side(m, first[0])?, side(n, first[1])?.t().map_err(show)?);
            for (i, product) in few.iter().enumerate() {
                let got = product(&a, &b).map_err(show)?;
                let place = |e| format!("{m} x {n} x {k} from {first:?} by {i}: {e}");
                pool.check(&bytes, [&a, &b], &got).await.map_err(place)?;
            }
        }
    }
    // Batches one step apart, and of several steps.
    let [first, second] = [[4, 9, 80], [4, 33, 80]].map(|dims: [usize; 3]| {
        let flat = pool.pair.tensor.slice(0, 5008..5008 + dims.iter().product::<usize>());
        flat.and_then(|t| t.reshape(dims)).map_err(show)
    });
    let (a, b) = (first?, second?.t().map_err(show)?);
    let parted = |t: &Tensor| t.reshape([2, 2, t.shape().dims()[1], t.shape().dims()[2]]);
    let spread = parted(&a).and_then(|t| t.permute([1, 0, 2, 3])).map_err(show)?;
    let whole = b.t().and_then(|b| parted(&b)?.t()).map_err(show)?;
    for (i, product) in few.iter().enumerate() {
        for (a, b) in [(&a, &b), (&spread, &whole)] {
            let got = product(a, b).map_err(show)?;
            let place = |e| format!("batches of {:?} by {i}: {e}", a.shape());
            pool.check(&bytes, [a, b], &got).await.map_err(place)?;
        }
    }
    Ok(())
}

/// Sums of several chunks, the last one whole or not; of terms of one sign, so that each chunk
/// counts.
async fn deep(ctx: &Ctx, rung: Rung) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    for [m, n, k] in [[33, 40, 512], [5, 36, 1000], [12, 9, 771]] {
        let ramp = |rows: usize, columns: usize| {
            let data: Vec<f32> = (0..rows * columns).map(|i| 1.0 + (i % 7) as f32).collect();
            (device.upload(&data, [rows, columns]).map(|(t, _)| t).map_err(show), data)
        };
        let ((a, left), (b, right)) = (ramp(m, k), ramp(k, n));
        let got = rung.product(&a?, &b?).map_err(show)?.read::<f32>().await.map_err(show)?;
        for (i, &got) in got.iter().enumerate() {
            // Whole numbers below 2^24: every order of additions is exact.
            let term = |j: usize| left[i / n * k + j] * right[j * n + i % n];
            let want: f32 = (0..k).map(term).sum();
            ensure_eq!(got, want, "{m} x {n} x {k} by {rung:?}: element {i}");
        }
        count();
    }
    Ok(())
}

/// Operations after a product are computed in its kernel.
async fn tails_by(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    for (dtype, rung) in
        [(DType::F32, Rung::few()[0]), (DType::I32, Rung::few()[0]), (DType::F32, Rung::few()[1])]
    {
        let mut pool = Pool::new(&device, dtype, 5).await?;
        for [m, n, k] in [[33, 64, 40], [16, 31, 17], [4, 256, 300]] {
            let mut view = |m, n| pool.view(&[], m, n).map_err(show);
            let (a, b, bias, scale) = (view(m, k)?, view(k, n)?, view(1, n)?, view(m, n)?);
            let then = |t: &Tensor| (t.mul_add(2, &bias)? * &scale)?.relu();
            let apart = rung.product(&a, &b).map_err(show)?;
            bits_of(&apart).await?;
            let want = bits_of(&then(&apart).map_err(show)?).await?;
            let whole = rung.product(&a, &b).and_then(|t| then(&t)).map_err(show)?;
            ensure_eq!(bits_of(&whole).await?, want, "{dtype} {m} x {n} x {k} by {rung:?}");
            count();
        }
    }
    Ok(())
}

/// Values beyond an operand's edge, in rows, columns and k, reach no result.
async fn propagates_by(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    // Rows of 24 of which 21 count, in the middle of a whole that is NaN.
    let mut data = vec![f32::NAN; 40 * 24];
    for row in 8..24 {
        data[row * 24..row * 24 + 21].fill(1.0);
    }
    data[11 * 24 + 2] = f32::INFINITY;
    let (t, _) = device.upload(&data, [40, 24]).map_err(show)?;
    let a = t.slice(0, 8..24).and_then(|t| t.slice(1, 0..21)).map_err(show)?;
    let b = a.t().map_err(show)?;
    let rungs = Rung::few().into_iter();
    for rung in rungs.filter(|rung| rung.runs_on(device.caps(), DType::F32, CHUNK)) {
        for (a, b) in [(&a, &b), (&b, &a)] {
            let got = rung.product(a, b).map_err(show)?;
            let n = got.shape().dims()[1];
            for (i, got) in got.read::<f32>().await.map_err(show)?.into_iter().enumerate() {
                let place = if n == 16 { 3 } else { 2 };
                let reached = i / n == place || i % n == place;
                let want = if reached { f32::INFINITY } else { (37 - n) as f32 };
                ensure_eq!(got, want, "index {i} of {n} columns by {rung:?}");
            }
        }
    }
    Ok(())
}

/// More workgroups than one dimension of a dispatch takes; then more columns, with tiles in
/// registers.
async fn folds(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let (m, n) = (70_001, 4);
    let column: Vec<f32> = (0..m).map(|i| i as f32).collect();
    let (a, _) = device.upload(&column, [m, 1]).map_err(show)?;
    let (b, _) = device.upload(&[1.0f32, 2.0, 3.0, -4.0], [1, n]).map_err(show)?;
    let product = Rung::Vector([1, 1, 32, 16, 1]).product(&a, &b).map_err(show)?;
    let got = product.read::<f32>().await.map_err(show)?;
    for (i, got) in got.into_iter().enumerate() {
        let want = column[i / n] * [1.0, 2.0, 3.0, -4.0][i % n];
        ensure_eq!(got, want, "row {}, column {}", i / n, i % n);
    }
    let wide = device.full([1, 1], 2.0f32, DType::F32).map_err(show)?;
    let n = (1 << 21) + 1_000;
    let wide = wide.broadcast_to([1, n]).and_then(|t| t.contiguous()).map_err(show)?;
    let x = device.full([1, 1], 3.0f32, DType::F32).map_err(show)?;
    let got = By::Tile([1, 1, 8, 1]).product(&x, &wide).map_err(show)?;
    let got = got.read::<f32>().await.map_err(show)?;
    ensure!(got.len() == n && got.iter().all(|&y| y.to_bits() == 6.0f32.to_bits()), "wide");
    Ok(())
}

/// Operands and results of several segments, with the kernels of the table and with forced ones.
async fn panels_by(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?.with_target(Target::Gpu);
    let mut pool = Pool::new(&device, DType::F32, 3).await?;
    let bytes = pool.bytes();
    for [m, n, k] in [[300, 40, 500], [40, 300, 700], [3, 5, 25_000], [301, 399, 11]] {
        let a = pool.view(&[], m, k).map_err(show)?;
        let b = pool.view(&[], k, n).map_err(show)?;
        pool.check(&bytes, [&a, &b], &a.matmul(&b).map_err(show)?).await?;
        let rung = Rung::few()[0];
        pool.check(&bytes, [&a, &b], &rung.product(&a, &b).map_err(show)?).await?;
        let strips = By::Strips([8, 2, 8, 1]).product(&a, &b).map_err(show)?;
        pool.check(&bytes, [&a, &b], &strips).await?;
    }
    Ok(())
}

/// A left side of 200 MiB, with the kernels of a GPU.
async fn past_by(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    past_one_binding_on(&device).await
}
