//! Transforms against their definition in f64, number by number; of every length, class of target
//! and view; cut and filled up; in parts, and of nothing.

use core::f64::consts::TAU;

use wharf::op::fourier_room;
use wharf::shadow::ShadowPolicy;
use wharf::{Adapter, DType, Device, Tensor};

use super::accuracy::met;
use super::pair::count;
use super::probe::Random;
use super::views::TARGETS;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, Size, case, ensure, ensure_eq, matters, show,
};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|downgrade| matters(adapter, **downgrade)) {
        let name = format!("fourier::lengths::{}", downgrade.name);
        cases.push(case!(name, |ctx| lengths(ctx, downgrade)));
    }
    cases.push(case!("fourier::views", |ctx| views(ctx)));
    for (name, downgrade) in [("native", DOWNGRADES[0]), ("lowest", LOWEST)] {
        let name = format!("fourier::several_axes::{name}");
        cases.push(case!(name, |ctx| several(ctx, downgrade)));
    }
    cases.push(case!("fourier::cut_and_filled", |ctx| cut(ctx)));
    cases.push(case!("fourier::many_rows", |ctx| many(ctx)));
    cases.push(case!("fourier::in_parts", |ctx| in_parts(ctx)));
    cases.push(case!("fourier::shadow", |ctx| shadow(ctx)));
    cases.push(case!("fourier::refuses", |ctx| refuses(ctx)));
    cases.push(case!("fourier::three_passes", |ctx| three(ctx)));
    let long = case!("fourier::long", |ctx| long(ctx));
    cases.push(Case { size: Size::Large, ..long });
    cases
}

/// A complex number.
type Complex = [f64; 2];

fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// `e^(2 pi i k / n)`, for every `k`.
fn roots(n: usize, sign: f64) -> Vec<Complex> {
    let root = |k: usize| {
        let (sin, cos) = (sign * TAU * k as f64 / n as f64).sin_cos();
        [cos, sin]
    };
    (0..n).map(root).collect()
}

/// The sums themselves.
fn defined(x: &[Complex], sign: f64) -> Vec<Complex> {
    let (n, roots) = (x.len(), roots(x.len(), sign));
    let sum = |k: usize| {
        let (mut sum, mut at) = ([0.0; 2], 0);
        for &x in x {
            let term = times(x, roots[at]);
            sum = [sum[0] + term[0], sum[1] + term[1]];
            at = (at + k) % n;
        }
        sum
    };
    (0..n).map(sum).collect()
}

/// The same of a length that is a power of two, by halves: for those that are too long.
fn halves(x: &[Complex], sign: f64) -> Vec<Complex> {
    if x.len() <= 16 {
        return defined(x, sign);
    }
    let part = |first: usize| {
        let part: Vec<Complex> = x.iter().skip(first).step_by(2).copied().collect();
        halves(&part, sign)
    };
    let (even, odd, roots) = (part(0), part(1), roots(x.len(), sign));
    let n = even.len();
    let one = |k: usize| {
        let turned = times(odd[k % n], roots[k]);
        [even[k % n][0] + turned[0], even[k % n][1] + turned[1]]
    };
    (0..2 * n).map(one).collect()
}

/// Which transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Rfft,
    Irfft,
    Fft,
    Ifft,
}

const WAYS: [Way; 4] = [Way::Rfft, Way::Irfft, Way::Fft, Way::Ifft];

impl Way {
    /// Floats to a number, before and after.
    const fn parts(self) -> [usize; 2] {
        match self {
            Self::Rfft => [1, 2],
            Self::Irfft => [2, 1],
            Self::Fft | Self::Ifft => [2, 2],
        }
    }

    /// Numbers of a row before.
    const fn takes(self, n: usize) -> usize {
        if matches!(self, Self::Irfft) { n / 2 + 1 } else { n }
    }

    fn of(self, x: &Tensor, axis: i32, n: Option<usize>) -> Result<Tensor, String> {
        let made = match self {
            Self::Rfft => x.rfft(axis, n),
            Self::Irfft => x.irfft(axis, n.ok_or("no length")?),
            Self::Fft => x.fft(axis, n),
            Self::Ifft => x.ifft(axis, n),
        };
        made.map_err(show)
    }

