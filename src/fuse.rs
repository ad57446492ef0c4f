//! The deferred elementwise graph: chains of operations become one kernel when somebody needs the
//! result.
//!
//! ```text
//! node  = a value that exists
//!       | op(arguments), not computed yet; an argument is a view of a node, or a scalar
//! realise(node): walk its arguments; one that is not computed yet is taken into the same kernel
//!                if this node is its only consumer and it is read as it would be stored;
//!                otherwise it is realised first
//! ```
//!
//! The rules that keep it small: a node past a depth, a size or the adapter's bindings has its
//! arguments realised when it is made, so that no walk is deep. A live handle alone never forces a
//! store: an intermediate that is read later is computed then, and a long core that is gone on from
//! twice has a kernel of its own. A node that failed keeps its error, and everything computed from
//! it has the same; but one that found no memory keeps what it is computed from, and is computed
//! once somebody asks again and there is some.

use core::panic::Location;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::dtype::DType;
use crate::engine::site::{Choosing, Site};
use crate::error::{Error, Result, mistake};
use crate::exec::Value;
use crate::kernel::Operand;
use crate::kernel::cores::{Core, Head, Tail};
use crate::kernel::elementwise::Fused;
use crate::layout::Layout;
use crate::news::Topic;
use crate::shadow::{Deed, observed};
use crate::shape::Shape;
use crate::shared::lock;
use crate::timeline::Activity;
use crate::transfer::clear;
use crate::wgsl::expr::{self, Expr};
use burden::{BINDINGS_MAX, Burden, Weighed, view_id};
use carried::Carried;
pub(crate) use what::What;

mod burden;
mod carried;
mod what;

/// An argument of a node.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// A view of a node; its shape is the consumer's.
    View(Arc<Node>, Layout),
    /// A number: dtype and little-endian bytes, of which the dtype's width count.
    Scalar(DType, [u8; 8]),
}

/// A value, or how to compute it.
#[derive(Debug)]
pub(crate) struct Node {
    /// Never used again, unlike its address.
    id: u64,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
    /// Its value, or why it will never have one.
    done: OnceLock<Result<Arc<Value>>>,
    /// Taken when it is done, which lets go of the arguments.
    todo: Mutex<Option<Todo>>,
    /// Views of it that nodes will read.
    consumers: AtomicU32,
    /// Whether a kernel has taken its core on board, which is long: who goes on from it again would
    /// compute all of it again.
    carried: AtomicBool,
    weight: Burden,
    /// Made when there was no memory for what had to be computed first. It is taken into no other
    /// kernel, and nor are its consumers, so that walks stay short: see [`Node::catch_up`].
    late: bool,
    /// The line of the caller's that made it.
    line: &'static Location<'static>,
}

#[derive(Debug)]
struct Todo {
    what: What,
    args: Vec<Arg>,
    /// Of the handle that asked for it, whoever reads it.
    choosing: Choosing,
}

impl Todo {
    /// Lets go of the arguments.
    fn release(&mut self) -> Vec<Arg> {
        for node in read(&self.args) {
            node.consumers.fetch_sub(1, Ordering::Relaxed);
        }
        core::mem::take(&mut self.args)
    }
}

impl Drop for Todo {
    /// Takes arguments that nobody else holds apart as well, one after the other: chains of late
    /// nodes are long.
    fn drop(&mut self) {
        let mut args = self.release();
        while let Some(arg) = args.pop() {
            let Arg::View(node, _) = arg else { continue };
            let Some(node) = Arc::into_inner(node) else { continue };
            if let Some(mut todo) = lock(&node.todo).take() {
                args.append(&mut todo.release());
            }
        }
    }
}

/// The nodes among the arguments, each once.
fn distinct(args: &[Arg]) -> impl Iterator<Item = &Arc<Node>> {
    firsts(args, |_, _| true)
}

