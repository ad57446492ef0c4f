//! Sums of products by the letters of their axes, planned to products of matrices and reductions.
//!
//! ```text
//! a letter twice in one operand    a diagonal: a view
//! two operands at a time, those whose product is smallest first:
//!   a letter of one alone          summed before
//!   in both, and wanted later      a batch
//!   in both, and not wanted        the inner axis of a product of matrices
//! no inner axis                    elementwise, fused with what follows
//! ```

use core::borrow::Borrow;
use core::fmt;

use super::Tensor;
use super::cause::{TensorCause, computed_with};
use super::reduce::computed;
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::layout::Layout;
use crate::op::Op;
use crate::shape::Shape;

/// The name of an axis: a letter, or a place under an ellipsis, counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Under(usize),
    Letter(char),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Letter(letter) => write!(f, "{letter}"),
            Self::Under(_) => write!(f, "..."),
        }
    }
}

impl Tensor {
    /// The sum of products that letters spell: each operand has a letter for each of its axes, and
    /// the result those after `->`; what is left out is summed over. `...` stands for axes that
    /// broadcast, aligned at the last. Without `->` the result has those, and then the letters that
    /// occur once, in alphabetical order, capitals first.
    ///
    /// Two operands at a time become a product of matrices by its [contract](Tensor::matmul) - or
    /// an elementwise one, if nothing of theirs is summed -, those first whose product is the
    /// smallest: [`Tensor::explain`] lists the kernels. f16 and bf16 are rounded after each.
    /// Integers narrower than 32 bits become 32 wide where anything is summed or multiplied.
    /// Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::Tensor;
    ///
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let (y, _) = device.upload(&[10.0f32, 1.0], [2])?;
    /// assert_eq!(Tensor::einsum("ij,j->i", &[&x, &y])?.read_now::<f32>()?, [12.0, 34.0]);
    /// assert_eq!(Tensor::einsum("ij->ji", &[&x])?.read_now::<f32>()?, [1.0, 3.0, 2.0, 4.0]);
    /// assert_eq!(Tensor::einsum("ii", &[&x])?.read_scalar_now::<f32>()?, 5.0);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "tensordot")]
    #[track_caller]
    pub fn einsum(letters: &str, operands: &[impl Borrow<Self>]) -> Result<Self> {
        let summed = || {
            let operands: Vec<&Self> = operands.iter().map(Borrow::borrow).collect();
            let (mut terms, wanted) = spelled(letters, &operands)?;
            let lengths = lengths(&terms)?;
            let length = |label: Label| lengths.iter().find(|(l, _)| *l == label).map(|(_, n)| *n);
            for &label in &wanted {
                if length(label).is_none() {
                    return Err(EinsumCause::Unknown { label: label.to_string() }.into());
                }
            }
            for term in &mut terms {
                // What broadcasts is no axis of this operand.
                term.keep(|label, dim| dim != 1 || length(label) == Some(1))?;
            }
            while let Some((left, right)) = closest(&mut terms, &wanted) {
                let kept = |label: &Label| {
                    wanted.contains(label) || terms.iter().any(|term| term.labels.contains(label))
                };
                let product = left.times(right, kept)?;
                terms.push(product);
            }
            let term = terms.pop().ok_or(EinsumCause::Operands { spelled: 0, given: 0 })?;
            term.only(|label| wanted.contains(label))?.as_spelled(&wanted, length)
        };
        asked(summed).map_err(|error: Error| error.during("einsum"))
    }
}

/// An operand, and the label of each of its axes.
#[derive(Clone, Debug)]
struct Labelled {
    x: Tensor,
    labels: Vec<Label>,
}

impl Labelled {
    fn dims(&self) -> impl Iterator<Item = (Label, usize)> {
        self.labels.iter().copied().zip(self.x.shape().dims().iter().copied())
    }

    fn has(&self, label: Label) -> bool {
        self.labels.contains(&label)
    }

