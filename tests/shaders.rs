//! Paper tier: every shader file and every kernel variant through naga, with exactly the
//! capabilities it declares, and translated for the platforms that no Linux machine can run.

#![expect(clippy::expect_used, clippy::panic, reason = "a test says what it expected")]

use std::sync::Arc;

use wharf::caps::{Limit, fixtures};
use wharf::kernel;
use wharf::kernel::elementwise::plan::paces;
use wharf::kernel::elementwise::text::{Pace, TextShape, fused};
use wharf::kernel::moves::text as moves;
use wharf::kernel::pick::text::{self as pick, Lookup};
use wharf::kernel::random::text::Draw;
use wharf::kernel::scatter::text::{Merging, runs};
use wharf::kernel::sort::text::{Incoming, Outgoing, SortStep, select};
use wharf::op::{Kind, Op};
use wharf::plan::negotiate;
use wharf::wgsl::{
    Assembled, Edge, Entry, Expr, Form, Frame, Needs, Slot, Source, Target, Term, Way, backward,
    kept, library, reflect, subgroups,
};
use wharf::{DType, Policy};

#[path = "shaders/cores.rs"]
mod cores;
#[path = "shaders/params.rs"]
mod params;
#[path = "shaders/platforms.rs"]
mod platforms;

const TARGETS: [Target; 4] = [Target::Cpu, Target::Cpu64, Target::Gpu, Target::CpuByLane];
const WAYS: [Way; 7] =
    [Way::Dense, Way::One, Way::Row, Way::Splat, Way::Step, Way::Any, Way::Own(0)];

/// Every kernel of the catalog in every variant; fused kernels have tests of their own.
fn kernels() -> Vec<Arc<Assembled>> {
    let mut all = Vec::new();
    for target in TARGETS {
        for &entry in kernel::CATALOG {
            for forms in entry.variants {
                let inputs = forms.len() - entry.outputs;
                let slot = |(i, &form): (usize, &Form)| {
                    if i < inputs { Slot::read(form, Way::Dense) } else { Slot::write(form) }
                };
                let slots = forms.iter().enumerate().map(slot).collect::<Vec<_>>();
                all.push(kept::kernel(entry, &slots, 8, target));
            }
        }
        for draw in Draw::ALL {
            let dtypes: &[DType] = match draw {
                Draw::Bits | Draw::Below => &[DType::U32],
                Draw::Uniform64 => &[DType::F64],
                Draw::Uniform | Draw::Normal => &[DType::F32, DType::F16, DType::Bf16],
                Draw::Chance => &[DType::Bool],
            };
            for &dtype in dtypes {
                all.extend([false, true].map(|f16| draw.assemble(Form::of(dtype, f16), target)));
            }
        }
        let sums = Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Bool);
        let sums: Vec<Kind> = sums.collect();
        for how in Merging::ALL {
            all.extend(sums.iter().map(|&kind| runs(how, kind, target)));
        }
        all.extend([false, true].map(|doubles| select(doubles, target)));
        for load in Incoming::all() {
            for bits in [4, 8] {
                all.push(SortStep { load, store: None, bits: workable(bits, target) }.text(target));
            }
            for store in Outgoing::ALL {
                for bits in [0, 4, 8] {
                    let (store, bits) = (Some(store), workable(bits, target));
                    all.push(SortStep { load, store, bits }.text(target));
                }
            }
        }
        for form in Form::all().filter(|form| form.is_move()) {
            for way in WAYS.into_iter().filter(|way| !matches!(way, Way::Own(_))) {
                all.push(moves::reindex(form, way, 3, target));
                for into in [Way::Row, Way::Dense] {
                    all.push(moves::assign_rows(form, way, into, 3, target));
                }
            }
            for way in [Way::Each, Way::EachStrided, Way::One] {
                if target == Target::Gpu && form.width() >= 4 {
                    all.push(moves::assign_rows(form, way, Way::EachStrided, 3, target));
                }
            }
            all.push(moves::assign_part(form, 3, target));
            all.push(moves::gather_part(form, 3, target));
            for (by, whole) in
                [Lookup::Place, Lookup::Index].into_iter().flat_map(|by| [(by, false), (by, true)])
            {
                all.push(pick::pick(by, form, whole, 3, target));
            }
        }
    }
    all
}

/// Bits of a digit that a target sorts by: those of a GPU are counted in workgroup memory.
fn workable(bits: u32, target: Target) -> u32 {
    if target == Target::Gpu { bits.min(4) } else { bits }
}

