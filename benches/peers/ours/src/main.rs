//! wharf as a measuring program.

use std::process::ExitCode;
use std::time::Instant;

use peer_cases::{
    CHANNELS, Crossing, Formula, GROUPS, Image, Matmul, Order, Peer, Rows, Run, SIDE, TOP, What,
};
use wharf::half::f16;
use wharf::tensor::{Align, Attention, Conv, Interpolation, Pooling};
use wharf::{Adapter, DType, Device, Element, Policy, Tensor};

mod minilm;

struct Wharf {
    device: Device,
    on: String,
}

fn main() -> ExitCode {
    peer_cases::main(|| {
        let adapter = pollster::block_on(Adapter::best()).map_err(said)?;
        let plan = adapter.negotiate(&Policy::exact());
        let device = pollster::block_on(adapter.open(plan)).map_err(said)?;
        let identity = &device.caps().identity;
        let kind = if identity.is_software() { "software" } else { "hardware" };
        let (name, backend, driver) =
            (&identity.name, identity.backend.name(), &identity.driver_info);
        let on = format!("{name} ({backend}), {driver}, {kind}").to_lowercase();
        Ok(Wharf { device, on })
    })
}

fn said(error: impl core::fmt::Display) -> String {
    error.to_string()
}

/// Describes what to compute, anew for every run.
type Make<'a> = Box<dyn Fn() -> wharf::Result<Tensor> + 'a>;

/// All values as f32, whatever the dtype.
fn plain(tensor: &Tensor) -> wharf::Result<Vec<f32>> {
    Ok(match tensor.dtype() {
        DType::F16 => tensor.read_now::<f16>()?.into_iter().map(f32::from).collect(),
        DType::I32 => tensor.read_now::<i32>()?.into_iter().map(|v| v as f32).collect(),
        DType::U8 => tensor.read_now::<u8>()?.into_iter().map(f32::from).collect(),
        DType::Bool => {
            tensor.read_now::<bool>()?.into_iter().map(|v| f32::from(u8::from(v))).collect()
        }
        _ => tensor.read_now::<f32>()?,
    })
}

