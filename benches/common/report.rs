//! The rows of a bench, for people and for machines.

use core::fmt;

use super::{Outcome, Settings};

/// One result.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// Relative to the value.
    pub(crate) spread: Option<f64>,
    /// The value by the device's own clock.
    pub(crate) by_device: Option<f64>,
    /// The ceiling's name, and the fraction of it that was reached.
    pub(crate) ceiling: Option<(String, f64)>,
}

/// All results of one bench on one adapter.
#[derive(Debug)]
pub(super) struct Report {
    bench: &'static str,
    adapter: String,
    rows: Vec<Row>,
}

impl Report {
    pub(super) fn new(bench: &'static str, adapter: impl Into<String>) -> Self {
        Self { bench, adapter: adapter.into(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Prints the table, and writes the file if one was asked for.
    pub(crate) fn finish(&self, settings: &Settings) -> Outcome {
        println!("{self}");
        if let Some(file) = &settings.json {
            std::fs::write(file, self.json())
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(())
    }

    fn json(&self) -> String {
        let objects: Vec<String> = self.rows.iter().map(|row| self.object(row)).collect();
        format!("[\n{}\n]\n", objects.join(",\n"))
    }

    fn object(&self, row: &Row) -> String {
        let ceiling = row.ceiling.as_ref();
        let fields = [
            ("bench", quoted(self.bench)),
            ("case", quoted(&row.case)),
            ("value", number(Some(row.value))),
            ("unit", quoted(&row.unit)),
            ("spread", number(row.spread)),
            ("by_device", number(row.by_device)),
            ("ceiling", ceiling.map_or_else(|| "null".into(), |(name, _)| quoted(name))),
            ("of_ceiling", number(ceiling.map(|(_, part)| *part))),
            ("adapter", quoted(&self.adapter)),
        ];
        let fields = fields.map(|(name, value)| format!("\"{name}\": {value}"));
        format!("  {{{}}}", fields.join(", "))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wide = self.rows.iter().map(|row| row.case.chars().count()).max().unwrap_or(0).max(4);
        writeln!(f, "{} on {}", self.bench, self.adapter)?;
        let top = |row: &Row| row.ceiling.as_ref().map_or(0, |(name, _)| name.chars().count());
        let high = self.rows.iter().map(top).max().unwrap_or(0).max("ceiling".len());
        let by_device = self.rows.iter().any(|row| row.by_device.is_some());
        let (value, unit, spread) = ("value", "unit", "spread");
        write!(f, "{:<wide$} {value:>9} {unit:<8}{spread:>7}", "case")?;
        if by_device {
            write!(f, "{:>11}", "by device")?;
        }
        write!(f, "  {:<high$} of it", "ceiling")?;
        for row in &self.rows {
            let Row { case, value, unit, spread, ceiling, .. } = row;
            let digits = digits(*value);
            write!(f, "\n{case:<wide$} {value:>9.digits$} {unit:<8}")?;
            match spread {
                Some(spread) => write!(f, "{:>6.1}%", spread * 100.0)?,
                None => write!(f, "{:>7}", "")?,
            }
            match row.by_device {
                Some(value) => write!(f, "{value:>11.*}", self::digits(value))?,
                None if by_device => write!(f, "{:>11}", "")?,
                None => {}
            }
            if let Some((name, part)) = ceiling {
                write!(f, "  {name:<high$} {part:>5.2}")?;
            }
        }
        Ok(())
    }
}

/// Decimals worth printing.
const fn digits(value: f64) -> usize {
    if value >= 100.0 { 0 } else { 2 }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A JSON number, or `null`.
fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map_or_else(|| "null".into(), |v| format!("{v}"))
}
