//! One error for the whole crate.
//!
//! A message names its subject and both sides of what disagreed, in lower case and without advice;
//! the advice is [`Error::help`]. Each area keeps its causes in a private enum of its own (its
//! `cause.rs`), so the numbers stay numbers until someone prints them. An error is cheap to clone,
//! because a failed operation hands the *same* error to everything computed from it.

use core::fmt;
use std::sync::{Arc, OnceLock};

/// The result of every fallible operation in wharf.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// What went wrong, in the terms in which a program can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Shapes, ranks, axes or element counts disagree.
    Shape,
    /// A number is outside what an operation takes, whatever the shapes: a step, a probability,
    /// how many operands.
    Argument,
    /// A layout reaches outside its data, overlaps itself, or cannot be viewed as asked.
    Layout,
    /// Dtypes disagree, or an operation does not exist for a dtype.
    DType,
    /// The plan refuses this dtype on this adapter.
    Rejected,
    /// A value did not survive a conversion that had to preserve it.
    Conversion,
    /// An index lies outside the axis it selects from.
    Index,
    /// A matrix has no inverse, or not the factor that was asked for.
    Singular,
    /// No adapter, or none that matches.
    Adapter,
    /// A plan, a tensor and a device do not belong together.
    Mismatch,
    /// More than a limit of the adapter or of wharf.
    Limit,
    /// Memory ran out, or a cap was reached.
    OutOfMemory,
    /// A guard forbids this crossing.
    Denied,
    /// Nothing has this name.
    Missing,
    /// The device is gone. Where its driver tells that to whoever polls, wgpu panics, and wharf
    /// catches that: a program with `panic = "abort"` ends there.
    DeviceLost,
    /// Only the capabilities of the adapter are here: nothing is computed, read or lent.
    OnPaper,
    /// A file could not be read or written, or is not what it claims to be.
    File,
    /// WGSL of your own is wrong, a formula's signature too, or was given what it does not take.
    Shader,
    /// A buffer or an encoder of the caller's own cannot be used so: its usage, size or state. Or
    /// what wgpu was to call back panicked.
    Foreign,
    /// The device was not done in the time that it was given.
    TimedOut,
    /// The driver or wgpu failed in a way that no other kind names.
    Driver,
    /// A result is outside the contract of its operation: a shadow has computed it once more.
    Wrong,
    /// wharf made a mistake: please report it.
    Internal,
}

/// Why an operation failed: a message with both sides in it, and the remedy in [`Error::help`].
///
/// `Debug` prints the message and the help, so that `fn main() -> wharf::Result<()>` ends readably.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::{DType, ErrorKind};
///
/// let (x, y) = (device.ones([2, 3], DType::F32)?, device.ones([4], DType::F32)?);
/// let error = (&x + &y).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Shape);
/// assert_eq!(error.to_string(), "add: [2, 3] and [4] do not broadcast: 3 against 4 on axis 1");
/// assert!(error.help().is_some_and(|help| help.contains("`unsqueeze` adds an axis")));
/// # Ok(()) });
/// ```
///
/// What the system said of a file is its source:
///
/// ```
/// use std::error::Error as _;
/// use std::io;
///
/// let error = wharf::custom::Kernel::from_file("none.wgsl").unwrap_err();
/// let said = error.source().and_then(|said| said.downcast_ref::<io::Error>());
/// assert_eq!(said.map(io::Error::kind), Some(io::ErrorKind::NotFound));
/// ```
#[derive(Clone)]
pub struct Error {
    cause: Arc<dyn Cause>,
    /// What was being done, outermost first.
    context: Vec<Arc<str>>,
}

/// A reason for failure that knows its kind and its remedy.
pub(crate) trait Cause: fmt::Display + Send + Sync + 'static {
    fn kind(&self) -> ErrorKind;
    fn help(&self) -> Option<String>;

    /// Notes the adapter it happened on, if that belongs into its message.
    fn note_adapter(&self, _: &dyn Fn() -> String) {}

    /// What somebody else said, if that led to it.
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        None
    }

    /// An error that this led to, which the message tells already.
    #[cold]
    fn by(self, source: impl core::error::Error + Send + Sync + 'static) -> Error
    where
        Self: Sized,
    {
        Led { cause: self, source }.into()
    }
}

/// A cause, and what led to it.
struct Led<C, E> {
    cause: C,
    source: E,
}

impl<C: Cause, E> fmt::Display for Led<C, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<C: Cause, E: core::error::Error + Send + Sync + 'static> Cause for Led<C, E> {
    fn kind(&self) -> ErrorKind {
        self.cause.kind()
    }

    fn help(&self) -> Option<String> {
        self.cause.help()
    }

    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Declares an enum of causes as a table: of each its numbers, its kind, its message, and its
