//! Cores: kernels that are not elementwise, with elementwise work fused on both sides.
//!
//! ```text
//! heads -> core -> tail          sum((a - b)^2) * 0.5      head: (a - b)^2   tail: x * 0.5
//! ```
//!
//! A core is deferred like an elementwise operation and recorded when somebody needs it. Then each
//! input arrives as a [`Head`], an expression over views - often just one view - and what is to
//! become of every element of its result as a [`Tail`]. A variant that cannot take a tail on board
//! stores its own result and leaves the rest to [`Tail::apply`].

use core::fmt;
use std::sync::{Arc, Weak};

use super::elementwise::Fused;
use super::{Held, Operand};
use crate::caps::Feature;
use crate::count::word;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Job, Value};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::store::Pinned;
use crate::wgsl::core::Part;
use crate::wgsl::{Entry, Expr, Node, Space, View, Way, params};

/// An operation that is a kernel of its own.
pub(crate) trait Core: fmt::Debug + Send + Sync {
    /// Its name in errors and plans.
    fn name(&self) -> &'static str;

    /// Whether inputs may be expressions that are computed on the way in. If not, each is computed
    /// first, and arrives as a view of a value.
    fn takes_heads(&self) -> bool {
        false
    }

    /// Records it.
    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>>;
}

/// An expression over operands that are all views of one shape.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) expr: Expr,
    pub(crate) operands: Vec<Operand>,
    pub(crate) scalars: Vec<u32>,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
}

/// What becomes of every element of a core's result before it is stored: an expression whose first
/// input is that element, and whose others are `operands`, views of the result's shape.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    pub(crate) expr: Expr,
    pub(crate) operands: Vec<Operand>,
    pub(crate) scalars: Vec<u32>,
    pub(crate) shape: Shape,
    /// What is stored.
    pub(crate) dtype: DType,
}

/// An expression that is its only input.
fn itself(dtype: DType) -> Expr {
    let (inputs, nodes, outputs) = (vec![dtype], vec![Node::Input(0)], vec![0]);
    Expr { inputs, nodes, outputs, ..Expr::default() }
}

impl Head {
    /// One view.
    pub(crate) fn view(operand: Operand) -> Self {
        let (shape, dtype) = (*operand.layout.shape(), operand.dtype);
        let (operands, scalars) = (vec![operand], Vec::new());
        Self { expr: itself(dtype), operands, scalars, shape, dtype }
    }

    /// The view, if it is just one.
    pub(crate) fn plain(&self) -> Option<&Operand> {
        match (&*self.operands, &*self.expr.nodes) {
            ([operand], [Node::Input(0)]) => Some(operand),
            _ => None,
        }
    }

    /// The view, or that of the expression's value, computed now.
    pub(crate) fn realise(&self, site: Site<'_>) -> Result<Operand> {
        if let Some(operand) = self.plain() {
            return Ok(operand.clone());
        }
        let Self { expr, operands, scalars, shape, dtype } = self;
        let value = Fused { expr, operands, scalars }.record(site, shape, *dtype, &[])?;
        Ok(Operand { value, layout: Layout::dense(*shape), dtype: *dtype })
    }

    /// The same under other views of its operands, which all must take the same shape.
    pub(crate) fn map(&self, view: impl Fn(&Layout) -> Result<Layout>) -> Result<Self> {
        let shape = *view(&Layout::dense(self.shape))?.shape();
        let operands = mapped(&self.operands, view)?;
        Ok(Self { operands, shape, ..self.clone() })
    }
}

fn mapped(operands: &[Operand], view: impl Fn(&Layout) -> Result<Layout>) -> Result<Vec<Operand>> {
    let map = |o: &Operand| Ok(Operand { layout: view(&o.layout)?, ..o.clone() });
    operands.iter().map(map).collect()
}

impl Tail {
    /// Nothing: the result as it is.
    pub(crate) fn identity(shape: Shape, dtype: DType) -> Self {
        let (operands, scalars) = (Vec::new(), Vec::new());
        Self { expr: itself(dtype), operands, scalars, shape, dtype }
    }

    /// Whether it leaves the result as it is.
    pub(crate) fn is_identity(&self) -> bool {
        matches!(&*self.expr.nodes, [Node::Input(0)])
    }

