//! Tables of tuning results, on paper: which files count, which are refused and why, and that a
//! choice is used where it applies.

use std::error::Error as _;
use std::{fs, io};

use wharf::caps::{Caps, DeviceType, Feature, fixtures};
use wharf::tensor::{Align, Attention, Blocks, Conv, Interpolation, Order, Pad, Quantized};
use wharf::tune::{AttentionSize, Problem, ProductSize, RowsSize};
use wharf::tune::{SortSize, SumSize, Tuned, WeightsSize};
use wharf::{DType, Device, ErrorKind, Result, Target, Tensor};

use super::open;

fn here() -> Device {
    open(fixtures::lavapipe())
}

/// A file for this device, with these entries.
fn text(device: &Device, entries: &[&str]) -> String {
    let empty = Tuned::new(device).to_string();
    let head = empty.strip_suffix("end 0\n").expect("a table ends with its count");
    let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
    format!("{head}{lines}end {}\n", entries.len())
}

const ENTRIES: &[&str] = &[
    "product f32 [k,n] 1 512 512 512 = tile sums 4x8 lanes 8 passes 1 @ 28.1000",
    "product f16 [n,k] 1 1 4096 4096 = tile sums 1x4 lanes 8 passes 2 @ 3.0000",
    "product f32 [k,n] 16 128 128 128 = built-in @ 20.0000",
];

#[test]
fn a_table_comes_back_from_its_text() {
    let device = here();
    let text = text(&device, ENTRIES);
    let tuned = Tuned::from_text(&text, &device).expect("it is for this device");
    assert_eq!(tuned.to_string(), text);
    let kernels: Vec<(String, String)> =
        tuned.iter().map(|(problem, kernel)| (problem.to_string(), kernel)).collect();
    let want = [
        ("f32 512 x 512 x 512", "tile sums 4x8 lanes 8 passes 1"),
        ("f16 1 x 4096 x 4096, right [n, k]", "tile sums 1x4 lanes 8 passes 2"),
        ("16 of f32 128 x 128 x 128", "built-in"),
    ];
    assert_eq!(kernels, want.map(|(problem, kernel)| (problem.to_owned(), kernel.to_owned())));
}

#[test]
fn what_is_corrupt_or_foreign_is_an_error_with_its_reason() {
    let device = here();
    let whole = text(&device, ENTRIES);
    let cut = |at: &str| whole[..whole.find(at).expect("it is there")].to_owned();
    let swap = |from: &str, to: &str| whole.replacen(from, to, 1);
    let version = format!("version {}", env!("CARGO_PKG_VERSION"));
    let name = device.caps().identity.name.clone();
    let cases = [
        (String::new(), "it does not begin with \"wharf tuned 3\"".to_owned()),
        (swap("tuned 3", "tuned 2"), "it does not begin with \"wharf tuned 3\"".into()),
        (
            swap(&version, "version 0.0.9"),
            format!("version \"0.0.9\", here \"{}\"", env!("CARGO_PKG_VERSION")),
        ),
        (
            swap(&format!("adapter {name}"), "adapter Radeon"),
            format!("adapter \"Radeon\", here {name:?}"),
        ),
        (cut("driver "), "\"\" where driver was expected".into()),
        (cut("product f32 [k,n] 1 512"), "it breaks off after 0 entries".into()),
        (cut("product f32 [k,n] 16"), "it breaks off after 2 entries".into()),
        (cut("passes 2"), {
            let line = "product f16 [n,k] 1 1 4096 4096 = tile sums 1x4 lanes 8 ";
            format!("{line:?} is no entry")
        }),
        (swap("end 3", "end 4"), "4 entries promised, 3 found".into()),
        (swap("end 3", "end"), "\"end\" is no entry".into()),
        (swap("lanes 8", "lanes 8000"), {
            let line = ENTRIES[0].replace("lanes 8", "lanes 8000");
            format!("{line:?} is no entry")
        }),
        (swap("tile sums 4x8", "spell sums 4x8"), {
            let line = ENTRIES[0].replace("tile", "spell");
            format!("{line:?} is no entry")
        }),
    ];
    for (text, want) in cases {
        let error = Tuned::from_text(&text, &device).expect_err("nothing of it counts");
        assert!(error.to_string().ends_with(&want), "{error}: {text}");
        let foreign = error.to_string().starts_with("tuned elsewhere: ");
        let kind = if foreign { ErrorKind::Mismatch } else { ErrorKind::File };
        assert_eq!((error.kind(), foreign), (kind, want.contains(", here ")), "{error}");
    }
    let driver = whole.lines().find(|line| line.starts_with("driver ")).expect("it is there");
    let refused = |text: &str, device: &Device| {
        Tuned::from_text(text, device).expect_err("tuned elsewhere").to_string()
    };
    let why = refused(&whole.replacen(driver, "driver other, 1.0", 1), &device);
    assert!(why.starts_with("tuned elsewhere: driver \"other, 1.0\", here "), "{why}");
    let why = refused(&whole, &device.with_target(Target::Gpu));
    assert_eq!(why, "tuned elsewhere: kernels \"Cpu64\", here \"Gpu\"");
}

