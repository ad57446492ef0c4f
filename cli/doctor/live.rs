//! The experiments behind `--explain`: each tries on the open device what it reports.

use wharf::ledger::Crossings;
use wharf::{DType, Device, HostView, Layout, Result, Shape, Tensor};

use super::explain::{Found, refusal};
use super::passport::probe::probe;
use super::table::{Tone, bytes, count};

fn verdict(holds: bool, good: String, bad: String) -> Found {
    if holds { (Tone::Good, good) } else { (Tone::Bad, bad) }
}

/// Layouts that other runtimes copy first, or misread.
pub(crate) fn layout(device: &Device) -> Result<Vec<Found>> {
    let data: Vec<f32> = (0..35u8).map(f32::from).collect();
    let views = [
        ("column-major", HostView::column_major(&data, [5, 7])?),
        ("reversed (stride -1)", HostView::strided(&data, [35], &[-1], 34)?),
        ("every third (stride 3)", HostView::strided(&data, [12], &[3], 0)?),
        ("broadcast (stride 0)", HostView::strided(&data, [4, 7], &[0, 1], 14)?),
    ];
    let mut arrived = Vec::new();
    for (name, view) in views {
        let (tensor, _) = device.upload_view(view)?;
        if !view.iter().eq(tensor.read_now::<f32>()?) {
            return Ok(vec![(Tone::Bad, format!("{name} came back in another order"))]);
        }
        arrived.push(name);
    }
    let mut found =
        vec![(Tone::Good, format!("carried and read back in order: {}", arrived.join(", ")))];
    let outside = Layout::strided(Shape::new([6, 7])?, &[7, 1], 0)
        .and_then(|l| HostView::with_layout(&data, l));
    match outside {
        Err(error) => found.push((Tone::Good, format!("[6, 7] over 35 values, refused: {error}"))),
        Ok(_) => found.push((Tone::Bad, "[6, 7] over 35 values was accepted".into())),
    }
    Ok(found)
}

/// How much memory there is, and what happens beyond it.
pub(crate) fn memory(device: &Device) -> Result<Vec<Found>> {
    let (memory, limits) = (device.memory(), &device.caps().limits);
    let cap = memory.bytes_cap.map_or_else(|| "none".into(), bytes);
    let mut found = vec![
        (
            Tone::Plain,
            format!(
                "live {}, pooled {}, reserved {}, cap {cap}",
                bytes(memory.bytes_live),
                bytes(memory.bytes_pooled),
                bytes(memory.bytes_reserved)
            ),
        ),
        (
            Tone::Plain,
            format!(
                "one buffer holds {}, one binding {}: no limit on a tensor",
                bytes(limits.buffer_bytes_max),
                bytes(limits.binding_bytes_max)
            ),
        ),
    ];
    let Some(cap) = memory.bytes_cap else {
        found.push((
            Tone::Plain,
            "no cap is set: whether the driver agrees is known by trying".into(),
        ));
        return Ok(found);
    };
    let elements = usize::try_from(cap / 2).unwrap_or(usize::MAX / 8);
    let fit = device.fit(elements, DType::F32)?;
    found.push(verdict(
        !fit.fits,
        format!("f32 [{elements}], twice the cap: said beforehand not to fit"),
        format!("f32 [{elements}], twice the cap: said to fit"),
    ));
    Ok(found)
}

/// Leaves holes on purpose, and closes them.
pub(crate) fn fragmentation(device: &Device) -> Result<Vec<Found>> {
    const TENSORS: usize = 96;
    const KEPT_EACH: usize = 12;
    let values = probe::<u32>(16 << 10);
    let all: Result<Vec<Tensor>> = (0..TENSORS)
        .map(|_| device.upload(&values, values.len()).map(|(tensor, _)| tensor))
        .collect();
    let kept: Vec<Tensor> = all?.into_iter().step_by(KEPT_EACH).collect();
    let before = device.memory();
    let freed = device.compact()?;
    let after = device.memory();
    let intact = kept.iter().map(Tensor::read_now::<u32>).collect::<Result<Vec<_>>>()?;
    let intact = intact.iter().all(|back| *back == values);
    Ok(vec![
        (
            Tone::Plain,
            format!(
                "{TENSORS} tensors of 64 KiB, {} kept: {} live, {} free in {}",
                kept.len(),
                bytes(before.bytes_live),
                bytes(before.bytes_pooled),
                count(before.buffers, "buffer")
            ),
        ),
        verdict(
            intact && freed > 0,
            format!(
                "compacted: {} given back, {} left, and every bit where it was",
                bytes(freed),
                count(after.buffers, "buffer")
            ),
            format!("compacted: {} given back; values intact: {intact}", bytes(freed)),
        ),
    ])
}

/// Every crossing is counted; under a guard none happens.
pub(crate) fn hidden_copies(device: &Device) -> Result<Vec<Found>> {
    let (tensor, _) = device.upload(&[1.0f32, 2.0, 3.0], 3)?;
    let before = device.ledger();
    let read = {
        let _guard = device.guard(Crossings::Deny);
        tensor.read_now::<f32>()
    };
    let after = device.ledger();
    let mut found = vec![(
        Tone::Plain,
        format!(
            "this page caused {} up ({}) and {} down ({})",
            count(after.up.count, "crossing"),
            bytes(after.up.bytes),
            after.down.count,
            bytes(after.down.bytes)
        ),
    )];
    if let Some(largest) = after.largest.first() {
        let (direction, call, at) = (largest.direction, largest.call, largest.line);
        let size = bytes(largest.bytes);
        found.push((
            Tone::Plain,
            format!("the largest: {direction} {size} of {}, {call} at {at}", largest.dtype),
        ));
    }
    let held = read.is_err() && before.down == after.down;
    match read {
        Err(error) if held => {
            found.push((Tone::Good, format!("guarded, and nothing moved: {error}")));
        }
        Err(error) => found.extend(refusal(Tone::Bad, &error)),
        Ok(_) => found.push((Tone::Bad, "a guarded read was not refused".into())),
    }
    Ok(found)
}

/// What an upload takes on the host beside the data.
pub(crate) fn doubled_ram(device: &Device) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for (name, elements) in [("64 MiB", 16 << 20), ("1 GiB", 256 << 20), ("4 GiB", 1 << 30)] {
        let fit = device.fit(elements, DType::F32)?;
        let percent = fit.bytes_staging as f64 / fit.bytes as f64 * 100.0;
        let tone = if fit.bytes_staging < fit.bytes { Tone::Good } else { Tone::Bad };
        let staging = bytes(fit.bytes_staging);
        found.push((
            tone,
            format!(
                "a tensor of {name:<6}  takes at most {staging} more on its way ({percent:.0} %)"
            ),
        ));
    }
    Ok(found)
}
