//! Programs of ten to thirty lines as users of PyTorch, ndarray or candle would write them, each
//! compared with what numpy makes of the same: `generate.py` wrote `reference.txt`.
//!
//! What is awkward here is mended in the library, not in the program.
#![expect(clippy::reversed_empty_ranges, reason = "ends below 0 count from the end")]

#[cfg(test)]
mod algebra;
#[cfg(test)]
mod attending;
#[cfg(test)]
mod drawn;
#[cfg(test)]
mod dynamics;
#[cfg(test)]
mod fields;
#[cfg(test)]
mod images;
#[cfg(test)]
mod learning;
#[cfg(test)]
mod models;
#[cfg(test)]
mod networks;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod statistics;
#[cfg(test)]
mod support;
#[cfg(test)]
mod systems;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod training;
#[cfg(test)]
mod warped;