#[test]
fn files_are_kept_and_a_missing_one_is_told_from_a_wrong_one() {
    let device = here();
    let folder = std::env::temp_dir().join(format!("wharf-tuned-{}", std::process::id()));
    let path = folder.join("below").join("table.txt");
    let missing = Tuned::load(&path, &device).expect_err("there is none");
    assert!(missing.to_string().contains("table.txt: "), "{missing}");
    let said = missing.source().and_then(|said| said.downcast_ref::<io::Error>());
    assert_eq!(said.map(io::Error::kind), Some(io::ErrorKind::NotFound), "none yet");
    let tuned = Tuned::from_text(&text(&device, ENTRIES), &device).expect("it is whole");
    tuned.save(&path).expect("a temporary folder can be written");
    let again = Tuned::load(&path, &device).expect("it was saved here");
    assert_eq!(again.to_string(), tuned.to_string());
    assert_eq!(fs::read_dir(folder.join("below")).expect("made").count(), 1, "nothing beside it");
    fs::write(&path, [0xff, 0xfe, 0x00]).expect("a temporary folder can be written");
    let wrong = Tuned::load(&path, &device).expect_err("it is no text");
    assert!(wrong.source().is_none() && wrong.to_string().ends_with("it is no text"), "{wrong}");
    // The path has a file where a folder should be.
    let error = tuned.save(path.join("below")).expect_err("no folder");
    assert_eq!(error.kind(), ErrorKind::File, "{error}");
    fs::remove_dir_all(&folder).expect("a temporary folder can be removed");
    let cache = Tuned::cache_path(&device).map(|path| path.display().to_string());
    assert!(cache.is_none_or(|path| path.contains("wharf")), "among the caches");
}

/// The file is always one of theirs, whole, and each of them has saved. Elsewhere than on Unix what
/// somebody reads may not be replaced.
#[cfg(unix)]
#[test]
fn two_who_save_to_one_path_do_not_write_into_each_others_file() {
    let device = here();
    let path = super::scratch("tuned");
    let tables = [&ENTRIES[..1], ENTRIES].map(|entries| text(&device, entries));
    std::thread::scope(|scope| {
        for text in &tables {
            scope.spawn(|| {
                let tuned = Tuned::from_text(text, &device).expect("a table");
                for n in 0..500 {
                    tuned.save(&path).unwrap_or_else(|error| panic!("save {n}: {error}"));
                    let found = fs::read_to_string(&path).expect("it is there");
                    assert!(tables.contains(&found), "save {n}: {found}");
                }
            });
        }
    });
    fs::remove_file(&path).expect("it is there");
}

