//! What the programs share: their inputs, and what they have to come to.

use wharf::testing::example;
use wharf::{DType, Device, IntoShape, Result, Tensor};

/// How far a program may be off, of its largest number: thousands of f32 roundings.
const BOUND: f64 = 2e-5;

/// The numbers of `generate.py`, from -1 to 1.
pub(crate) fn numbers(device: &Device, shape: impl IntoShape, seed: usize) -> Result<Tensor> {
    let shape = shape.into_shape()?;
    let number = |i: usize| ((i * 37 + seed * 17) % 101) as f32 / 50.0 - 1.0;
    let numbers: Vec<f32> = (0..shape.elements()).map(number).collect();
    Ok(device.upload(&numbers, shape)?.0)
}

/// Runs a program where there is an adapter, and compares what it comes to.
pub(crate) fn check(name: &str, program: impl AsyncFnOnce(&Device) -> Result<Tensor>) {
    let line = include_str!("reference.txt").lines().find(|line| line.starts_with(name));
    let words = line.into_iter().flat_map(|line| line.split(' ').skip(1));
    let want: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
    example(async |device| {
        let result = program(&device).await?.cast(DType::F32)?;
        let (got, _) = result.read_as::<f64>().await?;
        assert_eq!(got.len(), want.len(), "{name}");
        let scale = want.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        for (i, (got, want)) in got.iter().zip(&want).enumerate() {
            assert!((got - want).abs() <= BOUND * scale, "{name}: {got}, not {want} at {i}");
        }
        Ok(())
    });
}