/// help. Message and help are written as for `format!`.
macro_rules! causes {
    (
        $(#[$about:meta])* $visible:vis enum $causes:ident;
        $(
            $(#[$doc:meta])* $cause:ident $({ $($field:ident: $of:ty),* })?, $kind:ident:
            ($($message:tt)+) help ($($help:tt)+);
        )*
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        $visible enum $causes { $($(#[$doc])* $cause $({ $($field: $of),* })?,)* }

        impl core::fmt::Display for $causes {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {$(
                    Self::$cause $({ $($field),* })? => {
                        let _ = ($($($field,)*)?);
                        write!(f, $($message)+)
                    }
                )*}
            }
        }

        impl $crate::error::Cause for $causes {
            fn kind(&self) -> $crate::error::ErrorKind {
                match self { $(Self::$cause { .. } => $crate::error::ErrorKind::$kind,)* }
            }

            fn help(&self) -> Option<String> {
                match self {$(
                    Self::$cause $({ $($field),* })? => {
                        let _ = ($($($field,)*)?);
                        Some(format!($($help)+))
                    }
                )*}
            }
        }
    };
}
pub(crate) use causes;

impl Error {
    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.cause.kind()
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        self.cause.help()
    }

    /// The error of a name that should be there and is not, for collections of a program's own: a
    /// set has [`TensorSet::tensor`](crate::TensorSet::tensor).
    ///
    /// ```
    /// use wharf::{Error, ErrorKind};
    ///
    /// let error = Error::missing("encoder.bias");
    /// assert_eq!(error.kind(), ErrorKind::Missing);
    /// assert_eq!(error.to_string(), "there is no tensor \"encoder.bias\"");
    /// ```
    #[must_use]
    pub fn missing(name: impl Into<String>) -> Self {
        NameCause::Missing { name: name.into() }.into()
    }

    /// The error of a text that is the name of none of these.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        text: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> Self {
        let (text, names) = (text.to_owned(), names.collect::<Vec<_>>().join(", "));
        NameCause::Unknown { what, text, names }.into()
    }

    /// Whether memory ran out or a cap was reached: smaller tensors may still fit.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.kind() == ErrorKind::OutOfMemory
    }

    /// Whether there may be memory when somebody asks again, or what was waited for be done.
    pub(crate) fn may_pass(&self) -> bool {
        [ErrorKind::OutOfMemory, ErrorKind::TimedOut].contains(&self.kind())
    }

    /// Whether the device is gone: whatever needs it fails with this error from now on.
    #[must_use]
    pub fn is_device_lost(&self) -> bool {
        self.kind() == ErrorKind::DeviceLost
    }

    /// This error, with what was being done put before it.
    #[must_use]
    pub(crate) fn during(mut self, what: impl Into<Arc<str>>) -> Self {
        self.context.insert(0, what.into());
        self
    }

    /// This error, with the adapter it happened on.
    #[must_use]
    pub(crate) fn on(self, adapter: impl Fn() -> String) -> Self {
        self.cause.note_adapter(&adapter);
        self
    }
}

/// A mistake of wharf's own, caught before it did harm: what was being done, and what is not as it
/// must be.
#[cold]
pub(crate) fn mistake(doing: impl Into<String>, found: impl Into<String>) -> Error {
    Mistake { doing: doing.into(), found: found.into(), adapter: OnceLock::new() }.into()
}

#[derive(Debug)]
struct Mistake {
    doing: String,
    found: String,
    /// Empty if nobody on the way knew it.
    adapter: OnceLock<String>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { doing, found, adapter } = self;
        write!(f, "{doing} failed in wharf itself: {found} (wharf {}", env!("CARGO_PKG_VERSION"))?;
        match adapter.get() {
            Some(adapter) => write!(f, " on {adapter})"),
            None => f.write_str(")"),
        }
    }
}

impl Cause for Mistake {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Internal
    }

    fn help(&self) -> Option<String> {
        Some(
            "this is a mistake of wharf's own, neither yours nor the driver's: please report it \
             with this message and the output of the doctor"
                .into(),
        )
    }

    fn note_adapter(&self, adapter: &dyn Fn() -> String) {
        self.adapter.get_or_init(adapter);
    }
}

causes! {
    enum NameCause;

    Missing { name: String }, Missing:
        ("there is no tensor {name:?}")
        help ("compare the names that are there: `set.names()`, or those of the file");
    Unknown { what: &'static str, text: String, names: String }, Argument:
        ("no {what} is called {text:?}")
        help ("these are: {names}");
}

impl<C: Cause> From<C> for Error {
    #[cold]
    fn from(cause: C) -> Self {
        Self { cause: Arc::new(cause), context: Vec::new() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for what in &self.context {
            write!(f, "{what}: ")?;
        }
        self.cause.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        match self.help() {
            Some(help) => write!(f, "\n  help: {}", help.replace('\n', "\n        ")),
            None => Ok(()),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.cause.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_says_where_it_was_made_and_by_which_version() {
        let error = mistake("softmax_rows", "a result in two pieces").during("softmax f32 [3]");
        let text = "softmax f32 [3]: softmax_rows failed in wharf itself: a result in two pieces";
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(error.to_string(), format!("{text} (wharf {version})"), "no adapter at hand");
        let error = error.on(|| "one".into()).on(|| "another".into());
        assert_eq!(error.to_string(), format!("{text} (wharf {version} on one)"), "the first");
        assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
        assert!(error.help().is_some_and(|help| help.contains("report")), "{error:?}");
    }
}
