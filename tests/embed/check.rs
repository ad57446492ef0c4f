//! What `wharf check` says of the published model, on adapters that are not here, to the byte.

use std::path::Path;
use std::process::Command;

use wharf::DType;
use wharf::io::Archive;
use wharf::plan::How;
use wharf::set::Arrival;
use wharf::tensor::Blocks;

use super::near::{device, folder};
use super::not_run;

/// Each row: where, the options, the exit code, and the file that has all that is said. i64, which
/// a browser has not, is in the list of positions.
const ROWS: [(&str, &[&str], i32, &str); 3] = [
    ("apple_m2", &["--as", "q8", "--json"], 3, "check_apple_m2_q8.json"),
    ("browser", &["--as", "q8", "--json"], 3, "check_browser_q8.json"),
    ("browser", &["--cap", "32MiB"], 2, "check_browser_small.txt"),
];

/// One tensor in a line, as a diff is read.
fn lines(said: &str) -> String {
    said.replace("},{", "},\n{")
}

/// `WHARF_GOLDENS=1` writes them.
#[test]
fn the_published_model_is_weighed_tensor_by_tensor() {
    // It needs no adapter, but the model, which a run without an adapter does not fetch.
    if not_run::without_gpu() {
        return;
    }
    for (name, options, code, golden) in ROWS {
        let mut program = Command::new(env!("CARGO_BIN_EXE_wharf"));
        program.args(["check", "model.safetensors", "--on", name]).args(options);
        // In its folder: the path is the name.
        let output = program.current_dir(folder()).env("NO_COLOR", "1").output().expect("it runs");
        let said = lines(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
        let goldens = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/embed");
        let path = goldens.join(golden);
        if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
            std::fs::write(&path, &said).expect("it is written");
        }
        assert_eq!(output.status.code(), Some(code), "{golden}: {said}");
        let want = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(said == want, "{golden} is otherwise:\n{said}");
    }
}

/// What it is to become: its name for the program, and for the library.
const BECOMING: [(&str, Arrival); 4] = [
    ("f32", Arrival::Numbers(DType::F32)),
    ("f16", Arrival::Numbers(DType::F16)),
    ("q8", Arrival::Blocks(Blocks::Q8)),
    ("q4", Arrival::Blocks(Blocks::Q4)),
];

/// To the byte, on the adapter at hand: what the tensors take, and what is reserved for them.
#[test]
fn what_is_foretold_is_what_arrives() {
    for (name, arrival) in BECOMING {
        let Some(device) = device() else { return };
        let archive = Archive::open(folder().join("model.safetensors")).expect("a header");
        let plan = device.plan();
        let archive = archive.keep(|tensor| {
            tensor.dtype().is_some_and(|dtype| plan.carriage(dtype).how != How::Rejected)
        });
        let shipment = archive.shipment_as(|tensor| {
            let rows = matches!(tensor.shape().dims(), [_, k] if k % 32 == 0);
            let float = tensor.dtype().is_some_and(DType::is_float);
            (float && (rows || matches!(arrival, Arrival::Numbers(_)))).then_some(arrival)
        });
        let (_set, _) = device.upload_set(&shipment.expect("known")).expect("it fits");
        let memory = device.memory();
        let mut program = Command::new(env!("CARGO_BIN_EXE_wharf"));
        program.args(["check", "model.safetensors", "--json", "--as", name]).current_dir(folder());
        let output = program.output().expect("it runs");
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let foretold = [&said["bytes"], &said["bytes_reserve"]].map(|bytes| bytes.as_u64());
        let came = [Some(memory.bytes_live), Some(memory.bytes_reserved)];
        assert_eq!(foretold, came, "{name}: {memory}, foretold {}", said["answer"]);
    }
}
