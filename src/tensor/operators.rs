//! Rust's operators: the methods of their names, borrowed or not, with numbers on either side.

use core::ops;

use super::ops::{Borrowed, apply};
use super::{Other, Tensor};
use crate::error::Result;
use crate::op::Op;

/// Operators between tensors, and with numbers on either side; all of them borrowed or not.
macro_rules! operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        operators!(# $trait $method $op: &Tensor, Tensor);
        operators!(@ $trait $method $op:
            f32 f64 half::f16 half::bf16 i8 u8 i16 u16 i32 u32 i64 u64 isize usize bool);
    )*};
    (# $trait:ident $method:ident $op:ident: $($ty:ty),*) => {$(
        impl<O: Into<Other>> ops::$trait<O> for $ty {
            type Output = Result<Tensor>;

            #[track_caller]
            fn $method(self, other: O) -> Result<Tensor> {
                let (op, other) = (Op::$op.meant(self.dtype()), other.into());
                apply(self.device(), op, &[Borrowed::Tensor(&self), (&other).into()])
            }
        }
    )*};
    (@ $trait:ident $method:ident $op:ident: $($ty:ty)*) => {$(
        operators!(< $trait $method $op: $ty, &Tensor);
        operators!(< $trait $method $op: $ty, Tensor);
        operators!(< $trait $method $op: &$ty, &Tensor);
        operators!(< $trait $method $op: &$ty, Tensor);
    )*};
    (< $trait:ident $method:ident $op:ident: $number:ty, $tensor:ty) => {
        impl ops::$trait<$tensor> for $number {
            type Output = Result<Tensor>;

            #[track_caller]
            fn $method(self, tensor: $tensor) -> Result<Tensor> {
                let op = Op::$op.meant(tensor.dtype());
                let sides = [Borrowed::Scalar(self.into()), Borrowed::Tensor(&tensor)];
                apply(tensor.device(), op, &sides)
            }
        }
    };
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    Rem rem RemTrunc;
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
    Shl shl Shl;
    Shr shr Shr;
}

/// Operators that assign, which cannot return an error: the tensor carries it.
macro_rules! assigning {
    ($($trait:ident $method:ident $op:ident $sign:literal;)*) => {$(
        impl<O: Into<Other>> ops::$trait<O> for Tensor {
            #[track_caller]
            fn $method(&mut self, other: O) {
                let (op, other) = (Op::$op.meant(self.dtype()), other.into());
                let sides = [Borrowed::Tensor(&*self), (&other).into()];
                self.become_or_carry($sign, apply(self.device(), op, &sides));
            }
        }
    )*};
}

assigning! {
    AddAssign add_assign Add "+=";
    SubAssign sub_assign Sub "-=";
    MulAssign mul_assign Mul "*=";
    DivAssign div_assign Div "/=";
    RemAssign rem_assign RemTrunc "%=";
    BitAndAssign bitand_assign And "&=";
    BitOrAssign bitor_assign Or "|=";
    BitXorAssign bitxor_assign Xor "^=";
    ShlAssign shl_assign Shl "<<=";
    ShrAssign shr_assign Shr ">>=";
}

macro_rules! prefixes {
    ($($trait:ident $method:ident $op:ident for $ty:ty;)*) => {$(
        impl ops::$trait for $ty {
            type Output = Result<Tensor>;

            #[track_caller]
            fn $method(self) -> Result<Tensor> {
                apply(self.device(), Op::$op.meant(self.dtype()), &[Borrowed::Tensor(&self)])
            }
        }
    )*};
}

prefixes! {
    Neg neg Neg for &Tensor;
    Neg neg Neg for Tensor;
    Not not Not for &Tensor;
    Not not Not for Tensor;
}
