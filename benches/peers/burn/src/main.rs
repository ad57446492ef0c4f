//! burn's wgpu backend as a measuring program.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use burn::nn::{GroupNormConfig, LayerNormConfig};
use burn::tensor::activation::{gelu, gelu_approximate, softmax};
use burn::tensor::module::{attention, conv2d, interpolate, max_pool2d};
use burn::tensor::ops::{
    AttentionModuleOptions, ConvOptions, InterpolateMode, InterpolateOptions, MaxPoolOptions,
};
use burn::tensor::{
    Bool, DType, Device, DeviceKind, Int, Tensor, TensorCreationOptions, TensorData,
};
use peer_cases::{
    Attention, CHANNELS, Crossing, Formula, GROUPS, Image, Matmul, Order, Peer, Ran, Rows, Run,
    SIDE, TOP, What,
};

mod minilm;

/// An uploaded tensor, by its kind.
enum Up {
    Float(Tensor<1>),
    Int(Tensor<1, Int>),
    Bool(Tensor<1, Bool>),
}

struct Burn {
    device: Device,
    on: String,
}

fn main() -> ExitCode {
    peer_cases::main(|| {
        // Its default device is never a CPU adapter; it has to be asked for one.
        let software = std::env::var("PEER_SOFTWARE").is_ok_and(|value| value == "1");
        let kind = if software { DeviceKind::Cpu } else { DeviceKind::DefaultDevice };
        let (device, setup) = Device::wgpu_options()
            .device_kind(kind)
            .init_with_setup()
            .map_err(|error| format!("{error:?}"))?;
        let info = setup.adapter.get_info();
        let kind = if format!("{:?}", info.device_type) == "Cpu" { "software" } else { "hardware" };
        let (name, backend, driver) = (info.name, info.backend, info.driver_info);
        let on = format!("{name} ({backend:?}), {driver}, {kind}").to_lowercase();
        Ok(Burn { device, on })
    })
}

/// Values as f32, whatever they were read as.
fn plain(data: TensorData) -> Result<Vec<f32>, String> {
    let data = data.try_cast_as::<f32>().map_err(|error| format!("{error:?}"))?;
    data.as_slice::<f32>().map(<[f32]>::to_vec).map_err(|error| format!("{error:?}"))
}

fn said(error: impl core::fmt::Debug) -> String {
    format!("{error:?}")
}

