//! Would it fit: what a tensor would become and take on each adapter, asked before it exists.

use core::fmt::Write;

use wharf::adapter::{Listed, Listing, Verdict};
use wharf::caps::Caps;
use wharf::memory::Fit;
use wharf::{Adapter, DType, Device, Layout, Policy, Shape};

use super::table::{Page, Tone, bytes, count, quote, size};

/// What is asked: a dtype, a shape, how the values lie on the host, and how much memory there is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    dtype: DType,
    shape: Shape,
    column_major: bool,
    cap: Option<u64>,
}

/// What can be asked, by example.
pub(crate) const EXAMPLES: &str = "f64:4096x4096, f16:1000x3,layout=col, or f32: for a scalar";

/// More than any machine has; nothing is asked of a device beyond it.
const BYTES_BEYOND: u64 = 1 << 44;

impl Question {
    /// Reads `dtype:dims[,layout=row|col][,cap=SIZE]`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let what = parts.next().unwrap_or_default();
        let (dtype, dims) = what
            .split_once(':')
            .ok_or_else(|| format!("{} has no colon between dtype and dimensions", quote(what)))?;
        let dtype = dtype.trim().parse::<DType>().map_err(|_| {
            let known: Vec<&str> = DType::ALL.iter().copied().map(DType::name).collect();
            format!("{} is none of {}", quote(dtype), known.join(" "))
        })?;
        let shape = Shape::new(dimensions(dims)?).map_err(|error| error.to_string())?;
        let mut question = Self { dtype, shape, column_major: false, cap: None };
        for option in parts {
            match option.trim().split_once('=') {
                Some(("layout", "row")) => question.column_major = false,
                Some(("layout", "col")) => question.column_major = true,
                Some(("cap", bytes)) => question.cap = Some(size(bytes)?),
                _ => {
                    let option = quote(option.trim());
                    return Err(format!("{option} is none of layout=row layout=col cap=8GiB"));
                }
            }
        }
        Ok(question)
    }

    fn layout(&self) -> Layout {
        if self.column_major { Layout::column_major(self.shape) } else { Layout::dense(self.shape) }
    }

    /// How the upload reads its layout.
    const fn way(&self) -> &'static str {
        if self.column_major {
            "column-major on the host, row-major on the device: gathered chunk by chunk on its \
             way, without a second copy on the host"
        } else {
            "row-major on the host and on the device: copied as it lies"
        }
    }

    fn bytes_host(&self) -> Option<u64> {
        let width = self.dtype.width() as u64;
        u64::try_from(self.shape.elements()).ok()?.checked_mul(width)
    }
}

/// `4096x4096`; nothing at all is a scalar.
fn dimensions(text: &str) -> Result<Vec<usize>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts = text.split(['x', 'X']).map(str::trim);
    let dim = |part: &str| match part.parse() {
        Ok(dim) if digits(part) => Ok(dim),
        Err(_) if digits(part) => Err(format!("dimension {} is above {}", quote(part), usize::MAX)),
        _ if part.is_empty() => Err(format!("a dimension is missing in {}", quote(text))),
        _ => Err(format!("{} is no dimension", quote(part))),
    };
    parts.map(dim).collect()
}

/// What one adapter says, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Exactly,
    Converted,
    /// It arrives, and nobody says whether there is room.
    Unknown,
    No,
}

/// Under one policy: whether it arrives and fits. `None`: it arrives, and no cap is known.
type Fits = Option<bool>;

/// Asks every adapter, or only the named one; returns the exit code.
pub(crate) async fn answer(page: &Page, listing: &Listing, question: &Question, named: bool) -> u8 {
    head(page, question);
    let of_interest = |entry: &Listed| !named || !matches!(entry.verdict, Verdict::NotNamed { .. });
    let mut best = Answer::No;
    let mut asked = 0;
    for (index, entry) in listing.entries.iter().enumerate().filter(|(_, e)| of_interest(e)) {
        asked += 1;
        let label = format!("{index}  {}", entry.adapter.caps().identity.name);
        let state = if entry.verdict == Verdict::Chosen { "chosen" } else { "not chosen" };
        best = best.min(ask(page, (&label, state), &entry.adapter, question).await);
    }
    if asked == 0
        && let Err(error) = listing.clone().into_chosen()
    {
        page.error(&error);
    }
    conclude(page, best, "no: it fits on no adapter here")
}

/// Asks an adapter of which only the capabilities are here; returns the exit code.
pub(crate) async fn answer_on_paper(page: &Page, caps: &Caps, question: &Question) -> u8 {
    head(page, question);
    let adapter = Adapter::on_paper(caps.clone());
    let best = ask(page, (&caps.identity.name, "on paper"), &adapter, question).await;
    conclude(page, best, "no: it would not fit there")
}

fn head(page: &Page, question: &Question) {
    let (dtype, layout) = (question.dtype, question.layout());
    let host = question.bytes_host().map_or_else(|| "more bytes than can be counted".into(), bytes);
    let values = count(question.shape.elements() as u64, "value");
    page.heading("Would it fit?", &format!("{dtype} {layout}: {values}, {host} on the host"));
    page.row(&[(Tone::Plain, "", 15)], (Tone::Dim, question.way()));
}