    /// What a row of floats comes to at length `n`, and its largest magnitude.
    fn row(self, row: &[f64], n: usize) -> (Vec<f64>, f64) {
        let [before, after] = self.parts();
        let mut x: Vec<Complex> =
            row.chunks(before).map(|x| [x[0], x.get(1).copied().unwrap_or(0.0)]).collect();
        x.resize(self.takes(n), [0.0; 2]);
        if self == Self::Irfft {
            x[0][1] = 0.0;
            if n.is_multiple_of(2) {
                x[n / 2][1] = 0.0;
            }
            let mirrored = |k: usize| if k < x.len() { x[k] } else { [x[n - k][0], -x[n - k][1]] };
            x = (0..n).map(mirrored).collect();
        }
        let back = matches!(self, Self::Irfft | Self::Ifft);
        let sign = if back { 1.0 } else { -1.0 };
        let long = n > 5000 && n.is_power_of_two();
        let mut y = if long { halves(&x, sign) } else { defined(&x, sign) };
        if back {
            y.iter_mut().flatten().for_each(|y| *y /= n as f64);
        }
        if self == Self::Rfft {
            y.truncate(n / 2 + 1);
        }
        let most = y.iter().map(|y| y[0].hypot(y[1])).fold(0.0, f64::max);
        (y.iter().flat_map(|y| y[..after].to_vec()).collect(), most)
    }
}

fn drawn(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0).collect()
}

/// Rows of a result, each within what its length is allowed of its largest magnitude, and `more`.
fn near(
    name: &str,
    way: Way,
    (got, rows): (&[f64], &[Vec<f64>]),
    (n, more): (usize, f64),
) -> Outcome {
    count();
    let each = got.len() / rows.len().max(1);
    for (r, row) in rows.iter().enumerate() {
        let (want, most) = way.row(row, n);
        ensure_eq!(want.len(), each, "{name}: floats of a row");
        for (i, (got, want)) in got[r * each..].iter().zip(&want).enumerate() {
            let off = (got - want).abs();
            let room = fourier_room(n) * most + more * want.abs();
            ensure!(off <= room, "{name}: {got}, not {want} at {i} of row {r}: {off} of {room}");
            // What is rounded to fewer digits is no measure.
            if more == 0.0 {
                met(&format!("{way:?}").to_lowercase(), off / room, &format!("{n} long"));
            }
        }
    }
    Ok(())
}

async fn floats(x: &Tensor) -> Result<Vec<f64>, String> {
    Ok(x.read_as::<f64>().await.map_err(show)?.0)
}

/// Dense rows, all ways there and back.
async fn one(device: &Device, random: &mut Random, rows: usize, n: usize) -> Outcome {
    for way in WAYS {
        dense(device, random, way, [rows, n]).await?;
    }
    Ok(())
}

async fn dense(device: &Device, random: &mut Random, way: Way, [rows, n]: [usize; 2]) -> Outcome {
    let [parts, _] = way.parts();
    let each = way.takes(n) * parts;
    let x = drawn(random, rows * each);
    let dims = [rows, way.takes(n), 2];
    let (tensor, _) = device.upload(&x, &dims[..1 + parts]).map_err(show)?;
    let result = way.of(&tensor, -1, Some(n))?;
    let x: Vec<Vec<f64>> =
        x.chunks(each).map(|row| row.iter().copied().map(f64::from).collect()).collect();
    let name = format!("{way:?} of {rows} x {n} for {:?}", device.target());
    near(&name, way, (&floats(&result).await?, &x), (n, 0.0))
}

/// Lengths of each radix and of several, of one pass and of more, primes, and what primes make.
const LENGTHS: [usize; 32] = [
    27, 31, 32, 35, 48, 49, 60, 64, 97, 100, 105, 121, 127, 128, 210, 243, 256, 343, 500, 509, 512,
    625, 1000, 1021, 1024, 1155, 2048, 2062, 2187, 3125, 4096, 4099,
];

async fn lengths(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(91);
    let step = if downgrade.name == "native" { 1 } else { 7 };
    let both = TARGETS.map(|target| device.with_target(target));
    // Each length by one class, because every one has texts of its own; by pairs, so that even and
    // odd ones come to both.
    for (i, n) in (1..=26).chain(LENGTHS).step_by(step).enumerate() {
        let rows = if n < 600 { 3 } else { 1 };
        one(&both[i.div_ceil(2) % 2], &mut random, rows, n).await?;
    }
    Ok(())
}