/// ... or is refused: fused kernels bind no more than there are.
#[test]
fn an_adapter_has_as_many_bindings_as_any_kernel() {
    let bindings = |entry: &&Entry| entry.source.text.matches("@group(0) @binding(").count() as u64;
    let most = kernel::CATALOG.iter().map(bindings).max().expect("there are kernels");
    let stored = |n| {
        let caps = fixtures::navi21().with_limit(Limit::StorageBuffers, n);
        negotiate(&caps, &Policy::exact()).carriage(DType::F32).stored_as()
    };
    assert_eq!([most - 1, most].map(stored), ["-", "f32"], "{most} of them");
}

#[test]
fn every_file_is_valid_alone() {
    let parse = |source: &Source| {
        naga::front::wgsl::parse_str(source.text)
            .unwrap_or_else(|e| panic!("{}", e.emit_to_string_with_path(source.text, source.path)))
    };
    let all = Needs::ALL;
    let mut paths = Vec::new();
    for entry in kernel::CATALOG {
        let Source { path, text, .. } = entry.source;
        reflect::valid(&parse(&entry.source), all)
            .unwrap_or_else(|e| panic!("{}", e.emit_to_string_with_path(text, path)));
        paths.push(path);
    }
    let parts = kernel::CATALOG.iter().flat_map(|entry| entry.parts);
    for source in library::fragments().chain(parts).chain(subgroups::PARTS).chain([&library::RAN]) {
        let &Source { path, text, needs } = source;
        let module = parse(source);
        reflect::valid(&module, needs)
            .unwrap_or_else(|e| panic!("{}", e.emit_to_string_with_path(text, path)));
        for less in needs.each().map(|need| needs.without(need)) {
            assert!(reflect::valid(&module, less).is_err(), "{path} needs no more than {less}");
        }
        paths.push(path);
    }
    for path in files(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders")) {
        assert!(paths.contains(&&*path), "shaders/{path} is not in the catalog");
    }
}

/// The paths of all files below `root`, relative to it.
fn files(root: &str) -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(root).expect("the shaders are part of the repository") {
        let path = entry.expect("a readable directory").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            let below = files(&path.to_string_lossy());
            all.extend(below.into_iter().map(|file| format!("{name}/{file}")));
        } else {
            all.push(name);
        }
    }
    all
}

#[test]
fn every_variant_is_valid_with_what_it_declares_and_not_with_less() {
    for kernel in kernels() {
        check(&kernel);
    }
}

/// A core whose kernel passes its input on unchanged.
const PASS: Entry = Entry::new(
    "pass",
    Source {
        path: "pass.wgsl",
        needs: Needs::NONE,
        text: "override workgroup: u32 = 64u;
struct Job {
    count: vec4<u32>,
}

// region params
// end params
// region bindings
// end bindings
// region functions
// end functions
@compute @workgroup_size(workgroup)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < p.job.count.x {
        finish(id.x, head_0(id.x) + head_1(id.x));
    }
}
",
    },
    0,
)
.unprepared();

#[test]
fn heads_and_tails_are_functions_of_a_core() {
    let head = Expr {
        inputs: vec![DType::F16, DType::Bf16],
        scalars: vec![DType::F32],
        nodes: vec![
            Term::Input(0),
            Term::Cast(0, DType::F32),
            Term::Input(1),
            Term::Cast(2, DType::F32),
            Term::Apply(Op::Mul, [1, 3, 0]),
            Term::Scalar(0),
            Term::Apply(Op::Add, [4, 5, 0]),
        ],
        outputs: vec![6],
        fault: None,
    };
    let view = Expr {
        inputs: vec![DType::F32],
        nodes: vec![Term::Input(0)],
        outputs: vec![0],
        ..Expr::default()
    };
    let tail = Expr {
        inputs: vec![DType::F32, DType::U8],
        scalars: vec![DType::I32],
        nodes: vec![
            Term::Input(0),
            Term::Cast(0, DType::I32),
            Term::Input(1),
            Term::Cast(2, DType::I32),
            Term::Apply(Op::Add, [1, 3, 0]),
            Term::Scalar(0),
            Term::Apply(Op::Max, [4, 5, 0]),
        ],
        outputs: vec![6],
        fault: None,
    };
    for target in TARGETS {
        for way in WAYS.into_iter().filter(|way| !matches!(way, Way::Own(_))) {
            for by_element in [false, true] {
                let way = if by_element { way.by_element() } else { way };
                let dense = if by_element { Way::Each } else { Way::Dense };
                let core = Frame {
                    entry: &PASS,
                    wording: &(),
                    edges: &[
                        Edge { expr: &head, ways: &[way, Way::One] },
                        Edge { expr: &view, ways: &[dense] },
                        Edge { expr: &tail, ways: &[dense] },
                    ],
                    by_element,
                    workgroup: Some(32),
                    f16_native: true,
                    rank: if way.is_strided() { 2 } else { 0 },
                    target,
                };
                check(&core.assemble().expect("dtypes agree"));
            }
        }
    }
}

