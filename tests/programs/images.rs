//! What is done to images.

use wharf::tensor::{Conv, Pad, Pooling};
use wharf::{DType, Device, Result, Tensor};

use super::support::{check, numbers};

/// Every pixel's neighbourhood as the last two axes, `[height, width, size, size]`; beyond an end
/// is what lies there.
fn around(image: &Tensor, size: usize, with: impl Into<Pad>) -> Result<Tensor> {
    let beside = (size / 2, size / 2);
    image.pad(&[beside, beside], with)?.windows(0, size, 1)?.windows(1, size, 1)
}

/// A picture that nothing in `numbers` makes regular.
fn picture(device: &Device, height: usize, width: usize, seed: usize) -> Result<Tensor> {
    let (up, across) = (numbers(device, [height, width], seed)?, numbers(device, width, seed + 5)?);
    ((up.square()? * 3.0)? + across)?.sigmoid()
}

#[test]
fn bilateral_filter() {
    check("bilateral_filter", async |device| {
        let image = picture(device, 6, 7, 1)?;
        let step = device.arange(-1, 2, 1, DType::F32)?;
        let far = step.unsqueeze(1)?.hypot(&step)?;
        let near = ((far / 1.2)?.square()? * -0.5)?.exp()?;
        let close = around(&image, 3, Pad::Reflect)?;
        let alike = ((&close - image.reshape([6, 7, 1, 1])?)? / 0.15)?;
        let weights = ((alike.square()? * -0.5)?.exp()? * near)?;
        (&weights * close)?.sum([-2, -1])? / weights.sum([-2, -1])?
    });
}

#[test]
fn median_filter() {
    check("median_filter", async |device| {
        let image = picture(device, 7, 6, 2)?;
        let noise = numbers(device, [7, 6], 3)?;
        let noisy =
            image.masked_fill(&noise.gt(0.81)?, 1.0)?.masked_fill(&noise.lt(-0.83)?, 0.0)?;
        let close = around(&noisy, 3, Pad::Replicate)?;
        let middle = close.median([-2, -1])?;
        let high = close.quantile([2, 3], 0.9)?;
        Tensor::stack(&[middle, high], 0)
    });
}

#[test]
fn sharpened() {
    check("sharpened", async |device| {
        let planes = [4, 5, 6].map(|seed| picture(device, 6, 5, seed));
        let [red, green, blue] = planes;
        let image = Tensor::stack(&[red?, green?, blue?], 0)?.unsqueeze(0)?;
        let step = device.arange(-2, 3, 1, DType::F32)?;
        let bell = (step.square()? / (-2.0 * 0.9 * 0.9))?.exp()?;
        let bell = (&bell / bell.sum(..)?)?;
        let line = bell.reshape([1, 1, 1, 5])?.broadcast_to([3, 1, 1, 5])?;
        let padded = image.pad(&[(0, 0), (0, 0), (2, 2), (2, 2)], Pad::Reflect)?;
        let how = Conv::new().groups(3);
        let soft = padded.conv2d(&line, None, &how)?.conv2d(&line.swap_axes(2, 3)?, None, &how)?;
        (&image + ((&image - soft)? * 1.5)?)?.clamp(0.0, 1.0)
    });
}

#[test]
fn opening() {
    check("opening", async |device| {
        let image = picture(device, 8, 7, 7)?;
        let square = Pooling::new([3, 3]).stride([1, 1]).padding([1, 1]);
        let grown = |x: &Tensor| x.max_pool(&square);
        let eroded = grown(&image.neg()?)?.neg()?;
        let opened = grown(&eroded)?;
        let edges = (grown(&image)? - &eroded)?;
        let hat = (&image - &opened)?;
        let (cross, _) =
            device.tensor([[false, true, false], [true, true, true], [false, true, false]])?;
        let close = around(&image, 3, f32::INFINITY)?;
        let thin = cross.choose(&close, f32::INFINITY)?.amin([-2, -1])?;
        Tensor::stack(&[opened, edges, hat, thin], 0)
    });
}