/// Axes of views, which are read where they lie, of each dtype.
async fn views(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(92);
    for device in TARGETS.map(|target| device.with_target(target)) {
        for dtype in [DType::F32, DType::F16, DType::Bf16] {
            let (x, _) =
                device.upload(&drawn(&mut random, 6 * 10 * 14), [6, 10, 14]).map_err(show)?;
            let x = x.cast(dtype).map_err(show)?;
            let views = [
                x.clone(),
                x.permute([2, 0, 1]).map_err(show)?,
                x.flip(1).and_then(|x| x.flip(2)).map_err(show)?,
                x.slice(2, 1..12).and_then(|x| x.slice(1, 2..9)).map_err(show)?,
                x.slice_step(0, .., 2).map_err(show)?,
                x.slice(1, ..1).and_then(|x| x.broadcast_to([6, 5, 14])).map_err(show)?,
            ];
            for x in views {
                for axis in 0..3 {
                    let n = x.shape().dims()[axis];
                    let rows =
                        x.move_axis(axis, -1).and_then(|x| x.reshape_copied([-1, n as isize]));
                    let x_rows = floats(&rows.map_err(show)?).await?;
                    let x_rows: Vec<Vec<f64>> = x_rows.chunks(n).map(<[f64]>::to_vec).collect();
                    let y = Way::Rfft.of(&x, axis as i32, None)?;
                    ensure_eq!(y.dtype(), dtype, "the dtype");
                    let mut dims = x.shape().dims().to_vec();
                    dims[axis] = n / 2 + 1;
                    ensure_eq!(y.shape().dims(), [&dims[..], &[2]].concat(), "the shape");
                    let turned = y.move_axis(axis, 2).map_err(show)?;
                    let name = format!("{dtype} {} {axis}", x.shape());
                    let more = match dtype {
                        DType::F16 => 1.0 / 2048.0,
                        DType::Bf16 => 1.0 / 256.0,
                        _ => 0.0,
                    };
                    near(&name, Way::Rfft, (&floats(&turned).await?, &x_rows), (n, more))?;
                    // A spectrum whose parts lie apart.
                    let y = y.move_axis(3, 0).and_then(|y| y.contiguous()).map_err(show)?;
                    let y = y.move_axis(0, 3).map_err(show)?;
                    let rows = y.move_axis(axis, 2).and_then(|y| y.contiguous()).map_err(show)?;
                    let y_rows: Vec<Vec<f64>> =
                        floats(&rows).await?.chunks(n / 2 * 2 + 2).map(<[f64]>::to_vec).collect();
                    let back = Way::Irfft.of(&y, axis as i32 - 3, Some(n))?;
                    ensure_eq!(back.shape(), x.shape(), "the shape that comes back");
                    let turned = floats(&back.move_axis(axis, 2).map_err(show)?).await?;
                    near(&name, Way::Irfft, (&turned, &y_rows), (n, more))?;
                }
            }
        }
    }
    Ok(())
}

/// Several axes are one after the other, to the bit, and the last that is named is that of reals.
async fn several(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(97);
    for device in TARGETS.map(|target| device.with_target(target)) {
        let (x, _) = device.upload(&drawn(&mut random, 4 * 6 * 10), [4, 6, 10]).map_err(show)?;
        let (z, _) = device.upload(&drawn(&mut random, 4 * 6 * 10), [4, 6, 5, 2]).map_err(show)?;
        let x = x.permute([2, 0, 1]).and_then(|x| x.flip(0)).map_err(show)?; // [10, 4, 6]
        let z = z.swap_axes(0, 1).and_then(|z| z.flip(2)).map_err(show)?; // [6, 4, 5]
        let half = x.rfft(-1, None).map_err(show)?;
        let pairs = [
            (x.rfft([0, 2], None), x.rfft(2, None).and_then(|y| y.fft(0, None))),
            (x.rfft([-1, 0], 8), x.rfft(0, 8).and_then(|y| y.fft(-1, None))),
            (x.rfft(.., None), x.rfft(2, None).and_then(|y| y.fft(1, None)?.fft(0, None))),
            (half.irfft([0, -1], 6), half.ifft(0, None).and_then(|y| y.irfft(-1, 6))),
            (z.fft([0, 1], 7), z.fft(1, 7).and_then(|y| y.fft(0, None))),
            (z.fft(.., None), z.fft(2, None).and_then(|y| y.fft(1, None)?.fft(0, None))),
            (z.ifft([1, -1], 3), z.ifft(2, 3).and_then(|y| y.ifft(1, None))),
        ];
        for (i, (got, want)) in pairs.into_iter().enumerate() {
            let (got, want) = (got.map_err(show)?, want.map_err(show)?);
            ensure_eq!(got.shape(), want.shape(), "{i}: the shape");
            let (got, want) = (got.read::<f32>().await, want.read::<f32>().await);
            ensure_eq!(got.map_err(show)?, want.map_err(show)?, "{i} for {:?}", device.target());
            count();
        }
        // What the sums over both axes come to.
        let whole = x.rfft([1, 2], None).and_then(|y| y.irfft([1, 2], 6)).map_err(show)?;
        let near = whole.allclose(&x, 1e-5, 1e-5).await.map_err(show)?;
        ensure!(near, "what comes back is not what went for {:?}", device.target());
        count();
    }
    Ok(())
}