/// Once for each view of them: what is read in two ways is computed before, and not on both.
fn read(args: &[Arg]) -> impl Iterator<Item = &Arc<Node>> {
    firsts(args, |layout, other| layout == other)
}

/// The nodes of arguments that have none like them before, of the same node by a layout like it.
fn firsts(args: &[Arg], like: fn(&Layout, &Layout) -> bool) -> impl Iterator<Item = &Arc<Node>> {
    args.iter().enumerate().filter_map(move |(i, arg)| {
        let Arg::View(node, by) = arg else { return None };
        let same = |a: &Arg| matches!(a, Arg::View(n, l) if Arc::ptr_eq(n, node) && like(l, by));
        (!args[..i].iter().any(same)).then_some(node)
    })
}

/// What is needed to turn nodes into kernels.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) site: Site<'a>,
    /// The values of nodes on an engine that only sketches. They are kept here, not in the nodes.
    pub(crate) sketched: Option<&'a Sketched>,
}

impl Context<'_> {
    /// The value of a node in a sketch, if it has one.
    fn known(&self, node: &Node) -> Option<Result<Arc<Value>>> {
        lock(self.sketched?).get(&(core::ptr::from_ref(node) as usize)).cloned()
    }

    /// Views that one kernel may read.
    fn leaves_max(&self) -> usize {
        let bindings = self.site.engine.gpu.caps().limits.storage_buffers_max;
        bindings.min(BINDINGS_MAX as u64) as usize - 1
    }
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The values of nodes in a sketch, by the node's place.
pub(crate) type Sketched = Mutex<HashMap<usize, Result<Arc<Value>>>>;

impl Node {
    /// A value that exists.
    #[track_caller]
    pub(crate) fn leaf(value: Arc<Value>, shape: Shape, dtype: DType) -> Arc<Self> {
        Self::known(Ok(value), shape, dtype)
    }

    /// A value that exists, or why it never will.
    #[track_caller]
    pub(crate) fn known(done: Result<Arc<Value>>, shape: Shape, dtype: DType) -> Arc<Self> {
        Arc::new(Self {
            id: next_id(),
            shape,
            dtype,
            done: OnceLock::from(done),
            todo: Mutex::new(None),
            consumers: AtomicU32::new(0),
            carried: AtomicBool::new(false),
            weight: Burden::default(),
            late: false,
            line: Location::caller(),
        })
    }

    /// An operation on views of this shape, to be computed when it is needed.
    pub(crate) fn deferred(
        context: Context<'_>,
        what: What,
        shape: Shape,
        dtype: DType,
        args: Vec<Arg>,
    ) -> Arc<Self> {
        let (leaves_max, choosing) = (context.leaves_max(), context.site.choosing());
        let mut late = distinct(&args).any(|node| node.is_late());
        let mut weight = weigh(&what, &args);
        while !late && weight.is_above(leaves_max) {
            let heaviest =
                distinct(&args).filter(|node| node.done.get().is_none()).max_by_key(|node| {
                    let Burden { depth, carrying, .. } = &node.weight;
                    (*depth, carrying.leaves.len, carrying.size)
                });
            let Some(node) = heaviest else { break };
            // Any other error stays in the node, and is found again when the consumer is realised.
            late = node.realise(context).is_err_and(|error| error.may_pass());
            weight = weigh(&what, &args);
        }
        for node in read(&args) {
            node.consumers.fetch_add(1, Ordering::Relaxed);
        }
        Arc::new(Self {
            id: next_id(),
            shape,
            dtype,
            done: OnceLock::new(),
            todo: Mutex::new(Some(Todo { what, args, choosing })),
            consumers: AtomicU32::new(0),
            carried: AtomicBool::new(false),
            weight,
            late,
            line: context.site.line,
        })
    }

