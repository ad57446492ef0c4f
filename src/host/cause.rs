//! What can be wrong with a dtype, or with a value on its way into another one.

use core::fmt;

use crate::dtype::DType;
use crate::error::{Cause, ErrorKind};

#[derive(Debug)]
pub(crate) enum CarriageCause {
    OutOfRange { from: DType, to: DType, index: u64, value: String },
    Changed { from: DType, to: DType, index: u64, value: String },
    Overflow { from: DType, to: DType, index: u64, value: String },
    NoConversion { from: DType, to: DType },
    ReadAs { tensor: DType, asked: DType },
}

impl fmt::Display for CarriageCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { from, to, index, value } => {
                write!(f, "{from} -> {to}: value {value} at index {index} is out of range")
            }
            Self::Changed { from, to, index, value } => {
                write!(f, "{from} -> {to}: value {value} at index {index} has no exact {to}")
            }
            Self::Overflow { from, to, index, value } => {
                write!(f, "{from} -> {to}: value {value} at index {index} overflows to infinity")
            }
            Self::NoConversion { from, to } => {
                write!(f, "no conversion {from} -> {to} between host and device")
            }
            Self::ReadAs { tensor, asked } => {
                write!(f, "tensor is {tensor}, read asks for {asked}")
            }
        }
    }
}

impl Cause for CarriageCause {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::OutOfRange { .. } | Self::Changed { .. } | Self::Overflow { .. } => {
                ErrorKind::Conversion
            }
            Self::NoConversion { .. } | Self::ReadAs { .. } => ErrorKind::DType,
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            Self::OutOfRange { .. } => {
                "keep the wider dtype on an adapter that has it, or bring the value into range"
                    .into()
            }
            Self::Changed { from, to, .. } => {
                let pair = format!("DType::{from:?}, DType::{to:?}");
                format!("have roundings counted instead of refused: `.allow({pair})`")
            }
            Self::Overflow { .. } => {
                "scale the data, or leave out `overflow_is_error()` to have overflows counted"
                    .into()
            }
            Self::NoConversion { .. } => "convert on the host, or cast on the device".into(),
            Self::ReadAs { tensor, asked } => {
                format!("read it as {tensor}, or ask for a conversion: `read_as::<{asked}>()`")
            }
        };
        Some(help)
    }
}
