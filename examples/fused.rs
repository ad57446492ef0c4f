//! A chain of operations becomes one kernel: the five operations below are one dispatch.
//!
//! `WHARF_ALLOW_SOFTWARE=1 cargo run --example fused` on a machine without a GPU.

use wharf::{Device, Policy};

fn main() -> wharf::Result<()> {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let device = Device::best_now(&Policy::exact())?;
    let data: Vec<f32> = (0..12u8).map(|i| f32::from(i) - 6.0).collect();
    let (x, _) = device.upload(&data, [3, 4])?;
    let (bias, _) = device.upload(&[0.5f32, 1.0, 1.5], [3, 1])?;
    let y = ((x.t()? * 2.0)? + bias.t()?)?.gelu()?;
    println!("{y:?}\n{:?}", y.read_now::<f32>()?);
    println!("{:?}", ((&x + &x)? - 1i32)?.gt(0.0f32)?.read_now::<bool>()?);
    Ok(())
}
