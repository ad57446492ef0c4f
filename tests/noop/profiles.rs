//! Profiles where no driver writes a timestamp: what is said instead, whose line it is, the table,
//! and the trace by the rules of its format.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use wharf::caps::{Caps, DeviceType, Feature, Identity};
use wharf::custom::{Formula, Kernel};
use wharf::tensor::{Attention, Conv, Interpolation, Key, Order, Pad, Pooling, Quantized};
use wharf::{DType, Device, ErrorKind, Result, Tensor};

use crate::{device, scratch};

fn timeless(caps: Caps) -> Caps {
    caps.without(Feature::TimestampQuery)
}

fn timed(caps: Caps) -> Caps {
    Caps { features: caps.features.with(Feature::TimestampQuery), ..caps }
}

/// A little of everything: two dispatches, a crossing each way.
fn work(device: &Device) -> Result<()> {
    let (x, _) = device.upload(&[0.5f32; 4096], [64, 64])?;
    x.matmul(&x)?.softmax(1)?.read_now::<f32>().map(drop)
}

/// Numbers as `#`, since times differ.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_digit() || c == '.' { '#' } else { c };
        if c != '#' || !out.ends_with('#') {
            out.push(c);
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn without_timestamps_the_report_says_so_and_has_the_wall_time() {
    for (device, why) in [
        (device(timeless), "the device has no timestamps"),
        (device(timed), "the driver wrote no timestamps"),
    ] {
        let profile = device.profile();
        work(&device).expect("it runs");
        let report = profile.report().expect("a report");
        let [untimed] = &*report.untimed else { panic!("one reason: {report}") };
        assert_eq!((untimed.count, untimed.why), (report.dispatches, why));
        assert_eq!((report.up.bytes, report.down.bytes), (16384, 16384));
        assert!(report.device.is_zero() && !report.wall.is_zero(), "{report}");
        assert!(report.rows.iter().all(|row| row.timed == 0 && row.time.is_zero()), "{report}");
        let rates = |row: &wharf::profile::Row| row.bytes_per_second().or(row.flops_per_second());
        assert!(report.rows.iter().all(|row| rates(row).is_none()), "no rate without a time");
        let text = report.to_string();
        let n = report.dispatches;
        assert!(text.contains(&format!("no time    of {n} dispatches: {why}\n")), "{text}");
        assert!(!text.contains("on the device"), "nonsense: {text}");
    }
}

#[test]
fn the_table_is_as_it_was() {
    let device = device(timeless);
    let profile = device.profile();
    let x = device.ones([64, 64], DType::F32).expect("ones");
    let y = x.matmul(&x).expect("a product");
    y.compute().expect("recorded");
    let text = profile.report().expect("a report").to_string();
    let lines: Vec<String> = text.lines().map(masked).collect();
    let want = [
        "wall # ms, # dispatches",
        "no time of # dispatches: the device has no timestamps",
        "host # recording # us, # submission # us, # wait # us",
        "compiling # pipelines # us, and the driver's compiler # us",
        "crossings up none; down none",
        "memory # allocations of # KiB, peak # KiB, cap none",
        "total mean calls GB/s GFLOP/s ceiling kernel line",
        "- - # - - - matmul_vector tests/noop/profiles#rs:#",
        "- - # - - - fill tests/noop/profiles#rs:#",
    ];
    // Whether it took milli- or microseconds is the machine's business.
    let same_units = |line: &str| line.replace("# us", "# ms");
    let lines: Vec<String> = lines.iter().map(|line| same_units(line)).collect();
    assert_eq!(lines, want.map(same_units), "{text}");
}

#[test]
fn what_is_done_before_and_after_is_not_noted() {
    let device = device(timeless);
    work(&device).expect("it runs");
    let profile = device.profile();
    let none = profile.report().expect("a report");
    assert_eq!((none.dispatches, none.up.count, none.recording.count), (0, 0, 0));
    let second = device.profile();
    work(&device).expect("it runs");
    let [first, second] = [&profile, &second].map(|profile| profile.report().expect("a report"));
    assert_eq!(first.dispatches, second.dispatches, "two profiles at once see the same");
    assert!(first.dispatches >= 2 && first.pipelines.count == 0, "nothing new to compile: {first}");
    drop(profile);
    work(&device).expect("it runs without");
}

/// How many submissions some work takes that nobody reads in between.
fn submissions(device: &Device, work: impl FnOnce(&Device) -> Result<()>) -> u64 {
    let profile = device.profile();
    work(device).and_then(|()| device.flush()).expect("it is recorded");
    profile.report().expect("a report").submissions.count
}

/// A watchdog ends what runs for two seconds.
#[test]
fn no_submission_runs_for_long_whatever_is_not_counted() {
    let device = device(timeless);
    let ones = |shape: &[usize]| device.ones(shape, DType::F32);
    let hiding = submissions(&device, |_| {
        let x = ones(&[1, 1, 1 << 15, 64])?;
        (0..3).try_for_each(|_| x.attention(&x, &x, &Attention::new().causal())?.compute())
    });
    assert!(hiding >= 4, "attention that hides keys: {hiding}");
    let overlapping = submissions(&device, |_| {
        let x = ones(&[1, 1, 1024, 1024])?;
        let windows = x.windows(2, 31, 1)?.windows(3, 31, 1)?;
        (0..20).try_for_each(|_| windows.sum([-2, -1])?.compute())
    });
    assert!(overlapping >= 2, "sums of views that overlap: {overlapping}");
}

fn named(name: &str, device_type: DeviceType) -> Device {
    device(|caps| {
        let identity = Identity { name: name.into(), device_type, ..caps.identity.clone() };
        timeless(Caps { identity, ..caps })
    })
}

#[test]
fn a_submission_is_as_long_as_the_gpu_is_fast() {
    let large = named("NVIDIA GeForce RTX 4090", DeviceType::Discrete);
    let small = named("Intel(R) UHD Graphics 600", DeviceType::Integrated);
    let counts = |work: fn(&Device) -> Result<()>| [&large, &small].map(|on| submissions(on, work));
    let [one, some] = counts(|device| {
        let x = device.ones([2048, 2048], DType::F32)?;
        (0..4).try_for_each(|_| x.matmul(&x)?.compute())
    });
    assert_eq!(one, 1);
    assert!((4..=10).contains(&some), "{some}");
    let [one, some] = counts(|device| {
        let x = device.ones([1, 1200], DType::F32)?.broadcast_to([4096, 1200])?;
        let shrink = || x.interpolate([20], Interpolation::LinearAntialiased)?.compute();
        (0..200).try_for_each(|_| shrink())
    });
    assert_eq!(one, 1, "means of many elements that few bytes hold");
    assert!((2..=4).contains(&some), "{some}");
}

type Make<'a> = Box<dyn Fn() -> Result<Tensor> + 'a>;

/// What is made, as it is written, and how.
macro_rules! makes {
    ($($make:expr),* $(,)?) => { [$((stringify!($make), Box::new(|| $make) as Make<'_>)),*] };
}

/// How many dispatches each of these takes: few bytes, and much to compute of them.
fn dispatches(device: &Device) -> Result<Vec<(&'static str, u64)>> {
    let image = device.ones([1, 64, 512, 512], DType::F32)?;
    let weight = device.ones([64, 1, 16, 16], DType::F32)?;
    let rows = device.ones([100_000, 128], DType::U32)?;
    [&image, &weight, &rows].into_iter().try_for_each(Tensor::compute)?;
    let by_itself = Conv::new().padding([7, 7]).groups(64);
    let pool = Pooling::new([15, 15]).stride([1, 1]).padding([7, 7]);
    let all = makes![
        image.conv2d(&weight, None, &by_itself),
        image.max_pool(&pool),
        rows.sort(1, Order::Ascending),
    ];
    let counts = all.iter().map(|(what, make)| {
        let profile = device.profile();
        make()?.compute()?;
        Ok((*what, profile.report()?.dispatches))
    });
    counts.collect()
}

/// A watchdog ends a dispatch as well as a submission.
#[test]
fn no_dispatch_runs_for_long_however_few_bytes_it_reads() {
    let large = named("NVIDIA GeForce RTX 4090", DeviceType::Discrete);
    let small = named("ARM Mali-G52", DeviceType::Integrated);
    let [large, small] = [large, small].map(|device| dispatches(&device).expect("recorded"));
    for ((what, whole), (_, parted)) in large.into_iter().zip(small) {
        assert!(parted > whole, "{what}: {parted} dispatches, {whole} of a large GPU");
    }
}

/// Operations that are made of others: whose line it is must not get lost in them.
#[test]
fn every_row_is_the_line_of_the_caller() {
    let device = device(timeless);
    let (x, _) = device.upload(&[0.5f32; 64], [8, 8]).expect("it crosses");
    let (index, _) = device.upload(&[0u32, 3, 1], [3]).expect("it crosses");
    let places = device.zeros([3, 8], DType::U32).expect("zeros");
    let key = Key::new(7);
    let all = makes![
        device.full([4], 2.5, DType::F32),
        device.arange(0, 5, 1, DType::F32),
        device.linspace(0, 1, 5, DType::F32),
        device.eye(4, 4, DType::F32),
        device.uniform(key, [16], DType::F32),
        device.normal(key, [16], DType::F32),
        device.permutation(key, 8),
        x.abs(),
        &x + &x,
        2.0 - &x,
        -&x,
        x.cast(DType::I32),
        x.cast_checked(DType::I32),
        x.selu(),
        x.hard_sigmoid(),
        x.softsign(),
        x.glu(-1),
        x.prelu(&x.at(0)?),
        x.l1_norm(0),
        x.cosine_similarity(0, &x),
        x.sum(0),
        x.var(0, 1),
        x.norm(0),
        x.logsumexp(0),
        x.argmax(0),
        x.cumsum(0),
        x.softmax(1),
        x.layer_norm(1, None, None, 1e-5),
        x.rms_norm(1, None, 1e-5),
        x.matmul(&x),
        x.linear(&x, None),
        x.linear(&x, Some(&x.at(0)?)).and_then(|y| y.relu()),
        x.cross_entropy(1, &device.zeros([8], DType::U32)?),
        x.sort(0, Order::Ascending),
        x.top_k(0, 2).map(|(most, _)| most),
        x.gather(0, &places),
        x.index_select(0, &index),
        x.take(&index),
        index.one_hot(4, DType::F32),
        x.scatter(0, &places, &x.at(..3)?),
        x.scatter_add(0, &places, &x.at(..3)?),
        Tensor::concat(&[&x, &x], 0),
        x.pad(&[(1, 1), (0, 0)], Pad::Reflect),
        x.pad(&[(1, 1), (0, 0)], Pad::Constant(1.0.into())),
        x.roll(0, 3),
        x.repeat([2, 1]),
        x.diag(0),
        x.tril(0),
        x.t()?.contiguous(),
    ];
    assert_eq!(lost(&device, &all), "");
}

/// The same where a whole layer is one operation, and for what the user wrote.
#[test]
fn every_row_of_a_layer_is_the_line_of_the_caller() {
    let device = device(timeless);
    let (x, _) = device.upload(&[0.5f32; 64], [8, 8]).expect("it crosses");
    let (index, _) = device.upload(&[0u32, 3, 1], [3]).expect("it crosses");
    let image = x.reshape([1, 2, 4, 8]).expect("as many");
    let weight = device.ones([2, 2, 3, 3], DType::F32).expect("ones");
    let ones = |dims: [usize; 2], dtype| device.ones(dims, dtype).expect("ones");
    let (one, many) = (ones([1, 6], DType::F32), ones([8, 6], DType::F32));
    let halves = ones([8, 8], DType::F16);
    let blocks = Quantized::of(&ones([8, 32], DType::I8), &ones([8, 1], DType::F16));
    let (blocks, wide) = (blocks.expect("a block a row"), ones([8, 32], DType::F32));
    let text = "@group(0) @binding(0) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn main() { y[0] = 1.0; }";
    let one_is_one = Kernel::from_wgsl("one_is_one", text).expect("it is a kernel");
    let half = Formula::new("half(x)", "x * 0.5").expect("it is a formula");
    let all = makes![
        many.attention(&many, &many, &Attention::new()),
        one.attention(&many, &many, &Attention::new()),
        halves.attention(&halves, &halves, &Attention::new().masked(&halves)),
        blocks.embedding(&index),
        blocks.dequantize(DType::F32),
        wide.linear(&blocks, None),
        x.linear(&x, Some(&x.at(0)?)).and_then(|y| y.relu()),
        image.conv2d(&weight, None, &Conv::new().padding([1, 1])),
        image.conv2d(&weight.at((.., .., ..1, ..1))?, Some(&x.at((0, ..2))?), &Conv::new()),
        image.conv2d(&weight.at((..2, ..1))?, None, &Conv::new().groups(2)),
        device.run(&one_is_one).create("y", [4], DType::F32).groups([1; 3]).record().map(|[y]| y),
        device
            .run(&one_is_one)
            .update("y", &mut x.clone())
            .groups([1; 3])
            .record()
            .map(|[]| x.exp())?,
        x.apply(&half, &[]),
        image.max_pool(&Pooling::new([2, 2]).padding([1, 1])),
        image.avg_pool(&Pooling::new([2, 2]).padding([1, 1]).padding_uncounted()),
    ];
    assert_eq!(lost(&device, &all), "");
}

/// The rows of the profiles of what is made that have another file's line, one to a line.
fn lost(device: &Device, all: &[(&str, Make<'_>)]) -> String {
    let lost = all.iter().flat_map(|(what, make)| {
        let profile = device.profile();
        make().and_then(|y| y.contiguous()?.compute()).unwrap_or_else(|e| panic!("{what}: {e}"));
        let rows = profile.report().expect("a report").rows.into_iter();
        let elsewhere = rows.filter(|row| row.line.file() != file!());
        elsewhere.map(move |row| format!("{what}: {} at {}\n", row.kernel(), row.line))
    });
    lost.collect()
}

/// The trace as its format has it; returns how many events each process has.
fn checked(path: &Path) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(path).expect("there is a file");
    let trace: Value = serde_json::from_str(&text).expect("it is JSON");
    assert!(trace["otherData"]["table"].as_str().is_some_and(|table| table.contains("wall ")));
    let events = trace["traceEvents"].as_array().expect("events");
    let (mut names, mut counts) = (BTreeMap::new(), BTreeMap::new());
    // Slices of a thread that are open, by their ends; crossings that are, by their numbers.
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let mut crossings: BTreeMap<u64, f64> = BTreeMap::new();
    for event in events {
        let number =
            |field: &str| event[field].as_u64().unwrap_or_else(|| panic!("{field}: {event}"));
        let time = |field: &str| {
            let time = event[field].as_f64().unwrap_or_else(|| panic!("{field}: {event}"));
            assert!(time >= 0.0, "{field}: {event}");
            time
        };
        let nanoseconds = |field: &str| (time(field) * 1e3).round() as u64;
        let (pid, phase) = (number("pid"), event["ph"].as_str().expect("a phase"));
        assert!(event["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
        if phase == "M" {
            let name = event["args"]["name"].as_str().expect("a name").to_owned();
            if event["name"] == "process_name" {
                assert!(names.insert(pid, name).is_none(), "named twice: {event}");
            }
            continue;
        }
        let name: &String = names.get(&pid).unwrap_or_else(|| panic!("nobody: {event}"));
        *counts.entry(name.clone()).or_default() += 1;
        match phase {
            "X" => {
                let begin = nanoseconds("ts");
                let slice = (begin, begin + nanoseconds("dur"));
                slices.entry((pid, number("tid"))).or_default().push(slice);
            }
            "b" => assert!(crossings.insert(number("id"), time("ts")).is_none(), "{event}"),
            "e" => {
                let begin = crossings.remove(&number("id")).expect("it began");
                assert!(time("ts") >= begin, "it ends before it begins: {event}");
            }
            "C" => {
                time("ts");
                let args = event["args"].as_object().expect("series");
                assert!(!args.is_empty() && args.values().all(Value::is_u64), "{event}");
            }
            other => panic!("no phase of ours: {other}"),
        }
    }
    assert!(crossings.is_empty(), "crossings that never end: {crossings:?}");
    for (thread, mut slices) in slices {
        slices.sort_by_key(|(begin, end)| (*begin, u64::MAX - end));
        let mut open: Vec<u64> = Vec::new();
        for (begin, end) in slices {
            open.retain(|outer| *outer > begin);
            let inside = open.last().is_none_or(|outer| end <= *outer);
            assert!(inside, "slices of {thread:?} overlap: {begin}..{end} in {open:?}");
            open.push(end);
        }
    }
    counts
}

#[test]
fn a_trace_keeps_the_rules_of_its_format() {
    let device = device(timeless);
    let profile = device.profile();
    work(&device).expect("it runs");
    let path = scratch("trace.json");
    profile.save_trace(&path).expect("it is written");
    let counts = checked(&path);
    let tracks: Vec<&str> = counts.keys().map(String::as_str).collect();
    assert_eq!(tracks, ["crossings", "host", "memory"], "nothing is known of the device");
    assert_eq!(counts["crossings"], 4, "one up and one down, a beginning and an end each");
    std::fs::remove_file(path).expect("it was there");
    let error = profile.save_trace("/nowhere/trace.json").expect_err("there is no such folder");
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(error.to_string().starts_with("the trace /nowhere/trace.json cannot"), "{error}");
}

/// What the next test has another process do. Without its variable it writes nothing.
#[test]
fn a_program() {
    for _ in 0..2 {
        work(&device(timeless)).expect("it runs");
    }
}

#[test]
fn a_program_that_nobody_changed_is_profiled() {
    let path = scratch("program").with_extension("json");
    let mut program = Command::new(std::env::current_exe().expect("this program"));
    program.args(["profiles::a_program", "--exact"]).env("WHARF_PROFILE", &path);
    assert!(program.output().expect("it starts").status.success(), "it runs");
    for path in [path.clone(), path.with_extension("2.json")] {
        assert_eq!(checked(&path)["crossings"], 4, "{}", path.display());
        std::fs::remove_file(path).expect("it was there");
    }
}
