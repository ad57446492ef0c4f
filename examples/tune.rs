//! Times the ways in which a few problems can be computed on this adapter and keeps what was
//! fastest.
//!
//! `cargo run --release --example tune -- [FILE] ["PROBLEM" ..]`, with `WHARF_ALLOW_SOFTWARE=1` on
//! a machine without a GPU. A problem is a text such as `"product f16 [n,k] 1 1 4096 4096"`:
//! `Problem::from_text` has all kinds. Without a file the table goes to the user's caches.

use std::path::PathBuf;

use wharf::tensor::Blocks;
use wharf::tune::{AttentionSize, Problem, ProductSize, RowsSize, SortSize, SumSize};
use wharf::tune::{Tuned, WeightsSize};
use wharf::{DType, Device, Policy};

fn main() -> wharf::Result<()> {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let device = Device::best_now(&Policy::exact())?;
    let (mut file, mut problems) = (Tuned::cache_path(&device), Vec::new());
    for argument in std::env::args().skip(1) {
        match Problem::from_text(&argument) {
            Ok(problem) => problems.push(problem),
            Err(error) if argument.contains(' ') => return Err(error),
            Err(_) => file = Some(PathBuf::from(argument)),
        }
    }
    if problems.is_empty() {
        problems = usual();
    }
    println!("tuning {} problems on {}", problems.len(), device.caps().identity.name);
    let tuned = device.tune_now(&problems, |trial| println!("  {trial}"))?;
    let Some(file) = file else {
        println!("{tuned}");
        return Ok(());
    };
    // Earlier results stay. A file that cannot be used is reported and replaced.
    let before = Tuned::load(&file, &device).unwrap_or_else(|error| {
        println!("starting anew: {error}");
        Tuned::new(&device)
    });
    let tuned = before.merged(&tuned);
    tuned.save(&file)?;
    println!("{}:\n{tuned}", file.display());
    let device = device.with_tuned(&tuned);
    let x = device.zeros([512, 512], DType::F32)?;
    let plan = x.matmul(&x)?.explain();
    let remarks = plan.kernels.iter().flat_map(|kernel| &kernel.remarks);
    remarks.for_each(|remark| println!("a product of 512 with this handle: {remark}"));
    Ok(())
}

/// One of each kind.
fn usual() -> Vec<Problem> {
    let square = |n| ProductSize::new(n, n, n, DType::F32);
    let row = ProductSize::new(1, 1024, 1024, DType::F32);
    vec![
        square(256).into(),
        square(512).into(),
        row.into(),
        row.transposed().into(),
        AttentionSize::new(8, 256, 256, 64, DType::F32).into(),
        WeightsSize::new(1, 1024, 1024, Blocks::Q8).into(),
        RowsSize::softmax(512, 1024).into(),
        SumSize::rows(64, 1 << 14).into(),
        SumSize::columns(1 << 10, 1 << 10).into(),
        SortSize::new(1, 1 << 16).into(),
    ]
}