/// Times `make` until the device is done with it, or reads what it made.
fn kernel(make: Make<'_>) -> Run<'_> {
    Box::new(move |read| {
        let start = Instant::now();
        let tensor = make().map_err(said)?;
        if read {
            let result = plain(&tensor).map_err(said)?;
            return Ok((start.elapsed(), result));
        }
        tensor.compute().map_err(said)?;
        tensor.device().synchronize_now().map_err(said)?;
        Ok((start.elapsed(), Vec::new()))
    })
}

/// Times `make` until the first number of what it made is read.
fn number(make: Make<'_>) -> Run<'_> {
    Box::new(move |_| {
        let start = Instant::now();
        let first = make().and_then(|tensor| tensor.slice(0, 0..1)?.read_now::<f32>());
        let result = first.map_err(said)?;
        Ok((start.elapsed(), result))
    })
}

impl Wharf {
    fn upload(&self, values: &[f32], shape: &[usize]) -> Result<Tensor, String> {
        self.device.upload(values, shape.to_vec()).map(|(tensor, _)| tensor).map_err(said)
    }

    fn formula<'a>(
        &'a self,
        formula: Formula,
        side: usize,
        inputs: &[Vec<f32>],
    ) -> Result<Make<'a>, String> {
        let up = |values: &Vec<f32>| self.upload(values, &[side, side]);
        let mut tensors = inputs.iter().map(up).collect::<Result<Vec<_>, _>>()?.into_iter();
        let a = tensors.next().ok_or("a formula of nothing")?;
        let [b, c] = [(); 2].map(|()| tensors.next().unwrap_or_else(|| a.clone()));
        Ok(match formula {
            Formula::Add => Box::new(move || &a + &b),
            Formula::MulAdd => Box::new(move || (&a * &b)? + &c),
            Formula::Exp => Box::new(move || a.exp()),
            Formula::Neg => Box::new(move || -&a),
            Formula::Gelu => Box::new(move || ((&a * &b)? + &c)?.gelu()),
            Formula::GeluTanh => Box::new(move || ((&a * &b)? + &c)?.gelu_tanh()),
            Formula::TransposedPlusOne => Box::new(move || a.t()? + 1.0f32),
        })
    }

    fn rows<'a>(&'a self, op: Rows, shape: &[usize], values: &[f32]) -> Result<Make<'a>, String> {
        let x = self.upload(values, shape)?;
        Ok(match op {
            Rows::SumAll => Box::new(move || x.sum(..)?.reshape([1])),
            Rows::SumColumns => Box::new(move || x.sum(0)),
            Rows::SumRows => Box::new(move || x.sum(1)),
            Rows::Softmax => Box::new(move || x.softmax(1)),
            Rows::LayerNorm => Box::new(move || x.layer_norm(1, None, None, 1e-5)),
        })
    }

    fn matmul<'a>(&'a self, mm: Matmul, inputs: &[Vec<f32>]) -> Result<Make<'a>, String> {
        let Matmul { batch, m, k, n, transposed, half } = mm;
        let of = |values: &[f32], rows, columns| {
            let batched = [batch, rows, columns];
            let shape = if batch == 1 { &batched[1..] } else { &batched };
            let tensor = self.upload(values, shape)?;
            if half { tensor.cast(DType::F16).map_err(said) } else { Ok(tensor) }
        };
        let a = of(&inputs[0], m, k)?;
        let b = if transposed {
            of(&inputs[1], n, k)?.t().map_err(said)?
        } else {
            of(&inputs[1], k, n)?
        };
        for tensor in [&a, &b] {
            tensor.compute().map_err(said)?;
        }
        Ok(Box::new(move || a.matmul(&b)))
    }

    fn attention<'a>(
        &'a self,
        peer_cases::Attention { heads, tokens, d }: peer_cases::Attention,
        inputs: &[Vec<f32>],
    ) -> Result<Make<'a>, String> {
        let up = |i: usize| self.upload(&inputs[i], &[heads, tokens, d]);
        let (q, k, v) = (up(0)?, up(1)?, up(2)?);
        let how = Attention::new();
        Ok(Box::new(move || q.attention(&k, &v, &how)))
    }

    fn image<'a>(&'a self, image: Image, inputs: &[Vec<f32>]) -> Result<Make<'a>, String> {
        let x = self.upload(&inputs[0], &[1, CHANNELS, SIDE, SIDE])?;
        let weight = |shape: &[usize]| self.upload(&inputs[1], shape);
        Ok(match image {
            Image::Conv => {
                let (w, how) = (weight(&[CHANNELS, CHANNELS, 3, 3])?, Conv::new().padding([1, 1]));
                Box::new(move || x.conv2d(&w, None, &how))
            }
            Image::Pointwise => {
                let (w, how) = (weight(&[CHANNELS, CHANNELS, 1, 1])?, Conv::new());
                Box::new(move || x.conv2d(&w, None, &how))
            }
            Image::Depthwise => {
                let how = Conv::new().padding([1, 1]).groups(CHANNELS);
                let w = weight(&[CHANNELS, 1, 3, 3])?;
                Box::new(move || x.conv2d(&w, None, &how))
            }
            Image::MaxPool => {
                let how = Pooling::new([3, 3]).stride([2, 2]).padding([1, 1]);
                Box::new(move || x.max_pool(&how))
            }
            Image::Larger => {
                let how = Interpolation::Linear(Align::Edges);
                Box::new(move || x.interpolate([2 * SIDE, 2 * SIDE], how))
            }
            Image::GroupNorm => Box::new(move || x.group_norm(GROUPS, None, None, 1e-5)),
        })
    }

    fn order<'a>(&'a self, order: Order, values: &[f32]) -> Result<Make<'a>, String> {
        let x = self.upload(values, &[values.len()])?;
        Ok(match order {
            Order::Sort => Box::new(move || x.sort(0, wharf::tensor::Order::Ascending)),
            Order::TopK => Box::new(move || x.top_k(0, TOP).map(|(values, _)| values)),
        })
    }

    fn crossing<'a>(&'a self, crossing: Crossing, values: &[f32]) -> Result<Run<'a>, String> {
        let own = |to: DType| (crossing, to);
        Ok(match crossing {
            Crossing::Down => return self.down(values),
            Crossing::F32 => self.up::<f32>(own(DType::F32), values, |v| v as f32),
            Crossing::F16 => self.up::<f16>(own(DType::F16), values, f16::from_f64),
            Crossing::I32 => self.up::<i32>(own(DType::I32), values, |v| v as i32),
            Crossing::U8 => self.up::<u8>(own(DType::U8), values, |v| v as u8),
            Crossing::Bool => self.up::<bool>(own(DType::Bool), values, |v| v != 0.0),
            Crossing::F64AsF32 => self.up::<f64>(own(DType::F32), values, |v| v),
            Crossing::F32AsF16 => self.up::<f32>(own(DType::F16), values, |v| v as f32),
            Crossing::I64AsI32 => self.up::<i64>(own(DType::I32), values, |v| v as i64),
        })
    }

    fn up<'a, T: Element>(
        &'a self,
        (crossing, to): (Crossing, DType),
        values: &[f32],
        convert: impl Fn(f64) -> T,
    ) -> Run<'a> {
        let data: Vec<T> = values.iter().map(|&v| convert(crossing.expected(v))).collect();
        Box::new(move |read| {
            let start = Instant::now();
            let (tensor, _) = self.device.upload_as(&data, [data.len()], to).map_err(said)?;
            self.device.synchronize_now().map_err(said)?;
            let elapsed = start.elapsed();
            let result = if read { plain(&tensor).map_err(said)? } else { Vec::new() };
            Ok((elapsed, result))
        })
    }

    fn down<'a>(&'a self, values: &[f32]) -> Result<Run<'a>, String> {
        let resident = self.upload(values, &[values.len()])?;
        let mut out = vec![0f32; values.len()];
        Ok(Box::new(move |read| {
            self.device.synchronize_now().map_err(said)?;
            let start = Instant::now();
            resident.read_into_now(&mut out).map_err(said)?;
            Ok((start.elapsed(), if read { out.clone() } else { Vec::new() }))
        }))
    }

    fn small<'a>(&'a self, what: &What, inputs: &[Vec<f32>]) -> Result<Run<'a>, String> {
        let up = |values: &Vec<f32>| self.upload(values, &[values.len()]);
        let (a, b) = (up(&inputs[0])?, up(&inputs[1])?);
        Ok(match what {
            What::AddSync => kernel(Box::new(move || &a + &b)),
            What::Chain => {
                number(Box::new(move || (0..peer_cases::CHAIN).try_fold(a.clone(), |x, _| &x + &b)))
            }
            What::ChainMatmul => {
                let square = |t: &Tensor| t.reshape([32, 32]).map_err(said);
                let (a, b) = (square(&a)?, square(&b)?);
                let quarter = (&b / 4.0f32).map_err(said)?;
                quarter.compute().map_err(said)?;
                number(Box::new(move || {
                    (0..peer_cases::CHAIN_MATMUL)
                        .try_fold(a.clone(), |x, _| x.matmul(&quarter))?
                        .reshape([32 * 32])
                }))
            }
            _ => number(Box::new(move || &a + &b)),
        })
    }
}

