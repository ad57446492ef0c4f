//! Entries and their text, on paper.

use super::*;
use crate::caps::{Caps, fixtures};
use crate::dtype::DType;
use crate::host::blocks::Blocks;
use crate::kernel::quantized::text::QuantizedTile;
use crate::wgsl::rig::Rig;

/// A problem of every kind.
fn problems() -> [Problem; 8] {
    let product = ProductSize::new(1, 4096, 512, DType::Bf16);
    let attention = AttentionSize::new(32, 1, 4096, 128, DType::F16);
    [
        product.batched(3).transposed().into(),
        product.into(),
        attention.into(),
        attention.batched(2).sharing(8).causal().into(),
        WeightsSize::new(16, 4096, 11_008, Blocks::Q4K).into(),
        RowsSize::softmax(64, 50_257).into(),
        SumSize { outer: 3, length: 1000, inner: 7 }.into(),
        SortSize::new(1, 1 << 20).into(),
    ]
}

#[test]
fn entries_come_back_from_their_text() {
    let texts = [
        "product bf16 [n,k] 3 1 4096 512",
        "product bf16 [k,n] 1 1 4096 512",
        "attention f16 1 32 32 1 4096 128 128",
        "attention f16 causal 2 32 8 1 4096 128 128",
        "weights q4_k 16 4096 11008",
        "softmax 64 50257",
        "sum 3 1000 7",
        "sort 1 1048576",
    ];
    for (problem, text) in problems().into_iter().zip(texts) {
        let built_in = Measured { problem, choice: None, rate: 0.25 };
        assert_eq!(built_in.text(), format!("{text} = built-in @ 0.2500"));
        assert_eq!(Measured::parse(&built_in.text()), Some(built_in));
    }
    let norm: Problem = RowsSize::norm(3, 5).into();
    assert_eq!(Problem::parse("norm 3 5"), Some(norm));
    for (place, choices) in [
        (
            1,
            &[
                "tile sums 8x16 lanes 8 passes 2",
                "tile sums 1x4 lanes 64 passes 1",
                "group 16 deep 16 sums 8x8 lanes 256 passes 1",
                "group 16 deep 16 lean sums 8x4 lanes 256 passes 1",
                "vector 1 subgroups sums 4x4 lanes 64 passes 2",
                "vector 16 sums 1x4 lanes 256 passes 16",
                "vector 1 subgroups sums 2x8 lanes 8 passes 1",
                "cooperative 16 2x2 deep 32 sums 32x32 lanes 128 passes 1",
                "cooperative 8 2x2 deep 16 sums 16x16 lanes 32 passes 3",
            ][..],
        ),
        (2, &["lanes queries 4 keys 8", "workgroups groups 16 splits 3"]),
        (
            4,
            &[
                "numbers",
                "registers 4",
                "registers 16 together",
                "few 4 lanes 256 down 64",
                "staged 2",
            ],
        ),
        (5, &["lanes 1", "lanes 128"]),
        (6, &["workgroups chunks 4", "lanes chunks 1"]),
        (7, &["digits 8 chunks of 4096", "digits 4 chunks of 1"]),
    ] {
        let problem = problems()[place];
        for choice in choices {
            let line = format!("{} = {choice} @ 12.5000", problem.text());
            let entry = Measured::parse(&line);
            assert_eq!(entry.map(|entry| entry.text()), Some(line));
        }
    }
}

#[test]
fn what_is_no_entry_is_refused() {
    let refused: [(usize, &[&str]); 6] = [
        (
            1,
            &[
                "tile sums 8x16 lanes 8",
                "tile sums 8x15 lanes 8 passes 1",
                "tile sums 0x16 lanes 8 passes 1",
                "tile sums 8x16 lanes 0 passes 1",
                "tile sums 8x16 lanes 8 passes 0",
                "group 16 deep 7 sums 8x8 lanes 256 passes 1",
                "group 16 deep 16 fat sums 8x4 lanes 256 passes 1",
                "group 16 deep 16 lean sums 8x8 lanes 256 passes 1",
                "vector 0 sums 1x4 lanes 256 passes 1",
                "cooperative 4 2x2 deep 16 sums 16x16 lanes 32 passes 1",
                "cooperative 8 0x0 deep 16 sums 16x16 lanes 32 passes 1",
                "wave sums 8x16 lanes 8 passes 1",
                "lanes 128",
            ],
        ),
        (
            2,
            &[
                "lanes queries 0 keys 8",
                "lanes queries 5 keys 8",
                "lanes queries 4 keys 0",
                "lanes queries 4 keys 9",
                "workgroups groups 3 splits 1",
                "workgroups groups 4 splits 0",
                "workgroups groups 4",
            ],
        ),
        (
            4,
            &[
                "registers 0",
                "registers 3",
                "registers 32",
                "registers 4 apart",
                "few 8 lanes 256 down 64",
                "few 4 lanes 512 down 64",
                "few 4 lanes 64 down 128",
                "staged 8",
                "number",
            ],
        ),
        (5, &["lanes 2", "lanes 512", "lanes 96", "128"]),
        (6, &["workgroups chunks 0", "warps chunks 1", "chunks 4"]),
        (7, &["digits 5 chunks of 64", "digits 8 chunks of 0", "digits 8"]),
    ];
    for (place, choices) in refused {
        let problem = problems()[place].text();
        for choice in choices {
            assert_eq!(
                Measured::parse(&format!("{problem} = {choice} @ 1.0000")),
                None,
                "{choice}"
            );
        }
    }
}