/// Checks that a kernel is valid as declared, invalid without any one of the capabilities that it
/// declares, and translated without error.
fn check(kernel: &Assembled) {
    let (module, _) =
        reflect::check(kernel).unwrap_or_else(|rejected| panic!("{rejected}\n{}", kernel.wgsl));
    assert!(module.overrides.is_empty(), "{} is left open\n{}", kernel.name, kernel.wgsl);
    for need in kernel.needs.each() {
        let less = kernel.needs.without(need);
        assert!(
            reflect::validate(kernel, &module, less).is_err(),
            "{} declares {need} and does not need it\n{}",
            kernel.name,
            kernel.wgsl
        );
    }
    platforms::translate(kernel, &module);
    let back = backward::backward(kernel);
    let [asks, turns] = ["workgroup_id", "let group = "].map(|text| back.wgsl.contains(text));
    assert_eq!(asks, turns, "{} runs forward only", kernel.name);
    reflect::check(&back).unwrap_or_else(|rejected| panic!("{rejected}\n{}", back.wgsl));
}

#[test]
fn parameters_are_prepared_where_a_file_has_a_place_for_them() {
    for entry in kernel::CATALOG.iter().filter(|e| e.source.text.contains("// region functions\n"))
    {
        let has = entry.source.text.contains("// region prepare\n");
        assert_eq!(entry.prepares, has, "{} and its file", entry.name);
    }
}

#[test]
fn no_invocation_loops_past_what_llvmpipe_survives() {
    for &entry in kernel::CATALOG {
        assert!(entry.trips_max < 65_000, "{} may loop {} times", entry.name, entry.trips_max);
    }
}

/// By quads.
const fn quads(rank: u32, target: Target) -> TextShape {
    TextShape { rank, target, pace: Pace::Quads }
}

/// An operation on inputs of its own.
fn single(op: Op, dtype: DType) -> Expr {
    let operand = |i| if op == Op::Where && i == 0 { DType::Bool } else { dtype };
    let arity = op.arity() as u16;
    let mut expr = Expr { inputs: (0..arity).map(operand).collect(), ..Expr::default() };
    expr.nodes = (0..arity).map(Term::Input).collect();
    let last = arity - 1;
    expr.nodes.push(Term::Apply(op, [0, last.min(1), last]));
    expr.outputs = vec![arity];
    expr
}

#[test]
fn every_operation_is_valid_for_every_dtype_it_takes() {
    for &op in Op::ALL {
        for dtype in DType::ALL.iter().copied().filter(|&d| op.takes(d)) {
            let expr = single(op, dtype);
            let ways = vec![Way::Dense; expr.inputs.len()];
            let dtypes = expr.dtypes().expect("a legal operation");
            if paces(&expr, &dtypes).contains(&Pace::Few) {
                for way in [Way::Lane, Way::EachStrided] {
                    let ways = vec![way; expr.inputs.len()];
                    let shape = TextShape { rank: 2, target: Target::Cpu64, pace: Pace::Few };
                    check(&fused(&expr, &ways, true, shape).expect("a legal operation"));
                }
            }
            if dtype.width() <= 4 {
                let shape = TextShape { rank: 0, target: Target::Cpu64, pace: Pace::Pairs };
                check(&fused(&expr, &ways, false, shape).expect("a legal operation"));
            }
            for f16_native in [false, true] {
                let shape = quads(0, Target::Gpu);
                check(&fused(&expr, &ways, f16_native, shape).expect("a legal operation"));
            }
        }
    }
}

#[test]
fn every_index_can_be_checked() {
    for from in [DType::I32, DType::U32, DType::I64, DType::U64] {
        for bound in [0, 1, 70_000] {
            let (expr, _) = Expr::checked_index(from, bound);
            let kernel = fused(&expr, &[Way::Any], false, quads(2, Target::Cpu));
            check(&kernel.expect("every index can be checked"));
        }
    }
}

#[test]
fn every_cast_is_valid() {
    for from in DType::ALL.iter().copied() {
        for to in DType::ALL.iter().copied() {
            let expr = Expr {
                inputs: vec![from],
                scalars: vec![],
                nodes: vec![Term::Input(0), Term::Cast(0, to)],
                outputs: vec![1],
                ..Expr::default()
            };
            let kernel = fused(&expr, &[Way::Dense], false, quads(0, Target::Cpu));
            check(&kernel.expect("every cast exists"));
            let (checked, _) = Expr::checked_cast(from, to);
            let kernel = fused(&checked, &[Way::Dense], false, quads(0, Target::Gpu));
            check(&kernel.expect("every cast can be checked"));
        }
    }
}

