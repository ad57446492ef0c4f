//! The cases, the checks of their results, and the protocol of a measuring program.
//!
//! Every program has the same cases, makes the same inputs, and checks its own results against the
//! same computation on the host, in f64. The program that runs them all knows the cases by name.

mod check;
mod images;
mod model;
mod serve;
mod table;

pub use check::check;
pub use model::{EPSILON, HEADS, LAYERS, Model, TABLES, WIDE, WIDTH, weights};
pub use serve::{Peer, Ran, Run, main};
pub use table::{
    Attention, CHAIN, CHAIN_MATMUL, CHANNELS, Case, Crossing, Formula, GROUPS, Image, Kind, Matmul,
    Order, Rows, SIDE, Scale, TOP, Unit, What, all,
};

/// Numbers in -1..1, with 512 different values: multiples of 1/256, which every float dtype holds.
#[must_use]
pub fn values(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40 & 511) as f32 / 256.0 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// The inputs of a case, in order.
#[must_use]
pub fn inputs(what: &What) -> Vec<Vec<f32>> {
    if let What::Model(model) = what {
        return model.inputs();
    }
    what.lengths().into_iter().zip(1..).map(|(n, seed)| values(seed, n)).collect()
}
