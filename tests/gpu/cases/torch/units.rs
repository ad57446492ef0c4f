//! What the contract counts units of, for a line of `shapes.txt` or `images.txt`: the oracle's, of
//! its operands.

use wharf::Tensor;
use wharf::op::{Joint, Reduction};
use wharf::reference::{Number, log_softmax, norm, reduce};

use super::super::pair::{bits_of, value};
use super::{axes, float};
use crate::ctx::show;

/// For each element of a reduction; of all else the least there is.
pub(super) async fn of(op: &str, t: &[Tensor], numbers: &[Vec<f64>]) -> Result<Vec<f64>, String> {
    let all = numbers.first().map_or_else(Vec::new, |list| axes(list));
    if let Some(&reduction) = Reduction::ALL.iter().find(|reduction| reduction.name() == op) {
        let (dtype, rows) = (t[0].dtype(), rows(&t[0], &all).await?);
        let one = |row: &Vec<Number>| reduce(reduction, dtype, row, 1).map_or(0.0, |x| x.scale);
        return Ok(rows.iter().map(one).collect());
    }
    let floats = |row: &Vec<Number>| row.iter().map(|&x| float(x)).collect::<Vec<f64>>();
    let joint = Joint::ALL.iter().copied().find(|joint| joint.name() == op);
    let most = |row: &Vec<Number>| floats(row).iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let units: Vec<f64> = match (op, joint) {
        ("linspace", _) => vec![numbers[0][0].abs().max((numbers[1][0] - numbers[0][0]).abs())],
        // Of each channel of an image.
        ("interpolate_antialiased", _) => rows(&t[0], &[2, 3]).await?.iter().map(most).collect(),
        // Of each column of values.
        (_, Some(Joint::Attention)) => {
            rows(&t[2], &[t[2].shape().rank() - 2]).await?.iter().map(most).collect()
        }
        (_, Some(Joint::LogSoftmax | Joint::CrossEntropy)) => {
            let rows = rows(&t[0], &all).await?;
            rows.iter().flat_map(|row| log_softmax(&floats(row))).map(|x| x.scale).collect()
        }
        (_, Some(Joint::LayerNorm)) => {
            let (rows, eps) = (rows(&t[0], &all).await?, numbers[1][0]);
            rows.iter().flat_map(|row| norm(&floats(row), eps, true)).map(|x| x.scale).collect()
        }
        // Of itself.
        _ => Vec::new(),
    };
    // What is infinite or NaN is counted in nothing.
    Ok(units.into_iter().filter(|unit| *unit > 0.0).min_by(f64::total_cmp).into_iter().collect())
}

/// What lies along these axes, for every place of the others.
async fn rows(x: &Tensor, along: &[usize]) -> Result<Vec<Vec<Number>>, String> {
    let dims = x.shape().dims();
    let order: Vec<usize> = (0..dims.len()).filter(|axis| !along.contains(axis)).collect();
    let length: usize = along.iter().map(|&axis| dims[axis]).product();
    let bits = bits_of(&x.permute([&order, along].concat()).map_err(show)?).await?;
    let number = |&bits: &u64| value(x.dtype(), bits);
    Ok(bits.chunks(length.max(1)).map(|row| row.iter().map(number).collect()).collect())
}
