//! The comparison as text, as Markdown, as JSON.

use peer_cases::{Case, Kind};

use crate::compare::{Line, Runtime, Side};

/// Three digits, whatever the size.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

/// A side's value, or what was wrong.
fn cell(side: &Side) -> String {
    match (side.present, side.right, side.value) {
        (false, ..) => "-".into(),
        (true, true, Some(value)) => short(value),
        (true, ..) => "wrong".into(),
    }
}

fn ratio(case: &Case, ours: &Side, theirs: &Side) -> Option<f64> {
    Some(case.ratio(ours.value?, theirs.value?)).filter(|ratio| ratio.is_finite())
}

/// The result of one case in a line, printed while the others run.
pub fn brief(runtimes: &[Runtime], line: &Line) -> String {
    let sides: Vec<String> = runtimes
        .iter()
        .zip(&line.sides)
        .filter(|(_, side)| side.present)
        .map(|(runtime, side)| {
            let why = if side.right { String::new() } else { format!(" ({})", side.why) };
            format!("{} {}{why}", runtime.name, cell(side))
        })
        .collect();
    format!("{} {}", sides.join(", "), line.case.unit.name())
}

/// The table for the terminal: one row a case, ours against the first peer, then the yardsticks.
pub fn text(runtimes: &[Runtime], lines: &[Line]) -> String {
    let wide = lines.iter().map(|line| line.case.name.chars().count()).max().unwrap_or(4).max(4);
    let mut out = format!("{:<wide$} {:<8}", "case", "unit");
    for (i, runtime) in runtimes.iter().enumerate() {
        out += &format!(" {:>13}", runtime.name);
        if i > 0 && runtime.on_device {
            out += &format!(" {:>7}", "ratio");
        }
    }
    out += &format!(" {:>18}", "first run, ms");
    for line in lines {
        out += &format!("\n{:<wide$} {:<8}", line.case.name, line.case.unit.name());
        for (i, (runtime, side)) in runtimes.iter().zip(&line.sides).enumerate() {
            out += &format!(" {:>13}", cell(side));
            if i > 0 && runtime.on_device {
                let ratio = ratio(&line.case, &line.sides[0], side);
                out += &format!(" {:>7}", ratio.map_or_else(|| "-".into(), short));
            }
        }
        out += &format!(" {:>18}", cold(runtimes, line));
    }
    for (line, runtime, why) in wrongs(runtimes, lines) {
        out += &format!("\nwrong: {}, {runtime}: {why}", line.case.name);
    }
    out
}

/// Milliseconds of the first run, of those on the device.
fn cold(runtimes: &[Runtime], line: &Line) -> String {
    let sides = runtimes.iter().zip(&line.sides).filter(|(runtime, _)| runtime.on_device);
    let cells = sides.map(|(_, side)| side.cold.map_or_else(|| "-".into(), |s| short(s * 1e3)));
    cells.collect::<Vec<_>>().join(" / ")
}

fn wrongs<'a>(
    runtimes: &'a [Runtime],
    lines: &'a [Line],
) -> impl Iterator<Item = (&'a Line, &'static str, &'a str)> {
    lines.iter().flat_map(move |line| {
        let sides = runtimes.iter().zip(&line.sides);
        sides
            .filter(|(_, side)| side.present && !side.right)
            .map(move |(runtime, side)| (line, runtime.name, side.why.as_str()))
    })
}

const SECTIONS: &[(Kind, &str)] = &[
    (Kind::Matmul, "Matrix products, attention"),
    (Kind::Elementwise, "Elementwise, 4096 x 4096"),
    (Kind::Rows, "Along rows and columns; softmax, norm: best of 5 processes from nothing"),
    (Kind::Images, "An image of 64 x 56 x 56; lists"),
    (Kind::Model, "all-MiniLM-L6-v2, forward; its shapes, weights from a seed"),
    (Kind::Crossing, "Crossings, 24 Mi elements; bytes of the host"),
    (Kind::Latency, "Small operations"),
    (Kind::Process, "From a process's start; size"),
];

/// The table for RESULTS.md, in sections.
pub fn markdown(runtimes: &[Runtime], lines: &[Line]) -> String {
    let mut out = String::new();
    for (kind, title) in SECTIONS {
        let here: Vec<&Line> = lines.iter().filter(|line| line.case.kind == *kind).collect();
        if here.is_empty() {
            continue;
        }
        out += &format!("\n| {title} | unit |");
        let mut rule = String::from("|---|---|");
        for (i, runtime) in runtimes.iter().enumerate() {
            out += &format!(" {} |", runtime.name);
            rule += "--:|";
            if i > 0 && runtime.on_device {
                out += " ratio |";
                rule += "--:|";
            }
        }
        out += &format!(" first run, ms |\n{rule}--:|\n");
        for line in here {
            out += &format!("| {} | {} |", line.case.name, line.case.unit.name());
            for (i, (runtime, side)) in runtimes.iter().zip(&line.sides).enumerate() {
                out += &format!(" {} |", cell(side));
                if i > 0 && runtime.on_device {
                    let ratio = ratio(&line.case, &line.sides[0], side);
                    out += &ratio.map_or_else(|| " - |".into(), |r| format!(" **{}** |", short(r)));
                }
            }
            out += &format!(" {} |\n", cold(runtimes, line));
        }
    }
    let wrong: Vec<String> = wrongs(runtimes, lines)
        .map(|(line, runtime, why)| format!("- {}, {runtime}: {why}\n", line.case.name))
        .collect();
    if !wrong.is_empty() {
        out += &format!("\nWrong results, for which no speed is quoted:\n\n{}", wrong.concat());
    }
    out
}

/// An array of objects, one for each case and peer.
pub fn json(runtimes: &[Runtime], lines: &[Line]) -> String {
    let mut objects = Vec::new();
    for line in lines {
        let ours = &line.sides[0];
        for (runtime, theirs) in runtimes.iter().zip(&line.sides).skip(1) {
            if !theirs.present {
                continue;
            }
            let fields = [
                ("case", quoted(&line.case.name)),
                ("unit", quoted(line.case.unit.name())),
                ("ours", number(ours.value)),
                ("theirs", number(theirs.value)),
                ("peer", quoted(runtime.name)),
                ("ratio", number(ratio(&line.case, ours, theirs))),
                ("ours_right", ours.right.to_string()),
                ("theirs_right", theirs.right.to_string()),
                ("ours_first_ms", number(ours.cold.map(|s| s * 1e3))),
                ("theirs_first_ms", number(theirs.cold.map(|s| s * 1e3))),
                ("theirs_wrong", quoted(&theirs.why)),
            ];
            let fields = fields.map(|(name, value)| format!("\"{name}\": {value}"));
            objects.push(format!("  {{{}}}", fields.join(", ")));
        }
    }
    format!("[\n{}\n]\n", objects.join(",\n"))
}

fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map_or_else(|| "null".into(), |v| v.to_string())
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The ratio to the first peer on the device, for the picture.
pub fn first_ratio(runtimes: &[Runtime], line: &Line) -> Option<f64> {
    let peer = runtimes.iter().skip(1).position(|runtime| runtime.on_device)? + 1;
    ratio(&line.case, &line.sides[0], line.sides.get(peer)?)
}
