//! A published model end to end: the embeddings of examples/embed beside those of another
//! implementation, which are committed. Needs an adapter, and the model: `scripts/fetch-model`.

#[cfg(test)]
mod near;
