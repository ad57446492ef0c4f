//! What the processor under a software adapter does well.

use crate::caps::Feature;

/// The family of AMD's processors from which gathering pays: Zen 5.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "nobody asks elsewhere"))]
const AMD_GATHERS: u32 = 26;

/// How LLVM gathers on this processor - with AVX-512, or AVX2 but for AMD's - if that pays. On a
/// Zen 4, which has AVX-512, it does not, nor with the newest drivers on any of AMD's:
/// `docs/measured/elementwise.md`.
pub(super) fn gathers(newest: bool) -> &'static [Feature] {
    #[cfg(target_arch = "x86_64")]
    {
        let amd = is_x86_feature_detected!("sse4a");
        let pays = |n| n >= AMD_GATHERS;
        match amd {
            true if newest || !is_x86_feature_detected!("avx512f") => &[],
            true if family().is_some_and(pays) => &[Feature::Gather],
            false if is_x86_feature_detected!("avx2") => &[Feature::Gather, Feature::GatherWide],
            _ => &[],
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = newest;
        &[]
    }
}

/// The processor's family, where the system tells.
#[cfg(target_arch = "x86_64")]
fn family() -> Option<u32> {
    // The first processor's lines are enough: there may be hundreds.
    family_in(std::io::BufReader::new(std::fs::File::open("/proc/cpuinfo").ok()?))
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "nobody asks elsewhere"))]
fn family_in(told: impl std::io::BufRead) -> Option<u32> {
    let line = |line: String| {
        let (name, value) = line.split_once(':')?;
        (name.trim_end() == "cpu family").then(|| value.trim().parse().ok())
    };
    told.lines().map_while(Result::ok).find_map(line).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_is_read_from_what_the_system_tells() {
        let zen_4 = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n";
        let zen_5 = "vendor_id\t: AuthenticAMD\ncpu family\t: 26\ncpu family\t: 1\n";
        let family = [zen_4, zen_5].map(|told| family_in(told.as_bytes()));
        assert_eq!(family, [Some(25), Some(26)]);
        assert!(family[0] < Some(AMD_GATHERS) && family[1] >= Some(AMD_GATHERS));
        let unread = ["", "cpu family\t: new\n", "Hardware\t: BCM2835\n", "cpu\n"];
        assert_eq!(unread.map(|told| family_in(told.as_bytes())), [None; 4]);
    }
}