    /// The dtype of the core's result.
    pub(crate) fn given(&self) -> DType {
        self.expr.inputs[0]
    }

    /// As a kernel of its own, on a dense result that has been stored.
    pub(crate) fn apply(&self, site: Site<'_>, value: Arc<Value>) -> Result<Arc<Value>> {
        if self.is_identity() {
            return Ok(value);
        }
        let Self { expr, scalars, shape, dtype, .. } = self;
        let layout = Layout::dense(*shape);
        let mut operands = vec![Operand { value, layout, dtype: self.given() }];
        operands.extend_from_slice(&self.operands);
        // The stored result is read here and nowhere else.
        let fused = Fused { expr, operands: &operands, scalars };
        fused.record(site, shape, *dtype, &[0])
    }

    /// How a kernel reaches its operands, by quads or by elements of the dense result; `None` if
    /// that takes more than one segment of one of them.
    pub(crate) fn reach(&self, by_element: bool) -> Result<Option<Reach<'_>>> {
        Reach::over(&self.expr, &self.operands, &self.scalars, &self.shape, by_element)
    }
}

/// How a kernel reaches the operands of an expression.
#[derive(Debug)]
pub(crate) struct Reach<'a> {
    expr: &'a Expr,
    scalars: &'a [u32],
    bindings: Vec<Bound>,
    ways: Vec<Way>,
    offsets: Vec<u32>,
    /// Of strided operands, over `space`.
    strides: Vec<Vec<u32>>,
    space: Vec<u32>,
    /// Keep the operands in place until the dispatch is recorded.
    pins: Vec<Pinned>,
}

impl<'a> Reach<'a> {
    /// By quads (or elements) of an index space of this shape, in row-major order; `None` if an
    /// operand does not lie in one segment, or the space is larger than 32 bits reach.
    pub(crate) fn over(
        expr: &'a Expr,
        operands: &[Operand],
        scalars: &'a [u32],
        shape: &Shape,
        by_element: bool,
    ) -> Result<Option<Self>> {
        let mut reach = Self::empty(expr, scalars);
        let mut views = Vec::with_capacity(operands.len());
        for operand in operands {
            let Some(offset) = reach.bind(operand)? else { return Ok(None) };
            let strides = operand.layout.strides().iter().map(|&s| s as i64).collect();
            views.push(View { offset, strides });
        }
        if shape.elements() > u32::MAX as usize / 2 {
            return Ok(None);
        }
        let Some(space) = Space::of(shape.dims(), &views) else { return Ok(None) };
        for (view, &way) in space.views.iter().zip(&space.ways) {
            let way = if by_element { way.by_element() } else { way };
            let quads = way == Way::Dense;
            reach.offsets.push(if quads { view.offset / 4 } else { view.offset });
            reach.strides.extend(way.is_strided().then(|| view.stride_words()));
            reach.ways.push(way);
        }
        reach.space = space.shape;
        Ok(Some(reach))
    }

    /// The only operand of a plain head by the kernel's own arithmetic: `head(q)` is quad (or
    /// element) `q` from the view's first element on. `None` if the view does not lie in one
    /// segment or, by quads, does not begin at one.
    pub(crate) fn raw(head: &'a Head, by_element: bool) -> Result<Option<Self>> {
        let mut reach = Self::empty(&head.expr, &head.scalars);
        let Some(operand) = head.plain() else { return Ok(None) };
        let Some(offset) = reach.bind(operand)? else { return Ok(None) };
        if !by_element && !offset.is_multiple_of(4) {
            return Ok(None);
        }
        reach.offsets.push(if by_element { offset } else { offset / 4 });
        reach.ways.push(if by_element { Way::Each } else { Way::Dense });
        Ok(Some(reach))
    }

    fn empty(expr: &'a Expr, scalars: &'a [u32]) -> Self {
        let (bindings, ways, offsets) = (Vec::new(), Vec::new(), Vec::new());
        let (strides, space, pins) = (Vec::new(), Vec::new(), Vec::new());
        Self { expr, scalars, bindings, ways, offsets, strides, space, pins }
    }

