//! What is saved of tensors that no memory holds as such: views, and what is yet to be computed.

use std::path::PathBuf;

use wharf::io::Archive;
use wharf::{DType, Device, Tensor, TensorSet};

use crate::ctx::{Case, Ctx, Outcome, case, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    let cases = SAVERS.map(|(ending, save)| {
        case!(format!("saved::{ending}"), |ctx| whatever_it_is(ctx, ending, save))
    });
    cases.into()
}

type Save = fn(&TensorSet, &PathBuf) -> wharf::Result<()>;

/// The ending of a file, and what writes a set to it; of one array that is its first.
const SAVERS: [(&str, Save); 3] = [
    ("safetensors", |set, path| set.save(path).map(drop)),
    ("npz", |set, path| set.save_npz(path).map(drop)),
    ("npy", |set, path| set.iter().try_for_each(|(_, first)| first.save_npy(path).map(drop))),
];

/// A name, how it is made of 0 to 23 in `[2, 3, 4]`, its dtype, and what it holds.
type Row = (&'static str, fn(&Tensor) -> wharf::Result<Tensor>, DType, &'static [f64]);

const ROWS: [Row; 11] = [
    // The narrowest first, which files have last.
    ("truths", |x| x.at((0, 1))?.gt(5), DType::Bool, &[0.0, 0.0, 1.0, 1.0]),
    ("narrow", |x| x.at((0, 1, 1..))?.cast(DType::F16), DType::F16, &[5.0, 6.0, 7.0]),
    ("deferred", |x| ((x * 2)? + 1)?.at((1, 2)), DType::F32, &[41.0, 43.0, 45.0, 47.0]),
    (
        "deferred and turned",
        |x| (x.at((.., 0, ..2))? + 1)?.t(),
        DType::F32,
        &[1.0, 13.0, 2.0, 14.0],
    ),
    ("turned", |x| x.at((0, ..2, 1..3))?.t(), DType::F32, &[1.0, 5.0, 2.0, 6.0]),
    ("backwards", |x| x.at((1, 1))?.slice_step(0, 0..4, -1), DType::F32, &[19.0, 18.0, 17.0, 16.0]),
    ("every third", |x| x.reshape([24])?.slice_step(0, 2..24, 9), DType::F32, &[2.0, 11.0, 20.0]),
    ("broadcast", |x| x.at((1, 0, 3..))?.broadcast_to([2, 1]), DType::F32, &[15.0, 15.0]),
    ("a sum", |x| x.sum(..), DType::F32, &[276.0]),
    ("a product", |x| x.at((0, ..2))?.matmul(&x.at((0, 2))?), DType::F32, &[62.0, 214.0]),
    ("nothing", |x| x.at((0, 1, 1..1)), DType::F32, &[]),
];

async fn whatever_it_is(ctx: &Ctx, ending: &str, save: Save) -> Outcome {
    let device = ctx.native().await?;
    let numbers: Vec<f32> = (0..24u8).map(f32::from).collect();
    let (x, _) = device.upload(&numbers, [2, 3, 4]).map_err(show)?;
    let name = format!("saved-{}-{:?}.{ending}", std::process::id(), std::thread::current().id());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // A file of npy has one array.
    let at_once = if ending == "npy" { 1 } else { ROWS.len() };
    for rows in ROWS.chunks(at_once) {
        let mut set = TensorSet::new();
        let mut shapes = Vec::new();
        for (name, make, ..) in rows {
            let made = make(&x).map_err(show)?;
            shapes.push(*made.shape());
            set.insert(name, made).map_err(show)?;
        }
        save(&set, &path).map_err(show)?;
        let back = loaded(&device, &path).await;
        std::fs::remove_file(&path).map_err(|error| error.to_string())?;
        for ((name, _, dtype, want), shape) in rows.iter().zip(shapes) {
            let tensors = back.as_ref().map_err(Clone::clone)?;
            let only = || tensors.iter().next().map(|(_, tensor)| tensor);
            let got = if at_once == 1 { only() } else { tensors.get(name) };
            let got = got.ok_or_else(|| format!("{name} is not there"))?;
            ensure_eq!((got.dtype(), *got.shape()), (*dtype, shape), "{name}");
            let (values, _) = got.read_as::<f64>().await.map_err(show)?;
            ensure_eq!(values, *want, "{name}");
        }
    }
    Ok(())
}

async fn loaded(device: &Device, path: &PathBuf) -> Result<TensorSet, String> {
    let archive = Archive::open(path).map_err(show)?;
    let shipment = archive.shipment().map_err(show)?;
    device.upload_set(&shipment).map(|(set, _)| set).map_err(show)
}