    /// What is known to have befallen what it is computed from.
    pub(crate) fn sound(self: &Arc<Self>) -> Result<()> {
        let (mut seen, mut ahead) = (HashSet::new(), vec![Arc::clone(self)]);
        while let Some(node) = ahead.pop() {
            if let Some(done) = node.done.get() {
                done.clone()?.check()?;
            } else if seen.insert(node.id)
                && let Some(todo) = &*lock(&node.todo)
            {
                ahead.extend(distinct(&todo.args).cloned());
            }
        }
        Ok(())
    }

    /// The value, computed now if it has not been; or the error of whatever failed on the way.
    pub(crate) fn realise(&self, context: Context<'_>) -> Result<Arc<Value>> {
        if let Some(done) = self.done.get() {
            return done.clone();
        }
        if let Some(known) = context.known(self) {
            return known;
        }
        self.catch_up(context)?;
        // Held while the kernel is recorded, so that two threads do not compute the same; arguments
        // only ever lock nodes made before this one.
        let mut todo = lock(&self.todo);
        if let Some(done) = self.done.get() {
            return done.clone();
        }
        let Some(work) = todo.as_ref() else {
            return Err(mistake("realising", "a node has neither a value nor arguments"));
        };
        let made = self.compute(context, work);
        if let Some(sketched) = context.sketched {
            lock(sketched).insert(core::ptr::from_ref(self) as usize, made.clone());
            return made;
        }
        if made.as_ref().is_err_and(Error::may_pass) {
            return made;
        }
        let done = self.done.get_or_init(|| made).clone();
        // What failed keeps its arguments: an assignment that failed takes the old values back.
        if done.is_ok() {
            *todo = None;
        }
        done
    }

    /// Computes every late node below it, the deepest first.
    fn catch_up(&self, context: Context<'_>) -> Result<()> {
        let mut path: Vec<Arc<Self>> = Vec::new();
        loop {
            let node = path.last().map_or(self, |node| node);
            if let Some(deeper) = node.late_argument(context) {
                path.push(deeper);
            } else if let Some(node) = path.pop() {
                node.realise(context)?;
            } else {
                return Ok(());
            }
        }
    }

    /// A late node that this one is computed from. Only late nodes have one.
    fn late_argument(&self, context: Context<'_>) -> Option<Arc<Self>> {
        let todo = if self.late { lock(&self.todo) } else { return None };
        let late = |node: &&Arc<Self>| node.is_late() && context.known(node).is_none();
        distinct(&todo.as_ref()?.args).find(late).cloned()
    }

    fn is_late(&self) -> bool {
        self.late && self.done.get().is_none()
    }

    fn compute(&self, context: Context<'_>, work: &Todo) -> Result<Arc<Value>> {
        let site = Site { line: self.line, ..context.site.choosing_as(work.choosing) };
        let context = Context { site, ..context };
        let timelines = &context.site.engine.gpu.timelines;
        let on_paper = context.sketched.is_some();
        let _recording = (!on_paper)
            .then(|| timelines.during(Activity::Record, work.what.known_name(), Some(self.line)));
        let apart = || distinct(&work.args).try_for_each(|node| node.realise(context).map(drop));
        // It was deferred with all below it, because there was no memory.
        if self.late && weigh(&work.what, &work.args).is_above(context.leaves_max()) {
            apart()?;
        }
        let mut kernel = Fusion::of(context, self, work)?;
        if kernel.leaves() > context.leaves_max() {
            // A node on the way has been computed since it was weighed: it is read, and what it was
            // computed from is still read elsewhere.
            let what = "its operands apart, of which one kernel does not read so many";
            context.site.tell(Topic::Fallback, work.what.name(), what);
            apart()?;
            kernel = Fusion::of(context, self, work)?;
        }
        let value = kernel.record(context, self).map_err(|error| {
            let shape = self.shape;
            let error = error.on(|| context.site.engine.gpu.name());
            error.during(format!("{} {} {shape}", work.what.name(), self.dtype))
        })?;
        clear(context.site.engine, &value);
        Ok(value)
    }

