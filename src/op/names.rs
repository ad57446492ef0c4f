//! The operations by name.

macro_rules! ops {
    ($($(#[$doc:meta])* $op:ident)*) => {
        /// An operation on elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "an operation is described by its row in the table")]
        #[non_exhaustive]
        pub enum Op {
            $($(#[$doc])* $op),*
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$op),*];
        }
    };
}

ops! {
    // ** one operand **
    Neg Abs Sign Floor Ceil Round Trunc Fract Sqrt Cbrt Rsqrt Recip Square
    Exp Exp2 Expm1 Ln Log2 Log10 Log1p
    Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh
    Erf Sigmoid Relu Gelu GeluTanh Silu Softplus HardSwish Mish
    Not BitNot IsNan IsInf IsFinite
    // ** two **
    Add Sub Mul Div RemFloor RemTrunc Pow Min Max Atan2 Hypot LeakyRelu Elu
    Eq Ne Lt Le Gt Ge
    And Or Xor BitAnd BitOr BitXor Shl Shr
    // ** three **
    Where Clamp MulAdd Lerp
}
