//! Programs of ten to thirty lines as users of PyTorch, ndarray or candle would write them, each
//! compared with what numpy makes of the same: `generate.py` wrote `reference.txt`.
//!
//! What is awkward here is mended in the library, not in the program.
#![expect(clippy::reversed_empty_ranges, reason = "ends below 0 count from the end")]

#[cfg(test)]
mod fields;
#[cfg(test)]
mod learning;
#[cfg(test)]
mod models;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tables;
