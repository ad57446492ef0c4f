//! Queries, keys, values and masks as the kernels of attention load them.

use super::plan::{in_pairs, in_units};
use super::text::Unit;
use crate::caps::Feature;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::kernel::Operand;
use crate::kernel::cores::Head;
use crate::layout::Layout;
use crate::wgsl::{Expr, Form};

/// Queries, keys and values of one dtype, and perhaps a mask.
pub(super) struct Inputs {
    pub(super) operands: Vec<Operand>,
    /// The views, by elements.
    pub(super) views: Vec<Layout>,
    pub(super) packed: Option<Form>,
}

impl Inputs {
    /// Halves of a word stay as they are, if that is wished and they lie by eight; everything else
    /// becomes f32.
    pub(super) fn of(site: Site<'_>, operands: Vec<Operand>, packs: bool) -> Result<Self> {
        let native = site.engine.gpu.caps().has(Feature::ShaderF16);
        let packed = match operands[0].dtype {
            DType::F16 if native => Some(Form::F16w),
            DType::F16 => Some(Form::F16p),
            DType::Bf16 => Some(Form::Bf16),
            _ => None,
        };
        let by_eight = || operands[..3].iter().all(|operand| in_units(&operand.layout, 8));
        let packed = packed.filter(|_| packs && by_eight());
        let operands = match packed {
            Some(_) => operands,
            None => operands.into_iter().map(|x| as_f32(site, x)).collect::<Result<_>>()?,
        };
        let views = operands.iter().map(|operand| operand.layout).collect();
        Ok(Self { operands, views, packed })
    }
}

/// The operand, or a copy of it in f32. A broadcast axis is copied once.
fn as_f32(site: Site<'_>, operand: Operand) -> Result<Operand> {
    if operand.dtype == DType::F32 {
        return Ok(operand);
    }
    let expr = Expr::cast(operand.dtype, DType::F32);
    let (view, once) = (operand.layout, operand.once()?);
    let copy = Head { expr, dtype: DType::F32, ..Head::view(once) }.realise(site)?;
    Ok(copy.under(copy.layout.broadcast_to(view.shape())?))
}

/// Inputs as they are loaded, by quads or by pairs of quads; the mask stays as it is.
pub(super) fn loaded(operands: Vec<Operand>, unit: Unit) -> Result<Vec<Head>> {
    let dtype = match unit {
        Unit::Quad => None,
        Unit::Wide => Some(DType::U64),
        Unit::Packed(_) => Some(DType::U32),
    };
    let head = |(i, operand): (usize, Operand)| match dtype.filter(|_| i < 3) {
        None => Ok(Head::view(operand)),
        Some(dtype) => {
            let layout = in_pairs(&operand.layout)?;
            Ok(Head::view(Operand { layout, dtype, ..operand }))
        }
    };
    operands.into_iter().enumerate().map(head).collect()
}
