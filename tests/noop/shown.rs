//! Failures of kernels as they are shown: what the kernel was made of, who asked, the line and its
//! file, and the adapter.

use wharf::testing::Inside;
use wharf::wgsl::mutant::Mutant;
use wharf::{DType, ErrorKind};

use crate::device;

#[test]
fn a_kernel_that_is_refused_is_shown_with_its_line() {
    let was = "    return nan_where(above / (1.0 + exp_within(u)), is_nan_f32(x));".to_owned();
    let now = was.replace("(u)", "(y)");
    let path = "op/activation.wgsl".to_owned();
    let file = format!("{}/shaders/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("it is there");
    let line = text.lines().position(|line| line == was).expect("the line is there") as u32 + 1;
    let device = device(|caps| caps);
    let x = device.ones([64], DType::F32).expect("ones");
    device.plant(Some(Mutant { path, line, was, now: now.clone() }));
    let curved = (&x * 2.0).and_then(|x| x.gelu_tanh()).expect("it is deferred");
    let asked = line!() + 1;
    let sum = (curved + 1.0).expect("it is deferred");
    let error = sum.compute().expect_err("naga refuses it");
    let (shown, adapter) = (error.to_string(), &device.caps().identity.name);
    let parts = [
        "add f32 [64]: of mul, gelu_tanh, add: ".to_owned(),
        format!("asked for at {}:{asked}:", file!()),
        "elementwise failed in wharf itself: ".to_owned(),
        format!("kernel elementwise at shaders/op/activation.wgsl:{line}: "),
        format!(" | {now}\n"),
        format!("(wharf {} on {adapter}", env!("CARGO_PKG_VERSION")),
    ];
    let lacking: Vec<_> = parts.iter().filter(|part| !shown.contains(*part)).collect();
    assert_eq!((error.kind(), lacking.len()), (ErrorKind::Internal, 0), "{lacking:#?}\n{shown}");
    let mut rest = shown.lines().skip_while(|line| !line.contains(&now));
    let (line, mark) = (rest.next().expect("the line"), rest.next().expect("its mark"));
    assert_eq!(mark.find('^'), line.find("y))"), "{shown}");
    device.plant(None);
    let again = (&x * 2.0).and_then(|x| x.gelu_tanh()).and_then(|x| x + 1.0);
    again.and_then(|sum| sum.compute()).expect("without the mistake it runs");
}