/// The last line, and the exit code.
fn conclude(page: &Page, best: Answer, no: &str) -> u8 {
    page.blank();
    let (code, tone, line) = match best {
        Answer::Exactly => (0, Tone::Good, "yes: it fits, bit-exact"),
        Answer::Converted => {
            (1, Tone::Caution, "with permission: it fits once the conversion is allowed")
        }
        Answer::Unknown => (
            3,
            Tone::Caution,
            "not known: it arrives, if there is room: say how much by `,cap=8GiB`",
        ),
        Answer::No => (2, Tone::Bad, no),
    };
    page.line(&[(tone, line)]);
    code
}

/// Opens an adapter and asks under both policies. Opening reserves no memory for tensors.
async fn ask(
    page: &Page,
    (label, state): (&str, &str),
    adapter: &Adapter,
    question: &Question,
) -> Answer {
    let id = &adapter.caps().identity;
    page.blank();
    let kind = id.device_type.name();
    page.line(&[
        (Tone::Bold, label),
        (Tone::Dim, &format!("  {}, {kind}, {state}", id.backend.name())),
    ]);
    let device = match adapter.open(adapter.negotiate(&Policy::exact())).await {
        Ok(device) => device,
        Err(error) => {
            line(page, "verdict", Tone::Bad, &format!("does not open: {error}"));
            help(page, &error);
            return Answer::No;
        }
    };
    if question.cap.is_some() {
        device.set_cap(question.cap);
    }
    let exact = under(page, "exact", &device, question, true);
    let lossless = device.with_policy(&Policy::lossless());
    let stored_alike =
        device.plan().carriage(question.dtype) == lossless.plan().carriage(question.dtype);
    let fits_lossless = if stored_alike {
        line(page, "lossless", Tone::Dim, "the same: nothing needs a conversion");
        exact
    } else {
        under(page, "lossless", &lossless, question, false)
    };
    match (exact, fits_lossless) {
        (Some(true), _) => Answer::Exactly,
        (_, Some(true)) => Answer::Converted,
        (None, _) | (_, None) => Answer::Unknown,
        (Some(false), Some(false)) => Answer::No,
    }
}

/// Answers under one policy: what the tensor becomes, what it takes, and whether that is there.
fn under(page: &Page, policy: &str, device: &Device, question: &Question, advise: bool) -> Fits {
    let carriage = device.plan().carriage(question.dtype);
    let Some(stored) = carriage.stored else {
        // The empty shape makes the answer about the dtype alone.
        let refusal = device.fit(0, question.dtype).err();
        let text =
            refusal.as_ref().map_or_else(|| carriage.because.to_string(), ToString::to_string);
        line(page, policy, Tone::Caution, &format!("refused: {text}"));
        if let Some(error) = refusal.filter(|_| advise) {
            help(page, &error);
        }
        return Some(false);
    };
    let (tone, how) = if stored == question.dtype {
        (Tone::Good, format!("{}, stored as {}", carriage.how.name(), carriage.stored_as()))
    } else {
        (Tone::Plain, format!("becomes {stored}; refused if one value does not survive"))
    };
    line(page, policy, tone, &how);
    let width = stored.width() as u128;
    let needed = question.shape.elements() as u128 * width;
    if needed > u128::from(BYTES_BEYOND) {
        let needed = u64::try_from(needed).map_or_else(|_| "over 16 EiB".into(), bytes);
        line(page, "verdict", Tone::Bad, &format!("no: {needed} is more than any machine has"));
        line(page, "help", Tone::Dim, "split the tensor");
        return Some(false);
    }
    match device.fit(question.shape, question.dtype) {
        Ok(fit) => demand(page, device, &fit),
        Err(error) => {
            line(page, "verdict", Tone::Bad, &format!("no: {error}"));
            help(page, &error);
            Some(false)
        }
    }
}

/// Prints the numbers, and returns the verdict that they lead to.
fn demand(page: &Page, device: &Device, fit: &Fit) -> Fits {
    let mut text = format!("{} in {}", bytes(fit.bytes), count(fit.segments, "segment"));
    if fit.segments > 1 {
        let binding = device.caps().limits.binding_bytes_max;
        let _ = write!(text, ", for a shader here binds at most {}", bytes(binding));
    }
    let _ = write!(text, "; {} to be reserved", bytes(fit.bytes_reserve));
    line(page, "device", Tone::Plain, &text);
    let staging = format!("{} at most, beside the data itself", bytes(fit.bytes_staging));
    line(page, "host", Tone::Plain, &staging);
    let cap = device.memory().bytes_cap;
    let of_cap =
        cap.map_or_else(|| "no cap is set".into(), |cap| format!("the cap is {}", bytes(cap)));
    if fit.fits && cap.is_none() {
        let text = format!("not known: {of_cap}, and nobody says what is free");
        line(page, "verdict", Tone::Caution, &text);
        return None;
    } else if fit.fits {
        line(page, "verdict", Tone::Good, &format!("fits: {of_cap}"));
    } else {
        line(page, "verdict", Tone::Bad, &format!("does not fit: {of_cap}"));
        line(
            page,
            "help",
            Tone::Dim,
            "split the tensor, store a narrower dtype, or raise the cap: `device.set_cap(..)`",
        );
    }
    Some(fit.fits)
}

fn line(page: &Page, name: &str, tone: Tone, text: &str) {
    page.row(&[(Tone::Plain, "", 3), (Tone::Dim, name, 10)], (tone, text));
}

fn help(page: &Page, error: &wharf::Error) {
    error.help().unwrap_or_default().lines().for_each(|text| line(page, "help", Tone::Dim, text));
}
