//! What an adapter can do: a snapshot in plain data, only of the features and limits that wharf
//! uses.
//!
//! It can be written as a literal, printed, compared - and *downgraded*: [`Caps::without`] and
//! [`Caps::with_limit`] make a lesser adapter out of a good one, which is how every fallback is
//! tested on hardware that needs none.

use core::fmt;

use crate::dtype::DType;

pub(crate) mod breadth;
#[cfg(any(feature = "testing", feature = "cli"))]
#[doc(hidden)]
pub mod fixtures;

/// What has to lie beside a program for DX12 to have DXC.
pub(crate) const DXC: &str = "dxcompiler.dll (1.8.2502 or later)";

/// Declares an enum whose variants have names, so that both stand in one table.
macro_rules! named {
    (
        $(#[$about:meta])* $enum:ident, $(#[$name_about:meta])* name:
        $($(#[$doc:meta])* $variant:ident $name:literal;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $enum { $($(#[$doc])* $variant,)* }

        impl $enum {
            /// All of them, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            $(#[$name_about])*
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl core::fmt::Display for $enum {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use named;

named! {
    /// The API through which an adapter is reached, the most capable first: where two reach one
    /// adapter, the earlier is taken.
    Backend,
    /// The word that `WGPU_BACKEND` and `WHARF_ADAPTER` know it by.
    name:
    /// Vulkan.
    Vulkan "vulkan";
    /// Metal, on Apple systems.
    Metal "metal";
    /// Direct3D 12.
    Dx12 "dx12";
    /// A browser's WebGPU.
    Browser "webgpu";
    /// OpenGL or OpenGL ES.
    Gl "gl";
    /// wgpu's own backend that stores but never computes; for tests.
    Noop "noop";
}

named! {
    /// What kind of device an adapter stands for, the preferred first.
    DeviceType,
    /// One lower-case word.
    name:
    /// A graphics card with memory of its own.
    Discrete "discrete";
    /// A GPU that shares the system's memory.
    Integrated "integrated";
    /// A GPU lent to a virtual machine.
    Virtual "virtual";
    /// The driver does not say.
    Other "other";
    /// A software implementation on the CPU.
    Cpu "software";
}

impl DeviceType {
    /// Where the bytes of a tensor lie.
    #[must_use]
    pub const fn memory(self) -> MemoryKind {
        match self {
            Self::Discrete => MemoryKind::Device,
            Self::Integrated => MemoryKind::Shared,
            Self::Cpu => MemoryKind::Host,
            Self::Virtual | Self::Other => MemoryKind::Unknown,
        }
    }
}

named! {
    /// Where the bytes of a tensor lie.
    MemoryKind,
    /// One lower-case word.
    name:
    /// In the card's own memory, across a bus.
    Device "device";
    /// In system memory that the GPU shares.
    Shared "shared";
    /// In ordinary host memory: the adapter is a program.
    Host "host";
    /// The driver does not say.
    Unknown "unknown";
}

/// Who an adapter is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// As the driver names it.
    pub name: String,
    /// PCI vendor id, 0 where there is none.
    pub vendor: u32,
    /// PCI device id, 0 where there is none.
    pub device: u32,
    /// Discrete, integrated, software ...
    pub device_type: DeviceType,
    /// The API it is reached through.
    pub backend: Backend,
    /// The driver's name.
    pub driver: String,
    /// The driver's version, in its own words.
    pub driver_info: String,
    /// The PCI address, which keeps two equal cards apart; empty where the driver does not tell it,
    /// and on DX12.
    pub pci_bus: String,
}

/// The names of PCI vendors that make GPUs, for people who think in names.
const VENDORS: [(u32, &str); 11] = [
    (0x1ae0, "Google"),
    (0x10de, "NVIDIA"),
    (0x1002, "AMD"),
    (0x8086, "Intel"),
    (0x106b, "Apple"),
    (0x5143, "Qualcomm"),
    (0x13b5, "ARM"),
    (0x1010, "Imagination"),
    (0x14e4, "Broadcom"),
    (0x1414, "Microsoft"),
    (0x10005, "Mesa"),
];

impl Identity {
    /// Name and backend, for messages.
    pub(crate) fn named(&self) -> String {
        format!("{} ({})", self.name, self.backend.name())
    }

    /// The vendor's name, where its id is a known one.
    #[must_use]
    pub fn vendor_name(&self) -> Option<&'static str> {
        VENDORS.iter().find(|(id, _)| *id == self.vendor).map(|(_, name)| *name)
    }

    /// Whether it is a program on the CPU.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.device_type == DeviceType::Cpu
    }

    /// Whether it is Mesa's driver on the CPU.
    pub(crate) fn is_llvmpipe(&self) -> bool {
        self.name.starts_with("llvmpipe")
    }

    /// Whether it is Mesa's on the CPU from version 24 on, whose compiler is another than before.
    pub(crate) fn is_later_llvmpipe(&self) -> bool {
        self.is_software() && self.mesa().is_some_and(|version| version >= 24)
    }

    /// Whether it is Mesa's on the CPU from version 26 on, which keeps `fma` as one instruction.
    pub(crate) fn fuses(&self) -> bool {
        self.is_llvmpipe() && self.mesa().is_some_and(|version| version >= 26)
    }

    /// The first number of Mesa's version, if it is Mesa's.
    fn mesa(&self) -> Option<u32> {
        // Vulkan's begins with it. Every operation asks, and a search takes six times as long.
        let info = &self.driver_info;
        let version = info.strip_prefix("Mesa ").or_else(|| info.split("Mesa ").nth(1))?;
        version.split('.').next()?.parse().ok()
    }

    /// After how many trips the driver leaves all loops of an invocation without a word. llvmpipe
    /// does after 65 535 of a whole vector, whose lanes may take turns.
    pub(crate) fn loop_trips_max(&self) -> Option<u32> {
        self.is_llvmpipe().then_some(65_000)
    }
}

named! {
    /// A feature of an adapter that changes what wharf does.
    Feature,
    /// As WebGPU spells those that it has.
    name:
    /// Compute shaders at all; without them an adapter is of no use here.
    Compute "compute-shaders";
    /// `f16` in shaders and in storage buffers.
    ShaderF16 "shader-f16";
    /// `f64` in shaders and in storage buffers.
    ShaderF64 "shader-f64";
    /// `i64` and `u64` in shaders and in storage buffers.
    ShaderInt64 "shader-int64";
    /// Subgroup operations.
    Subgroup "subgroups";
    /// Device-side timing.
    TimestampQuery "timestamp-query";
    /// Storage buffers can be mapped by the host.
    MappablePrimaryBuffers "mappable-primary-buffers";
    /// Products of small matrices by subgroups, of the sizes in [`Caps::cooperative`]. Only on
    /// adapters that were [allowed](crate::Adapter::experimental) to use experimental features.
    CooperativeMatrix "wgpu-cooperative-matrix";
    /// One instruction of the processor loads for all lanes of a vector, and the compiler uses it.
    /// Only Mesa's drivers on the CPU have it, and kernels are written otherwise where they do not.
    Gather "processor-gather";
    /// Like [`Feature::Gather`], and 64 bits for each lane come as fast as 32.
    GatherWide "processor-gather-wide";
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Features(u32);

impl Features {
    /// The set of these.
    ///
    /// ```
    /// # use wharf::caps::{Feature, Features};
    /// let features = Features::of(&[Feature::Compute, Feature::ShaderF16]);
    /// assert!(features.contains(Feature::ShaderF16));
    /// assert_eq!(features.to_string(), "compute-shaders shader-f16");
    /// ```
    #[must_use]
    pub fn of(features: &[Feature]) -> Self {
        features.iter().fold(Self::default(), |set, &f| set.with(f))
    }

    /// This set with one more feature.
    #[must_use]
    pub const fn with(self, feature: Feature) -> Self {
        Self(self.0 | 1 << feature as u32)
    }

    /// This set without one feature.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u32))
    }

    /// Whether it holds this one.
    #[must_use]
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 & 1 << feature as u32 != 0
    }

    /// Those it holds, in the order of [`Feature::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |&f| self.contains(f))
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Feature::name).collect();
        f.pad(&names.join(" "))
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Declares [`Limits`] and [`Limit`] from one table, so that a limit has one name everywhere.
macro_rules! limits {
    ($($variant:ident $field:ident $better:ident $baseline:literal $doc:literal;)*) => {
        /// The limits of an adapter that wharf runs into. Sizes are in bytes.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct Limits { $(#[doc = $doc] pub $field: u64,)* }

        /// Names one of the [`Limits`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Limit { $(#[doc = $doc] $variant,)* }

        impl Limit {
            /// Every limit.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name of the field in [`Limits`].
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($field),)* }
            }

            /// Whether a larger value allows more; alignments are the other way round.
            const fn larger_is_better(self) -> bool {
                match self { $(Self::$variant => limits!(@ $better),)* }
            }
        }

        impl fmt::Display for Limit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl Limits {
            /// What every WebGPU implementation guarantees.
            pub const BASELINE: Self = Self { $($field: $baseline,)* };

            /// The value of one of them.
            #[must_use]
            pub const fn get(&self, limit: Limit) -> u64 {
                match limit { $(Limit::$variant => self.$field,)* }
            }

            const fn get_mut(&mut self, limit: Limit) -> &mut u64 {
                match limit { $(Limit::$variant => &mut self.$field,)* }
            }
        }
    };
    (@ larger) => { true };
    (@ smaller) => { false };
}

