//! Why is it slow: a product, attention and some rows, twice, as a table and as a trace.
//!
//! ```sh
//! cargo run --release --example profile                # a table
//! cargo run --release --example profile -- trace.json  # and a trace, for ui.perfetto.dev
//! ```

use wharf::{Device, Policy, Result, Tensor};

fn main() -> Result<()> {
    let device = Device::best_now(&Policy::exact())?;
    block(&device, 512)?; // the first time a driver compiles
    let profile = device.profile();
    block(&device, 512)?;
    println!("{}", profile.report()?);
    match std::env::args().nth(1) {
        Some(path) => profile.save_trace(path),
        None => Ok(()),
    }
}

fn block(device: &Device, n: usize) -> Result<f32> {
    let numbers: Vec<f32> = (0..n * n).map(|i| (i % 97) as f32 / 97.0).collect();
    let (x, _) = device.upload(&numbers, [n, n])?;
    let mut y = x.clone();
    for _ in 0..8 {
        y = (y.matmul(&x)? / n as f32)?;
    }
    let heads = [8, n, n / 8];
    let split = |x: &Tensor| x.reshape(heads);
    let mixed = split(&y)?.attention(&split(&x)?, &split(&x)?, &Default::default())?;
    mixed.softmax(-1)?.sum(..)?.read_scalar_now()
}
