//! What the log says: lines of one shape, each under the target of its topic, and none of what is
//! only explained.

use std::cell::RefCell;
use std::sync::Once;

use log::{LevelFilter, Log, Metadata, Record};
use wharf::caps::{Caps, Limit};
use wharf::ledger::Crossings;
use wharf::testing::{Call, Inside};
use wharf::{DType, Device};

use crate::device;

thread_local! {
    /// What this thread has said since it listens: level, target, text.
    static HEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

struct Ear;

impl Log for Ear {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("wharf::") && HEARD.with_borrow(Option::is_some)
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let line = format!("{} {} {}", record.level(), record.target(), record.args());
            HEARD.with_borrow_mut(|heard| heard.as_mut().expect("it listens").push(line));
        }
    }

    fn flush(&self) {}
}

/// What is said meanwhile on this thread.
fn heard(run: impl FnOnce() -> wharf::Result<()>) -> Vec<String> {
    static EAR: Once = Once::new();
    EAR.call_once(|| {
        log::set_logger(&Ear).expect("the only one");
        log::set_max_level(LevelFilter::Debug);
    });
    HEARD.set(Some(Vec::new()));
    run().expect("it runs");
    HEARD.take().expect("it listened")
}

/// The only line under a target.
fn only<'a>(lines: &'a [String], target: &str) -> &'a str {
    let under = |line: &&String| line.split(' ').nth(1) == Some(target);
    let all: Vec<&String> = lines.iter().filter(under).collect();
    let [line] = *all else { panic!("{} of {target} in {lines:#?}", all.len()) };
    line
}

/// A line with its numbers as `#`, and the times without their unit.
fn masked(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() || (c == '.' && out.ends_with('#')) { '#' } else { c };
        if c != '#' || !out.ends_with('#') {
            out.push(c);
        }
    }
    ["#ns", "#µs", "#ms"].iter().fold(out, |out, unit| out.replace(unit, "#"))
}

#[test]
fn a_pipeline_is_told_once_with_who_asked() {
    let device = device(|caps| caps);
    let (x, _) = device.upload(&[0.5f32; 64], [8, 8]).expect("it crosses");
    let run = || x.softmax(1)?.compute();
    let at = line!() - 1;
    let lines = heard(run);
    let said = masked(only(&lines, "wharf::pipeline"));
    let want = "DEBUG wharf::pipeline softmax_rows: compiled in #, # of it the driver's \
                (asked for at tests/noop/news.rs:#:#)";
    assert_eq!(said, want);
    assert!(lines[0].contains(&format!("news.rs:{at}:")), "{lines:?}");
    assert_eq!(heard(run), [""; 0], "it is there");
}

#[test]
fn a_copy_is_told_with_how_the_tensor_lies() {
    let device = device(|caps| caps);
    let (x, _) = device.upload(&[0.5f32; 24], [4, 6]).expect("it crosses");
    let columns = x.t().expect("a view");
    let lines = heard(|| columns.contiguous()?.compute());
    let want = "DEBUG wharf::copy f# [#, #]: # bytes copied, strides [#, #]: \
                it is needed dense, and apart (asked for at tests/noop/news.rs:#:#)";
    assert_eq!(masked(only(&lines, "wharf::copy")), want);
    assert!(only(&lines, "wharf::copy").contains("f32 [6, 4]: 96 bytes copied, strides [1, 6]"));
    let explained = heard(|| {
        let told = columns.contiguous()?.explain();
        assert!(told.dispatches() > 0, "{told}");
        Ok(())
    });
    assert_eq!(explained, [""; 0], "nothing happens where something is explained");
}

/// Small segments, so that there are smaller ones for what is not small.
fn narrow() -> Device {
    device(|caps| {
        let most = [Limit::BufferBytes, Limit::BindingBytes];
        most.iter().fold(caps, |caps: Caps, &limit| caps.with_limit(limit, 128 << 20))
    })
}

#[test]
fn a_retry_and_a_fallback_are_told() {
    let device = narrow();
    let one = || device.zeros([100 << 18], DType::F32)?.compute();
    device.fail(Call::Allocation, 0..1);
    let lines = heard(one);
    let want = "INFO wharf::memory # MiB: refused by the driver; unused memory: # B given back, \
                tried again";
    assert_eq!(masked(only(&lines, "wharf::memory")), want);
    device.trim().expect("it is given back");
    device.fail(Call::Allocation, 0..3);
    let lines = heard(one);
    let told = lines.iter().filter(|line| line.contains("wharf::memory")).count();
    assert_eq!(told, 2, "after trimming, and after moving together: {lines:#?}");
    let said = masked(only(&lines, "wharf::fallback"));
    assert_eq!(said, "INFO wharf::fallback # MiB: refused by the driver; in segments of # MiB");
}

#[test]
fn a_crossing_is_told_where_that_is_asked_for() {
    let device = device(|caps| caps);
    let _guard = device.guard(Crossings::Log);
    let lines = heard(|| device.upload(&[1.0f32; 4], [4]).map(drop));
    let want = "WARN wharf::crossing upload: crosses up (asked for at tests/noop/news.rs:#:#)";
    assert_eq!(masked(only(&lines, "wharf::crossing")), want);
}

/// Whatever is said by a program of many parts has the shape: a subject, and what happened to it.
#[test]
fn every_line_has_the_shape() {
    let device = device(|caps| caps);
    let lines = heard(|| {
        let (x, _) = device.upload(&[0.5f32; 4096], [64, 64])?;
        let y = x.t()?.matmul(&x)?.gelu()?.gt(0.0)?;
        y.cast(DType::F32)?.sum(0)?.softmax(0)?.read_now::<f32>()?;
        // A result of four bytes, and of it one that is stored as one byte.
        x.sum(1)?.gt(0.0)?.compute()
    });
    let apart = masked(only(&lines, "wharf::fallback"));
    let want = "DEBUG wharf::fallback what becomes of a result: a kernel of its own: it cannot be \
                stored as the result is (asked for at tests/noop/news.rs:#:#)";
    assert_eq!(apart, want);
    assert!(lines.len() > 4, "{lines:#?}");
    for line in &lines {
        let mut parts = line.splitn(3, ' ');
        let (level, target, text) = (parts.next(), parts.next(), parts.next());
        let shaped = text.is_some_and(|text| text.contains(": ") && text.ends_with(')'));
        assert!(level == Some("DEBUG") && target.is_some() && shaped, "{line}");
    }
}