impl Burn {
    fn upload<const D: usize>(&self, values: &[f32], shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), &self.device)
    }

    /// Times `make` until the device is done with it, or reads what it made.
    fn kernel<'a, const D: usize>(&'a self, make: impl Fn() -> Tensor<D> + 'a) -> Run<'a> {
        Box::new(move |read| {
            let start = Instant::now();
            let tensor = make();
            if read {
                // burn may return data that is not there yet; reading the values waits for it.
                let result = plain(tensor.try_into_data().map_err(said)?)?;
                return Ok((start.elapsed(), result));
            }
            self.device.sync().map_err(said)?;
            let elapsed = start.elapsed();
            drop(tensor);
            Ok((elapsed, Vec::new()))
        })
    }

    /// Times `make` until the first number of what it made is read.
    fn number<'a>(&'a self, make: impl Fn() -> Tensor<1> + 'a) -> Run<'a> {
        Box::new(move |_| {
            let start = Instant::now();
            let result = plain(make().slice([0..1]).try_into_data().map_err(said)?)?;
            Ok((start.elapsed(), result))
        })
    }

    fn matmul<'a>(&'a self, mm: Matmul, inputs: &[Vec<f32>]) -> Run<'a> {
        let Matmul { batch, m, k, n, transposed, half } = mm;
        let of = |values: &[f32], rows, columns| {
            let tensor = self.upload(values, [batch, rows, columns]);
            if half { tensor.cast(DType::F16) } else { tensor }
        };
        let a = of(&inputs[0], m, k);
        let b =
            if transposed { of(&inputs[1], n, k).swap_dims(1, 2) } else { of(&inputs[1], k, n) };
        if batch == 1 {
            let (a, b) = (a.squeeze_dim::<2>(0), b.squeeze_dim::<2>(0));
            return self.kernel(move || a.clone().matmul(b.clone()));
        }
        self.kernel(move || a.clone().matmul(b.clone()))
    }

    fn formula<'a>(&'a self, formula: Formula, side: usize, inputs: &[Vec<f32>]) -> Run<'a> {
        let mut tensors: Vec<Tensor<2>> =
            inputs.iter().map(|values| self.upload(values, [side, side])).collect();
        let a = tensors.remove(0);
        let [b, c] = [0, 1].map(|i| tensors.get(i).cloned().unwrap_or_else(|| a.clone()));
        let mul_add = {
            let a = a.clone();
            let b = b.clone();
            move || a.clone() * b.clone() + c.clone()
        };
        match formula {
            Formula::Add => self.kernel(move || a.clone() + b.clone()),
            Formula::MulAdd => self.kernel(mul_add),
            Formula::Exp => self.kernel(move || a.clone().exp()),
            Formula::Neg => self.kernel(move || -a.clone()),
            Formula::Gelu => self.kernel(move || gelu(mul_add())),
            Formula::GeluTanh => self.kernel(move || gelu_approximate(mul_add())),
            Formula::TransposedPlusOne => self.kernel(move || a.clone().transpose() + 1.0),
        }
    }

    fn rows<'a>(&'a self, op: Rows, rows: usize, columns: usize, values: &[f32]) -> Run<'a> {
        let x: Tensor<2> = self.upload(values, [rows, columns]);
        match op {
            Rows::Softmax => self.kernel(move || softmax(x.clone(), 1)),
            Rows::LayerNorm => {
                let norm = LayerNormConfig::new(columns).init(&self.device);
                self.kernel(move || norm.forward(x.clone()))
            }
            Rows::SumAll => self.kernel(move || x.clone().sum()),
            Rows::SumColumns => self.kernel(move || x.clone().sum_dim(0)),
            Rows::SumRows => self.kernel(move || x.clone().sum_dim(1)),
        }
    }

    /// burn's own attention, which is tuned on the first call.
    fn attention<'a>(&'a self, of: Attention, inputs: &[Vec<f32>]) -> Run<'a> {
        let Attention { heads, tokens, d } = of;
        let [q, k, v]: [Tensor<4>; 3] =
            [0, 1, 2].map(|i| self.upload(&inputs[i], [1, heads, tokens, d]));
        self.kernel(move || {
            let how = AttentionModuleOptions::default();
            attention(q.clone(), k.clone(), v.clone(), None, None, how)
        })
    }

    fn image<'a>(&'a self, image: Image, inputs: &[Vec<f32>]) -> Run<'a> {
        let x: Tensor<4> = self.upload(&inputs[0], [1, CHANNELS, SIDE, SIDE]);
        let conv = |shape: [usize; 4], pad, groups| {
            let (x, weight) = (x.clone(), self.upload(&inputs[1], shape));
            let how = ConvOptions::new([1, 1], [pad, pad], [1, 1], groups);
            self.kernel(move || conv2d(x.clone(), weight.clone(), None, how.clone()))
        };
        match image {
            Image::Conv => conv([CHANNELS, CHANNELS, 3, 3], 1, 1),
            Image::Pointwise => conv([CHANNELS, CHANNELS, 1, 1], 0, 1),
            Image::Depthwise => conv([CHANNELS, 1, 3, 3], 1, CHANNELS),
            Image::MaxPool => {
                let how = MaxPoolOptions::new([3, 3]).with_stride([2, 2]).with_padding([1, 1]);
                self.kernel(move || max_pool2d(x.clone(), how.clone()))
            }
            Image::Larger => {
                let how = InterpolateOptions::new(InterpolateMode::Bilinear)
                    .with_align_corners(false)
                    .with_output_size([2 * SIDE, 2 * SIDE]);
                self.kernel(move || interpolate(x.clone(), how.clone()))
            }
            Image::GroupNorm => {
                let norm =
                    GroupNormConfig::new(GROUPS, CHANNELS).with_affine(false).init(&self.device);
                self.kernel(move || norm.forward(x.clone()))
            }
        }
    }

    fn order<'a>(&'a self, order: Order, values: &[f32]) -> Run<'a> {
        let x: Tensor<1> = self.upload(values, [values.len()]);
        match order {
            Order::Sort => self.kernel(move || x.clone().sort(0)),
            Order::TopK => self.kernel(move || x.clone().topk(TOP, 0)),
        }
    }

    fn crossing<'a>(&'a self, crossing: Crossing, values: &[f32]) -> Run<'a> {
        let n = values.len();
        let ints = || values.iter().map(|&v| crossing.expected(v));
        let data = match crossing {
            Crossing::Down => return self.down(values),
            Crossing::F32 | Crossing::F32AsF16 => TensorData::new(values.to_vec(), [n]),
            Crossing::F16 => {
                let data = TensorData::new(values.to_vec(), [n]);
                data.try_cast(DType::F16).expect("f32 is a float")
            }
            Crossing::F64AsF32 => TensorData::new(ints().collect::<Vec<f64>>(), [n]),
            Crossing::I32 => TensorData::new(ints().map(|v| v as i32).collect(), [n]),
            Crossing::U8 => TensorData::new(ints().map(|v| v as u8).collect(), [n]),
            Crossing::I64AsI32 => TensorData::new(ints().map(|v| v as i64).collect(), [n]),
            Crossing::Bool => TensorData::new(ints().map(|v| v != 0.0).collect::<Vec<bool>>(), [n]),
        };
        Box::new(move |read| {
            // The upload takes ownership of the data; copying it here is not counted.
            let own = data.clone();
            let to = |dtype| TensorCreationOptions::from(&self.device).with_dtype(dtype);
            let start = Instant::now();
            let tensor = match crossing {
                Crossing::I32 | Crossing::I64AsI32 => {
                    Up::Int(Tensor::from_data(own, to(DType::I32)))
                }
                Crossing::U8 => Up::Int(Tensor::from_data(own, to(DType::U8))),
                Crossing::Bool => Up::Bool(Tensor::from_data(own, &self.device)),
                Crossing::F16 | Crossing::F32AsF16 => {
                    Up::Float(Tensor::from_data(own, to(DType::F16)))
                }
                _ => Up::Float(Tensor::from_data(own, to(DType::F32))),
            };
            self.device.sync().map_err(said)?;
            let elapsed = start.elapsed();
            if !read {
                return Ok((elapsed, Vec::new()));
            }
            let data = match tensor {
                Up::Float(tensor) => tensor.try_into_data(),
                Up::Int(tensor) => tensor.try_into_data(),
                Up::Bool(tensor) => tensor.try_into_data(),
            };
            Ok((elapsed, plain(data.map_err(said)?)?))
        })
    }

    fn down<'a>(&'a self, values: &[f32]) -> Run<'a> {
        let resident = self.upload(values, [values.len()]);
        let mut out = vec![0f32; values.len()];
        Box::new(move |read| {
            self.device.sync().map_err(said)?;
            let start = Instant::now();
            let data = resident.clone().try_into_data().map_err(said)?;
            out.copy_from_slice(data.as_slice::<f32>().map_err(said)?);
            Ok((start.elapsed(), if read { out.clone() } else { Vec::new() }))
        })
    }

    fn small<'a>(&'a self, what: &What, inputs: &[Vec<f32>]) -> Run<'a> {
        let n = inputs[0].len();
        let [a, b]: [Tensor<1>; 2] = [0, 1].map(|i| self.upload(&inputs[i], [n]));
        match what {
            What::AddSync => self.kernel(move || a.clone() + b.clone()),
            What::Chain => {
                self.number(move || (0..peer_cases::CHAIN).fold(a.clone(), |x, _| x + b.clone()))
            }
            What::ChainMatmul => {
                let [a, b] = [a, b].map(|t| t.reshape([32, 32]));
                let quarter = b / 4.0;
                self.number(move || {
                    let x: Tensor<2> = (0..peer_cases::CHAIN_MATMUL)
                        .fold(a.clone(), |x: Tensor<2>, _| x.matmul(quarter.clone()));
                    x.reshape([n])
                })
            }
            _ => self.number(move || a.clone() + b.clone()),
        }
    }
}