#[test]
fn what_was_tuned_is_used_where_it_applies() {
    let plain = here();
    let tuned = Tuned::from_text(&text(&plain, ENTRIES), &plain).expect("a table");
    let device = plain.with_tuned(&tuned);
    let explained = |device: &Device, dims: [usize; 3], dtype| {
        let [m, n, k] = dims;
        let a = device.zeros([m, k], dtype).expect("it fits");
        let b = device.zeros([k, n], dtype).expect("it fits");
        a.matmul(&b).expect("they fit").explain().to_string()
    };
    let says = "matmul by a tile of 4 x 8, 8 lanes, 1 along k: tuned";
    for dims in [[512; 3], [500, 400, 300]] {
        let text = explained(&device, dims, DType::F32);
        assert!(text.contains(says), "{text}");
        let text = explained(&plain, dims, DType::F32);
        assert!(!text.contains("tuned"), "nothing tunes by itself: {text}");
    }
    let others = [([513, 512, 512], DType::F32), ([512; 3], DType::F16)];
    for (dims, dtype) in others {
        let text = explained(&device, dims, dtype);
        assert!(!text.contains("tuned"), "another class: {text}");
    }
    let text = explained(&device.with_target(Target::Gpu), [512; 3], DType::F32);
    assert!(!text.contains("tuned"), "another class of kernels: {text}");
    // A batch with a common right side counts as more rows.
    let x = device.zeros([4, 128, 512], DType::F32).expect("it fits");
    let w = device.zeros([512, 512], DType::F32).expect("it fits");
    let text = x.matmul(&w).expect("they fit").explain().to_string();
    assert!(text.contains(says), "{text}");
    // The weight of a layer lies along k.
    let x = device.zeros([1, 4096], DType::F16).expect("it fits");
    let w = device.zeros([4096, 4096], DType::F16).expect("it fits");
    let text = x.linear(&w, None).expect("they fit").explain().to_string();
    assert!(text.contains("tile of 1 x 4, 8 lanes, 2 along k: tuned"), "{text}");
}

/// The kernel that won where there were subgroups would be a mistake where there are none.
#[test]
fn what_was_tuned_with_subgroups_is_not_run_without_them() {
    let caps = fixtures::lavapipe();
    let [with, without] = [caps.clone(), caps.without(Feature::Subgroup)]
        .map(|caps| open(caps).with_target(Target::Gpu));
    let entry = "product f32 [n,k] 1 1 4096 4096 = \
                 vector 1 subgroups sums 4x4 lanes 64 passes 1 @ 1.0000";
    let tuned = Tuned::from_text(&text(&with, &[entry]), &without).expect("a table");
    let product = |device: &Device| {
        let device = device.with_tuned(&tuned);
        let x = device.zeros([1, 4096], DType::F32)?;
        let y = x.linear(&device.zeros([4096, 4096], DType::F32)?, None)?;
        let said = y.explain().to_string();
        y.compute().map(|()| said)
    };
    let product = |device| product(device).expect("it runs");
    assert!(product(&with).contains("tuned"), "where it was tuned");
    assert!(!product(&without).contains("tuned"), "without subgroups");
}

#[test]
fn a_table_of_another_adapter_is_not_used() {
    let (plain, other) = (here(), open(Caps::webgpu_baseline()));
    let tuned = Tuned::from_text(&text(&plain, ENTRIES), &plain).expect("a table");
    let device = other.with_tuned(&tuned);
    let a = device.zeros([512, 512], DType::F32).expect("it fits");
    let text = a.matmul(&a).expect("they fit").explain().to_string();
    assert!(!text.contains("tuned"), "{text}");
}

#[test]
fn tables_are_merged_and_the_newer_one_wins() {
    let device = here();
    let older = Tuned::from_text(&text(&device, &ENTRIES[..2]), &device).expect("a table");
    let newer = ENTRIES[0].replace("4x8", "8x8");
    let newer = Tuned::from_text(&text(&device, &[&newer, ENTRIES[2]]), &device).expect("a table");
    let both: Vec<String> = older.merged(&newer).iter().map(|(_, kernel)| kernel).collect();
    let want = ["tile sums 1x4 lanes 8 passes 2", "tile sums 8x8 lanes 8 passes 1", "built-in"];
    assert_eq!(both, want.map(String::from));
}

type Operation = fn(&Tensor) -> Result<Tensor>;

/// An entry that is not what is built in, and an operation that it is for.
const KINDS: [(&str, Operation); 7] = [
    ("norm 64 4096 = lanes 32", |x| x.layer_norm(1, None, None, 1e-5)),
    ("softmax 64 4096 = lanes 32", |x| x.log_softmax(1)),
    ("sum 64 4096 1 = lanes chunks 4", |x| x.amax(1)),
    ("sum 1 64 4096 = lanes chunks 8", |x| x.sum(0)),
    ("sort 64 4096 = digits 4 chunks of 1024", |x| x.argsort(1, Order::Descending)),
    ("attention f32 1 8 8 256 256 128 128 = workgroups groups 2 splits 3", |x| {
        let x = x.reshape([1, 8, 256, 128])?;
        x.attention(&x, &x, &Attention::new())
    }),
    ("weights q8 64 32 4096 = staged 1", |x| x.linear(&weights(x.device())?, None)),
];

