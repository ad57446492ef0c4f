//! A problem with its operands: how it is computed, and what its result claims to be.

use half::f16;

use crate::device::Device;
use crate::dtype::{Class, DType, Element};
use crate::error::{Result, mistake};
use crate::host::HostBytes;
use crate::host::blocks::{Blocks, Share};
use crate::kernel::attention::choice::tuned::AttentionSize;
use crate::kernel::choice::Problem;
use crate::kernel::matmul::choice::tuned::ProductSize;
use crate::kernel::quantized::choice::WeightsSize;
use crate::kernel::quantized::oracle::BLOCKWISE;
use crate::kernel::reduce::choice::SumSize;
use crate::kernel::rows::choice::RowsSize;
use crate::kernel::sort::choice::SortSize;
use crate::layout::Layout;
use crate::ledger::CallSite;
use crate::op::{Joint, Reduction};
use crate::proof::{Budget, Claim, Formed, Oracle, judge};
use crate::reference::{Sight, matmul_dtype};
use crate::shape::Shape;
use crate::tensor::{Attention, Order, Quantized, Tensor};

/// Steps of the oracle for a result: a multiplication is one.
const STEPS: u64 = 1 << 22;
/// And for each element that one result is made of: as many as sorting takes.
const STEPS_EACH: u64 = 32;
/// A scale.
const HUNDREDTH: f16 = f16::from_f32_const(0.01);
/// The addend of a norm's variance.
const EPS: f32 = 1e-5;

/// A problem with its operands.
pub(super) struct Bench {
    pub(super) problem: Problem,
    /// What a rate counts.
    pub(super) work: f64,
    inputs: Vec<Input>,
    /// Weights in blocks, whose parts are the last inputs.
    weights: Option<Quantized>,
    claim: Claim,
    steps: u64,
}

impl Bench {
    pub(super) fn new(device: &Device, site: CallSite, problem: Problem) -> Result<Self> {
        let maker = Workshop { device, site };
        let parts = match problem {
            Problem::Product(size) => maker.product(size)?,
            Problem::Attention(size) => maker.attention(size)?,
            Problem::Weights(size) => maker.weights(size)?,
            Problem::Rows(size) => maker.rows(size)?,
            Problem::Sum(size) => maker.sum(size)?,
            Problem::Sort(size) => maker.sort(size)?,
        };
        let Setup { inputs, weights, core, result: (given, shape, dtype), each, work } = parts;
        for input in &inputs {
            input.tensor.compute()?;
        }
        let view = |(i, input): (usize, &Input)| {
            Formed::view(i, Layout::dense(*input.tensor.shape()), input.dtype)
        };
        let heads = inputs.iter().enumerate().map(view).collect();
        let tail = Formed::stored(given, shape, dtype);
        let claim = Claim { core: Some(core), heads, tail };
        let steps = STEPS.max(STEPS_EACH.saturating_mul(each as u64));
        Ok(Self { problem, work, inputs, weights, claim, steps })
    }

    /// The result by a handle on the device, as the oracle counts its elements.
    pub(super) fn result(&self, handle: &Device) -> Result<Tensor> {
        let input = |i: usize| self.inputs[i].tensor.by(handle);
        match (self.problem, &self.weights) {
            (Problem::Product(size), _) => {
                let right = if size.transposed { input(1).t()? } else { input(1) };
                input(0).matmul(&right)
            }
            (Problem::Attention(size), _) => {
                let how = if size.causal { Attention::new().causal() } else { Attention::new() };
                input(0).attention(&input(1), &input(2), &how)?.permute([0, 2, 1, 3])
            }
            (Problem::Weights(_), Some(weights)) => input(0).linear(weights, None),
            (Problem::Rows(RowsSize { is_softmax: true, .. }), _) => input(0).softmax(1),
            (Problem::Rows(_), _) => input(0).rms_norm(1, None, EPS),
            (Problem::Sum(_), _) => input(0).sum(1),
            (Problem::Sort(_), _) => input(0).sort(1, Order::Ascending),
            (Problem::Weights(_), None) => Err(mistake("tuning", "no weights were made")),
        }
    }

