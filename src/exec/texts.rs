//! The texts of kernels, kept by structure: writing one takes the host longer than the rest of an
//! operation together.

use core::hash::{Hash, Hasher};
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::gpu::lock;
use crate::wgsl::core::Core;
use crate::wgsl::{Assembled, Expr, Target, TextShape, Way};

/// Every text of a device: of fused kernels by the hash of their structure, of cores by all that
/// decides it.
#[derive(Debug, Default)]
pub(crate) struct Texts(Mutex<HashMap<u64, Vec<Known>>>, Mutex<HashMap<CoreKey, Arc<Assembled>>>);

/// Everything that decides the text of a core's kernel.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CoreKey {
    name: &'static str,
    /// The heads, then the tail.
    parts: Vec<(Expr, Vec<Way>)>,
    regions: Vec<(String, String)>,
    flags: (bool, bool, u32, Target, Option<u32>),
}

impl CoreKey {
    fn of(core: &Core<'_>) -> Self {
        let parts = core.heads.iter().chain([&core.tail]);
        let regions = core.regions.iter();
        Self {
            name: core.entry.name,
            parts: parts.map(|part| (part.expr.clone(), part.ways.to_vec())).collect(),
            regions: regions.map(|&(name, text)| (name.into(), text.into())).collect(),
            flags: (core.by_element, core.f16_native, core.rank, core.target, core.workgroup),
        }
    }
}

#[derive(Debug)]
struct Known {
    expr: Expr,
    ways: Vec<Way>,
    shape: TextShape,
    text: Arc<Assembled>,
}

impl Texts {
    /// The text of an expression reached in these ways, for a rank, a target and a pace; written
    /// by `write` if it is not known.
    pub(crate) fn get(
        &self,
        expr: &Expr,
        ways: &[Way],
        shape: TextShape,
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

    /// The text of a core's kernel.
    pub(crate) fn core(&self, core: &Core<'_>) -> Result<Arc<Assembled>> {
        let key = CoreKey::of(core);
        let known = lock(&self.1).get(&key).map(Arc::clone);
        if let Some(text) = known {
            return Ok(text);
        }
        let text = Arc::new(core.assemble()?);
        lock(&self.1).insert(key, Arc::clone(&text));
        Ok(text)
    }
}
