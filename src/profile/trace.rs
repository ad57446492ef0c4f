//! A profile as a trace: the JSON of Chrome's trace format, which Perfetto reads.
//!
//! ```text
//! process 1, host       a thread each: recording, compiling, submitting, waiting, one in another
//! process 2, device     dispatches one after the other, by the device's own clock
//! process 3, crossings  from their call to their last byte; several may be under way at once
//! process 4, memory     bytes live and reserved
//! ```
//!
//! The two clocks count from different beginnings. The device's is laid as early as no batch begins
//! before it is submitted.

use core::fmt;
use std::collections::BTreeSet;
use std::io::{Result, Write};
use std::time::Duration;

use super::report::Report;
use crate::timeline::{Activity, Episode, Events, Flight, Ticket};

/// Text as JSON has it.
struct JsonText<'a>(&'a str);

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

/// Nanoseconds as the format's microseconds. Whole ones, so that what follows does not overlap.
struct Micros(u128);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

const HOST: u32 = 1;
const DEVICE: u32 = 2;
const CROSSINGS: u32 = 3;
const MEMORY: u32 = 4;

/// What an activity is called, and whether it is a crossing.
const fn category(activity: Activity) -> (&'static str, bool) {
    match activity {
        Activity::Record => ("record", false),
        Activity::Pipeline => ("pipeline", false),
        Activity::Compiler => ("compiler", false),
        Activity::Submit => ("submit", false),
        Activity::Wait => ("wait", false),
        Activity::Up => ("up", true),
        Activity::Down => ("down", true),
    }
}

/// A trace that is being written.
pub(super) struct Trace<'a, W> {
    out: &'a mut W,
    /// The beginning of the profile.
    began: Duration,
    is_first: bool,
}

impl<'a, W: Write> Trace<'a, W> {
    pub(super) const fn new(out: &'a mut W, began: Duration) -> Self {
        Self { out, began, is_first: true }
    }

    /// All of it, with the table beside it.
    pub(super) fn write(mut self, events: &Events, report: &Report, adapter: &str) -> Result<()> {
        self.out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        self.names(events)?;
        events.spans.iter().zip(1..).try_for_each(|(span, id)| self.span(span, id))?;
        self.flights(events)?;
        for level in &events.levels {
            let (at, live, reserved) = (self.at(level.at), level.live, level.reserved);
            self.event(format_args!(
                "\"ph\":\"C\",\"pid\":{MEMORY},\"name\":\"bytes\",\"ts\":{at},\
                 \"args\":{{\"live\":{live},\"reserved\":{reserved}}}"
            ))?;
        }
        let (adapter, left_out) = (JsonText(adapter), events.left_out);
        let table = report.to_string();
        write!(
            self.out,
            "\n],\"otherData\":{{\"adapter\":{adapter},\"events_left_out\":{left_out},\
             \"table\":{}}}}}\n",
            JsonText(&table)
        )
    }

    fn event(&mut self, fields: fmt::Arguments<'_>) -> Result<()> {
        let comma = if core::mem::take(&mut self.is_first) { "" } else { "," };
        write!(self.out, "{comma}\n{{{fields}}}")
    }

    fn at(&self, time: Duration) -> Micros {
        Micros(time.saturating_sub(self.began).as_nanos())
    }

    /// What processes and threads are called.
    fn names(&mut self, events: &Events) -> Result<()> {
        let all =
            [(HOST, "host"), (DEVICE, "device"), (CROSSINGS, "crossings"), (MEMORY, "memory")];
        for (pid, name) in all {
            self.event(format_args!(
                "\"ph\":\"M\",\"pid\":{pid},\"tid\":0,\"name\":\"process_name\",\
                 \"args\":{{\"name\":\"{name}\"}}"
            ))?;
        }
        let host = events.spans.iter().filter(|span| !category(span.activity).1);
        let threads: BTreeSet<u64> = host.map(|span| span.thread).collect();
        threads.into_iter().try_for_each(|thread| {
            self.event(format_args!(
                "\"ph\":\"M\",\"pid\":{HOST},\"tid\":{thread},\"name\":\"thread_name\",\
                 \"args\":{{\"name\":\"thread {thread}\"}}"
            ))
        })
    }

    fn span(&mut self, span: &Episode, id: u64) -> Result<()> {
        let (category, is_crossing) = category(span.activity);
        let (name, bytes, thread) = (JsonText(span.name), span.bytes, span.thread);
        let (begin, end) = (span.begin.max(self.began), span.begin + span.time);
        let (from, to) = (self.at(begin), self.at(end));
        if is_crossing {
            let line = span.line.map_or_else(String::new, ToString::to_string);
            let which = format!("\"pid\":{CROSSINGS},\"tid\":0,\"cat\":\"{category}\",\"id\":{id}");
            self.event(format_args!(
                "\"ph\":\"b\",{which},\"name\":{name},\"ts\":{from},\
                 \"args\":{{\"bytes\":{bytes},\"line\":{}}}",
                JsonText(&line)
            ))?;
            return self.event(format_args!("\"ph\":\"e\",{which},\"name\":{name},\"ts\":{to}"));
        }
        let took = Micros(to.0.saturating_sub(from.0));
        let line = span.line.map_or_else(String::new, |line| {
            format!(",\"args\":{{\"line\":{}}}", JsonText(&line.to_string()))
        });
        self.event(format_args!(
            "\"ph\":\"X\",\"pid\":{HOST},\"tid\":{thread},\"cat\":\"{category}\",\"name\":{name},\
             \"ts\":{from},\"dur\":{took}{line}"
        ))
    }