    /// The node as an input of a core: its expression if that may be computed on the way in,
    /// otherwise a view of its value.
    fn head(self: &Arc<Self>, context: Context<'_>, layout: &Layout, fuse: bool) -> Result<Head> {
        let widest = self.dtype.width();
        let carried = || self.carries(context).is_some_and(|width| widest <= width);
        if fuse && self.is_inlined(context, layout) && !carried() {
            let todo = lock(&self.todo);
            if let Some(work) = todo.as_ref().filter(|w| !matches!(w.what, What::Core(_))) {
                let mut kernel = Fusion::default();
                let mut root = kernel.take(context, self, work, false)?;
                if context.site.batch_invariant {
                    root = kernel.stored(root, self.dtype, true)?;
                }
                kernel.expr.outputs = vec![root];
                let Fusion { expr, operands, scalars, .. } = kernel;
                return Ok(Head { expr, operands, scalars, shape: self.shape, dtype: self.dtype });
            }
        }
        let value = self.realise(context)?;
        value.check()?;
        Ok(Head::view(Operand { value, layout: *layout, dtype: self.dtype }))
    }

    /// The width of the core that the kernel which computes it would take on board. Work between
    /// two cores goes with the first one: the second may read its input twice.
    fn carries(&self, context: Context<'_>) -> Option<usize> {
        let todo = lock(&self.todo);
        let Todo { what, args, .. } = todo.as_ref()?;
        if let What::Core(core) = what {
            return (!core.stands_alone()).then_some(self.dtype.width());
        }
        args.iter().find_map(|arg| match arg {
            Arg::View(node, layout) if node.is_inlined(context, layout) => node.carries(context),
            Arg::View(..) | Arg::Scalar(..) => None,
        })
    }

    /// Whether a consumer may compute it on the way instead of reading it.
    fn is_inlined(&self, context: Context<'_>, layout: &Layout) -> bool {
        self.done.get().is_none()
            && !self.late
            && context.known(self).is_none()
            && self.consumers.load(Ordering::Relaxed) <= 1
            && !self.carried.load(Ordering::Relaxed)
            && layout.is_all_of(&self.shape)
    }
}

/// What a node with these arguments costs.
fn weigh(what: &What, args: &[Arg]) -> Burden {
    let parts = args.iter().enumerate().filter_map(|(i, arg)| match arg {
        Arg::Scalar(dtype, _) => Some(Weighed::Words(dtype.width().div_ceil(4) as u32)),
        Arg::View(node, layout) => {
            let same =
                |a: &Arg| matches!(a, Arg::View(n, l) if Arc::ptr_eq(n, node) && l == layout);
            if args[..i].iter().any(same) {
                return None;
            }
            let dense = layout.is_all_of(&node.shape);
            let below = (node.done.get().is_none() && !node.late).then_some(&node.weight);
            Some(Weighed::View { id: view_id(node.id, layout, dense), dense, below })
        }
    });
    Burden::of(what, parts)
}

/// An expression being gathered from the graph, with its operands.
#[derive(Default)]
struct Fusion {
    expr: Expr,
    operands: Vec<Operand>,
    scalars: Vec<u32>,
    /// Nodes that are in the expression already.
    taken: Vec<(*const Node, u16)>,
    /// Whether a core may still be taken in: there is room for one.
    may_carry: bool,
    /// The core whose result is carried on by this expression, its inputs, and which input of the
    /// expression that result is.
    carried: Option<Carried>,
    /// The node of that core, if it is long and not the one that is computed.
    long: Option<Arc<Node>>,
    /// Operands that nobody will read again: one of them may be overwritten with the result.
    ending: Vec<usize>,
}

impl Fusion {
    /// The kernel that computes a node.
    fn of(context: Context<'_>, node: &Node, work: &Todo) -> Result<Self> {
        let mut kernel = Self { may_carry: true, ..Self::default() };
        let root = kernel.take(context, node, work, true)?;
        kernel.expr.outputs = vec![root];
        Ok(kernel)
    }