#[test]
fn connected_parts() {
    check("connected_parts", async |device| {
        let solid = numbers(device, [7, 8], 8)?.square()?.gt(0.21)?;
        let own = device.arange(1, 57, 1, DType::I32)?.reshape([7, 8])?;
        let mut label = solid.choose(&own, 0)?;
        for _ in 0..24 {
            let close = around(&label, 3, 0)?;
            let cross = [close.at((.., .., 1))?, close.at((.., .., .., 1))?];
            let most = cross[0].amax(-1)?.maximum(cross[1].amax(-1)?)?;
            label = solid.choose(&most, 0)?;
        }
        let found = label.unique().await?;
        Tensor::concat(&[found.inverse.flatten(..)?, found.counts.clone()], 0)
    });
}

#[test]
fn colours() {
    check("colours", async |device| {
        let image = ((numbers(device, [3, 4, 5], 9)? + 1.0)? / 2.0)?;
        let [red, green, blue] = &image.unstack(0)?;
        let value = image.amax(0)?;
        let range = (&value - image.amin(0)?)?;
        let safe = range.maximum(1e-6)?;
        let from_red = ((green - blue)? / &safe)?.rem_floor(6.0)?;
        let from_green = (((blue - red)? / &safe)? + 2.0)?;
        let from_blue = (((red - green)? / &safe)? + 4.0)?;
        let hue = value.eq(green)?.choose(&from_green, &from_blue)?;
        let hue = (value.eq(red)?.choose(&from_red, &hue)? * 60.0)?;
        let bright = (&range / value.maximum(1e-6)?)?;
        let (luma, _) = device.tensor([
            [0.299f32, 0.587, 0.114],
            [-0.169, -0.331, 0.5],
            [0.5, -0.419, -0.081],
        ])?;
        let luma = Tensor::einsum("ij,jyx->iyx", &[&luma, &image])?;
        let linear =
            image.le(0.04045)?.choose((&image / 12.92)?, ((&image + 0.055)? / 1.055)?.pow(2.4)?)?;
        let hsv = Tensor::stack(&[(hue / 360.0)?, bright, value], 0)?;
        Tensor::concat(&[hsv, luma, linear], 0)
    });
}

#[test]
fn turned_image() {
    check("turned_image", async |device| {
        let image = picture(device, 6, 7, 10)?;
        let (sin, cos) = 0.4f32.sin_cos();
        let rows = device.arange(-2.5, 3.0, 1.0, DType::F32)?;
        let columns = device.arange(-3, 4, 1, DType::F32)?;
        let grid = Tensor::meshgrid(&[rows, columns])?;
        let y = (((&grid[0] * cos)? - (&grid[1] * sin)?)? + 2.5)?;
        let x = (((&grid[0] * sin)? + (&grid[1] * cos)?)? + 3.0)?;
        let (top, left) = (y.floor()?, x.floor()?);
        let mut sum = device.zeros([6, 7], DType::F32)?;
        for (down, across) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (row, column) = ((&top + down)?, (&left + across)?);
            let share = ((1.0f32 - (&y - &row)?.abs()?)? * (1.0f32 - (&x - &column)?.abs()?)?)?;
            let inside =
                (row.ge(0.0)?.and(row.le(5.0)?)? & column.ge(0.0)?.and(column.le(6.0)?)?)?;
            let row = row.clamp(0.0, 5.0)?.cast(DType::I32)?;
            let column = column.clamp(0.0, 6.0)?.cast(DType::I32)?;
            let pixel = image.gather_nd(&Tensor::stack(&[row, column], -1)?)?;
            sum += inside.choose((share * pixel)?, 0.0)?;
        }
        Ok(sum)
    });
}

