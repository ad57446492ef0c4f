use wharf::caps::fixtures;
use wharf::{DType, Device, Policy, Tensor};
fn main() -> wharf::Result<()> {
    let d = Device::on_paper(&fixtures::nvidia_vulkan(), &Policy::exact())?;
    let z = |dims: [usize; 2]| d.blank(dims, DType::F32);
    for t in [false, true] {
        for [m, n, k] in [[256usize, 256, 256], [512, 512, 512], [1024, 1024, 1024], [2048, 2048, 2048], [4096, 4096, 4096], [127, 333, 513], [64, 1024, 1024], [128, 128, 128], [1, 4096, 4096], [4, 4096, 4096], [16, 4096, 4096], [32, 4096, 4096], [64, 4096, 4096], [128, 1536, 384], [128, 384, 1536], [4096, 384, 1536], [4096, 1536, 384], [1, 8192, 8192]] {
            let a = z([m, k])?;
            let b = if t { z([n, k])?.t()? } else { z([k, n])? };
            let p = a.matmul(&b)?;
            let r: Vec<String> = p.explain().kernels.iter().flat_map(|k| k.remarks.clone()).collect();
            println!("{m}x{n}x{k} {t}: {}", r.join(" / "));
        }
    }
    let _: Option<Tensor> = None;
    Ok(())
}