    /// With one axis for each label: a diagonal where it occurs twice.
    fn on_diagonals(self) -> Result<Self> {
        let mut axes: Vec<(Label, usize, isize)> = Vec::new();
        for ((label, dim), &stride) in self.dims().zip(self.x.layout.strides()) {
            match axes.iter_mut().find(|(known, ..)| *known == label) {
                Some(&mut (_, left, _)) if left != dim => {
                    let (label, right) = (label.to_string(), dim);
                    return Err(EinsumCause::Diagonal { label, left, right }.into());
                }
                // An axis of one place may have any stride.
                Some((_, _, along)) => *along = along.wrapping_add(stride),
                None => axes.push((label, dim, stride)),
            }
        }
        if axes.len() == self.labels.len() {
            return Ok(self);
        }
        let shape = Shape::new(axes.iter().map(|(_, dim, _)| *dim).collect::<Vec<_>>())?;
        let strides: Vec<isize> = axes.iter().map(|(.., stride)| *stride).collect();
        let view = Layout::strided(shape, &strides, self.x.layout.offset())?;
        Ok(Self { x: self.x.view(view), labels: axes.iter().map(|(label, ..)| *label).collect() })
    }

    /// Without axes of length 1 that are not to be kept.
    fn keep(&mut self, keep: impl Fn(Label, usize) -> bool) -> Result<()> {
        for axis in (0..self.labels.len()).rev() {
            if !keep(self.labels[axis], self.x.shape().dims()[axis]) {
                self.x = self.x.squeeze(axis)?;
                self.labels.remove(axis);
            }
        }
        Ok(())
    }

    /// Summed over all axes but those that are kept.
    fn only(self, kept: impl Fn(&Label) -> bool) -> Result<Self> {
        let gone: Vec<usize> =
            (0..self.labels.len()).filter(|&axis| !kept(&self.labels[axis])).collect();
        if gone.is_empty() {
            return Ok(self);
        }
        let labels = self.labels.iter().copied().filter(kept).collect();
        Ok(Self { x: self.x.sum(gone)?, labels })
    }

    /// The product with another, summed over what is not kept.
    fn times(self, other: Self, kept: impl Fn(&Label) -> bool) -> Result<Self> {
        let left = self.clone().only(|label| kept(label) || other.has(*label))?;
        let right = other.only(|label| kept(label) || self.has(*label))?;
        let (shared, rows): (Vec<Label>, Vec<Label>) =
            left.labels.iter().partition(|label| right.has(**label));
        let columns: Vec<Label> =
            right.labels.iter().copied().filter(|label| !left.has(*label)).collect();
        let (batch, inner): (Vec<Label>, Vec<Label>) = shared.iter().partition(|label| kept(label));
        let labels = [&batch[..], &rows, &columns].concat();
        if inner.is_empty() || rows.is_empty() && columns.is_empty() {
            return left.beside(&right, &labels, &inner);
        }
        let dims = |of: &Self, labels: &[Label]| -> Vec<usize> {
            let dim = |label| of.dims().find(|(l, _)| *l == label).map_or(1, |(_, dim)| dim);
            labels.iter().map(|&label| dim(label)).collect()
        };
        let [batches, ms, ks] = [&batch, &rows, &inner].map(|labels| dims(&left, labels));
        let ns = dims(&right, &columns);
        let [m, k, n] = [&ms, &ks, &ns].map(|dims| dims.iter().product::<usize>());
        let a = left.ordered(&[&batch[..], &rows, &inner].concat())?;
        let b = right.ordered(&[&batch[..], &inner, &columns].concat())?;
        let a = a.reshape_copied([&batches[..], &[m, k]].concat())?;
        let b = b.reshape_copied([&batches[..], &[k, n]].concat())?;
        let product = a.matmul_plain(&b)?.reshape([batches, ms, ns].concat())?;
        Ok(Self { x: product, labels })
    }