/// Other lengths than that of the axis.
async fn cut(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(93);
    for device in TARGETS.map(|target| device.with_target(target)) {
        for (given, n) in [
            (1, 8),
            (7, 8),
            (8, 7),
            (9, 4),
            (5, 11),
            (13, 11),
            (30, 3000),
            (3000, 50),
            (6, 1),
            (3, 2),
        ] {
            for way in WAYS {
                let [parts, _] = way.parts();
                let x = drawn(&mut random, 2 * given * parts);
                let (tensor, _) = device.upload(&x, &[2, given, 2][..1 + parts]).map_err(show)?;
                let got = floats(&way.of(&tensor, 1, Some(n))?).await?;
                let kept = given.min(way.takes(n)) * parts;
                let x: Vec<Vec<f64>> = x
                    .chunks(given * parts)
                    .map(|row| row[..kept].iter().copied().map(f64::from).collect())
                    .collect();
                let name = format!("{way:?} of {given} at {n} for {:?}", device.target());
                near(&name, way, (&got, &x), (n, 0.0))?;
            }
        }
    }
    Ok(())
}

/// More rows than a tile holds, where the last tile is not full.
async fn many(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(94);
    for device in TARGETS.map(|target| device.with_target(target)) {
        for (rows, n) in [(1500, 1), (2100, 2), (700, 3), (131, 16), (67, 22), (9, 500), (5, 2500)]
        {
            one(&device, &mut random, rows, n).await?;
        }
    }
    Ok(())
}

/// More rows than a segment holds come to what they do in one; a row that it does not hold is
/// refused.
async fn in_parts(ctx: &Ctx) -> Outcome {
    let small = DOWNGRADES.iter().find(|downgrade| downgrade.name == "small_bindings");
    let small = ctx.device(*small.ok_or("no such device")?).await?;
    let whole = ctx.native().await?.with_target(small.target());
    let segment = small.caps().limits.binding_bytes_max as usize / 4;
    for n in [64, 1021, 3000] {
        let rows = 2 * segment / n + 3;
        let made = |device: &Device| {
            let x = device.linspace(-700.0, 700.0, rows * n, DType::F32)?.sin()?;
            let spectrum = x.reshape([rows, n])?.rfft(1, None)?;
            let back = spectrum.irfft(1, n)?;
            Ok((spectrum, back))
        };
        let (a, b) = made(&small).map_err(show)?;
        let (c, d) = made(&whole).map_err(show)?;
        for (got, want) in [(a, c), (b, d)] {
            count();
            let got = got.read::<f32>().await.map_err(show)?;
            let want = want.read::<f32>().await.map_err(show)?;
            ensure!(got == want, "{rows} rows of {n} differ in parts");
        }
    }
    let refused = |n: usize| {
        let x = small.zeros([n], DType::F32).map_err(show)?;
        let error = x.rfft(0, None).err().map(|error| error.to_string()).unwrap_or_default();
        let text = format!("rfft: a transform of length {n} takes {} elements", n + 2);
        ensure!(error.starts_with(&text), "a row that is too long: {error}");
        count();
        Ok::<_, String>(error)
    };
    // And by no more than both parts of a number.
    let error = refused(segment)?;
    let most = error.split_once("above ").and_then(|(_, text)| text.split(' ').next());
    refused(most.and_then(|most| most.parse().ok()).ok_or(error)?)?;
    Ok(())
}

/// The oracle of a device in the shadow computes each once more, and has nothing against any.
async fn shadow(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let shadow = device.shadow(ShadowPolicy::all());
    let mut random = Random::new(95);
    for n in [1, 2, 9, 16, 22, 23, 1100] {
        for way in WAYS {
            let [parts, _] = way.parts();
            let dims = [2, way.takes(n), 2];
            let x = drawn(&mut random, dims[..1 + parts].iter().product());
            let (x, _) = device.upload(&x, &dims[..1 + parts]).map_err(show)?;
            way.of(&x, 1, Some(n))?.read::<f32>().await.map_err(show)?;
            way.of(&x, 1, Some(n + 3))?.read::<f32>().await.map_err(show)?;
            count();
        }
    }
    let report = shadow.report().await.map_err(show)?;
    ensure!(report.wrong.is_none() && report.left_out.is_empty(), "{report}");
    // A long row costs much: some numbers of it are enough.
    ensure!(3 * report.judged > report.elements, "{report}");
    Ok(())
}

