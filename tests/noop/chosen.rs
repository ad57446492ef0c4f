//! Which kernels are chosen on every chip that could be read, as exact text: what is asked for,
//! each answer, and the chips that give it.

use std::fmt::Write as _;

use wharf::caps::{Caps, Limit, fixtures};
use wharf::tensor::{Attention, Conv, Quantized};
use wharf::{DType, Device, Policy, Result, Tensor};

type Make = fn(&Device, DType) -> Result<Tensor>;

/// What models are made of.
const WORKS: [(&str, Make); 25] = [
    ("1024 x 1024 x 1024", |d, t| product(d, t, [1024, 1024, 1024])),
    ("512 x 512 x 256", |d, t| product(d, t, [512, 512, 256])),
    ("64 x 64 x 50257", |d, t| product(d, t, [64, 64, 50_257])),
    ("4 x 4 x 4000000", |d, t| product(d, t, [4, 4, 4_000_000])),
    ("64 x 4096 x 4096 weights", |d, t| weights(d, t, 64)),
    ("16 x 4096 x 4096 weights", |d, t| weights(d, t, 16)),
    ("4 x 4096 x 4096 weights", |d, t| weights(d, t, 4)),
    ("1 x 4096 x 4096 weights", |d, t| weights(d, t, 1)),
    ("1 x 4096 x 4096 in q8", |d, t| blocks(d, t, 1)),
    ("64 x 4096 x 4096 in q8", |d, t| blocks(d, t, 64)),
    ("1 x 4096 x 4096 in q4", |d, t| halves(d, t, 1)),
    ("64 x 4096 x 4096 in q4", |d, t| halves(d, t, 64)),
    ("attention, heads of 64", |d, t| attention(d, t, 512, 64)),
    ("attention, heads of 128", |d, t| attention(d, t, 512, 128)),
    ("attention, a lone query", |d, t| attention(d, t, 1, 64)),
    ("softmax of 512 x 1024", |d, t| d.blank([512, 1024], t)?.softmax(1)),
    ("softmax of 32 x 262144", |d, t| d.blank([32, 1 << 18], t)?.softmax(1)),
    ("sum of 512 x 1024", |d, t| d.blank([512, 1024], t)?.sum([1])),
    ("cumsum of 512 x 1024", |d, t| d.blank([512, 1024], t)?.cumsum(1)),
    ("cumsum of 65536 x 100", |d, t| d.blank([1 << 16, 100], t)?.cumsum(1)),
    ("32 lists of 65536, side by side", |d, t| side_by_side(d, t, 1 << 16)),
    ("conv 64 to 64 of 56 x 56, eight images", |d, t| convolved(d, t, [8, 64, 64, 56])),
    ("conv 64 to 64 of 56 x 56", |d, t| convolved(d, t, [1, 64, 64, 56])),
    ("conv 64 to 96 of 14 x 14, eight images", |d, t| convolved(d, t, [8, 64, 96, 14])),
    ("conv 512 to 512 of 7 x 7", |d, t| convolved(d, t, [1, 512, 512, 7])),
];

fn side_by_side(device: &Device, dtype: DType, length: usize) -> Result<Tensor> {
    let lists = (0..32).map(|_| device.blank([length], dtype)).collect::<Result<Vec<_>>>()?;
    Tensor::stack(&lists.iter().collect::<Vec<_>>(), -1)
}

fn convolved(
    device: &Device,
    dtype: DType,
    [images, from, to, side]: [usize; 4],
) -> Result<Tensor> {
    let input = device.blank([images, from, side, side], dtype)?;
    let weight = device.blank([to, from, 3, 3], dtype)?;
    input.conv2d(&weight, None, &Conv::new().padding([1, 1]))
}

fn product(device: &Device, dtype: DType, [m, n, k]: [usize; 3]) -> Result<Tensor> {
    device.blank([m, k], dtype)?.matmul(&device.blank([k, n], dtype)?)
}

fn weights(device: &Device, dtype: DType, rows: usize) -> Result<Tensor> {
    device.blank([rows, 4096], dtype)?.linear(&device.blank([4096, 4096], dtype)?, None)
}