    /// The elementwise product, summed over the inner axes, in one kernel.
    fn beside(self, right: &Self, labels: &[Label], inner: &[Label]) -> Result<Self> {
        let all = [labels, inner].concat();
        let dtype = self.x.dtype();
        let wide = if inner.is_empty() { dtype } else { computed(dtype) };
        let [x, y] = [&self, right].map(|term| term.among(&all)?.cast(wide));
        let mut product = (x? * y?)?;
        if !inner.is_empty() {
            product = product.sum((labels.len()..all.len()).collect::<Vec<_>>())?;
        }
        Ok(Self { x: product.cast(dtype)?, labels: labels.to_vec() })
    }

    /// Its axes in this order.
    fn ordered(&self, labels: &[Label]) -> Result<Tensor> {
        let place = |label: &Label| self.labels.iter().position(|known| known == label);
        self.x.permute(labels.iter().filter_map(place))
    }

    /// Its axes in this order, and axes of length 1 for what it has not.
    fn among(&self, labels: &[Label]) -> Result<Tensor> {
        let missing = (0..labels.len()).filter(|&axis| !self.has(labels[axis]));
        missing.into_iter().try_fold(self.ordered(labels)?, |x, axis| x.unsqueeze(axis))
    }

    /// The result with the axes that are wanted; what broadcast is as long as it has to be.
    fn as_spelled(
        &self,
        wanted: &[Label],
        length: impl Fn(Label) -> Option<usize>,
    ) -> Result<Tensor> {
        let dims = wanted.iter().map(|&label| length(label).unwrap_or(1));
        self.among(wanted)?.broadcast_to(dims.collect::<Vec<_>>())
    }
}

/// Takes the two whose product has the fewest elements out of a list; none, if there is one left.
fn closest(terms: &mut Vec<Labelled>, wanted: &[Label]) -> Option<(Labelled, Labelled)> {
    let mut best: Option<(u128, usize, usize)> = None;
    for right in 1..terms.len() {
        for left in 0..right {
            let others = (0..terms.len()).filter(|&n| n != left && n != right);
            let kept = |label: Label| {
                wanted.contains(&label) || others.clone().any(|n| terms[n].has(label))
            };
            let own = terms[right].dims().filter(|(label, _)| !terms[left].has(*label));
            let all = terms[left].dims().chain(own);
            let size = all.filter(|(label, _)| kept(*label)).map(|(_, dim)| dim as u128).product();
            if best.is_none_or(|(least, ..)| size < least) {
                best = Some((size, left, right));
            }
        }
    }
    let (_, left, right) = best?;
    let right = terms.remove(right);
    Some((terms.remove(left), right))
}

/// The operands with their labels, and the labels of the result.
fn spelled(letters: &str, operands: &[&Tensor]) -> Result<(Vec<Labelled>, Vec<Label>)> {
    let text: String = letters.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match text.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (&*text, None),
    };
    let words: Vec<&str> = inputs.split(',').collect();
    if words.len() != operands.len() {
        return Err(EinsumCause::Operands { spelled: words.len(), given: operands.len() }.into());
    }
    let multiplies = operands.len() > 1;
    let mut terms = Vec::new();
    for (&word, &x) in words.iter().zip(operands) {
        operands[0].device.engine.same_device(&x.device.engine)?;
        let labels = labels(word, Some(x.shape()))?;
        if multiplies {
            computed_with("input", x.dtype())?;
            // By whatever letters: some would be products of matrices, some sums beside them.
            Op::Mul.result(&[x.dtype(); 2])?;
            let (what, left, right) = ("operands", operands[0].dtype(), x.dtype());
            if left != right {
                return Err(TensorCause::Dtypes { what, left, right }.into());
            }
        }
        // What is multiplied is as wide as what comes of it.
        let wide = multiplies && x.dtype.is_integer();
        let x = if wide { x.cast(computed(x.dtype()))? } else { x.clone() };
        terms.push(Labelled { x, labels }.on_diagonals()?);
    }
    let all = || words.iter().zip(operands).map(|(word, x)| labels(word, Some(x.shape())));
    let all: Vec<Label> = all().collect::<Result<Vec<_>>>()?.concat();
    let mut under: Vec<Label> =
        all.iter().copied().filter(|label| matches!(label, Label::Under(_))).collect();
    under.sort_unstable();
    under.dedup();
    under.reverse();
    let wanted = match output {
        None => {
            let once = |label: &Label| all.iter().filter(|other| *other == label).count() == 1;
            let mut letters: Vec<Label> = all.iter().copied().filter(once).collect();
            letters.retain(|label| matches!(label, Label::Letter(_)));
            letters.sort_unstable();
            [under, letters].concat()
        }
        Some(output) => {
            let mut wanted = Vec::new();
            for label in labels(output, None)? {
                let of = if label == Label::Under(0) { &under[..] } else { &[label] };
                for &label in of {
                    if wanted.contains(&label) {
                        return Err(EinsumCause::Twice { label: label.to_string() }.into());
                    }
                    wanted.push(label);
                }
            }
            wanted
        }
    };
    Ok((terms, wanted))
}

