//! A report as text.

use core::fmt;
use std::time::Duration;

use super::report::{Report, Row, Untimed};
use super::{Ceilings, Spent};
use crate::count::bytes;

/// Three digits, in the largest unit that keeps the number above one.
fn time(time: Duration) -> String {
    const UNITS: [(&str, f64); 3] = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)];
    let seconds = time.as_secs_f64();
    let (unit, one) = UNITS.into_iter().find(|(_, one)| seconds >= *one).unwrap_or(UNITS[2]);
    let value = seconds / one;
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// `1 wait`, `2 waits`.
fn counted(n: u64, noun: &str, plural: &str) -> String {
    format!("{n} {}", if n == 1 { noun } else { plural })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wall, device, dispatches, untimed, rows, .. } = self;
        let without: u64 = untimed.iter().map(|untimed| untimed.count).sum();
        write!(f, "wall       {}, ", time(*wall))?;
        write!(f, "{}", counted(*dispatches, "dispatch", "dispatches"))?;
        if without < *dispatches {
            write!(f, ", on the device {}", time(*device))?;
            if *wall > Duration::ZERO {
                let share = device.as_secs_f64() / wall.as_secs_f64() * 100.0;
                write!(f, ", {share:.0} % of it")?;
            }
        }
        writeln!(f)?;
        for Untimed { count, why } in untimed {
            writeln!(f, "no time    of {}: {why}", counted(*count, "dispatch", "dispatches"))?;
        }
        let took = |spent: &Spent, noun: &str, plural: &str| {
            format!("{} {}", counted(spent.count, noun, plural), time(spent.time))
        };
        writeln!(
            f,
            "host       {}, {}, {}",
            took(&self.recording, "recording", "recordings"),
            took(&self.submissions, "submission", "submissions"),
            took(&self.waits, "wait", "waits"),
        )?;
        let made = took(&self.pipelines, "pipeline", "pipelines");
        writeln!(f, "compiling  {made}, and the driver's compiler {}", time(self.compiler.time))?;
        let crossed = |spent: &Spent| match spent.count {
            0 => "none".into(),
            n => format!("{n} of {} in {}", bytes(spent.bytes), time(spent.time)),
        };
        writeln!(f, "crossings  up {}; down {}", crossed(&self.up), crossed(&self.down))?;
        let given = counted(self.allocations.count, "allocation", "allocations");
        let cap = self.bytes_cap.map_or_else(|| "none".into(), bytes);
        let (given_bytes, peak) = (bytes(self.allocations.bytes), bytes(self.bytes_live_peak));
        writeln!(f, "memory     {given} of {given_bytes}, peak {peak}, cap {cap}")?;
        if let Some(Ceilings { bytes_per_second, flops_per_second }) = self.ceilings {
            let [moved, computed] = [bytes_per_second, flops_per_second].map(|rate| rate / 1e9);
            writeln!(f, "ceilings   {moved:.1} GB/s copied, {computed:.1} GFLOP/s of fused f32")?;
        }
        if rows.is_empty() {
            return Ok(());
        }
        let width = rows.iter().map(|row| row.kernel.len()).max().unwrap_or(0).max("kernel".len());
        writeln!(
            f,
            "{:>10}{:>10}{:>8}{:>9}{:>9}{:>9}  {:<width$}  line",
            "total", "mean", "calls", "GB/s", "GFLOP/s", "ceiling", "kernel"
        )?;
        rows.iter().try_for_each(|row| row.write(f, width))
    }
}

impl Row {
    fn write(&self, f: &mut fmt::Formatter<'_>, width: usize) -> fmt::Result {
        let none = || String::from("-");
        let (total, mean) = match u32::try_from(self.timed) {
            Ok(timed @ 1..) => (time(self.time), time(self.time / timed)),
            _ => (none(), none()),
        };
        let rate = |rate: Option<f64>| rate.map_or_else(none, |rate| format!("{:.1}", rate / 1e9));
        let (moved, computed) = (rate(self.bytes_per_second()), rate(self.flops_per_second()));
        let share = self.ceiling_share();
        let share = share.map_or_else(none, |share| format!("{:.0} %", share * 100.0));
        let Self { calls, kernel, line, .. } = self;
        write!(f, "{total:>10}{mean:>10}{calls:>8}{moved:>9}{computed:>9}{share:>9}  ")?;
        writeln!(f, "{kernel:<width$}  {}:{}", line.file(), line.line())
    }
}