    /// What is wrong with a result, if anything is.
    pub(super) fn wrong(&self, result: &[u8]) -> Option<String> {
        let inputs: Vec<&[u8]> = self.inputs.iter().map(|input| &*input.bytes).collect();
        let budget = Budget { steps: self.steps, seed: 0 };
        let Some(judgement) = judge(&self.claim, &inputs, result, budget) else {
            return Some("the oracle cannot say what it should be".into());
        };
        if judgement.judged == 0 && judgement.elements > 0 {
            return Some("the oracle says nothing about any element".into());
        }
        let worst = judgement.worst?;
        let (got, want) = (worst.got.float(), worst.want.float());
        let (place, all) = (worst.element, judgement.elements);
        Some(format!("index {place} of {all} is {got}, not {want}"))
    }
}

/// An operand, and its elements as the host has them: what the oracle is given has never been on
/// the device that it judges.
struct Input {
    tensor: Tensor,
    /// The dtype of the bytes, which holds whatever that of the tensor does.
    dtype: DType,
    bytes: Vec<u8>,
}

/// What a bench is made of.
struct Setup {
    inputs: Vec<Input>,
    weights: Option<Quantized>,
    core: Oracle,
    /// The dtype of what the core makes; shape and dtype of the result.
    result: (DType, Shape, DType),
    /// Elements that one of the result, or a row of it, is made of.
    each: usize,
    work: f64,
}

/// Makes operands.
struct Workshop<'a> {
    device: &'a Device,
    site: CallSite,
}