#[test]
fn every_dtype_is_valid_in_every_way_and_as_a_scalar() {
    for dtype in DType::ALL.iter().copied() {
        for way in WAYS {
            // What is not computed with is cast.
            let last = match dtype.computes() {
                true => Term::Apply(Op::Eq, [0, 1, 0]),
                false => Term::Cast(0, DType::F32),
            };
            let expr = Expr {
                inputs: vec![dtype],
                scalars: vec![dtype],
                nodes: vec![Term::Input(0), Term::Scalar(0), last],
                outputs: vec![if way == Way::Own(0) { 0 } else { 2 }],
                ..Expr::default()
            };
            for f16_native in [false, true] {
                let kernel = fused(&expr, &[way], f16_native, quads(4, Target::Gpu));
                check(&kernel.expect("eq takes all"));
            }
        }
    }
}

/// gelu(a * b + c), where c is a row.
fn fused_gelu() -> Assembled {
    let expr = Expr {
        inputs: vec![DType::F32; 3],
        scalars: vec![],
        nodes: vec![
            Term::Input(0),
            Term::Input(1),
            Term::Input(2),
            Term::Apply(Op::Mul, [0, 1, 0]),
            Term::Apply(Op::Add, [3, 2, 0]),
            Term::Apply(Op::Gelu, [4, 0, 0]),
        ],
        outputs: vec![5],
        ..Expr::default()
    };
    let ways = [Way::Dense, Way::Dense, Way::Row];
    fused(&expr, &ways, false, quads(2, Target::Cpu)).expect("a legal expression")
}

/// Four dtypes, a scalar, a broadcast element, an odd view and two outputs in one kernel.
fn fused_mixed() -> Assembled {
    let expr = Expr {
        inputs: vec![DType::U8, DType::F16, DType::Bf16],
        scalars: vec![DType::F32],
        nodes: vec![
            Term::Input(0),
            Term::Input(1),
            Term::Input(2),
            Term::Scalar(0),
            Term::Cast(0, DType::F32),
            Term::Cast(1, DType::F32),
            Term::Cast(2, DType::F32),
            Term::Apply(Op::Sub, [4, 5, 0]),
            Term::Apply(Op::MulAdd, [7, 3, 6]),
            Term::Apply(Op::Lt, [8, 3, 0]),
            Term::Cast(8, DType::I8),
        ],
        outputs: vec![9, 10],
        ..Expr::default()
    };
    let ways = [Way::Any, Way::One, Way::Dense];
    fused(&expr, &ways, false, quads(3, Target::Gpu)).expect("a legal expression")
}

#[test]
fn fused_kernels_are_what_they_were() {
    for (name, kernel) in [("gelu", fused_gelu()), ("mixed", fused_mixed())] {
        check(&kernel);
        let path = format!("{}/tests/goldens/{name}.wgsl", env!("CARGO_MANIFEST_DIR"));
        if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
            std::fs::write(&path, &*kernel.wgsl).expect("a writable checkout");
        }
        let golden = std::fs::read_to_string(&path).expect("WHARF_GOLDENS=1 writes the goldens");
        assert!(*golden == *kernel.wgsl, "{path} differs from\n{}", kernel.wgsl);
    }
}

/// Checks that whatever fast-math could break is written with integers, in Metal's text too.
#[test]
fn metal_sees_bits_where_nan_and_zero_matter() {
    for op in
        [Op::IsNan, Op::IsInf, Op::IsFinite, Op::Lt, Op::Eq, Op::Max, Op::Relu, Op::Neg, Op::Abs]
    {
        let ways = vec![Way::Dense; op.arity()];
        let kernel = fused(&single(op, DType::F32), &ways, false, quads(0, Target::Gpu));
        let kernel = kernel.expect("a legal operation");
        let module = reflect::parse(&kernel).expect("valid");
        let [msl, ..] = platforms::translate(&kernel, &module);
        let msl = msl.expect("f32 goes to Metal");
        assert!(msl.contains("as_type<metal::"), "{op} does not look at bits:\n{msl}");
        for word in ["isnan", "isinf", "fmax(", "fmin("] {
            assert!(!msl.contains(word), "{op} leaves {word} to fast-math:\n{msl}");
        }
    }
}

#[test]
fn an_error_names_the_line_of_its_file() {
    let mut kernel = fused_gelu();
    kernel.wgsl = kernel.wgsl.replace("let k = 1.0 / fma(t, ", "let k = 1.0 / fma(z, ").into();
    let rejected = reflect::check(&kernel).expect_err("z is not defined there");
    let origin = rejected.origin.clone().unwrap_or_default();
    assert!(origin.starts_with("shaders/op/activation.wgsl:"), "{rejected}");
    let line = origin.rsplit(':').next().and_then(|n| n.parse::<usize>().ok()).expect("a line");
    let text = include_str!("../shaders/op/activation.wgsl");
    assert!(text.lines().nth(line - 1).is_some_and(|l| l.contains("let k = ")), "{rejected}");
}
