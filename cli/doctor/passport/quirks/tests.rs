//! Answers that are no numbers.

/// What a driver computes by the book, but for one answer that is no number.
#[test]
fn what_is_no_number_is_told() {
    let numbers: Vec<f32> = (0..super::SINGLE + super::LIST).map(|i| i as f32 + 0.5).collect();
    let list = &numbers[super::SINGLE..];
    let mut seen = vec![0; super::SINGLE];
    seen[6] = numbers[7].sin().to_bits();
    seen.extend(list.iter().map(|x| (1.0 / x).to_bits()));
    seen.extend(list.iter().map(|x| x.exp().to_bits()));
    for (at, what) in [
        (6, "sin(1000.5)"),
        (super::SINGLE + 3, "1 / x"),
        (super::SINGLE + super::LIST + 3, "exp(x), |x| < 43"),
    ] {
        let told = |seen: &[u32]| {
            let all = super::quirks(&numbers, seen);
            let found = all.into_iter().find(|quirk| quirk.what == what);
            found.map(|quirk| (quirk.surprising, quirk.seen))
        };
        let before = told(&seen).map(|(surprising, _)| surprising);
        assert_eq!(before, Some(false), "{what}");
        let mut spoiled = seen.clone();
        spoiled[at] = f32::NAN.to_bits();
        let (surprising, text) = told(&spoiled).unwrap_or_default();
        assert!(surprising && text.contains("inf"), "{what}: {text}");
    }
}