limits! {
    BufferBytes buffer_bytes_max larger 268_435_456 "The largest buffer.";
    BindingBytes binding_bytes_max larger 134_217_728
        "The largest part of a buffer that a shader can bind as storage.";
    UniformBytes uniform_bytes_max larger 65_536
        "The largest part of a buffer that a shader can bind as uniform.";
    StorageBuffers storage_buffers_max larger 8 "Storage buffers per shader.";
    StorageAlign storage_align_bytes smaller 256 "Alignment of a storage binding's offset.";
    UniformAlign uniform_align_bytes smaller 256 "Alignment of a uniform binding's offset.";
    Groups groups_max larger 65_535 "Workgroups per dimension of a dispatch.";
    Invocations invocations_max larger 256 "Invocations per workgroup.";
    GroupX group_x_max larger 256 "Workgroup size in x.";
    GroupY group_y_max larger 256 "Workgroup size in y.";
    GroupZ group_z_max larger 64 "Workgroup size in z.";
    GroupStorage group_storage_bytes_max larger 16_384 "Workgroup memory per workgroup.";
    SubgroupMin subgroup_min larger 4 "The smallest subgroup.";
    SubgroupMax subgroup_max smaller 128 "The largest subgroup.";
}

/// Square matrices that a subgroup multiplies as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CooperativeShape {
    /// Rows, columns and what is summed over: 8 or 16.
    pub side: u32,
    /// What the factors are made of: f16 or f32.
    pub factors: DType,
    /// What is summed in: f32.
    pub sums: DType,
}

