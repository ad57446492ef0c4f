//! The table of cases.

mod accuracy;
mod arrays;
mod assign;
mod attention;
mod carriage;
mod casts;
mod company;
mod conv;
mod crossing;
mod custom_kernel;
mod doubles;
mod eights;
mod elementwise;
#[cfg(not(target_family = "wasm"))]
mod failures;
mod faults;
mod formulas;
mod fourier;
mod graphs;
mod hand;
mod hunt;
mod indexing;
mod judged;
mod laid;
mod lent;
mod liberties;
mod linalg;
mod luck;
mod makers;
mod matmul;
mod memory;
mod moves;
mod narrow;
mod order;
pub(crate) mod pair;
#[cfg(not(target_family = "wasm"))]
mod paper;
mod parted;
#[cfg(not(target_family = "wasm"))]
mod patience;
mod pool;
mod portable;
pub(crate) mod probe;
mod profile;
mod published;
mod quantized;
mod random;
mod reads;
mod reduce;
mod rows;
#[cfg(not(target_family = "wasm"))]
mod saved;
mod scan;
mod sets;
mod shadow;
#[cfg(not(target_family = "wasm"))]
mod threads;
mod torch;
mod trusting;
mod tuned;
mod turns;
mod views;
mod vocabulary;

use wharf::Adapter;

use crate::counts;
use crate::ctx::Case;

/// Every case that makes sense on this adapter.
pub(crate) fn all(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(crossing::cases(adapter));
    cases.extend(carriage::cases());
    cases.extend(memory::cases(adapter));
    cases.extend(sets::cases(adapter));
    cases.extend(moves::cases(adapter));
    cases.extend(reads::cases(adapter));
    cases.extend(arrays::cases(adapter));
    cases.extend(views::cases(adapter));
    cases.extend(assign::cases(adapter));
    cases.extend(casts::cases(adapter));
    cases.extend(faults::cases(adapter));
    cases.extend(makers::cases());
    cases.extend(indexing::cases(adapter));
    cases.extend(order::cases(adapter));
    cases.extend(random::cases(adapter));
    cases.extend(torch::cases(adapter));
    cases.extend(elementwise::cases(adapter));
    cases.extend(accuracy::cases(adapter));
    cases.extend(liberties::cases());
    cases.extend(judged::cases(adapter));
    cases.extend(doubles::cases(adapter));
    cases.extend(eights::cases(adapter));
    cases.extend(narrow::cases(adapter));
    cases.extend(graphs::cases(adapter));
    cases.extend(reduce::cases(adapter));
    cases.extend(rows::cases(adapter));
    cases.extend(attention::cases(adapter));
    cases.extend(conv::cases(adapter));
    cases.extend(pool::cases(adapter));
    cases.extend(scan::cases(adapter));
    cases.extend(hand::cases());
    cases.extend(vocabulary::cases(adapter));
    cases.extend(hunt::cases(adapter));
    cases.extend(formulas::cases(adapter));
    cases.extend(lent::cases(adapter));
    cases.extend(linalg::cases(adapter));
    cases.extend(fourier::cases(adapter));
    cases.extend(matmul::cases(adapter));
    cases.extend(quantized::cases(adapter));
    cases.extend(trusting::cases());
    cases.extend(parted::cases());
    cases.extend(laid::cases());
    cases.extend(turns::cases(adapter));
    cases.extend(tuned::cases());
    cases.extend(profile::cases(adapter));
    cases.extend(published::cases());
    cases.extend(company::cases());
    cases.extend(custom_kernel::cases(adapter));
    cases.extend(portable::cases(adapter));
    cases.extend(luck::cases());
    cases.extend(shadow::cases());
    cases.extend(counts::cases());
    #[cfg(not(target_family = "wasm"))]
    {
        cases.extend(threads::cases().into_iter().chain(failures::cases()));
        cases.extend(paper::cases(adapter));
        cases.extend(patience::cases(adapter));
        cases.extend(saved::cases());
    }
    cases
}