fn weights(device: &Device) -> Result<Quantized> {
    let values = device.zeros([32, 4096], DType::I8)?;
    Quantized::of(&values, &device.zeros([32, 128], DType::F16)?)
}

/// What is said of an operation's kernels, and their texts and workgroups.
fn explained(device: &Device, operation: Operation) -> (String, String) {
    let x = device.zeros([64, 4096], DType::F32).expect("it fits");
    let plan = operation(&x).expect("it is fit").explain();
    let remarks = plan.kernels.iter().flat_map(|kernel| kernel.remarks.clone());
    let work = plan.kernels.iter().map(|kernel| format!("{}{:?}", kernel.wgsl, kernel.dispatches));
    (remarks.collect::<Vec<_>>().join("; "), work.collect())
}

#[test]
fn an_entry_of_every_kind_is_obeyed_by_what_it_is_for_and_by_nothing_else() {
    let plain = here().with_target(Target::Gpu);
    for (kind, (entry, _)) in KINDS.iter().enumerate() {
        let tuned = Tuned::from_text(&text(&plain, &[&*format!("{entry} @ 1.0000")]), &plain)
            .expect("a table");
        let device = plain.with_tuned(&tuned);
        for (other, (_, operation)) in KINDS.iter().enumerate() {
            let (said, work) = explained(&device, *operation);
            let (before, built_in) = explained(&plain, *operation);
            assert!(!before.contains("tuned"), "nothing tunes by itself: {before}");
            assert_eq!(said.contains("tuned"), other == kind, "{entry}: {other}: {said}");
            assert_eq!(work != built_in, other == kind, "{entry}: {other}: what is computed");
            let (said, _) = explained(&device.with_batch_invariance(), *operation);
            assert!(!said.contains("tuned"), "a batch is chosen for as a row is: {said}");
        }
    }
}

#[test]
fn what_is_asked_for_is_noted_once_and_by_nobody_else() {
    let device = here();
    let (noting, problems) = device.noting();
    for (_, operation) in KINDS {
        drop(explained(&device, operation));
    }
    assert_eq!(problems.list(), []);
    for (_, operation) in KINDS.iter().chain(&KINDS) {
        drop(explained(&noting, *operation));
    }
    let square = |x: &Tensor| x.matmul(&x.t()?);
    drop(explained(&noting, square));
    let want: [Problem; 8] = [
        RowsSize::norm(64, 4096).into(),
        RowsSize::softmax(64, 4096).into(),
        SumSize::rows(64, 4096).into(),
        SumSize::columns(64, 4096).into(),
        SortSize::new(64, 4096).into(),
        AttentionSize::new(8, 256, 256, 128, DType::F32).into(),
        WeightsSize::new(64, 32, 4096, Blocks::Q8).into(),
        ProductSize::new(64, 64, 4096, DType::F32).transposed().into(),
    ];
    assert_eq!(problems.list(), want);
}

/// A table that says how many cores a GPU has, and nothing else.
fn of_cores(device: &Device, cores: &str) -> Result<Tuned> {
    let text = text(device, &[]).replace("end 0", &format!("cores {cores}\nend 0"));
    Tuned::from_text(&text, device)
}

#[test]
fn cores_are_kept_and_only_before_all_entries_and_once() {
    let device = here().with_target(Target::Gpu);
    let tuned = of_cores(&device, "7").expect("a table");
    assert_eq!(tuned.cores(), Some(7));
    let again = Tuned::from_text(&tuned.to_string(), &device).expect("a table");
    assert_eq!((again.cores(), again.to_string()), (Some(7), tuned.to_string()));
    assert_eq!(Tuned::new(&device).cores(), None, "of nothing timed");
    for wrong in ["3", "1025", "few", "7\ncores 7"] {
        let error = of_cores(&device, wrong).expect_err("nothing of it counts").to_string();
        let line = wrong.lines().last().unwrap_or_default().replace("cores ", "");
        assert!(error.ends_with(&format!(": \"cores {line}\" is no entry")), "{error}");
    }
    let late = text(&device, &["sum 64 4096 1 = lanes chunks 4 @ 1.0", "cores 7"]);
    let late = Tuned::from_text(&late, &device).expect_err("cores come first").to_string();
    assert!(late.ends_with("\"cores 7\" is no entry"), "{late}");
    let [older, newer] = ["7", "9"].map(|cores| of_cores(&device, cores).expect("a table"));
    assert_eq!(older.clone().merged(&newer).cores(), Some(9));
    assert_eq!(older.merged(&Tuned::new(&device)).cores(), Some(7));
}

