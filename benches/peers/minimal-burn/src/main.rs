//! The smallest program that multiplies two matrices with burn, to measure what building it takes.

use burn::tensor::{Device, Tensor};

fn main() {
    let x = Tensor::<2>::ones([64, 64], &Device::default());
    println!("{}", x.clone().matmul(x));
}