impl fmt::Display for CooperativeShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{0} x {0} of {1} in {2}", self.side, self.factors, self.sums)
    }
}

/// What an adapter can do: plain data, safe to keep, compare and downgrade.
///
/// ```
/// use wharf::caps::{Caps, Feature, Limit};
///
/// let caps = Caps::webgpu_baseline().with_limit(Limit::BindingBytes, 1 << 20);
/// assert!(!caps.features.contains(Feature::ShaderF16));
/// assert_eq!(caps.limits.binding_bytes_max, 1 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caps {
    /// Who it is.
    pub identity: Identity,
    /// What it can do.
    pub features: Features,
    /// How far it goes.
    pub limits: Limits,
    /// The cooperative matrices that its driver reports, of those that wharf can use. Using them
    /// takes [`Feature::CooperativeMatrix`].
    pub cooperative: Vec<CooperativeShape>,
}

impl Caps {
    /// An adapter with nothing beyond what every WebGPU implementation guarantees.
    #[must_use]
    pub fn webgpu_baseline() -> Self {
        let identity = Identity {
            name: "WebGPU baseline".into(),
            vendor: 0,
            device: 0,
            device_type: DeviceType::Other,
            backend: Backend::Browser,
            driver: String::new(),
            driver_info: String::new(),
            pci_bus: String::new(),
        };
        let (features, limits) = (Features::of(&[Feature::Compute]), Limits::BASELINE);
        Self { identity, features, limits, cooperative: Vec::new() }
    }

    /// Whether it has a feature.
    #[must_use]
    pub const fn has(&self, feature: Feature) -> bool {
        self.features.contains(feature)
    }

    /// Whether it is DX12's by its older compiler, FXC: whatever the card can do, there are no
    /// subgroups then.
    pub(crate) fn is_without_dxc(&self) -> bool {
        self.identity.backend == Backend::Dx12 && !self.has(Feature::Subgroup)
    }

    /// How many invocations a subgroup has; `None` without subgroups or where their width varies.
    pub(crate) fn subgroup_exact(&self) -> Option<u64> {
        let Limits { subgroup_min, subgroup_max, .. } = self.limits;
        (self.has(Feature::Subgroup) && subgroup_min == subgroup_max).then_some(subgroup_min)
    }

