//! The shortest way to a device and back: negotiate, upload, read.
//!
//! `WHARF_ALLOW_SOFTWARE=1 cargo run --example hello` on a machine without a GPU.

use wharf::{Adapter, DType, Policy};

fn main() -> wharf::Result<()> {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let adapter = Adapter::best_now()?;
    let policy = Policy::exact().allow(DType::F64, DType::F32);
    let plan = adapter.negotiate(&policy);
    println!("{plan}\n");
    let device = adapter.open_now(plan)?;
    let data: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.1).collect();
    let (tensor, receipt) = device.upload(&data, [10, 100])?;
    println!("{tensor:?}\n{receipt:#}\n");
    let last = tensor.at((-1, -3..))?.read_as_now::<f64>()?.0; // where f64 is, or became f32
    println!("the last three: {last:?}\n\n{}\n{}", device.memory(), device.ledger());
    Ok(())
}
