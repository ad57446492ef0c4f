//! Stored forms: how the elements of a binding lie in memory and what they are computed as.
//!
//! The unit is a *quad*, four consecutive elements. A form names the WGSL type of one stored
//! element (or of the word that packs several), of a stored quad, and of the quad's value between
//! load and store. Forms `w8` to `w64` are for moves: any element of that width, as bits.

use super::needs::Needs;
use super::source::{Source, source};
use super::target::Target;
use crate::dtype::DType;

/// How elements are stored in a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(
    missing_docs,
    reason = "the variants are the names of dtypes; the table below says the rest"
)]
pub enum Form {
    F32,
    I32,
    U32,
    F16,
    /// f16 in u32 words, converted by integer bits: for adapters without `shader-f16`.
    F16p,
    /// f16 in u32 words, widened by the driver: how software adapters with `shader-f16`, which pay
    /// by the load, read it.
    F16w,
    Bf16,
    F8E4M3,
    F8E5M2,
    I8,
    U8,
    I16,
    U16,
    Bool,
    I64,
    U64,
    F64,
    W8,
    W16,
    W32,
    W64,
}

/// One row per form, in the order of the enum.
struct FormRow {
    form: Form,
    name: &'static str,
    /// Bytes per element.
    width: u32,
    /// What a binding is an array of when single elements are picked: an element, or the word it is
    /// packed in.
    scalar: &'static str,
    /// A stored quad.
    quad: &'static str,
    /// A quad between load and store.
    value: &'static str,
    part: Source,
}

macro_rules! forms {
    ($(
        $form:ident $name:literal $width:literal
        $scalar:literal $quad:literal $value:literal $needs:expr;
    )*) => {
        const TABLE: &[FormRow] = &[$(FormRow {
            form: Form::$form,
            name: $name,
            width: $width,
            scalar: $scalar,
            quad: $quad,
            value: $value,
            part: source!(concat!("element/", $name, ".wgsl"), $needs),
        }),*];
    };
}

const PLAIN: Needs = Needs::NONE;

forms! {
    F32  "f32"  4 "f32" "vec4<f32>" "vec4<f32>" PLAIN;
    I32  "i32"  4 "i32" "vec4<i32>" "vec4<i32>" PLAIN;
    U32  "u32"  4 "u32" "vec4<u32>" "vec4<u32>" PLAIN;
    F16  "f16"  2 "f16" "vec4<f16>" "vec4<f32>" Needs::F16;
    F16p "f16p" 2 "u32" "vec2<u32>" "vec4<f32>" PLAIN;
    F16w "f16w" 2 "u32" "vec2<u32>" "vec4<f32>" Needs::F16;
    Bf16 "bf16" 2 "u32" "vec2<u32>" "vec4<f32>" PLAIN;
    F8E4M3 "f8e4m3" 1 "u32" "u32" "vec4<f32>" PLAIN;
    F8E5M2 "f8e5m2" 1 "u32" "u32" "vec4<f32>" PLAIN;
    I8   "i8"   1 "u32" "u32"       "vec4<i32>" PLAIN;
    U8   "u8"   1 "u32" "u32"       "vec4<u32>" PLAIN;
    I16  "i16"  2 "u32" "vec2<u32>" "vec4<i32>" PLAIN;
    U16  "u16"  2 "u32" "vec2<u32>" "vec4<u32>" PLAIN;
    Bool "bool" 1 "u32" "u32"       "vec4<bool>" PLAIN;
    I64  "i64"  8 "i64" "vec4<i64>" "vec4<i64>" Needs::INT64;
    U64  "u64"  8 "u64" "vec4<u64>" "vec4<u64>" Needs::INT64;
    F64  "f64"  8 "f64" "vec4<f64>" "vec4<f64>" Needs::F64;
    W8   "w8"   1 "u32" "u32"       "u32"       PLAIN;
    W16  "w16"  2 "u32" "vec2<u32>" "vec2<u32>" PLAIN;
    W32  "w32"  4 "u32" "vec4<u32>" "vec4<u32>" PLAIN;
    W64  "w64"  8 "vec2<u32>" "array<vec4<u32>, 2>" "array<vec4<u32>, 2>" PLAIN;
}

