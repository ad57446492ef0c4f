//! An operation of your own: a line of WGSL that is fused with its neighbours, and held to an
//! oracle on special values, every kind of view, ragged sizes and both classes of kernels.
//!
//! `WHARF_ALLOW_SOFTWARE=1 cargo run --example custom_op` on a machine without a GPU.

use wharf::custom::{Contract, Formula};
use wharf::{Device, Policy};

fn main() -> wharf::Result<()> {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let device = Device::best_now(&Policy::exact())?;

    // The distance from a point to a circle of radius r, squared: for every dtype that can.
    let near = Formula::new("near(x, y, r)", "let d = sqrt(x * x + y * y) - r; return d * d;")?;
    let (x, _) = device.tensor([3.0f32, 0.0, 5.0])?;
    let (y, _) = device.tensor([4.0f32, 2.0, 12.0])?;
    let error = (x.apply(&near, &[(&y).into(), 5.0.into()])? / 3.0)?.sqrt()?;
    println!("{} dispatch: {:?}", error.explain().dispatches(), error.read_now::<f32>()?);

    // Is it what it should be? The oracle computes the same in f64, for every element.
    let exact = |v: &[f64]| (v[0].hypot(v[1]) - v[2]).powi(2);
    // A root of up to 142 is rounded, and squared after most of it was taken away.
    let contract = Contract::ulp(4.0).or(1e-2).on(0.0..=100.0);
    let findings = near.check_now(&device, &contract, exact)?;
    println!("it is right: {}", findings.is_right());

    // One that forgets the root is told by its first wrong result.
    let wrong = Formula::new("near(x, y, r)", "let d = x * x + y * y - r; return d * d;")?;
    let findings = wrong.check_now(&device, &contract, exact)?;
    if let Some(first) = findings.first {
        println!("of {:?} it makes {:?}, not {:?}", first.operands, first.got, first.exact);
    }

    // What cannot be computed is said before anything runs.
    if let Err(error) = Formula::new("near(x, y)", "sqrt(x * x + y * y") {
        println!("{error}");
    }
    Ok(())
}