    /// Views that it reads, and what its core reads of its own.
    fn leaves(&self) -> usize {
        self.operands.len() + self.carried.as_ref().map_or(0, Carried::leaves)
    }

    /// Takes a node and what it is computed from into the expression; returns its place there.
    /// `ends` says that nobody will ask for the node again, so that its arguments are let go of.
    fn take(&mut self, context: Context<'_>, node: &Node, work: &Todo, ends: bool) -> Result<u16> {
        if let What::Core(core) = &work.what {
            let place = self.carry(context, node, core, work)?;
            self.taken.push((core::ptr::from_ref(node), place));
            return Ok(place);
        }
        let (mut places, looks) = ([0; 3], work.what.looks());
        let apart = work.choosing.batch_invariant;
        for (place, arg) in places.iter_mut().zip(&work.args) {
            *place = match arg {
                Arg::Scalar(dtype, bytes) => self.scalar(*dtype, bytes)?,
                Arg::View(node, layout) => {
                    let place = self.view(context, node, layout, ends)?;
                    if apart || looks { self.stored(place, node.dtype, apart)? } else { place }
                }
            };
        }
        let place = self.push(match &work.what {
            What::Apply(op) => expr::Term::Apply(*op, places),
            What::Call(formula) => expr::Term::Call(Arc::clone(formula), places),
            What::Cast(dtype) => expr::Term::Cast(places[0], *dtype),
            What::Core(_) => expr::Term::Input(0), // taken above
        })?;
        self.taken.push((core::ptr::from_ref(node), place));
        Ok(place)
    }

    /// Makes the result of a core an input of the expression.
    fn carry(
        &mut self,
        context: Context<'_>,
        node: &Node,
        core: &Arc<dyn Core>,
        Todo { args, choosing, .. }: &Todo,
    ) -> Result<u16> {
        self.may_carry = false;
        let choosing = *choosing;
        let context = Context { site: context.site.choosing_as(choosing), ..context };
        let fuse = core.takes_heads();
        let views = args.iter().filter_map(|arg| match arg {
            Arg::View(node, layout) => Some(node.head(context, layout, fuse)),
            Arg::Scalar(..) => None,
        });
        let heads = views.collect::<Result<_>>()?;
        let input = place(self.expr.inputs.len())?;
        self.expr.inputs.push(node.dtype);
        self.carried = Some(Carried { core: Arc::clone(core), choosing, heads, input });
        self.push(expr::Term::Input(input))
    }

    fn view(
        &mut self,
        context: Context<'_>,
        node: &Arc<Node>,
        layout: &Layout,
        ends: bool,
    ) -> Result<u16> {
        // Its only owner is the consumer that is being computed.
        let ends = ends && Arc::strong_count(node) == 1;
        if layout.is_all_of(&node.shape)
            && let Some((_, place)) = self.taken.iter().find(|(n, _)| *n == Arc::as_ptr(node))
        {
            return Ok(*place);
        }
        if node.is_inlined(context, layout) {
            let todo = lock(&node.todo);
            let fits = |work: &&Todo| match &work.what {
                What::Core(core) => self.may_carry && !core.stands_alone(),
                What::Apply(_) | What::Call(_) | What::Cast(_) => true,
            };
            if let Some(work) = todo.as_ref().filter(fits) {
                if matches!(&work.what, What::Core(core) if core.is_long()) {
                    self.long = Some(Arc::clone(node));
                }
                return self.take(context, node, work, ends);
            }
        }
        let value = node.realise(context)?;
        value.check()?;
        let same = |o: &Operand| Arc::ptr_eq(&o.value, &value) && o.layout == *layout;
        let index = self.operands.iter().position(same).unwrap_or_else(|| {
            self.expr.inputs.push(node.dtype);
            // The node or the sketch, and this expression.
            if ends && layout.is_all_of(&node.shape) && Arc::strong_count(&value) == 2 {
                self.ending.push(self.operands.len());
            }
            self.operands.push(Operand { value, layout: *layout, dtype: node.dtype });
            self.operands.len() - 1
        });
        // The result of a carried core is an input of the expression, but no operand.
        let before = self.carried.as_ref().is_some_and(|c| usize::from(c.input) <= index);
        self.push(expr::Term::Input(place(index + usize::from(before))?))
    }