/// What is chosen by how many cores there are, of 64 x 4096 elements.
const BY_CORES: [(&str, Operation); 9] = [
    ("a product", |x| {
        let x = x.reshape([512, 512])?;
        x.matmul(&x)
    }),
    ("a sum", |x| x.sum([0, 1])),
    ("running sums", |x| x.reshape([1, 64 * 4096])?.cumsum(1)),
    ("attention", |x| {
        let x = x.reshape([1, 8, 256, 128])?;
        x.attention(&x, &x, &Attention::new())
    }),
    ("a convolution", |x| {
        let weight = x.device().zeros([64, 64, 3, 3], DType::F32)?;
        x.reshape([1, 64, 64, 64])?.conv2d(&weight, None, &Conv::new())
    }),
    ("weights in blocks", |x| {
        let device = x.device();
        let values = device.zeros([1024, 4096], DType::I8)?;
        let weights = Quantized::of(&values, &device.zeros([1024, 128], DType::F16)?)?;
        x.slice(0, 0..1)?.linear(&weights, None)
    }),
    ("long rows", |x| x.reshape([4, 16 * 4096])?.softmax(1)),
    ("a sample", |x| {
        let grid = x.device().zeros([1, 64, 64, 2], DType::F32)?;
        x.reshape([1, 64, 64, 64])?.grid_sample(&grid, Align::Edges, Pad::Replicate)
    }),
    ("an enlarged image", |x| {
        let by = Interpolation::Linear(Align::Edges);
        x.reshape([1, 64, 64, 64])?.interpolate([128, 128], by)
    }),
];

/// Every room asks how many there are, and gets what was timed where that applies.
#[test]
fn cores_that_were_timed_are_what_everything_is_chosen_for() {
    let plain = here().with_target(Target::Gpu);
    let few = plain.with_tuned(&of_cores(&plain, "6").expect("a table"));
    let usual = plain.with_tuned(&of_cores(&plain, "128").expect("a table"));
    let of_processor =
        here().with_tuned(&of_cores(&here(), "6").expect("a table")).with_target(Target::Gpu);
    let alike = BY_CORES
        .iter()
        .filter(|(_, operation)| explained(&few, *operation).1 == explained(&plain, *operation).1);
    assert_eq!(alike.map(|(name, _)| *name).collect::<Vec<_>>(), [""; 0], "nobody asks");
    for (name, operation) in BY_CORES {
        let (_, built_in) = explained(&plain, operation);
        assert!(explained(&usual, operation).1 == built_in, "{name}: of as many as usual");
        let other = explained(&of_processor, operation).1;
        assert!(other == built_in, "{name}: of another class of kernels");
        let on = |target| explained(&few.with_target(target), operation).1;
        let cpu = explained(&plain.with_target(Target::Cpu64), operation).1;
        assert!(on(Target::Cpu64) == cpu, "{name}: a processor is not asked");
        let [any, alone] = [&few, &plain].map(|d| explained(&d.with_batch_invariance(), operation));
        assert!(any == alone, "{name}: what was tuned is not asked where batches do not matter");
    }
}

/// Long heads are staged by the same kernel there.
#[test]
fn kernels_for_a_processor_are_no_smaller_on_a_chip_of_few_cores() {
    let heads: Operation = |x| {
        let x = x.reshape([1, 8, 128, 256])?;
        x.attention(&x, &x, &Attention::new())
    };
    let of = |device_type| {
        let mut caps = fixtures::lavapipe();
        (caps.identity.vendor, caps.identity.device_type) = (0x8086, device_type);
        open(caps)
    };
    let chips = [DeviceType::Integrated, DeviceType::Discrete].map(of);
    let alike = |target| {
        let [few, broad] = chips.each_ref().map(|chip| explained(&chip.with_target(target), heads));
        few == broad
    };
    assert_eq!([Target::Gpu, Target::Cpu].map(alike), [false, true]);
}
