//! The generator against its published test vectors, and what is drawn from it.

use wharf::DType;
use wharf::reference::random::{integer, normal, permutation, philox, uniform};
use wharf::tensor::Key;

/// Random123, `kat_vectors`, philox4x32 10: counter, key, result.
const KNOWN: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
    ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
    ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
    (
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ),
];

#[test]
fn the_generator_is_philox() {
    for (counter, key, words) in KNOWN {
        assert_eq!(philox(counter, key), words, "of {counter:x?} with {key:x?}");
    }
}

#[test]
fn keys_are_words_and_split_into_others() {
    assert_eq!(Key::new(0x1234_5678_9abc_def0).words(), [0x9abc_def0, 0x1234_5678]);
    let mut seen = vec![Key::new(1)];
    for i in 0..1000 {
        seen.push(Key::new(1).child(i));
    }
    let (a, b) = Key::new(1).split();
    let (c, d) = a.split();
    seen.extend([a, b, c, d, Key::new(2)]);
    let mut words: Vec<[u32; 2]> = seen.iter().map(|key| key.words()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), seen.len(), "two keys are the same");
}

#[test]
fn what_is_drawn_lies_where_it_should() {
    let key = Key::new(5).words();
    let n = 20_000;
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
        let all: Vec<f64> = (0..n).map(|i| uniform(key, dtype, i)).collect();
        assert!(all.iter().all(|x| (0.0..1.0).contains(x)), "{dtype} from 0 to 1");
        let mean = all.iter().sum::<f64>() / n as f64;
        // Within five standard deviations of the mean of this many, and half a step of bf16.
        assert!(
            (mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / n as f64).sqrt() + 0.002,
            "{dtype}: {mean}"
        );
    }
    let squares = (0..n).map(|i| normal(key, i).powi(2)).sum::<f64>() / n as f64;
    assert!((squares - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt(), "variance {squares}");
    let mut counts = [0; 7];
    (0..n).for_each(|i| counts[(integer(key, -3, 7, i) + 3) as usize] += 1);
    assert!(counts.iter().all(|&c| (2500..3200).contains(&c)), "{counts:?}");
    let mut order = permutation(key, 1000);
    assert_ne!(order[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "in order");
    order.sort_unstable();
    assert!(order.iter().copied().eq(0..1000), "each once");
}
