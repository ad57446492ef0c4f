//! Products of matrices: decided at the call, recorded as they were decided.
//!
//! ```text
//! C[b, m, n] = sum over k of A[b, m, k] B[b, k, n]
//! choice     which kernel, by processor and shape, from tables of rates; whether it is transposed
//! plan       panels cut where an operand lies in several segments, and along k; a window of each
//!            for every segment of the result
//! record     copies of both sides, for kernels that pay for them; its dispatches
//! ```
//!
//! In one pass over k the tail is fused; the sums of several are added with the tail fused.
//!
//! Both sides are read in place at any strides: by quads where one of the two last axes is dense
//! and all else falls on whole quads, by element otherwise. What else was tried, and how the rates
//! of the tables were found, stands in `docs/measured/matmul.md`.

use std::sync::Arc;

use super::cores::{Core, Head, Tail, sums};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::news::Topic;
use crate::proof::Oracle;

pub(crate) mod choice;
mod plan;
mod record;
pub mod text;

use choice::Decision;
use record::{Recorder, unexpected};

/// A product, deferred. Its inputs are views `[batch .., m, k]` and `[batch .., k, n]`, in the
/// order that was decided.
#[derive(Debug)]
pub(crate) struct Matmul(pub(crate) Decision);

impl Core for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn is_long(&self) -> bool {
        true
    }

    fn oracle(&self) -> Option<Oracle> {
        Some(Oracle::Product { sides: Box::new(self.0.sides) })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let [a, b] = inputs else { return Err(unexpected("not two operands")) };
        let decision = &self.0;
        let site = Site { target: decision.target, ..site };
        let [left, right] = decision.sides;
        let operands = [a.realise(site)?.under(left), b.realise(site)?.under(right)];
        if tail.shape.is_empty() {
            return Ok(Value::new(site.engine.allocate(0, &[])?));
        }
        if decision.size.k == 0 {
            return sums::of_nothing(site, tail);
        }
        site.engine.remark(|| format!("matmul by {}", decision.choice));
        let recorded = Recorder { site, decision }.record(&operands, tail);
        match (recorded, decision.sparing) {
            (Err(error), Some(choice)) if error.is_out_of_memory() => {
                let what = "no memory for copies of its sides, or for sums of its passes";
                site.tell(Topic::Fallback, "a product", what);
                site.engine.remark(|| format!("instead, for lack of memory, by {choice}"));
                let decision = &Decision { choice, sparing: None, ..decision.clone() };
                Recorder { site, decision }.record(&operands, tail)
            }
            (recorded, _) => recorded,
        }
    }
}