/// What nothing is made of, and what is refused.
async fn refuses(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let zeros = |dims: &[usize], dtype| device.zeros(dims, dtype).map_err(show);
    let x = zeros(&[3, 4], DType::F32)?;
    let made = [
        (zeros(&[0, 4], DType::F32)?.rfft(1, None), &[0, 3, 2][..]),
        (zeros(&[0, 3, 2], DType::F32)?.irfft(1, 4), &[0, 4]),
        // Nothing, filled up with zeros.
        (zeros(&[3, 0], DType::F32)?.rfft(1, 5), &[3, 3, 2]),
        (zeros(&[0, 2], DType::F32)?.irfft(0, 5), &[5]),
    ];
    for (made, dims) in made {
        let made = made.map_err(show)?;
        ensure_eq!(made.shape().dims(), dims, "the shape");
        let all = made.read::<f32>().await.map_err(show)?;
        ensure!(all.iter().all(|&x| x == 0.0), "nothing comes to {all:?}");
        count();
    }
    let float = "compute in another dtype and cast: `cast(dtype)`";
    let length = "another length `n` cuts the axis, or fills it up with zeros";
    let parts = "a last axis has both parts of each: `Tensor::stack(&[re, im], -1)`; reals have \
                 `rfft`";
    let axes = |all: &str| format!("its axes are {all}, counted from 0 or back from -1");
    for (made, text, help) in [
        (x.cast(DType::I32).and_then(|x| x.rfft(0, None)), "rfft: input: i32, not", float),
        (x.rfft(1, 0), "rfft: a transform of length 0, not 1 to 16777216", length),
        (x.irfft(0, 4), "irfft: complex numbers in [3, 4], whose last axis is not 2", parts),
        (x.rfft(1, (1 << 24) + 1), "rfft: a transform of length 16777217, not 1", length),
        (zeros(&[3, 0], DType::F32)?.rfft(1, None), "rfft: a transform of length 0", length),
        (x.rfft(2, None), "rfft: axis 2 does not exist in [3, 4] of rank 2", &axes("0 to 1")),
        (
            zeros(&[3, 5, 2], DType::F32)?.fft(2, None),
            "fft: axes counted without that of the parts: axis 2 does not exist in [3, 5] of rank \
             2",
            &axes("0 to 1"),
        ),
        (
            zeros(&[3, 5, 2], DType::F32)?.irfft(-3, 4),
            "irfft: axes counted without that of the parts: axis -3 does not exist in [3, 5]",
            &axes("0 to 1"),
        ),
        (
            x.rfft([1, -1], None),
            "rfft: axis -1 occurs twice in [1, -1]",
            "name each axis once; -1 is the last, which has a place from 0, too",
        ),
        (
            x.rfft([0; 0], None),
            "rfft: a transform of [3, 4] along no axis",
            "name at least one; `..` are all",
        ),
    ] {
        let error = made.err().ok_or_else(|| format!("{text}: it was done"))?;
        count();
        ensure!(error.to_string().starts_with(text), "{error}, not {text}");
        ensure_eq!(error.help().as_deref().unwrap_or_default(), help, "{text}: the help");
    }
    Ok(())
}

/// The least power of two that takes three passes: in the second, runs of lines lie behind others.
async fn three(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    dense(&device, &mut Random::new(97), Way::Fft, [1, 1 << 19]).await
}

/// A million of numbers, and a prime number of them.
async fn long(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(96);
    one(&device, &mut random, 1, 1 << 20).await?;
    // A prime is too long for its definition: what comes back is what went.
    let x = drawn(&mut random, 400_009);
    let (tensor, _) = device.upload(&x, [400_009]).map_err(show)?;
    let back = tensor.rfft(0, None).and_then(|x| x.irfft(0, 400_009)).map_err(show)?;
    let back = back.read::<f32>().await.map_err(show)?;
    ensure_eq!(back.len(), x.len(), "as many come back");
    let room = 2.0 * fourier_room(400_009);
    let near = |(x, y): &(&f32, &f32)| f64::from((*x - *y).abs()) <= room;
    ensure_eq!(x.iter().zip(&back).find(|pair| !near(pair)), None, "a prime comes back");
    count();
    Ok(())
}
