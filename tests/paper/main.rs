//! Paper tier: everything that can be known without a GPU.
//!
//! Plans, layouts, host views and conversions against oracles, every error with its help, and the
//! crossing on wgpu's noop backend, which stores bytes and computes nothing. One binary, no adapter
//! needed.

#[cfg(test)]
mod absurd;
#[cfg(test)]
mod accuracy;
#[cfg(test)]
mod arrays;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod conversions;
#[cfg(test)]
mod crossings;
#[cfg(test)]
mod downgrades;
#[cfg(test)]
mod eights;
#[cfg(test)]
#[path = "../goldens/ends.rs"]
mod ends;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod errors_device;
#[cfg(test)]
mod errors_lent;
#[cfg(test)]
mod errors_operations;
#[cfg(test)]
mod errors_remedies;
#[cfg(test)]
mod errors_vocabulary;
#[cfg(test)]
mod exact;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod kernels;
#[cfg(test)]
mod layouts;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod names;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod randoms;
#[cfg(test)]
mod receipts;
#[cfg(test)]
#[path = "../mutants/rules.rs"]
mod rules;
#[cfg(test)]
#[path = "../mutants/seen.rs"]
mod seen;
#[cfg(test)]
mod support;
#[cfg(test)]
#[path = "../broken/texts.rs"]
mod texts;
#[cfg(test)]
mod torch;
#[cfg(test)]
#[path = "../goldens/torch.rs"]
mod torch_goldens;
#[cfg(test)]
#[path = "../goldens/operations.rs"]
mod torch_operations;
#[cfg(test)]
#[path = "../gpu/verdicts.rs"]
mod verdicts;
