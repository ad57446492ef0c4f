//! Memory that really runs out: a child process with a limit on its address space, on a driver
//! whose memory is the process's own.

use std::process::{Command, ExitCode};

use wharf::{Adapter, Device, Policy};

use crate::ctx::{Ctx, Outcome, ensure, show};
use crate::drivers::mesa_major;

/// Tells a process that it is the child.
const VARIABLE: &str = "WHARF_TEST_CHILD";

/// Room for the process, the driver and its compiler, and for some tensors: far less than the child
/// asks for.
const ADDRESS_SPACE_KIB: u64 = 3 << 20;

/// Runs the child's part, if this is the child.
pub(crate) fn run() -> Option<ExitCode> {
    std::env::var_os(VARIABLE)?;
    Some(match exhaust() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    })
}

/// Takes memory until there is none left, and checks that the process can go on.
fn exhaust() -> Outcome {
    let device = Device::best_now(&Policy::exact()).map_err(show)?;
    device.set_cap(None);
    let data = vec![1.5f32; 16 << 20];
    let mut held = Vec::new();
    let error = loop {
        match device.upload(&data, [data.len()]) {
            Ok((tensor, _)) => held.push(tensor),
            Err(error) => break error,
        }
        ensure!(held.len() < 64, "4 GiB fit into an address space of 3");
    };
    ensure!(error.is_out_of_memory(), "after {} tensors: {error:?}", held.len());
    ensure!(held.len() > 3, "only {} tensors fit", held.len());
    let survivor = held.swap_remove(0);
    held.clear();
    let small = (&survivor.slice(0, 0..1000).map_err(show)? + 1.0f32).map_err(show)?;
    ensure!(small.read_now::<f32>().map_err(show)? == [2.5; 1000], "the device did not survive");
    println!("{error}");
    Ok(())
}

/// Starts the child and waits for it.
pub(crate) async fn case(ctx: &Ctx) -> Outcome {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let limited = format!("ulimit -v {ADDRESS_SPACE_KIB} && exec \"$0\"");
    let id = &ctx.adapter.caps().identity;
    let child = Command::new("sh")
        .args(["-c", &limited])
        .arg(this)
        .env(VARIABLE, "1")
        .env("WHARF_ADAPTER", format!("{} {}", id.backend.name(), "llvmpipe"))
        .output();
    let output = child.map_err(|error| format!("the child does not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the child ended with {}: {said}", output.status);
    Ok(())
}

/// Whether this adapter's memory is the process's own, and can be limited. Newer lavapipe does not
/// survive it: Mesa 25.0.7 segfaults inside the driver.
pub(crate) fn applies(adapter: &Adapter) -> bool {
    let id = &adapter.caps().identity;
    cfg!(target_os = "linux")
        && mesa_major(&id.driver_info) < 24
        && id.backend == wharf::caps::Backend::Vulkan
        && id.name.contains("llvmpipe")
}