impl Form {
    /// Every form, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.form)
    }

    /// The form that moves elements of `width` bytes: 1, 2, 4 or 8.
    #[must_use]
    pub const fn moving(width: usize) -> Self {
        match width {
            1 => Self::W8,
            2 => Self::W16,
            4 => Self::W32,
            _ => Self::W64,
        }
    }

    /// The form in which a dtype is stored; `f16_native` where the adapter has `shader-f16`.
    #[must_use]
    pub const fn of(dtype: DType, f16_native: bool) -> Self {
        match dtype {
            DType::F32 => Self::F32,
            DType::F16 if f16_native => Self::F16,
            DType::F16 => Self::F16p,
            DType::Bf16 => Self::Bf16,
            DType::F8E4M3 => Self::F8E4M3,
            DType::F8E5M2 => Self::F8E5M2,
            DType::F64 => Self::F64,
            DType::I8 => Self::I8,
            DType::U8 => Self::U8,
            DType::I16 => Self::I16,
            DType::U16 => Self::U16,
            DType::I32 => Self::I32,
            DType::U32 => Self::U32,
            DType::I64 => Self::I64,
            DType::U64 => Self::U64,
            DType::Bool => Self::Bool,
        }
    }

    /// The form in which a target's kernels read a dtype. The bytes are the same: on llvmpipe two
    /// packed words cost half of what four native halves do.
    #[must_use]
    pub const fn read(dtype: DType, target: Target, f16_native: bool) -> Self {
        match (dtype, target) {
            (DType::F16, Target::Cpu | Target::Cpu64 | Target::CpuByLane) if f16_native => {
                Self::F16w
            }
            _ => Self::of(dtype, f16_native),
        }
    }

    /// The form in which a target's kernels write a dtype.
    #[must_use]
    pub const fn written(dtype: DType, target: Target, f16_native: bool) -> Self {
        Self::of(dtype, f16_native && matches!(target, Target::Gpu))
    }

    const fn row(self) -> &'static FormRow {
        &TABLE[self as usize]
    }

    /// The name in WGSL functions: `decode_f16p`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bytes per element.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.row().width
    }

    /// The WGSL type of a stored element, or of the word it is packed in.
    #[must_use]
    pub const fn scalar(self) -> &'static str {
        self.row().scalar
    }

    /// The WGSL type of a stored quad.
    #[must_use]
    pub const fn quad(self) -> &'static str {
        self.row().quad
    }

    /// The WGSL type of a quad's value.
    #[must_use]
    pub const fn value(self) -> &'static str {
        self.row().value
    }

    /// What a module needs to declare a binding of this form.
    #[must_use]
    pub const fn needs(self) -> Needs {
        self.row().part.needs
    }

    /// The file with its functions.
    #[must_use]
    pub(crate) const fn part(self) -> &'static Source {
        &self.row().part
    }

    /// Whether several elements share a `scalar` word.
    #[must_use]
    pub const fn is_packed(self) -> bool {
        self.width() < 4 && !matches!(self, Self::F16)
    }

    /// Whether it moves bits without looking at them.
    #[must_use]
    pub const fn is_move(self) -> bool {
        matches!(self, Self::W8 | Self::W16 | Self::W32 | Self::W64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, form) in Form::all().enumerate() {
            assert_eq!(form as usize, i, "{} is out of order", form.name());
        }
        for d in DType::ALL.iter().copied() {
            assert_eq!(Form::of(d, true).width() as usize, d.width(), "{d} has another width");
            assert_eq!(Form::of(d, false).width() as usize, d.width(), "{d} has another width");
        }
    }
}