impl Peer for Wharf {
    fn hello(&self) -> String {
        self.on.clone()
    }

    fn prepare<'a>(&'a self, what: &What, inputs: &[Vec<f32>]) -> Result<Option<Run<'a>>, String> {
        Ok(Some(match *what {
            What::Matmul(mm) => kernel(self.matmul(mm, inputs)?),
            What::FirstMatmul => {
                let (m, k, n) = (512, 512, 512);
                let mm = Matmul { batch: 1, m, k, n, transposed: false, half: false };
                kernel(self.matmul(mm, inputs)?)
            }
            What::Formula(formula, side) => kernel(self.formula(formula, side, inputs)?),
            What::Rows(op, rows, columns) => kernel(self.rows(op, &[rows, columns], &inputs[0])?),
            What::Attention(of) => kernel(self.attention(of, inputs)?),
            What::Image(image) => kernel(self.image(image, inputs)?),
            What::Order(order, _) => kernel(self.order(order, &inputs[0])?),
            What::Model(of) => {
                let forward = minilm::forward(&self.device, of, inputs).map_err(said)?;
                kernel(Box::new(forward))
            }
            What::Crossing(crossing, _) => self.crossing(crossing, &inputs[0])?,
            What::Largest => return Ok(None),
            _ => self.small(what, inputs)?,
        }))
    }

    fn largest(&self, mebibytes: &[usize]) -> usize {
        let fits = |mib: usize| -> wharf::Result<bool> {
            let n = mib << 18;
            let mut values = vec![0f32; n];
            values[n - 1] = 41.0;
            let sum = (self.device.upload(&values, [n])?.0 + 1.0f32)?;
            Ok(sum.slice(0, n - 1..n)?.read_now::<f32>()? == [42.0])
        };
        let right = |mib: &usize| matches!(fits(*mib), Ok(true));
        mebibytes.iter().copied().take_while(|mib| right(mib)).last().unwrap_or(0)
    }
}