#[test]
fn what_is_no_problem_is_refused() {
    let line = "product f32 [k,n] 1 64 64 64 = tile sums 8x16 lanes 8 passes 1 @ 3.0000";
    assert!(Measured::parse(line).is_some(), "{line}");
    for (from, to) in
        [("f32", "f31"), ("[k,n]", "[m,n]"), ("64 64 ", "64 "), ("3.00", "fast"), ("3.00", "inf")]
    {
        assert_eq!(Measured::parse(&line.replacen(from, to, 1)), None, "{to}");
    }
    for text in ["attention f32 late 1 8 8 5 5 64 64", "weights q9 1 2 3", "sum 1 2", "sort 1", ""]
    {
        assert_eq!(Problem::parse(text), None, "{text}");
    }
}

#[test]
fn an_entry_counts_for_its_class() {
    let entry = |problem: Problem, choice: &str| {
        let text = format!("{} = {choice} @ 1.0000", problem.text());
        Measured::parse(&text).expect("an entry")
    };
    let of = |m| Problem::from(ProductSize::new(m, 512, 512, DType::F32));
    let (first, second) = ("tile sums 8x16 lanes 8 passes 1", "tile sums 4x8 lanes 8 passes 1");
    let entries = vec![
        entry(of(512), first),
        entry(of(400), second),
        entry(SumSize::rows(4, 1000).into(), "lanes chunks 2"),
        entry(RowsSize::norm(4, 1000).into(), "lanes 64"),
    ];
    let table = Table { target: Target::Cpu, breadth: None, entries };
    let chosen = |target, size: ProductSize| table.choice(target, size).map(|c| c.text());
    let square = ProductSize::new(512, 512, 512, DType::F32);
    assert_eq!(chosen(Target::Cpu, square).as_deref(), Some(first));
    assert_eq!(chosen(Target::Cpu, ProductSize { m: 400, ..square }).as_deref(), Some(second));
    assert_eq!(chosen(Target::Cpu, ProductSize { m: 300, ..square }).as_deref(), Some(first));
    for other in [
        ProductSize { m: 513, ..square },
        ProductSize { k: 256, ..square },
        ProductSize { dtype: DType::F16, ..square },
        square.transposed(),
        square.batched(2),
    ] {
        assert_eq!(chosen(Target::Cpu, other), None, "{other}");
    }
    assert_eq!(chosen(Target::Gpu, square), None, "another class of kernels");
    let sum = SumSize::rows(3, 1024);
    let two = SumChoice { grouped: false, chunks: 2 };
    assert_eq!(table.choice(Target::Cpu, sum), Some(two), "of the class of 4 and 1024");
    assert_eq!(table.choice(Target::Cpu, RowsSize::softmax(4, 1000)), None, "no norm");
    let line = format!("product f32 [k,n] 1 {} 64 64 = {first} @ 3.0000", usize::MAX);
    let entries = Measured::parse(&line).into_iter().collect();
    let table = Table { target: Target::Cpu, breadth: None, entries };
    assert_eq!(table.choice(Target::Cpu, square), None, "beyond every power of two");
}

/// What is worth timing on a kind of machine, as text.
fn tried(problem: impl Into<Problem>, target: Target, caps: &Caps) -> Vec<String> {
    let on = Rig::on_paper(target, caps);
    problem.into().candidates(on).iter().map(Chosen::text).collect()
}

#[test]
fn candidates_are_what_can_be_chosen_here() {
    let (cpu, gpu) = (fixtures::lavapipe(), Caps::webgpu_baseline());
    let every: [Problem; 6] = [
        ProductSize::new(512, 512, 512, DType::F32).into(),
        AttentionSize::new(8, 512, 512, 64, DType::F32).into(),
        WeightsSize::new(4, 4096, 4096, Blocks::Q8).into(),
        RowsSize::softmax(4096, 1024).into(),
        SumSize::rows(64, 1 << 16).into(),
        SortSize::new(1, 1 << 20).into(),
    ];
    for problem in every {
        for (target, caps) in [(Target::Cpu64, &cpu), (Target::Cpu, &cpu), (Target::Gpu, &gpu)] {
            let texts = tried(problem, target, caps);
            let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
            assert_eq!(distinct.len(), texts.len(), "{problem}: {texts:?}");
            let few = matches!(problem, Problem::Rows(_)) && target != Target::Gpu;
            assert_eq!(texts.len() < 2, few, "{problem} on {target:?}: {texts:?}");
            for text in &texts {
                assert!(problem.choice(text).is_some(), "{problem}: {text}");
            }
        }
    }
    let lanes = ["lanes 32", "lanes 64", "lanes 128", "lanes 256"];
    assert_eq!(tried(RowsSize::norm(8, 4096), Target::Gpu, &gpu), lanes);
    assert_eq!(tried(RowsSize::norm(8, 1024), Target::Gpu, &gpu)[0], "lanes 1");
    // A few rows share what they bring; many are worth numbers.
    let of = |rows| tried(WeightsSize::new(rows, 64, 4096, Blocks::Q8), Target::Gpu, &gpu);
    assert!(of(1).iter().all(|text| text.starts_with("few 1 ")), "{:?}", of(1));
    assert!(of(17).iter().all(|text| !text.starts_with("few")), "{:?}", of(17));
    assert_eq!(of(16).last().map(|text| &**text), Some("numbers"));
    assert!(tried(SortSize::new(50, 100), Target::Cpu, &cpu).is_empty(), "they are ranked");
    let lone = AttentionSize::new(8, 1, 512, 64, DType::F32);
    assert!(tried(lone, Target::Cpu, &cpu).is_empty(), "it is products");
    let tile = QuantizedTile::Staged { rows: 1 };
    assert!(of(2).contains(&WeightsChoice::Tile(tile).text()));
}
