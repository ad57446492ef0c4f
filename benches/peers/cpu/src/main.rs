//! Yardsticks that compute on the CPU, as a measuring program: candle, ndarray with `--ndarray`, or
//! PyTorch with `--torch`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use candle_core::{DType, Device, Tensor};
use ndarray::{Array2, ArrayView2, Zip};
use peer_cases::{Attention, Formula, Matmul, Peer, Rows, Run, What};

mod minilm;
mod torch;

fn main() -> ExitCode {
    if std::env::args().any(|arg| arg == "--ndarray") {
        return peer_cases::main(|| Ok(NdArray));
    }
    if std::env::args().any(|arg| arg == "--torch") {
        return peer_cases::main(torch::Torch::open);
    }
    peer_cases::main(|| Ok(Candle))
}

pub(crate) fn said(error: impl core::fmt::Display) -> String {
    error.to_string()
}

struct Candle;

type Make<'a> = Box<dyn Fn() -> candle_core::Result<Tensor> + 'a>;

impl Candle {
    fn make(&self, what: &What, inputs: &[Vec<f32>]) -> candle_core::Result<Option<Make<'static>>> {
        let new = |i: usize, shape: &[usize]| {
            let values = inputs.get(i).unwrap_or(&inputs[0]);
            Tensor::from_slice(values, shape, &Device::Cpu)
        };
        Ok(Some(match *what {
            What::Matmul(Matmul { batch, m, k, n, transposed, half }) => {
                let dtype = if half { DType::F16 } else { DType::F32 };
                let a = new(0, &[batch, m, k])?.to_dtype(dtype)?;
                let b = if transposed {
                    new(1, &[batch, n, k])?.to_dtype(dtype)?.t()?
                } else {
                    new(1, &[batch, k, n])?.to_dtype(dtype)?
                };
                Box::new(move || a.matmul(&b))
            }
            What::Formula(formula, side) => {
                let [a, b, c] = [0, 1, 2].map(|i| new(i, &[side, side]));
                let (a, b, c) = (a?, b?, c?);
                match formula {
                    Formula::Add => Box::new(move || &a + &b),
                    Formula::MulAdd => Box::new(move || (&a * &b)? + &c),
                    Formula::Exp => Box::new(move || a.exp()),
                    Formula::Neg => Box::new(move || a.neg()),
                    Formula::Gelu => Box::new(move || ((&a * &b)? + &c)?.gelu_erf()),
                    Formula::GeluTanh => Box::new(move || ((&a * &b)? + &c)?.gelu()),
                    Formula::TransposedPlusOne => Box::new(move || a.t()? + 1.0),
                }
            }
            What::Rows(op, rows, columns) => {
                let x = new(0, &[rows, columns])?;
                match op {
                    Rows::SumAll => Box::new(move || x.sum_all()?.reshape(1)),
                    Rows::SumColumns => Box::new(move || x.sum(0)),
                    Rows::SumRows => Box::new(move || x.sum(1)),
                    Rows::Softmax | Rows::LayerNorm => return Ok(None),
                }
            }
            // It has no softmax in its core: composed, as its own `nn` crate does.
            What::Attention(Attention { heads, tokens, d }) => {
                let [q, k, v] = [0, 1, 2].map(|i| new(i, &[heads, tokens, d]));
                let (q, k, v) = (q?, k?.t()?, v?);
                Box::new(move || {
                    let scores = (q.matmul(&k)? / (d as f64).sqrt())?;
                    let last = candle_core::D::Minus1;
                    let weights = scores.broadcast_sub(&scores.max_keepdim(last)?)?.exp()?;
                    weights.broadcast_div(&weights.sum_keepdim(last)?)?.matmul(&v)
                })
            }
            What::Model(of) => Box::new(minilm::forward(of, inputs)?),
            What::Chain => {
                let (a, b) = (new(0, &[inputs[0].len()])?, new(1, &[inputs[0].len()])?);
                Box::new(move || {
                    (0..peer_cases::CHAIN).try_fold(a.clone(), |x, _| &x + &b)?.narrow(0, 0, 1)
                })
            }
            _ => return Ok(None),
        }))
    }
}

impl Peer for Candle {
    fn hello(&self) -> String {
        "CPU".into()
    }

    fn prepare<'a>(&'a self, what: &What, inputs: &[Vec<f32>]) -> Result<Option<Run<'a>>, String> {
        let Some(make) = self.make(what, inputs).map_err(said)? else { return Ok(None) };
        Ok(Some(Box::new(move |read| {
            let start = Instant::now();
            let tensor = make().map_err(said)?;
            let elapsed = start.elapsed();
            let flat = || tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>();
            let result = if read { flat().map_err(said)? } else { Vec::new() };
            Ok((elapsed, result))
        })))
    }

    fn largest(&self, _: &[usize]) -> usize {
        0
    }
}

struct NdArray;

impl Peer for NdArray {
    fn hello(&self) -> String {
        "CPU".into()
    }

    fn prepare<'a>(&'a self, what: &What, inputs: &[Vec<f32>]) -> Result<Option<Run<'a>>, String> {
        let array = |i: usize, rows, columns| {
            Array2::from_shape_vec((rows, columns), inputs[i].clone()).map_err(said)
        };
        Ok(Some(match *what {
            What::Matmul(Matmul { batch: 1, m, k, n, transposed, half: false }) => {
                let a = array(0, m, k)?;
                let b = if transposed { array(1, n, k)? } else { array(1, k, n)? };
                timed(Array2::zeros((m, n)), move |out: &mut Array2<f32>| {
                    let b: ArrayView2<'_, f32> = if transposed { b.t() } else { b.view() };
                    ndarray::linalg::general_mat_mul(1.0, &a, &b, 0.0, out);
                })
            }
            What::Formula(Formula::Add, side) => {
                let (a, b) = (array(0, side, side)?, array(1, side, side)?);
                timed(Array2::zeros((side, side)), move |out: &mut Array2<f32>| {
                    Zip::from(out).and(&a).and(&b).for_each(|o, &x, &y| *o = x + y);
                })
            }
            _ => return Ok(None),
        }))
    }

    fn largest(&self, _: &[usize]) -> usize {
        0
    }
}

/// Computes into memory that has been used before.
fn timed<'a>(mut out: Array2<f32>, mut work: impl FnMut(&mut Array2<f32>) + 'a) -> Run<'a> {
    Box::new(move |read| {
        let start = Instant::now();
        work(&mut out);
        let elapsed: Duration = start.elapsed();
        Ok((elapsed, if read { out.iter().copied().collect() } else { Vec::new() }))
    })
}
