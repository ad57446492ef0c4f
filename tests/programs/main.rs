//! Programs of ten to thirty lines as users of PyTorch, ndarray or candle would write them, each
//! compared with what numpy makes of the same: `generate.py` wrote `reference.txt`.
//!
//! What is awkward here is mended in the library, not in the program.

#[cfg(test)]
mod fields;
#[cfg(test)]
mod learning;
#[cfg(test)]
mod support;
