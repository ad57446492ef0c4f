//! What a profile costs a program of small operations, and how much of the wall time it finds on
//! the device where the queue is never empty.
//!
//! ```text
//! cargo bench --bench profile [-- [--quick] [--json FILE] [FILTER]]
//! ```

use std::process::ExitCode;
use std::time::Duration;

use common::{Bench, Outcome, Row, noise, timed};
use wharf::tensor::Attention;
use wharf::{DType, Device, Tensor};

mod common;

fn main() -> ExitCode {
    common::main("profile", |bench| {
        small(bench)?;
        saturated(bench)
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A row: what was reached, and which part of what it is held to.
fn row(case: &str, seconds: f64, of: &str, part: f64) -> Row {
    let (case, unit, ceiling) = (case.to_owned(), "ms".to_owned(), Some((of.to_owned(), part)));
    Row { case, value: seconds * 1e3, unit, spread: None, by_device: None, ceiling }
}

/// Runs until the device is done.
fn until_done(device: &Device, work: impl FnOnce() -> wharf::Result<()>) -> Outcome<Duration> {
    let (done, took) = timed(|| work().and_then(|()| device.synchronize_now()));
    done?;
    Ok(took)
}

type Step = fn(&Tensor, &Tensor, usize) -> wharf::Result<Tensor>;

/// A thousand operations, each computed at once, without a profile and with one in turns.
fn small(bench: &mut Bench) -> Outcome {
    const ALIKE: Step = |y, one, _| y + one;
    const DIFFERENT: Step = |y, one, i| if i % 2 == 0 { y + one } else { y * one };
    const MANY: Step = |y, one, i| match i % 5 {
        0 => y + one,
        1 => y.softmax(-1),
        2 => y * one,
        3 => y.cumsum(-1),
        _ => y.maximum(one),
    };
    let device = bench.device();
    let (rounds, steps) = (bench.settings.pick(1, 5, 31), bench.settings.pick(10, 200, 1000));
    for (name, elements, step) in [
        ("additions of 1 Ki", 1024, ALIKE),
        ("additions and products of 1 Ki", 1024, DIFFERENT),
        ("five kinds of 1 Ki", 1024, MANY),
        ("five kinds of 32 Ki", 32 << 10, MANY),
    ] {
        let name = format!("{steps} {name}");
        if !bench.settings.wants(&name) {
            continue;
        }
        let one = device.ones([elements / 64, 64], DType::F32)?;
        let run = || {
            until_done(&device, || {
                let mut y = one.clone();
                for i in 0..steps {
                    y = step(&y, &one, i)?;
                    y.compute()?;
                }
                Ok(())
            })
        };
        run()?;
        drop(device.profile());
        let (mut off, mut on) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            off.push(run()?.as_secs_f64());
            let profile = device.profile();
            on.push(run()?.as_secs_f64());
            drop(profile);
        }
        let (ratios, on) = (off.iter().zip(&on).map(|(off, on)| off / on).collect(), median(on));
        bench.push(row(&name, on, "without a profile", median(ratios)));
    }
    Ok(())
}

type Work = Box<dyn Fn() -> wharf::Result<Tensor>>;

/// The products and the attention of the other benches, so many that the device is never idle.
fn saturated(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let scale = bench.settings.pick(8, 2, 1);
    let rounds = bench.settings.pick(1, 3, 9);
    let matrix = |rows: usize, columns: usize| -> Outcome<Tensor> {
        let values: Vec<f32> = noise(rows * columns).map(|v| v as f32).collect();
        Ok(device.upload(&values, [rows, columns])?.0)
    };
    let product = |m: usize, k: usize, n: usize| -> Outcome<Work> {
        let (a, b) = (matrix(m / scale, k / scale)?, matrix(k / scale, n / scale)?);
        Ok(Box::new(move || a.matmul(&b)))
    };
    let attention = || -> Outcome<Work> {
        let x = matrix(8 * 512 / scale, 64)?.reshape([8, 512 / scale, 64])?;
        Ok(Box::new(move || x.attention(&x, &x, &Attention::new())))
    };
    for (name, work, times) in [
        ("products of 512", product(512, 512, 512)?, 16),
        ("products of 1024", product(1024, 1024, 1024)?, 4),
        ("products of 64 x 1024 x 1024", product(64, 1024, 1024)?, 32),
        ("attentions, 8 heads of 512 x 64", attention()?, 8),
    ] {
        let name = format!("{times} {name}");
        if !bench.settings.wants(&name) {
            continue;
        }
        work()?.compute()?;
        device.synchronize_now()?;
        let (mut walls, mut devices) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let profile = device.profile();
            let wall = until_done(&device, || (0..times).try_for_each(|_| work()?.compute()))?;
            walls.push(wall.as_secs_f64());
            devices.push(profile.report()?.device.as_secs_f64());
        }
        let shares = devices.iter().zip(&walls).map(|(device, wall)| device / wall).collect();
        bench.push(row(&name, median(devices), "wall time", median(shares)));
    }
    Ok(())
}
