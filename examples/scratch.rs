//! x
use wharf::caps::fixtures;
use wharf::tensor::Attention;
use wharf::{DType, Device, Policy};
fn main() -> wharf::Result<()> {
    let d = Device::on_paper(&fixtures::nvidia_vulkan(), &Policy::exact())?;
    for (q, t, dd) in [(1usize, 4096usize, 64usize), (1, 4096, 128), (1, 1024, 64), (4096, 4096, 64), (4096, 4096, 128), (1024, 1024, 64)] {
        let x = d.blank([16, q, dd], DType::F32)?;
        let k = d.blank([16, t, dd], DType::F32)?;
        let a = x.attention(&k, &k, &Attention::new())?;
        for k in &a.explain().kernels {
            println!("{q} {t} {dd}: {} {:?} {}", k.name, k.dispatches, k.remarks.join(" / "));
        }
    }
    Ok(())
}
