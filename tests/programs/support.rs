//! What the programs share: their inputs, and what they have to come to.

use wharf::testing::example;
use wharf::{DType, Device, IntoShape, Result, Tensor};

/// Each program's name, and the numbers that it has to come to.
const REFERENCE: &str = include_str!("reference.txt");

/// How far a number may be off, of itself or of 1: hundreds of f32 roundings.
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
    let mut lines = REFERENCE.lines().filter_map(|line| line.split_once(' '));
    let (_, words) = lines.find(|(first, _)| *first == name).expect("a line in reference.txt");
    let want: Vec<f64> = words.split(' ').map(|word| word.parse().unwrap()).collect();
    example(async |device| {
        let result = program(&device).await?.cast(DType::F32)?;
        let (got, _) = result.read_as::<f64>().await?;
        assert_eq!(got.len(), want.len(), "{name}");
        for (i, (got, want)) in got.iter().zip(&want).enumerate() {
            let room = BOUND * want.abs().max(1.0);
            assert!((got - want).abs() <= room, "{name}: {got}, not {want} at {i}");
        }
        Ok(())
    });
}

/// A line that nobody asks for would be compared with nothing.
#[test]
fn every_line_has_its_program() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let paths = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    let all: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for (name, _) in REFERENCE.lines().filter_map(|line| line.split_once(' ')) {
        let programs = all.matches(&format!("check(\"{name}\",")).count();
        assert_eq!(programs, 1, "programs called {name}");
    }
}
