//! Arrays in and out: a literal, an array of `ndarray` with any strides, and a look at what is on
//! the device.
//!
//! `WHARF_ALLOW_SOFTWARE=1 cargo run --example arrays` on a machine without a GPU.

use wharf::ndarray::{Array2, ArrayD, s};
use wharf::{Device, Policy};

fn main() -> wharf::Result<()> {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let device = Device::best_now(&Policy::exact())?;
    // A literal: the suffix of one number makes all of them f32.
    let (turn, _) = device.tensor([[0.0f32, -1.0], [1.0, 0.0]])?;
    // Every second row of an array, backwards: gathered on the way, without a copy on the host.
    let points = Array2::from_shape_fn((1200, 2), |(row, axis)| (row + 100 * axis + 200) as f32);
    let (points, receipt) = device.tensor(points.slice(s![..;-2, ..]))?;
    println!("{} values, all exact: {}", receipt.tally.values(), receipt.is_exact());
    let turned = points.matmul(&turn.t()?)?;
    // Of more than 1000 values the edges are shown, and only they cross.
    println!("{}", turned.picture_now()?);
    println!("{} bytes crossed for that", device.ledger().down.bytes);
    let first: ArrayD<f32> = turned.at(..2)?.read_array_now()?;
    println!("{first}");
    Ok(())
}
