//! The texts of fused kernels, kept by structure: writing one takes longer than everything else
//! that an operation costs the host.

use core::hash::{Hash, Hasher};
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::gpu::lock;
use crate::wgsl::{Assembled, Expr, Target, Way};

/// Every text of a device, by the hash of its structure.
#[derive(Debug, Default)]
pub(crate) struct Texts(Mutex<HashMap<u64, Vec<Known>>>);

#[derive(Debug)]
struct Known {
    expr: Expr,
    ways: Vec<Way>,
    shape: (u32, Target),
    text: Arc<Assembled>,
}

impl Texts {
    /// The text of an expression reached in these ways; written by `write` if it is not known.
    pub(crate) fn get(
        &self,
        expr: &Expr,
        ways: &[Way],
        shape: (u32, Target),
        write: impl FnOnce() -> Result<Assembled>,
    ) -> Result<Arc<Assembled>> {
        let mut hasher = DefaultHasher::new();
        (expr, ways, shape).hash(&mut hasher);
        let hash = hasher.finish();
        let is = |k: &&Known| k.shape == shape && k.ways == ways && k.expr == *expr;
        let known =
            lock(&self.0).get(&hash).and_then(|k| k.iter().find(is)).map(|k| Arc::clone(&k.text));
        if let Some(text) = known {
            return Ok(text);
        }
        let text = Arc::new(write()?);
        let known =
            Known { expr: expr.clone(), ways: ways.to_vec(), shape, text: Arc::clone(&text) };
        lock(&self.0).entry(hash).or_default().push(known);
        Ok(text)
    }
}