impl Peer for Burn {
    fn hello(&self) -> String {
        self.on.clone()
    }

    fn prepare<'a>(&'a self, what: &What, inputs: &[Vec<f32>]) -> Result<Option<Run<'a>>, String> {
        Ok(Some(match *what {
            What::Matmul(mm) => self.matmul(mm, inputs),
            What::FirstMatmul => {
                let (m, k, n) = (512, 512, 512);
                let mm = Matmul { batch: 1, m, k, n, transposed: false, half: false };
                self.matmul(mm, inputs)
            }
            What::Formula(formula, side) => self.formula(formula, side, inputs),
            What::Rows(op, rows, columns) => self.rows(op, rows, columns, &inputs[0]),
            What::Attention(of) => self.attention(of, inputs),
            What::Image(image) => self.image(image, inputs),
            What::Order(order, _) => self.order(order, &inputs[0]),
            What::Model(of) => {
                let model = minilm::MiniLm::new(of, inputs, &self.device);
                self.kernel(move || model.forward())
            }
            What::Crossing(crossing, _) => self.crossing(crossing, &inputs[0]),
            What::Largest => return Ok(None),
            _ => self.small(what, inputs),
        }))
    }

    fn largest(&self, mebibytes: &[usize]) -> usize {
        let fits = |mib: usize| -> Ran {
            let n = mib << 18;
            let mut values = vec![0f32; n];
            values[n - 1] = 41.0;
            let tensor = Tensor::<1>::from_data(TensorData::new(values, [n]), &self.device) + 1.0;
            let last = tensor.slice([n - 1..n]).try_into_data().map_err(said)?;
            Ok((Duration::ZERO, plain(last)?))
        };
        let right = |mib: &usize| matches!(fits(*mib), Ok((_, last)) if last == [42.0]);
        mebibytes.iter().copied().take_while(|mib| right(mib)).last().unwrap_or(0)
    }
}
