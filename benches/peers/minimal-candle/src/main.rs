//! The smallest program that multiplies two matrices with candle, to measure what building takes.

use candle_core::{DType, Device, Tensor};

fn main() -> candle_core::Result<()> {
    let x = Tensor::ones((64, 64), DType::F32, &Device::Cpu)?;
    println!("{}", x.matmul(&x)?);
    Ok(())
}