fn blocks(device: &Device, dtype: DType, rows: usize) -> Result<Tensor> {
    let (values, scales) =
        (device.blank([4096, 4096], DType::I8)?, device.blank([4096, 128], DType::F16)?);
    device.blank([rows, 4096], dtype)?.linear(&Quantized::of(&values, &scales)?, None)
}

fn halves(device: &Device, dtype: DType, rows: usize) -> Result<Tensor> {
    let (values, scales) =
        (device.blank([4096, 2048], DType::U8)?, device.blank([4096, 128], DType::F16)?);
    device.blank([rows, 4096], dtype)?.linear(&Quantized::of(&values, &scales)?, None)
}

fn attention(device: &Device, dtype: DType, queries: usize, width: usize) -> Result<Tensor> {
    let shared = device.blank([1, 2, 1024, width], dtype)?;
    let queries = device.blank([1, 8, queries, width], dtype)?;
    heads_together(&queries.attention(&shared, &shared, &Attention::new().causal())?)
}

/// `[.., queries, heads * e]`, as a model goes on with it.
fn heads_together(x: &Tensor) -> Result<Tensor> {
    let x = x.swap_axes(-3, -2)?;
    let dims = x.shape().dims();
    let (outer, last) = dims.split_at(dims.len() - 2);
    x.reshape([outer, &[last.iter().product()]].concat())
}

/// The kernels that would run, how many workgroups each, and why these.
fn answer(device: &Device, dtype: DType, make: Make) -> String {
    let told = make(device, dtype).expect("it is recorded").explain();
    assert!(told.error.is_none(), "{:?}", told.error);
    let mut text = String::new();
    for run in &told.kernels {
        let groups: Vec<String> =
            run.dispatches.iter().map(|[x, y, z]| format!("{x}x{y}x{z}")).collect();
        let _ = write!(text, "    {} {}", run.name(), groups.join(" "));
        run.remarks.iter().for_each(|remark| {
            let _ = write!(text, "; {remark}");
        });
        text.push('\n');
    }
    text
}

fn chips() -> Vec<(&'static str, Caps)> {
    fixtures::all().into_iter().filter(|(name, _)| name.contains(':')).collect()
}