/// The labels that a word spells: of all axes of a shape; or, of a result, with one for an
/// ellipsis.
fn labels(word: &str, shape: Option<&Shape>) -> Result<Vec<Label>> {
    let (before, after) = word.split_once("...").map_or((word, None), |(b, a)| (b, Some(a)));
    let letters = |word: &str| -> Result<Vec<Label>> {
        let letter = |c: char| match c.is_ascii_alphabetic() {
            true => Ok(Label::Letter(c)),
            false => Err(EinsumCause::Letter { letter: c }.into()),
        };
        word.chars().map(letter).collect()
    };
    let (before, ends) = (letters(before)?, letters(after.unwrap_or(""))?);
    let named = before.len() + ends.len();
    let under = match shape {
        None => usize::from(after.is_some()),
        Some(shape) => match shape.rank().checked_sub(named) {
            Some(0) => 0,
            Some(under) if after.is_some() => under,
            _ => {
                let (word, shape) = (word.to_owned(), *shape);
                return Err(EinsumCause::Rank { word, named, shape }.into());
            }
        },
    };
    Ok([before, (0..under).rev().map(Label::Under).collect(), ends].concat())
}

/// How long each axis is: one of length 1 goes with any other.
fn lengths(terms: &[Labelled]) -> Result<Vec<(Label, usize)>> {
    let mut known: Vec<(Label, usize)> = Vec::new();
    for (label, dim) in terms.iter().flat_map(Labelled::dims) {
        match known.iter_mut().find(|(l, _)| *l == label) {
            None => known.push((label, dim)),
            Some((_, length)) if *length == dim || dim == 1 => {}
            Some((_, length)) if *length == 1 => *length = dim,
            Some(&mut (_, left)) => {
                let (label, right) = (label.to_string(), dim);
                return Err(EinsumCause::Lengths { label, left, right }.into());
            }
        }
    }
    Ok(known)
}

causes! {
    /// What can be wrong with the letters of a sum of products.
    enum EinsumCause;

    Operands { spelled: usize, given: usize }, Shape:
        ("operands given: {given}, spelled: {spelled}")
        help ("a comma stands between two operands: \"ij,jk->ik\" has two");
    Letter { letter: char }, Shape:
        ("{letter:?} is no letter")
        help ("an axis is a letter from a to z or A to Z, and `...` stands for several");
    Rank { word: String, named: usize, shape: Shape }, Shape:
        ("axes of {shape}: {}, named by \"{word}\": {named}", shape.rank())
        help ("one letter for each axis; `...` stands for those that are not named");
    Lengths { label: String, left: usize, right: usize }, Shape:
        ("axes {label} have lengths {left} and {right}")
        help ("axes of one letter are equally long, or of length 1");
    Diagonal { label: String, left: usize, right: usize }, Shape:
        ("axes {label} of one operand have lengths {left} and {right}")
        help ("a letter twice in one operand is its diagonal: of axes that are equally long");
    Unknown { label: String }, Shape:
        ("no operand has the axis {label} of the result")
        help ("the result has letters of the operands: what it leaves out is summed over");
    Twice { label: String }, Shape:
        ("the result has the axis {label} twice")
        help ("each letter once; `eye` and a product put values on a diagonal");
}