    fn scalar(&mut self, dtype: DType, bytes: &[u8; 8]) -> Result<u16> {
        let words = Expr::scalar_words(dtype, &bytes[..dtype.width()]);
        // Pairs begin at even words, as the kernel expects.
        self.scalars.resize(self.scalars.len().next_multiple_of(words.len()), 0);
        self.scalars.extend(words);
        self.expr.scalars.push(dtype);
        let index = place(self.expr.scalars.len() - 1)?;
        self.push(expr::Term::Scalar(index))
    }

    /// A node as it would be stored. A float of 16 bits is computed in 32 and has more places until
    /// then, and what looks at it would find another value than who reads it; of others a compiler
    /// may round less than it is told where one operation follows another, unless they stay apart.
    fn stored(&mut self, node: u16, dtype: DType, apart: bool) -> Result<u16> {
        let carried = self.carried.as_ref().map(|carried| carried.input);
        let is_stored = match self.expr.nodes[usize::from(node)] {
            expr::Term::Input(i) => carried != Some(i),
            expr::Term::Scalar(_) | expr::Term::Cast(..) => true,
            expr::Term::Apply(..) | expr::Term::Call(..) => false,
        };
        let narrow = matches!(dtype, DType::F16 | DType::Bf16);
        if is_stored || !(narrow || apart && dtype.is_float()) {
            return Ok(node);
        }
        let stored = expr::Term::Cast(node, dtype);
        match self.expr.nodes.iter().position(|node| *node == stored) {
            Some(at) => place(at),
            None => self.push(stored),
        }
    }

    fn push(&mut self, node: expr::Term) -> Result<u16> {
        self.expr.nodes.push(node);
        place(self.expr.nodes.len() - 1)
    }

    fn record(self, context: Context<'_>, node: &Node) -> Result<Arc<Value>> {
        let site = context.site;
        let Self { mut expr, operands, scalars, .. } = self;
        let (shape, dtype) = (node.shape, node.dtype);
        let Some(carried) = self.carried else {
            let fused = Fused { expr: &expr, operands: &operands, scalars: &scalars };
            let record = || fused.record(site, &shape, dtype, &self.ending);
            let (operands, scalars) = (&*operands, &*scalars);
            let work = Deed { core: None, expr: &expr, operands, scalars, shape, dtype };
            let value = observed(site, &work, record)?;
            value.inherit(operands.iter().map(|operand| &*operand.value));
            return Ok(value);
        };
        carried.comes_first(&mut expr);
        let Carried { core, choosing, heads, .. } = carried;
        let tail = Tail { expr, operands, scalars, shape, dtype };
        let Tail { expr, operands, scalars, .. } = &tail;
        let of = Some((&*core, &*heads));
        let work = Deed { core: of, expr, operands, scalars, shape, dtype };
        let site = site.choosing_as(choosing);
        let value = observed(site, &work, || core.record(site, &heads, &tail))?;
        // What is only looked at is not computed.
        if let Some(node) = self.long.filter(|_| context.sketched.is_none()) {
            node.carried.store(true, Ordering::Relaxed);
        }
        let read = heads.iter().flat_map(|head| &head.operands).chain(&tail.operands);
        value.inherit(read.map(|operand| &*operand.value));
        Ok(value)
    }
}

/// A place in an expression, whose size is bounded far below what a place can be.
fn place(n: usize) -> Result<u16> {
    u16::try_from(n).map_err(|_| mistake("fusing", format!("{n} nodes in one expression")))
}
