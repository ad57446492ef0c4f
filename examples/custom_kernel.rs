//! A kernel of your own: two chemicals that react and spread (Gray and Scott), from twenty lines of
//! WGSL to a picture. The fields stay on the device; what crosses is a number now and then, and the
//! picture.
//!
//! `WHARF_ALLOW_SOFTWARE=1 cargo run --release --example custom_kernel [picture.png]`

use wharf::custom::Kernel;
use wharf::{DType, Device, Policy, Tensor};

const SIDE: usize = 256;
const STEPS: usize = 3000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let default = || std::env::temp_dir().join("gray_scott.png").into_os_string();
    let path = std::path::PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(default));
    let device = Device::best_now(&Policy::exact())?;
    let step = Kernel::from_wgsl("gray_scott", include_str!("custom_kernel/gray_scott.wgsl"))?
        .with("SIDE", SIDE)?;
    let v = |x: &Tensor| x.at((.., .., 1));

    // The first chemical everywhere, and a square of the second.
    let mut x = device.zeros([SIDE, SIDE, 2], DType::F32)?;
    x.assign_at((.., .., 0), 1.0)?;
    x.assign_at((118..138, 118..138), 0.5)?;
    for n in 1..=STEPS {
        let run = device.run(&step).read("x", &x).set(&[0.037f32, 0.06, 1.0, 0.5]);
        let run = run.create("next", [SIDE, SIDE, 2], DType::F32);
        [x] = run.threads([SIDE, SIDE, 1]).record()?;
        if n % (STEPS / 5) == 0 {
            println!(
                "step {n}: {:.3} of the second chemical",
                v(&x)?.mean(..)?.read_scalar_now::<f32>()?
            );
        }
    }
    let gray = ((v(&x)? * 2.5)?.clamp(0.0, 1.0)? * 255.0)?.cast(DType::U8)?.read_now::<u8>()?;
    std::fs::write(&path, png(&gray))?;
    println!("{}: {SIDE} x {SIDE}", path.display());
    Ok(())
}

/// A gray picture, not compressed: a byte that says so before every row, and sums over all of it.
fn png(gray: &[u8]) -> Vec<u8> {
    let side = (SIDE as u32).to_be_bytes();
    let crc = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ ((sum & 1) * 0xedb8_8320))
    };
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let (size, body) = ((data.len() as u32).to_be_bytes(), [kind, data].concat());
        let sum = !body.iter().fold(u32::MAX, crc);
        [&size[..], &body, &sum.to_be_bytes()].concat()
    };
    let rows: Vec<u8> = gray.chunks(SIDE).flat_map(|row| [&[0], row].concat()).collect();
    let adler = rows.iter().fold((1, 0), |(a, b), byte| {
        let a: u32 = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    let mut data = vec![0x78, 1];
    let count = rows.chunks(65_535).count();
    for (i, block) in rows.chunks(65_535).enumerate() {
        let size = block.len() as u16;
        data.push(u8::from(i + 1 == count));
        data.extend([size.to_le_bytes(), (!size).to_le_bytes()].concat());
        data.extend(block);
    }
    data.extend(((adler.1 << 16) | adler.0).to_be_bytes());
    let head = [&side[..], &side, &[8, 0, 0, 0, 0]].concat();
    let chunks = [chunk(b"IHDR", &head), chunk(b"IDAT", &data), chunk(b"IEND", &[])];
    [&b"\x89PNG\r\n\x1a\n"[..], &chunks.concat()].concat()
}