#[test]
fn box_sums() {
    check("box_sums", async |device| {
        let image = picture(device, 7, 8, 11)?;
        let integral = |x: &Tensor| x.cumsum(0)?.cumsum(1)?.pad(&[(1, 0), (1, 0)], 0.0);
        let mean = |x: &Tensor| -> Result<Tensor> {
            let all = integral(x)?;
            let diagonal = (all.at((3.., 3..))? + all.at((..-3, ..-3))?)?;
            (diagonal - (all.at((3.., ..-3))? + all.at((..-3, 3..))?)?)? / 9.0
        };
        let (means, squares) = (mean(&image)?, mean(&image.square()?)?);
        let spread = (squares - means.square()?)?.maximum(0.0)?.sqrt()?;
        let inner = image.at((1..-1, 1..-1))?;
        let bright = (&means * ((((&spread / 0.5)? - 1.0)? * 0.05)? + 1.0)?)?; // Sauvola's
        let ink = inner.lt(bright)?;
        Tensor::stack(&[means, spread, ink.cast(DType::F32)?], 0)
    });
}

#[test]
fn mandelbrot() {
    check("mandelbrot", async |device| {
        let across = device.linspace(-2.02, 0.73, 12, DType::F32)?;
        let down = device.linspace(-1.13, 1.07, 9, DType::F32)?;
        let grid = Tensor::meshgrid(&[&down, &across])?;
        let (y, x) = (&grid[0], &grid[1]);
        let (mut re, mut im) =
            (device.zeros([9, 12], DType::F32)?, device.zeros([9, 12], DType::F32)?);
        let mut steps = device.zeros([9, 12], DType::I32)?;
        for _ in 0..10 {
            let inside = (re.square()? + im.square()?)?.le(4.0)?;
            steps += inside.cast(DType::I32)?;
            let next = ((re.square()? - im.square()?)? + x)?;
            im = inside.choose((((&re * &im)? * 2.0)? + y)?, &im)?;
            re = inside.choose(&next, &re)?;
        }
        Ok(steps)
    });
}

#[test]
fn suppressed_boxes() {
    check("suppressed_boxes", async |device| {
        let corner = (numbers(device, [9, 2], 12)? * 2.0)?;
        let size = (numbers(device, [9, 2], 13)?.square()? * 2.0)? + 1.2;
        let (low, high) = (&corner, &(&corner + &size?)?);
        let score = numbers(device, 9, 14)?.sigmoid()?;
        let from = low.unsqueeze(1)?.maximum(low)?;
        let to = high.unsqueeze(1)?.minimum(high)?;
        let both = (to - from)?.maximum(0.0)?.prod(-1)?;
        let area = (high - low)?.prod(-1)?;
        let over = (&both / ((area.unsqueeze(1)? + &area)? - &both)?)?;
        let mut alive = device.ones(9, DType::Bool)?;
        let mut kept = Vec::new();
        for _ in 0..4 {
            let best = alive.choose(&score, -1.0)?.argmax(0)?;
            alive &= over.embedding(&best)?.le(0.3)?;
            kept.push(best);
        }
        let kept = Tensor::stack(&kept, 0)?;
        let boxes = low.embedding(&kept)?;
        Tensor::concat(&[kept.cast(DType::F32)?, boxes.flatten(..)?, over.flatten(..)?], 0)
    });
}

#[test]
fn best_threshold() {
    check("best_threshold", async |device| {
        let image = picture(device, 9, 9, 15)?;
        let counts = image.histogram(10, 0.0..=1.0)?.cast(DType::F32)?;
        let share = (&counts / counts.sum(..)?)?;
        let level = (device.arange(0, 10, 1, DType::F32)? + 0.5)?;
        let below = share.cumsum(0)?;
        let so_far = (&share * level)?.cumsum(0)?;
        let off = ((so_far.at(-1)? * &below)? - so_far)?;
        let apart = (off.square()? / (&below * (1.0f32 - &below)?)?.maximum(1e-6)?)?; // Otsu's
        let cut = apart.argmax(0)?;
        Tensor::concat(&[apart, cut.flatten(..)?.cast(DType::F32)?], 0)
    });
}
