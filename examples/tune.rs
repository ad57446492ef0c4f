//! Times the matmul kernels on this adapter for a few products and keeps what was fastest.
//!
//! `cargo run --release --example tune -- [FILE] [M,N,K[,t][,f16] ..]`, with
//! `WHARF_ALLOW_SOFTWARE=1` on a machine without a GPU. `t` says that B is a transposed view.
//! Without a file the table goes to the user's caches.

use std::path::PathBuf;

use wharf::tune::{Problem, Tuned};
use wharf::{DType, Device, Policy};

fn main() -> wharf::Result<()> {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let device = Device::best(&Policy::exact())?;
    let (mut file, mut problems) = (Tuned::cache_path(&device), Vec::new());
    for argument in std::env::args().skip(1) {
        let dtype = if argument.ends_with(",f16") { DType::F16 } else { DType::F32 };
        let dims: Vec<usize> = argument.split(',').filter_map(|dim| dim.parse().ok()).collect();
        let problem = |m, n, k| match argument.contains(",t") {
            true => Problem::new(m, n, k, dtype).transposed(),
            false => Problem::new(m, n, k, dtype),
        };
        match *dims {
            [m, n, k] => problems.push(problem(m, n, k)),
            _ => file = Some(PathBuf::from(argument)),
        }
    }
    if problems.is_empty() {
        let square = |n| Problem::new(n, n, n, DType::F32);
        let row = Problem::new(1, 1024, 1024, DType::F32);
        problems = vec![square(256), square(512), row, row.transposed()];
    }
    println!("tuning {} products on {}", problems.len(), device.caps().identity.name);
    let tuned = device.tune_now(&problems, |trial| println!("  {trial}"))?;
    let Some(file) = file else {
        println!("{tuned}");
        return Ok(());
    };
    // Earlier results stay. A file that cannot be used is reported and replaced.
    let before = Tuned::load(&file, &device);
    if let Some(why) = before.ignored() {
        println!("starting anew: {why}");
    }
    let tuned = before.merged(&tuned);
    tuned.save(&file)?;
    println!("{}:\n{tuned}", file.display());
    let device = device.with_tuned(&tuned);
    let Problem { m, n, k, dtype, transposed, .. } = problems[0];
    let (a, b) = match transposed {
        true => (device.zeros([m, k], dtype)?, device.zeros([n, k], dtype)?.t()?),
        false => (device.zeros([m, k], dtype)?, device.zeros([k, n], dtype)?),
    };
    let plan = a.matmul(&b)?.explain();
    let remarks = plan.kernels.iter().flat_map(|kernel| &kernel.remarks);
    remarks.for_each(|remark| println!("from now on with this handle: {remark}"));
    Ok(())
}
