//! A published model end to end: the embeddings of examples/embed beside those of another
//! implementation, which are committed. Needs an adapter, and the model: `scripts/fetch-model`.

#[cfg(test)]
#[path = "../../examples/embed/batch.rs"]
mod batch;
#[cfg(test)]
mod check;
#[cfg(test)]
#[path = "../../examples/embed/corpus.rs"]
mod corpus;
#[cfg(test)]
#[path = "../../examples/embed/embedder.rs"]
mod embedder;
#[cfg(test)]
#[path = "../../examples/embed/kept.rs"]
mod kept;
#[cfg(test)]
#[path = "../../benches/common/memory.rs"]
mod memory;
#[cfg(test)]
#[path = "../../examples/embed/model.rs"]
mod model;
#[cfg(test)]
mod near;
#[cfg(test)]
#[path = "../cli/not_run.rs"]
mod not_run;
#[cfg(test)]
mod pass;
#[cfg(test)]
mod program;
#[cfg(test)]
mod resume;
#[cfg(test)]
#[path = "../../examples/embed/say.rs"]
mod say;
#[cfg(test)]
#[allow(dead_code, reason = "blocks are for the program and for the gpu tier")]
#[path = "../../examples/embed/weights.rs"]
mod weights;
