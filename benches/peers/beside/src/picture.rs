//! The picture: a bar for each case - how many times as fast as the peer - and a roofline. Its
//! colours follow the reader's setting, light or dark.

use core::fmt::Write as _;

use crate::compare::{Line, Runtime};
use crate::table::first_ratio;

const WIDTH: f64 = 960.0;
const LABELS: f64 = 260.0;
const ROW: f64 = 18.0;
const TOP: f64 = 64.0;
const PLOT: f64 = 360.0;

const STYLE: &str = "
    text { font: 12px system-ui, sans-serif; fill: #24292f; }
    .title { font-size: 16px; font-weight: 600; }
    .faint { fill: #57606a; }
    .paper { fill: #ffffff; }
    .line { stroke: #d0d7de; stroke-width: 1; }
    .one { stroke: #57606a; stroke-width: 1.5; }
    .more { fill: #1a7f37; } .less { fill: #bc4c00; } .theirs { fill: #8250df; }
    .roof { stroke: #0969da; stroke-width: 2; fill: none; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; } .faint { fill: #9198a1; } .paper { fill: #0d1117; }
      .line { stroke: #3d444d; } .one { stroke: #9198a1; }
      .more { fill: #3fb950; } .less { fill: #f0883e; } .theirs { fill: #bc8cff; }
      .roof { stroke: #58a6ff; }
    }
";

/// The whole picture.
pub fn svg(
    adapter: &str,
    runtimes: &[Runtime],
    lines: &[Line],
    roofs: Option<(f64, f64)>,
) -> String {
    let bars: Vec<(&Line, Option<f64>)> = lines
        .iter()
        .filter(|line| line.sides.get(1).is_some_and(|side| side.present))
        .map(|line| (line, first_ratio(runtimes, line)))
        .collect();
    let below = TOP + bars.len() as f64 * ROW + 40.0;
    let height = below + if roofs.is_some() { PLOT + 100.0 } else { 0.0 };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    let peer = runtimes.get(1).map_or("the peer", |runtime| runtime.name);
    text(&mut out, 16.0, 26.0, "title", &format!("wharf as many times as fast as {peer}"));
    text(&mut out, 16.0, 46.0, "faint", &format!("{adapter}; every result checked; logarithmic"));
    ratios(&mut out, &bars);
    if let Some(roofs) = roofs {
        roofline(&mut out, lines, peer, roofs, below);
    }
    out + "</svg>\n"
}

fn text(out: &mut String, x: f64, y: f64, class: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{words}</text>");
}

fn line(out: &mut String, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
    let _ = writeln!(
        out,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn ratios(out: &mut String, bars: &[(&Line, Option<f64>)]) {
    let known = bars.iter().filter_map(|(_, ratio)| *ratio);
    let (least, most) = known.fold((0.5f64, 4.0f64), |(l, m), r| (l.min(r), m.max(r)));
    let (low, high) = (least.log10().floor().max(-3.0), most.log10().ceil());
    let right = WIDTH - 90.0;
    let at = |r: f64| LABELS + (r.log10().clamp(low, high) - low) / (high - low) * (right - LABELS);
    let bottom = TOP + bars.len() as f64 * ROW;
    for power in low as i32..=high as i32 {
        let x = at(10f64.powi(power));
        line(out, if power == 0 { "one" } else { "line" }, [x, TOP, x, bottom + 4.0]);
        text(out, x - 8.0, bottom + 18.0, "faint", &format!("{}", 10f64.powi(power)));
    }
    for (i, (bar, ratio)) in bars.iter().enumerate() {
        let y = TOP + i as f64 * ROW;
        text(out, 16.0, y + 13.0, "", &bar.case.name);
        let Some(ratio) = ratio else {
            let why = if bar.sides[0].right { "theirs is wrong" } else { "ours is wrong" };
            text(out, at(1.0) + 6.0, y + 13.0, "faint", why);
            continue;
        };
        let (from, to) = (at(1.0).min(at(*ratio)), at(1.0).max(at(*ratio)));
        let class = if *ratio >= 1.0 { "more" } else { "less" };
        let (y, height, width) = (y + 3.0, ROW - 5.0, (to - from).max(1.0));
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" rx=\"2\"/>"
        );
        let digits = usize::from(*ratio < 100.0) + usize::from(*ratio < 10.0);
        text(out, to + 6.0, y + 10.0, "", &format!("{ratio:.digits$}"));
    }
}

/// Operations a second over operations a byte: no kernel gets above the roof.
fn roofline(out: &mut String, lines: &[Line], peer: &str, (copy, fma): (f64, f64), top: f64) {
    text(out, 16.0, top + 22.0, "title", "Roofline");
    let words = format!(
        "GFLOP/s over FLOP/byte; roof: device copy {copy:.1} GB/s, multiply-adds {fma:.0} GFLOP/s"
    );
    text(out, 16.0, top + 42.0, "faint", &words);
    let (left, right) = (70.0, WIDTH - 200.0);
    let (top, bottom) = (top + 60.0, top + 60.0 + PLOT - 60.0);
    let (x0, x1) = (-1.5f64, 2.5f64);
    let (y0, y1) = (-1.0f64, (fma * 1.5).log10().ceil());
    let x = |intensity: f64| left + (intensity.log10() - x0) / (x1 - x0) * (right - left);
    let y = |rate: f64| bottom - (rate.log10().max(y0) - y0) / (y1 - y0) * (bottom - top);
    for power in y0 as i32..=y1 as i32 {
        let at = y(10f64.powi(power));
        line(out, "line", [left, at, right, at]);
        text(out, 24.0, at + 4.0, "faint", &format!("{}", 10f64.powi(power)));
    }
    for power in -1..=2 {
        let at = x(10f64.powi(power));
        line(out, "line", [at, top, at, bottom]);
        text(out, at - 8.0, bottom + 16.0, "faint", &format!("{}", 10f64.powi(power)));
    }
    let ridge = fma / copy;
    let first = 10f64.powf(x0);
    let _ = writeln!(
        out,
        "<polyline class=\"roof\" points=\"{:.1},{:.1} {:.1},{:.1} {right:.1},{:.1}\"/>",
        x(first),
        y(first * copy),
        x(ridge),
        y(fma),
        y(fma)
    );
    for case in lines.iter().filter(|line| line.case.flops > 0.0 && line.case.bytes > 0.0) {
        let intensity = case.case.flops / case.case.bytes;
        for (i, class) in [(0, "more"), (1, "theirs")] {
            let Some(value) = case.sides.get(i).and_then(|side| side.value) else { continue };
            let rate = value * case.case.flops / case.case.amount;
            let _ = writeln!(
                out,
                "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\">\
                 <title>{}: {rate:.2} GFLOP/s</title></circle>",
                x(intensity),
                y(rate),
                case.case.name
            );
        }
    }
    for (i, (class, name)) in [("more", "wharf"), ("theirs", peer)].into_iter().enumerate() {
        let at = top + 10.0 + i as f64 * 20.0;
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{at:.1}\" r=\"5\"/>",
            right + 20.0
        );
        text(out, right + 32.0, at + 4.0, "", name);
    }
}