    /// A line about cooperative matrices for reports; `None` where the driver has none.
    pub(crate) fn cooperative_line(&self) -> Option<String> {
        let sizes: Vec<String> = self.cooperative.iter().map(ToString::to_string).collect();
        let asked = match self.has(Feature::CooperativeMatrix) {
            true => "for `Device::tune` to time",
            false => "not asked for: needs `Adapter::experimental`",
        };
        (!sizes.is_empty()).then(|| format!("cooperative matrices {}: {asked}", sizes.join(", ")))
    }

    /// These capabilities without one feature.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        self.features = self.features.without(feature);
        if feature == Feature::CooperativeMatrix {
            self.cooperative.clear();
        }
        self
    }

    /// These capabilities with or without permission for experimental features. The cooperative
    /// matrices stay listed either way, so that a report can say what permission would add.
    #[must_use]
    pub(crate) fn with_experimental(mut self, asked: bool) -> Self {
        let rest = self.features.without(Feature::CooperativeMatrix);
        let uses = asked && !self.cooperative.is_empty();
        self.features = if uses { rest.with(Feature::CooperativeMatrix) } else { rest };
        self
    }

    /// These capabilities with a limit of at most `value` (for alignments: at least). A limit is
    /// never improved, because the adapter itself does not change.
    #[must_use]
    pub fn with_limit(mut self, limit: Limit, value: u64) -> Self {
        let slot = self.limits.get_mut(limit);
        *slot = if limit.larger_is_better() { value.min(*slot) } else { value.max(*slot) };
        self
    }

    /// These capabilities with no limit better than the WebGPU baseline.
    #[must_use]
    pub fn with_baseline_limits(self) -> Self {
        let floor =
            |caps: Self, &limit: &Limit| caps.with_limit(limit, Limits::BASELINE.get(limit));
        Limit::ALL.iter().fold(self, floor)
    }

    /// The first thing this asks for that `other` does not have; `None` if this equals `other` or
    /// is a downgrade of it.
    pub(crate) fn exceeds(&self, other: &Self) -> Option<Excess> {
        let feature = self.features.iter().find(|&f| !other.has(f)).map(Excess::Feature);
        feature.or_else(|| {
            let worse = |&&limit: &&Limit| {
                let (ours, theirs) = (self.limits.get(limit), other.limits.get(limit));
                if limit.larger_is_better() { ours > theirs } else { ours < theirs }
            };
            Limit::ALL.iter().find(worse).map(|&limit| {
                let (asked, available) = (self.limits.get(limit), other.limits.get(limit));
                Excess::Limit { limit, asked, available }
            })
        })
    }
}

/// Something asked for beyond what an adapter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    Feature(Feature),
    Limit { limit: Limit, asked: u64, available: u64 },
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature(feature) => f.write_str(feature.name()),
            Self::Limit { limit, asked, available } => {
                write!(f, "{} {asked} (it has {available})", limit.name())
            }
        }
    }
}

impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = &self.identity;
        writeln!(f, "{} ({}, {})", id.name, id.backend.name(), id.device_type.name())?;
        // A driver may leave any of them empty; `-` shows it.
        let words = |words: String| if words.trim().is_empty() { "-".into() } else { words };
        let driver = words(format!("{} {}", id.driver, id.driver_info));
        writeln!(f, "  driver    {}", driver.trim())?;
        writeln!(f, "  memory    {}", id.device_type.memory().name())?;
        write!(f, "  features  {}", words(self.features.to_string()))?;
        if let Some(line) = self.cooperative_line() {
            write!(f, "\n  {line}")?;
        }
        for &limit in Limit::ALL {
            write!(f, "\n  {:<24}{:>14}", limit.name(), self.limits.get(limit))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_downgrade_never_improves_anything() {
        let base = Caps::webgpu_baseline();
        assert_eq!(base.clone().with_limit(Limit::BindingBytes, u64::MAX), base, "not raised");
        assert_eq!(base.clone().with_limit(Limit::StorageAlign, 1), base, "alignment not lowered");
        let small = base.clone().with_limit(Limit::BindingBytes, 1000);
        assert_eq!(small.exceeds(&base), None, "a downgrade exceeds nothing");
        let excess = base.exceeds(&small).map(|e| e.to_string());
        assert_eq!(excess.as_deref(), Some("binding_bytes_max 134217728 (it has 1000)"));
        let f16 = Caps { features: base.features.with(Feature::ShaderF16), ..base.clone() };
        assert_eq!(f16.exceeds(&base), Some(Excess::Feature(Feature::ShaderF16)));
        assert_eq!(f16.without(Feature::ShaderF16), base, "without takes it away again");
    }
}