impl Workshop<'_> {
    /// Elements, on the device as well.
    fn input<T: Element>(&self, values: &[T], shape: Shape) -> Result<Input> {
        self.carried(T::DTYPE, bytemuck::cast_slice(values).to_vec(), shape)
    }

    fn carried(&self, dtype: DType, bytes: Vec<u8>, shape: Shape) -> Result<Input> {
        let view = HostBytes::new(&bytes, shape, dtype)?;
        let (tensor, _) = self.device.upload_at(self.site, &view)?;
        Ok(Input { tensor, dtype, bytes })
    }

    /// Small numbers that look random, exact in every dtype: sums of their products are as well.
    fn numbers<const N: usize>(
        &self,
        seed: usize,
        dims: [usize; N],
        dtype: DType,
    ) -> Result<Input> {
        let shape = Shape::new(dims)?;
        let numbers = numbers(seed, shape.elements(), dtype.class() != Class::Unsigned);
        let input = if dtype.is_float() {
            self.input(&numbers.map(|x| x as f32 / 8.0).collect::<Vec<_>>(), shape)?
        } else {
            self.input(&numbers.collect::<Vec<i32>>(), shape)?
        };
        Ok(Input { tensor: input.tensor.cast(dtype)?, ..input })
    }

    fn product(&self, size: ProductSize) -> Result<Setup> {
        let ProductSize { batch, m, n, k, dtype, transposed } = size;
        let right = if transposed { [batch, n, k] } else { [batch, k, n] };
        let side = |seed, dims: [usize; 3]| {
            let Input { tensor, dtype, bytes } = self.numbers(seed, dims, dtype)?;
            let tensor = if batch == 1 { tensor.squeeze(0)? } else { tensor };
            Ok(Input { tensor, dtype, bytes })
        };
        let inputs =
            [side(0, [batch, m, k]), side(1, right)].into_iter().collect::<Result<Vec<_>>>()?;
        let right = Layout::dense(*inputs[1].tensor.shape());
        let right = if transposed { right.t()? } else { right };
        let sides = Box::new([Layout::dense(*inputs[0].tensor.shape()), right]);
        let shape = match batch {
            1 => Shape::new([m, n])?,
            _ => Shape::new([batch, m, n])?,
        };
        let given = matmul_dtype(dtype);
        let work = 2.0 * product([batch, m, n, k]);
        let (core, result) = (Oracle::Product { sides }, (given, shape, given));
        Ok(Setup { inputs, weights: None, core, result, each: k, work })
    }

    fn attention(&self, size: AttentionSize) -> Result<Setup> {
        let AttentionSize { batch, heads, queries, keys, length, width, dtype, causal, .. } = size;
        let [q, k, v] = size.shapes();
        let inputs = vec![
            self.numbers(0, q, dtype)?,
            self.numbers(1, k, dtype)?,
            self.numbers(2, v, dtype)?,
        ];
        let scale = 1.0 / (length.max(1) as f32).sqrt();
        let shape = Shape::new([batch, queries, heads, width])?;
        // The later half of the keys is hidden, about.
        let seen = if causal { 0.5 } else { 1.0 };
        let work = 2.0 * seen * product([batch, heads, queries, keys]) * (length + width) as f64;
        let after = if causal { 0 } else { Sight::ALL };
        let sight = Sight { after, ..Sight::FULL }.last_aligned(queries, keys);
        let (core, result) = (Oracle::Attention { scale, sight }, (DType::F32, shape, dtype));
        let each = keys.saturating_mul(length + width);
        Ok(Setup { inputs, weights: None, core, result, each, work })
    }

    fn weights(&self, size: WeightsSize) -> Result<Setup> {
        let WeightsSize { rows, columns, depth, form } = size;
        let x = self.numbers(0, [rows, depth], DType::F32)?;
        let parts = [Share::Values, Share::Scales].map(|share| {
            let width = depth / form.weights() * share.each(form);
            self.blocks(share, form, Shape::new([columns, width])?)
        });
        let [values, scales] = parts;
        let (values, scales) = (values?, scales?);
        let weights = Quantized::of(&values.tensor, &scales.tensor)?;
        let inputs = vec![x, values, scales];
        let told = Blocks::ALL.iter().position(|&known| known == form).unwrap_or(0);
        let core = Oracle::Own { by: &BLOCKWISE, told: vec![told as u32] };
        let result = (DType::F32, Shape::new([rows, columns])?, DType::F32);
        let work = 2.0 * product([rows, columns, depth]);
        Ok(Setup { inputs, weights: Some(weights), core, result, each: depth, work })
    }

    /// One part of blocks: bits of which any will do, but for factors, of about a hundredth.
    fn blocks(&self, share: Share, form: Blocks, shape: Shape) -> Result<Input> {
        let dtype = share.dtype(form);
        let words = random(1, shape.elements() * dtype.width());
        let mut bytes: Vec<u8> = words.map(|word| word as u8).collect();
        if share == Share::Scales {
            for block in bytes.chunks_mut(share.bytes(form)) {
                for factor in form.common().factors {
                    let two = &mut block[2 * factor..2 * factor + 2];
                    let number = HUNDREDTH.to_bits() + u16::from(two[0]);
                    two.copy_from_slice(&number.to_le_bytes());
                }
            }
        }
        self.carried(dtype, bytes, shape)
    }

    fn rows(&self, size: RowsSize) -> Result<Setup> {
        let RowsSize { is_softmax, rows, length } = size;
        let joint = if is_softmax { Joint::Softmax } else { Joint::RmsNorm };
        let inputs = vec![self.numbers(0, [rows, length], DType::F32)?];
        let core = Oracle::Row { joint, eps: EPS.into() };
        let result = (DType::F32, Shape::new([rows, length])?, DType::F32);
        Ok(Setup {
            inputs,
            weights: None,
            core,
            result,
            each: length,
            work: product([rows, length]),
        })
    }

    fn sum(&self, size: SumSize) -> Result<Setup> {
        let SumSize { outer, length, inner } = size;
        let inputs = vec![self.numbers(0, [outer, length, inner], DType::F32)?];
        let axes = vec![false, true, false];
        let core = Oracle::Reduced { reduction: Reduction::Sum, axes };
        let result = (DType::F32, Shape::new([outer, inner])?, DType::F32);
        let work = product([outer, length, inner]);
        Ok(Setup { inputs, weights: None, core, result, each: length, work })
    }

    fn sort(&self, size: SortSize) -> Result<Setup> {
        let SortSize { rows, length } = size;
        let shape = Shape::new([rows, length])?;
        let values: Vec<i32> = random(0, shape.elements()).map(|word| word as i32).collect();
        let list = self.input(&values, shape)?;
        let core = Oracle::Sorted { descending: false, length };
        let result = (DType::I32, shape, DType::I32);
        let (inputs, work) = (vec![list], product([rows, length]));
        Ok(Setup { inputs, weights: None, core, result, each: length, work })
    }
}

fn product<const N: usize>(dims: [usize; N]) -> f64 {
    dims.iter().map(|&dim| dim as f64).product()
}

/// Small whole numbers that look random: `-8..=8`, or `0..=8`.
fn numbers(seed: usize, count: usize, signed: bool) -> impl Iterator<Item = i32> {
    let (low, range) = if signed { (-8, 17) } else { (0, 9) };
    random(seed, count).map(move |word| low + (word % range) as i32)
}

/// Words of 24 bits that look random.
fn random(seed: usize, count: usize) -> impl Iterator<Item = u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed as u64 + 1) | 1;
    (0..count).map(move |_| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as u32
    })
}
