//! Programs on grids, bodies and counts.

use wharf::tensor::Pad;
use wharf::{Axes, DType, Result, Tensor};

use super::support::{check, numbers};

#[test]
fn n_body() {
    check("n_body", async |device| {
        let mut place = numbers(device, [5, 3], 2)?;
        let mut speed = (numbers(device, [5, 3], 3)? * 0.1)?;
        let mass = (numbers(device, 5, 4)? + 1.5)?.reshape([1, -1, 1])?;
        for _ in 0..10 {
            let apart = (place.unsqueeze(0)? - place.unsqueeze(1)?)?;
            let cube = (apart.square()?.sum(Axes::keep(-1))? + 0.01)?.pow(-1.5)?;
            let pull = ((apart * cube)? * &mass)?.sum(1)?;
            speed += (pull * 0.01)?;
            place += (&speed * 0.01)?;
        }
        Ok(place)
    });
}

#[test]
fn game_of_life() {
    check("game_of_life", async |device| {
        let (glider, _) = device.upload(&[0, 1, 0, 0, 0, 1, 1, 1, 1], [3, 3])?;
        let mut cells = device.zeros([8, 8], DType::I32)?;
        cells.assign_at((..3, ..3), &glider)?;
        for _ in 0..6 {
            let round = cells.pad(&[(1, 1), (1, 1)], Pad::Wrap)?;
            let threes = round.windows(0, 3, 1)?.windows(1, 3, 1)?;
            let around = (threes.sum([-1, -2])? - &cells)?;
            cells =
                (around.eq(3)? | (cells.eq(1)? & around.eq(2)?)?)?.choose_as(1, 0, DType::I32)?;
        }
        Ok(cells)
    });
}

#[test]
fn edges() {
    check("edges", async |device| {
        let image = numbers(device, [6, 7], 10)?;
        let padded = image.pad(&[(1, 1), (1, 1)], Pad::Replicate)?;
        let across = (padded.at((.., 2..))? - padded.at((.., ..-2))?)?;
        let down = (padded.at(2..)? - padded.at(..-2)?)?;
        let across = ((across.at(..-2)? + across.at(2..)?)? + (across.at(1..-1)? * 2.0)?)?;
        let sides = (down.at((.., ..-2))? + down.at((.., 2..))?)?;
        let down = (sides + (down.at((.., 1..-1))? * 2.0)?)?;
        across.hypot(&down)
    });
}

#[test]
fn heat() {
    check("heat", async |device| {
        let mut field = device.zeros([6, 6], DType::F32)?;
        field.assign_slice(0, ..1, 1.0)?;
        for _ in 0..20 {
            let inner = field.at((1..-1, 1..-1))?;
            let (above, below) = (field.at((..-2, 1..-1))?, field.at((2.., 1..-1))?);
            let (left, right) = (field.at((1..-1, ..-2))?, field.at((1..-1, 2..))?);
            let around = ((above + below)? + (left + right)?)?;
            let next = (&inner + ((around - (&inner * 4.0)?)? * 0.2)?)?;
            field.assign_at((1..-1, 1..-1), &next)?;
        }
        Ok(field)
    });
}

#[test]
fn histogram() {
    check("histogram", async |device| {
        let x = numbers(device, 200, 12)?;
        let bins = ((x + 1.0)? * 4.0)?.floor()?.clamp(0.0, 7.0)?.cast(DType::U32)?;
        let ones = device.ones(200, DType::U32)?;
        let counts = device.zeros(8, DType::U32)?.scatter_add(0, &bins, &ones)?;
        let before = counts.cumsum_exclusive(0)?;
        let first = before.take(&bins)?.slice(0, ..10)?;
        Tensor::concat(&[&counts, &before, &first], 0)
    });
}

#[test]
fn gradient_noise() {
    check("gradient_noise", async |device| {
        // Perlin's: a slope at every corner of a grid, by a hash of where it lies.
        let hashed = |row: &Tensor, column: &Tensor| -> Result<Tensor> {
            let x = ((row * 374_761_393u32)? + (column * 668_265_263u32)?)?;
            let x = ((&x ^ (&x >> 13)?)? * 1_274_126_177u32)?;
            (x ^ 0x5bd1)?.shr(27)?.cast(DType::F32)? * (core::f32::consts::TAU / 32.0)
        };
        let line = device.linspace(0.1, 3.7, 7, DType::F32)?;
        let both = Tensor::meshgrid(&[&line, &line])?;
        let mut sum = device.zeros([7, 7], DType::F32)?;
        for octave in [1.0f32, 2.0] {
            let (y, x) = ((&both[0] * octave)?, (&both[1] * octave)?);
            let (top, left) = (y.floor()?, x.floor()?);
            for (down, right) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let (row, column) = ((&top + down)?, (&left + right)?);
                let angle = hashed(&row.cast(DType::U32)?, &column.cast(DType::U32)?)?;
                let (down, right) = ((&y - row)?, (&x - column)?);
                let ramp = ((angle.sin()? * &down)? + (angle.cos()? * &right)?)?;
                let fade = [down, right].map(|t| {
                    let t = (1.0f32 - t.abs()?)?;
                    t.pow(3.0)? * ((&t * ((&t * 6.0)? - 15.0)?)? + 10.0)?
                });
                let [a, b] = fade;
                sum += (((ramp * a?)? * b?)? / octave)?;
            }
        }
        Ok(sum)
    });
}