    /// Binds the segment of an operand; returns where the view begins in it.
    fn bind(&mut self, operand: &Operand) -> Result<Option<u32>> {
        let held = Held::new(&operand.value, operand.layout, operand.dtype)?;
        if !held.is_in_one_segment() {
            return Ok(None);
        }
        let index = operand.layout.span().start / held.segment;
        self.bindings.push(Bound::from(&held.pieces[index]));
        self.pins.push(held.pinned);
        Ok(u32::try_from(operand.layout.offset() - index * held.segment).ok())
    }

    /// Whether it needs an index space: a kernel has room for one.
    pub(crate) fn is_strided(&self) -> bool {
        !self.strides.is_empty()
    }

    /// Loop trips that finding the elements of one quad takes.
    pub(crate) fn trips(&self) -> u32 {
        let trips = self.strides.len() * self.space.len().saturating_sub(1);
        trips as u32 // at most as many as operands times axes
    }

    /// The buffers it reads: a result must lie in none of them.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u64> {
        self.bindings.iter().map(|bound| bound.buffer_id)
    }

    fn part(&self) -> Part<'_> {
        Part { expr: self.expr, ways: &self.ways }
    }
}

/// One dispatch of a core's kernel.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) entry: &'static Entry,
    pub(crate) heads: Vec<Reach<'a>>,
    pub(crate) tail: Reach<'a>,
    /// Where the result goes, and its first element there: before the bound part, if that holds
    /// only a later part of the result.
    pub(crate) output: (Bound, i64),
    pub(crate) written: Weak<Value>,
    /// Whether results are stored by element; otherwise by quads, and the first is a whole one.
    pub(crate) by_element: bool,
    pub(crate) regions: &'a [(&'a str, &'a str)],
    /// Invocations of a workgroup, where the target's own number does not count.
    pub(crate) workgroup: Option<u32>,
    /// The kernel's own parameters, in whole fours.
    pub(crate) job: Vec<u32>,
    pub(crate) groups: [u32; 3],
}

impl Launch<'_> {
    /// Records it.
    pub(crate) fn record(self, site: Site<'_>) -> Result<()> {
        let (heads, tail) = (&self.heads, &self.tail);
        let all = || heads.iter().chain([tail]);
        let spaces = all().filter(|reach| reach.is_strided()).map(|reach| &*reach.space);
        let spaces: Vec<&[u32]> = spaces.collect();
        if spaces.iter().any(|space| *space != spaces[0]) {
            return Err(two_spaces(self.entry.name));
        }
        let space = spaces.first().copied();
        let parts: Vec<Part<'_>> = heads.iter().map(Reach::part).collect();
        let kernel = crate::wgsl::core::Core {
            entry: self.entry,
            heads: &parts,
            tail: tail.part(),
            by_element: self.by_element,
            regions: self.regions,
            workgroup: self.workgroup,
            f16_native: site.engine.gpu.caps().has(Feature::ShaderF16),
            rank: word(space.map_or(0, <[u32]>::len))?,
            target: site.target,
        };
        let kernel = site.engine.texts.core(&kernel)?;
        let (output, first) = self.output;
        let first = if self.by_element { first } else { first / 4 };
        #[expect(clippy::cast_possible_truncation, reason = "indices are modulo 2^32")]
        let first = first as u32;
        let mut scalars = Vec::new();
        for reach in all() {
            // Pairs of words begin at even ones.
            scalars.resize(scalars.len().next_multiple_of(2), 0);
            scalars.extend_from_slice(reach.scalars);
        }
        let offsets: Vec<u32> = all().flat_map(|r| r.offsets.iter().copied()).collect();
        let strides: Vec<Vec<u32>> = all().flat_map(|r| r.strides.iter().cloned()).collect();
        let offsets = &*[offsets, vec![first]].concat();
        let (strides, scalars) = (&*strides, &*scalars);
        let space = space.map(|shape| (0, shape));
        let params = params::Operands { space, offsets, strides, scalars }.after(self.job);
        let mut bindings: Vec<Bound> = all().flat_map(|r| r.bindings.iter().cloned()).collect();
        bindings.push(output);
        let (groups, output) = (self.groups, self.written);
        site.engine.dispatch(Job { kernel: &kernel, bindings, params, groups, output })
    }
}

/// A core must leave one of the sides to a kernel of its own.
fn two_spaces(name: &str) -> Error {
    mistake(name, "two index spaces in one kernel")
}