#[test]
fn every_chip_gets_kernels_of_its_own() {
    let chips = chips();
    assert!(chips.len() > 20, "{} chips", chips.len());
    let devices = chips.iter().map(|(name, caps)| {
        (*name, Device::on_paper(caps, &Policy::exact()).expect("it is on paper"))
    });
    let devices: Vec<(&str, Device)> = devices.collect();
    let mut page = String::new();
    for dtype in [DType::F32, DType::F16] {
        for (work, make) in WORKS {
            let _ = writeln!(page, "{dtype} {work}");
            let mut answers: Vec<(String, Vec<&str>)> = Vec::new();
            for (name, device) in &devices {
                let answer = answer(device, dtype, make);
                match answers.iter_mut().find(|(text, _)| *text == answer) {
                    Some((_, names)) => names.push(name),
                    None => answers.push((answer, vec![name])),
                }
            }
            for (answer, names) in answers {
                let who = if names.len() == devices.len() {
                    "everywhere".into()
                } else {
                    names.join(" ")
                };
                let _ = write!(page, "  {who}\n{answer}");
            }
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/noop/chosen.txt");
    if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
        std::fs::write(path, &page).expect("it is written");
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert!(page == golden, "WHARF_GOLDENS=1 brings {path} up to date:\n{page}");
}

/// No kernel widens a weight before it is multiplied: what runs is what runs for weights of f32.
#[test]
fn narrow_weights_are_read_as_they_lie() {
    for (name, caps) in fixtures::all() {
        let device = Device::on_paper(&caps, &Policy::exact()).expect("it is on paper");
        for rows in [1, 4, 64, 512] {
            let told = |weights: DType| {
                let x = device.blank([rows, 512], DType::F32).expect("it fits");
                let weights = device.blank([1024, 512], weights).expect("it fits");
                let told = x.linear(&weights, None).expect("it is recorded").explain();
                assert!(told.error.is_none(), "{name}: {:?}", told.error);
                told.kernels
                    .iter()
                    .map(|k| (k.name().to_owned(), k.dispatches.clone()))
                    .collect::<Vec<_>>()
            };
            let want = told(DType::F32);
            for narrow in [DType::F16, DType::Bf16, DType::F8E4M3] {
                assert_eq!(told(narrow), want, "{name}: {rows} rows by {narrow}");
            }
        }
    }
}

/// A device on paper, and the names of the kernels that compute something there.
fn ran(caps: &Caps, make: impl Fn(&Device) -> Result<Tensor>) -> Vec<String> {
    let device = Device::on_paper(caps, &Policy::exact()).expect("it is on paper");
    let told = make(&device).expect("it is recorded").explain();
    assert!(told.error.is_none(), "{:?}", told.error);
    told.kernels.iter().map(|kernel| kernel.name().to_owned()).collect()
}

/// However long an expression is, and however few views a kernel may read.
#[test]
fn no_kernel_binds_more_than_there_is_room_for() {
    for (name, caps) in fixtures::all() {
        let device = Device::on_paper(&caps, &Policy::exact()).expect("it is on paper");
        for terms in 22..=24 {
            let all = (0..terms).map(|_| device.blank([64, 64], DType::F32).expect("small"));
            let sum = all.reduce(|sum, x| (sum + x).expect("of one shape")).expect("some");
            let told = sum.explain();
            assert!(told.error.is_none(), "{name}: {:?}", told.error);
            let bound = |text: &str| text.matches("var<storage").count() as u64;
            let most = told.kernels.iter().map(|kernel| bound(&kernel.wgsl)).max();
            let room = caps.limits.storage_buffers_max.min(16);
            let all = (4..=room).contains(&most.unwrap_or(0));
            assert!(all, "{name}: {most:?} of {room} for {terms} terms");
        }
    }
}

/// Lists side by side are stored element by element on a GPU, where elements are words; otherwise
/// every quad of the result is visited for each list.
#[test]
fn columns_are_walked_alone() {
    let stacked = |caps: &Caps, dtype, axis: i64| {
        ran(caps, move |device| {
            let lists = (0..8).map(|_| device.blank([1000], dtype)).collect::<Result<Vec<_>>>()?;
            Tensor::stack(&lists.iter().collect::<Vec<_>>(), axis)
        })
    };
    let (gpu, cpu) = (fixtures::nvidia_vulkan(), fixtures::lavapipe());
    for dtype in [DType::F32, DType::I64] {
        assert_eq!(stacked(&gpu, dtype, -1), ["assign_each"], "{dtype}");
    }
    assert_eq!(stacked(&gpu, DType::F16, -1), ["patch"]);
    assert_eq!(stacked(&cpu, DType::F32, -1), ["patch"]);
    assert_eq!(stacked(&gpu, DType::F32, 0), ["assign_rows"]);
}

/// Beside another operand a large transposition is copied by tiles; alone it is read.
#[test]
fn a_lone_transposition_is_read_in_place() {
    let square = |device: &Device| device.blank([512, 512], DType::F32);
    let alone = |device: &Device| square(device)?.t()?.broadcast_to([2, 512, 512])?.neg();
    let beside = |device: &Device| square(device)? + square(device)?.t()?;
    assert_eq!(ran(&fixtures::lavapipe(), alone), ["elementwise"]);
    assert_eq!(ran(&fixtures::lavapipe(), beside), ["transpose", "elementwise"]);
    assert_eq!(ran(&fixtures::apple_m2(), beside), ["elementwise"], "not large for a GPU");
    let square = |device: &Device| device.blank([1024, 1024], DType::F32);
    let beside = |device: &Device| square(device)? + square(device)?.t()?;
    assert_eq!(ran(&fixtures::apple_m2(), beside), ["transpose", "elementwise"]);
}

/// Weights whose rows lie side by side are read in place, others are copied so; what is broadcast
/// is not spread out for that.
#[test]
fn weights_of_a_convolution_are_copied_only_as_they_must_be() {
    let by = |turned: bool, broadcast: bool| {
        ran(&fixtures::nvidia_vulkan(), move |device| {
            let input = device.blank([8, 64, 56, 56], DType::F32)?;
            let weight = match (turned, broadcast) {
                (_, true) => device.blank([64, 1, 3, 3], DType::F32)?.broadcast_to([64, 64, 3, 3]),
                (true, _) => device.blank([3, 3, 64, 64], DType::F32)?.permute([3, 2, 0, 1]),
                _ => device.blank([64, 64, 3, 3], DType::F32),
            };
            input.conv2d(&weight?, None, &Conv::new().padding([1, 1]))
        })
    };
    assert_eq!(by(false, false), ["reindex", "conv_group"]);
    assert_eq!(by(true, false), ["conv_group"]);
    assert_eq!(by(false, true), ["conv"]);
}

/// What lies in several segments is copied before it is summed only where it does not begin at a
/// whole quad.
#[test]
fn what_is_summed_in_parts_is_read_where_it_lies() {
    let caps = fixtures::lavapipe().with_limit(Limit::BindingBytes, 1 << 20);
    for (first, copied) in [(0, false), (4, false), (5, true), (8, false), (10, true)] {
        let sum = |device: &Device| {
            let x = device.blank([1 << 20], DType::F32)?;
            x.slice(0, first..)?.reshape([1, (1 << 20) - first])?.sum([1])
        };
        let names = ran(&caps, sum);
        let copies = names.iter().any(|name| !name.starts_with("reduce"));
        assert_eq!(copies, copied, "from {first} on: {names:?}");
    }
}

/// As many states of each row as a segment holds, not as many as keep a GPU busy.
#[test]
fn states_of_attention_stay_within_a_segment() {
    let caps = fixtures::nvidia_vulkan();
    let states = |caps: &Caps| {
        let device = Device::on_paper(caps, &Policy::exact()).expect("it is on paper");
        let queries = device.blank([1, 16, 16, 64], DType::F32).expect("it fits");
        let keys = device.blank([1, 1, 3840, 64], DType::F32).expect("it fits");
        let told = queries.attention(&keys, &keys, &Attention::new()).expect("recorded").explain();
        assert!(told.error.is_none(), "{:?}", told.error);
        let remarks = told.kernels.iter().flat_map(|kernel| kernel.remarks.clone());
        remarks.filter(|remark| remark.contains("states")).collect::<String>()
    };
    let of =
        |n| format!("attention by workgroups of 16 rows and 64 keys at once, {n} states of each");
    assert_eq!(states(&caps), of(15));
    // 256 rows of 68 elements each; a segment holds as much as the keys.
    assert_eq!(states(&caps.with_limit(Limit::BindingBytes, 1 << 20)), of(12));
}

/// Halves are unpacked where they are loaded, and rounded where they are stored, on processors too:
/// no cast is a kernel of its own. Without subgroups they are. Heads are put together for nothing.
#[test]
fn attention_of_halves_is_one_kernel() {
    let said = |(name, dims): (&str, &[usize])| {
        let chips = fixtures::all();
        let (_, caps) = chips.iter().find(|(n, _)| *n == name).expect("it is known");
        let device = Device::on_paper(caps, &Policy::exact()).expect("it is on paper");
        [DType::F32, DType::F16, DType::Bf16].map(|dtype| {
            let x = device.blank(dims, dtype).expect("it fits");
            let seen = x.attention(&x, &x, &Attention::new()).and_then(|x| heads_together(&x));
            let told = seen.expect("it is recorded, and a view").explain();
            assert!(told.error.is_none(), "{name}: {:?}", told.error);
            told.kernels.iter().map(|kernel| kernel.dispatches.len()).sum::<usize>()
        })
    };
    for batch in [1, 3] {
        let four = [batch, 2, 40, 16];
        assert_eq!(["lavapipe", "swiftshader"].map(|chip| said((chip, &four))), [[1; 3]; 2]);
        assert_eq!(said(("llvmpipe_gl", &four)), [1, 4, 4], "three casts");
    }
    assert_eq!(said(("lavapipe", &[2, 40, 16])), [1; 3], "of three axes");
    assert_eq!(said(("lavapipe", &[2, 40, 12])), [1, 4, 4], "rows that do not come by eight");
}
