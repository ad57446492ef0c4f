//! The texts of kernels, kept for the process: writing one takes longer than everything else that
//! its dispatch costs the host. They depend on nothing of a device, so all devices, and plans that
//! are drawn on paper, share them.

use core::convert::Infallible;
use core::hash::{Hash, Hasher};
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::access::bindings;
use super::assemble::Assembly;
use super::assembled::Assembled;
use super::edge::Edge;
use super::entry::Entry;
use super::expr::Expr;
use super::region::Region;
use super::slot::{Slot, Way};
use super::target::Target;
use super::wording::Wording;

/// All that decides a text.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Recipe<'a> {
    pub(crate) kernel: &'static str,
    /// Its expressions, and how their operands are reached.
    pub(crate) edges: &'a [Edge<'a>],
    /// Its operands, where no expression has them.
    pub(crate) slots: &'a [Slot],
    /// What is written into its file.
    pub(crate) wording: &'a dyn Wording,
    pub(crate) details: Details,
}

/// What decides it beside its structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Details {
    /// Dimensions of the index space.
    pub(crate) rank: u32,
    pub(crate) target: Target,
    /// Invocations of a workgroup; `None` for the target's own number.
    pub(crate) workgroup: Option<u32>,
    pub(crate) by_element: bool,
    pub(crate) f16_native: bool,
}

impl Details {
    /// Those of a kernel without expressions.
    pub(crate) const fn plain(rank: u32, target: Target) -> Self {
        Self { rank, target, workgroup: None, by_element: false, f16_native: false }
    }
}

/// A recipe that was asked for, and its text.
#[derive(Debug)]
struct KeptText {
    kernel: &'static str,
    edges: Vec<(Expr, Vec<Way>)>,
    slots: Vec<Slot>,
    wording: Box<dyn Wording>,
    details: Details,
    text: Arc<Assembled>,
}

/// By the recipe's hash.
static TEXTS: LazyLock<Mutex<HashMap<u64, Vec<KeptText>>>> = LazyLock::new(Mutex::default);

impl Recipe<'_> {
    /// The text, written if there is none yet.
    ///
    /// # Errors
    /// What `write` cannot do.
    pub(crate) fn kept<E>(
        &self,
        write: impl FnOnce() -> Result<Assembled, E>,
    ) -> Result<Arc<Assembled>, E> {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        let hash = hasher.finish();
        let texts = || TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = texts()
            .get(&hash)
            .and_then(|all| all.iter().find(|known| self.is(known)))
            .map(|known| Arc::clone(&known.text));
        let text = match known {
            Some(text) => text,
            None => {
                // Written outside the lock: two threads that write the same one do no harm.
                let text = Arc::new(write()?);
                texts().entry(hash).or_default().push(self.written(Arc::clone(&text)));
                text
            }
        };
        #[cfg(feature = "testing")]
        super::mutant::note(&text);
        Ok(text)
    }

    fn is(&self, known: &KeptText) -> bool {
        let edges = self.edges.iter().zip(&known.edges);
        self.kernel == known.kernel
            && self.details == known.details
            && self.slots == known.slots
            && self.edges.len() == known.edges.len()
            && edges.into_iter().all(|(a, (expr, ways))| a.expr == expr && a.ways == ways)
            && self.wording.is(&*known.wording)
    }

    fn written(&self, text: Arc<Assembled>) -> KeptText {
        let Self { kernel, edges, slots, wording, details } = *self;
        let edges = edges.iter().map(|edge| (edge.expr.clone(), edge.ways.to_vec())).collect();
        KeptText { kernel, edges, slots: slots.to_vec(), wording: wording.boxed(), details, text }
    }
}

/// The text of a kernel for these operands, inputs first. `rank` is the index space's (1 to 8; 0
/// where no operand is strided).
#[must_use]
pub fn kernel(entry: &'static Entry, slots: &[Slot], rank: u32, target: Target) -> Arc<Assembled> {
    worded(entry, &(), slots, rank, target)
}

/// The text of a kernel whose bindings are its own.
#[must_use]
pub fn plain(entry: &'static Entry, target: Target) -> Arc<Assembled> {
    kernel(entry, &[], 0, target)
}

/// The text of one of a kernel's variants.
#[must_use]
pub fn worded(
    entry: &'static Entry,
    wording: &dyn Wording,
    slots: &[Slot],
    rank: u32,
    target: Target,
) -> Arc<Assembled> {
    let details = Details::plain(rank, target);
    let Ok(text) = Recipe { kernel: entry.name, edges: &[], slots, wording, details }.kept(|| {
        let mut regions = wording.regions();
        regions.push(Region::text("bindings", bindings(slots, target)));
        let assembly = Assembly { entry, slots, regions: &regions, rank, target, workgroup: None };
        Ok::<_, Infallible>(assembly.build())
    });
    text
}
