//! Images seen through grids of places.

use wharf::tensor::{Align, Conv, Pad, Pooling};
use wharf::{Axes, DType, Device, Result, Tensor};

use super::support::{check, numbers};

/// Where the centres of the pixels lie, from -1 to 1 between the outer edges: `[height, width, 2]`.
fn centres(device: &Device, height: usize, width: usize) -> Result<Tensor> {
    let line = |n: usize| {
        let end = 1.0 - 1.0 / n as f64;
        device.linspace(-end, end, n, DType::F32)
    };
    let grid = Tensor::meshgrid(&[line(height)?, line(width)?])?;
    Tensor::stack(&[&grid[1], &grid[0]], -1)
}

#[test]
fn spatial_transformer() {
    check("spatial_transformer", async |device| {
        let images = numbers(device, [2, 1, 6, 7], 1)?.square()?;
        // A small network says how to turn and move each image.
        let seen = images.conv2d(&numbers(device, [3, 1, 3, 3], 2)?, None, &Conv::new())?.relu()?;
        let seen = seen.adaptive_avg_pool([2, 2])?.flatten(1..)?;
        let (w, b) = (
            (numbers(device, [6, 12], 3)? * 0.1)?,
            device.upload(&[1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0], 6)?.0,
        );
        let turn = seen.linear(&w, Some(&b))?.reshape([2, 2, 3])?;
        let places = centres(device, 4, 5)?.pad(&[(0, 0), (0, 0), (0, 1)], 1.0)?;
        let grid = Tensor::einsum("bij,yxj->byxi", &[&turn, &places])?;
        let warped = images.grid_sample(&grid, Align::Edges, 0.0)?;
        Tensor::concat(&[warped.flatten(..)?, turn.flatten(..)?], 0)
    });
}

#[test]
fn optical_flow() {
    check("optical_flow", async |device| {
        let before = numbers(device, [1, 2, 5, 6], 4)?.square()?;
        let flow = (numbers(device, [5, 6, 2], 5)? * 1.3)?; // in pixels, x and y
        let grid = Tensor::meshgrid(&[
            device.arange(0, 5, 1, DType::F32)?,
            device.arange(0, 6, 1, DType::F32)?,
        ])?;
        let place = (Tensor::stack(&[&grid[1], &grid[0]], -1)? + flow)?;
        let (size, _) = device.upload(&[5.0f32, 4.0], 2)?;
        let grid = (((&place / &size)? * 2.0)? - 1.0)?;
        let after = before.grid_sample(&grid.unsqueeze(0)?, Align::Corners, Pad::Replicate)?;
        let inside = (place.ge(0.0)? & place.le(&size)?)?.all(-1)?;
        let off = (&after - &before)?.abs()?.mean(1)?.squeeze(0)?;
        let loss =
            (inside.choose(&off, 0.0)?.sum(..)? / inside.count_nonzero(..)?.cast(DType::F32)?)?;
        Tensor::concat(
            &[after.flatten(..)?, inside.flatten(..)?.cast(DType::F32)?, loss.unsqueeze(0)?],
            0,
        )
    });
}

#[test]
fn region_features() {
    check("region_features", async |device| {
        let features = numbers(device, [1, 2, 6, 8], 6)?;
        let (boxes, _) = device.tensor([
            [0.5f32, 1.0, 5.5, 4.0],
            [2.0, 0.3, 7.6, 5.7],
            [-1.0, 2.0, 3.0, 7.0],
        ])?;
        let (low, high) = (boxes.at((.., ..2))?, boxes.at((.., 2..))?);
        let share = ((device.arange(0, 4, 1, DType::F32)? + 0.5)? / 4.0)?;
        let share = Tensor::meshgrid(&[&share, &share])?;
        let share = Tensor::stack(&[&share[1], &share[0]], -1)?;
        let by_box = |x: &Tensor| x.reshape([3, 1, 1, 2]);
        let place = (by_box(&low)? + (share * by_box(&(&high - &low)?)?)?)?;
        let (size, _) = device.upload(&[8.0f32, 6.0], 2)?;
        let grid = (((place / size)? * 2.0)? - 1.0)?;
        let all = features.broadcast_to([3, 2, 6, 8])?;
        let seen = all.grid_sample(&grid, Align::Edges, 0.0)?;
        let pooled = seen.avg_pool(&Pooling::new([2, 2]))?;
        let weight = numbers(device, [3, 8], 7)?;
        let scores = pooled.flatten(1..)?.linear(&weight, None)?.softmax(-1)?;
        Tensor::concat(&[pooled.flatten(..)?, scores.flatten(..)?], 0)
    });
}

#[test]
fn rectified() {
    check("rectified", async |device| {
        let image = numbers(device, [1, 1, 7, 8], 8)?.square()?;
        let (seen, _) = device.tensor([[-0.7f32, -0.6], [0.8, -0.75], [0.6, 0.7], [-0.85, 0.8]])?;
        let (square, _) = device.tensor([[-1.0f32, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])?;
        // Eight equations for the map that takes the corners of the square to where they are seen.
        let ones = square.pad(&[(0, 0), (0, 1)], 1.0)?;
        let none = device.zeros([4, 3], DType::F32)?;
        let [u, v] = seen.unstack(1)?;
        let bent = |x: &Tensor| (&square * x.unsqueeze(1)?)?.neg();
        let rows = [
            Tensor::concat(&[&ones, &none, &bent(&u)?], 1)?,
            Tensor::concat(&[&none, &ones, &bent(&v)?], 1)?,
        ];
        let map = Tensor::concat(&rows, 0)?.solve(&Tensor::concat(&[u, v], 0)?)?;
        let map = map.pad(&[(0, 1)], 1.0)?.reshape([3, 3])?;
        let places = centres(device, 5, 5)?.pad(&[(0, 0), (0, 0), (0, 1)], 1.0)?;
        let turned = places.matmul(&map.t()?)?;
        let grid = (turned.at((.., .., ..2))? / turned.at((.., .., 2..))?)?.unsqueeze(0)?;
        let flat = image.grid_sample(&grid, Align::Edges, Pad::Reflect)?;
        Tensor::concat(&[flat.flatten(..)?, map.flatten(..)?], 0)
    });
}

#[test]
fn unrolled_ring() {
    check("unrolled_ring", async |device| {
        let image = numbers(device, [1, 3, 9, 9], 9)?;
        let angle = device.linspace(-3.0, 3.0, 8, DType::F32)?;
        let radius = device.linspace(0.25, 1.1, 4, DType::F32)?;
        let x = radius.outer(&angle.cos()?)?;
        let y = radius.outer(&angle.sin()?)?;
        let grid = Tensor::stack(&[x, y], -1)?.unsqueeze(0)?;
        let nearest =
            image.grid_sample_nearest(&grid, Align::Edges, Pad::Constant((-2.0).into()))?;
        let smooth = image.grid_sample(&grid, Align::Edges, Pad::Wrap)?;
        let rings = smooth.mean([1, 3])?.squeeze(0)?;
        let loudest = smooth.abs()?.amax(Axes::keep(3))?;
        let ends = (smooth / loudest)?.slice(2, ..1)?;
        Tensor::concat(&[nearest.flatten(..)?, ends.flatten(..)?, rings], 0)
    });
}