    /// The device's track.
    fn flights(&mut self, events: &Events) -> Result<()> {
        let base = events.flights.iter().find_map(first);
        let Some(base) = base else { return Ok(()) };
        // Nanoseconds since the first dispatch.
        let since = |tick: u64, period: f64| (i128::from(tick) - i128::from(base)) as f64 * period;
        let late = |flight: &std::sync::Arc<Flight>| {
            let (tick, period) = (first(flight)?, flight.period()?);
            let submitted = flight.submitted.saturating_sub(self.began).as_nanos() as f64;
            Some(submitted - since(tick, period))
        };
        let begin = events.flights.iter().filter_map(late).fold(0.0, f64::max);
        let mut free = 0;
        for flight in &events.flights {
            let Some(period) = flight.period() else { continue };
            for (ticket, time) in flight.tickets.iter().zip(flight.times()) {
                let Ok((tick, time)) = time else { continue };
                // Rounded, it may not begin before the last one's end.
                let from = ((begin + since(tick, period)).max(0.0) as u128).max(free);
                let took = time as u128;
                free = from + took;
                let Ticket { kernel, line, count, bytes, flops } = *ticket;
                let (name, line) = (JsonText(kernel), line.to_string());
                let (from, took, line) = (Micros(from), Micros(took), JsonText(&line));
                self.event(format_args!(
                    "\"ph\":\"X\",\"pid\":{DEVICE},\"tid\":1,\"cat\":\"dispatch\",\"name\":{name},\
                     \"ts\":{from},\"dur\":{took},\"args\":{{\"line\":{line},\"calls\":{count},\
                     \"bytes\":{},\"flops\":{}}}",
                    bytes * count,
                    flops * count
                ))?;
            }
        }
        Ok(())
    }
}

/// The tick at which the first ticket with a time began.
fn first(flight: &std::sync::Arc<Flight>) -> Option<u64> {
    flight.times().into_iter().flatten().map(|(tick, _)| tick).next()
}

#[cfg(test)]
mod tests {
    use core::panic::Location;
    use std::sync::Arc;

    use super::*;
    use crate::timeline::Stamped;

    /// Two that are timed by themselves, and the same in one lap, whose parts begin within a tick.
    #[test]
    fn a_tick_takes_its_period_and_nothing_begins_before_the_last_ends() {
        let fast =
            Ticket { count: 1, kernel: "fast", line: Location::caller(), bytes: 1024, flops: 3 };
        let (slow, solos) = (Ticket { kernel: "slow", ..fast }, Arc::default());
        let flight = |dispatches: &[Ticket], ticks: &[u64]| {
            let flight = Flight::new(dispatches, Duration::ZERO, &solos);
            let (ticks, period, arrived) = (ticks.to_vec(), 10.0, Duration::ZERO);
            flight.stamp(Stamped { ticks, period, arrived });
            Arc::new(flight)
        };
        let alone = flight(&[fast, slow, fast, slow], &[50, 51, 54, 55, 58]);
        let together = flight(&[fast, fast, slow], &[140, 143]);
        let mut events = Events::default();
        events.flights.extend([alone, together]);
        let (report, mut out) = (Report::of(&events, Duration::ZERO, None, None), Vec::new());
        let trace = Trace::new(&mut out, Duration::ZERO);
        trace.write(&events, &report, "an adapter").expect("memory takes it");
        let trace: serde_json::Value = serde_json::from_slice(&out).expect("it is JSON");
        let all = trace["traceEvents"].as_array().expect("a list").iter();
        let track = all.filter(|event| event["pid"] == DEVICE && event["ph"] == "X");
        let got: Vec<_> = track
            .map(|event| {
                let args = &event["args"];
                let time = ["ts", "dur"].map(|of| event[of].as_f64().expect("a time"));
                (time, ["calls", "bytes", "flops"].map(|of| args[of].as_u64().expect("a number")))
            })
            .collect();
        let one = [1, 1024, 3];
        let want = [
            ([0.0, 0.01], one),
            ([0.01, 0.03], one),
            ([0.04, 0.01], one),
            ([0.05, 0.03], one),
            ([0.9, 0.012], one.map(|n| 2 * n)),
            ([0.912, 0.018], one),
        ];
        assert_eq!(got, want);
    }
}
