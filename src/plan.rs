//! The negotiator: what each dtype becomes on an adapter, decided before a byte moves.
//!
//! [`negotiate`] is a pure function of [`Caps`] and [`Policy`]. A device can only be opened with
//! its [`Plan`], so everything on a device is planned, and nothing is decided twice.

use core::fmt;
use core::ops::Deref;

use crate::caps::{Caps, DXC, Feature, Limit};
use crate::dtype::DType;
use crate::error::{Cause, Error, ErrorKind};
use crate::host::cause::CarriageCause;
use crate::host::convert::{NARROWER, convertible};

/// What the caller allows to happen to numbers on the way up, and to those that are made on the
/// device as a dtype that it lacks.
///
/// ```
/// use wharf::caps::Caps;
/// use wharf::plan::{How, negotiate};
/// use wharf::{DType, Policy};
///
/// let to = DType::F32;
/// let f64_under = |policy| negotiate(&Caps::webgpu_baseline(), &policy).carriage(DType::F64).how;
/// assert_eq!(f64_under(Policy::exact()), How::Rejected);
/// let rounded = f64_under(Policy::exact().allow(DType::F64, to));
/// assert_eq!(rounded, How::Converted { to, lossless: false });
/// assert_eq!(f64_under(Policy::lossless()), How::Converted { to, lossless: true });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Policy {
    allowed: Vec<(DType, DType)>,
    lossless: bool,
    overflow_is_error: bool,
}

impl Policy {
    /// Bit-exact storage or refusal: the default.
    #[must_use]
    pub fn exact() -> Self {
        Self::default()
    }

    /// Permits every conversion that preserves values: a dtype that the adapter lacks is narrowed
    /// if *each* value survives, and refused with the index of the first that does not.
    #[must_use]
    pub fn lossless() -> Self {
        Self { lossless: true, ..Self::default() }
    }

    /// Permits one conversion, where the adapter lacks `from`. Of several for one dtype the first
    /// that an upload can make counts. Where none is, such as of a float to an integer, it is as if
    /// nothing were allowed, and the plan says so.
    ///
    /// A conversion to an integer dtype checks that every value is in range. The receipt of one to
    /// a floating dtype counts what rounding did.
    ///
    /// ```
    /// use wharf::caps::Caps;
    /// use wharf::plan::{How, negotiate};
    /// use wharf::{DType, Policy};
    ///
    /// let policy = Policy::exact().allow(DType::F64, DType::F32);
    /// let plan = negotiate(&Caps::webgpu_baseline(), &policy);
    /// let to = DType::F32;
    /// assert_eq!(plan.carriage(DType::F64).how, How::Converted { to, lossless: false });
    /// assert_eq!(plan.carriage(DType::I64).how, How::Rejected); // nobody allowed anything
    /// ```
    #[must_use]
    pub fn allow(mut self, from: DType, to: DType) -> Self {
        self.allowed.push((from, to));
        self
    }

    /// Makes a finite value that would become infinite an error instead of a count.
    #[must_use]
    pub fn overflow_is_error(mut self) -> Self {
        self.overflow_is_error = true;
        self
    }

    /// Whether a finite value that would become infinite is an error.
    pub(crate) const fn refuses_overflow(&self) -> bool {
        self.overflow_is_error
    }
}

/// How a dtype is stored on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum How {
    /// As a type of the shading language.
    Native,
    /// Several to a 32-bit word, unpacked by integer bits: the same bytes, so bit-exact.
    Packed,
    /// As another dtype, under the policy.
    Converted {
        /// The dtype it becomes.
        to: DType,
        /// Whether a value that would change is refused rather than counted.
        lossless: bool,
    },
    /// Not at all.
    Rejected,
}

impl How {
    /// One lower-case word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Packed => "packed",
            Self::Converted { .. } => "converted",
            Self::Rejected => "rejected",
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why a dtype is carried as it is. Its `Display` is the last column of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The shading language and the adapter have it.
    Supported,
    /// The shading language has no type of this width.
    NoType {
        /// Bits of the missing type.
        bits: usize,
    },
    /// The adapter lacks a feature.
    Lacks {
        /// The feature.
        feature: Feature,
        /// What the policy says about it.
        policy: Permission,
    },
    /// The adapter cannot run wharf's kernels at all.
    Limit {
        /// The limit.
        limit: Limit,
        /// What the adapter has.
        available: u64,
        /// What wharf needs.
        needed: u64,
    },
}

/// What the policy says about a dtype that the adapter lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Permission {
    /// Storage needs no permission: the bytes are the same.
    NotNeeded,
    /// The conversion is allowed by name.
    Allows(DType, DType),
    /// The policy is lossless: each value is checked to survive.
    Preserves(DType, DType),
    /// A conversion is allowed that does not exist.
    Impossible(DType, DType),
    /// Nothing is allowed; this is what could be.
    Could(DType, DType),
    /// Nothing is allowed, and nothing could be.
    Never,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Supported => Ok(()),
            Self::NoType { bits } => write!(f, "no {bits}-bit type of this kind in WGSL"),
            Self::Limit { limit, available, needed } => {
                write!(f, "{} is {available}, wharf needs {needed}", limit.name())
            }
            Self::Lacks { feature, policy } => {
                write!(f, "adapter lacks {}{policy}", feature.name())
            }
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNeeded | Self::Never => Ok(()),
            Self::Allows(from, to) => write!(f, "; policy allows {from} -> {to}"),
            Self::Preserves(from, to) => {
                write!(f, "; {from} -> {to} where each value survives")
            }
            Self::Impossible(from, to) if convertible(*from, *to) => {
                write!(f, "; {to} cannot be stored either")
            }
            Self::Impossible(from, to) => {
                write!(f, "; {from} -> {to} is no conversion of an upload")
            }
            Self::Could(from, to) if to.is_integer() => {
                write!(f, "; allow {from} -> {to} with a range check")
            }
            Self::Could(from, to) => write!(f, "; allow {from} -> {to} to round"),
        }
    }
}

/// A dtype as a device stores it. A tensor is made with one, and only a [`Plan`] makes one of a
/// dtype that was asked for: nothing is made of a dtype that the device lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored(DType);

impl Stored {
    // What every device stores.
    pub(crate) const F32: Self = Self(DType::F32);
    pub(crate) const I32: Self = Self(DType::I32);
    pub(crate) const U32: Self = Self(DType::U32);
    pub(crate) const BOOL: Self = Self(DType::Bool);

    /// The dtype itself.
    pub(crate) const fn dtype(self) -> DType {
        self.0
    }
}

impl Deref for Stored {
    type Target = DType;

    fn deref(&self) -> &DType {
        &self.0
    }
}

impl PartialEq<DType> for Stored {
    fn eq(&self, other: &DType) -> bool {
        self.0 == *other
    }
}

/// What becomes of one dtype.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Carriage {
    /// The dtype on the host.
    pub dtype: DType,
    /// How it is stored.
    pub how: How,
    /// The dtype it is stored as; `None` where it is rejected.
    pub stored: Option<DType>,
    /// Whether shaders see it packed into 32-bit words.
    pub packed: bool,
    /// The dtype that operations on it compute in; `None` where it is rejected, or stored and not
    /// [computed with](DType::computes).
    pub computed: Option<DType>,
    /// Why.
    pub because: Reason,
}

impl Carriage {
    /// What a shader binds: `f32`, `u32 (x2)`, `-`.
    #[must_use]
    pub fn stored_as(&self) -> String {
        match self.stored {
            None => "-".into(),
            Some(dtype) if self.packed => format!("u32 (x{})", 4 / dtype.width()),
            Some(dtype) => dtype.name().into(),
        }
    }

    /// What operations compute in, or `-`.
    #[must_use]
    pub fn computed_in(&self) -> &'static str {
        self.computed.map_or("-", DType::name)
    }
}

/// The dtypes that need a feature to be a type of the shading language. Those of 32 bits need none,
/// and those that are in neither list have no type there at all.
const NEEDS: [(DType, Feature); 4] = [
    (DType::F16, Feature::ShaderF16),
    (DType::F64, Feature::ShaderF64),
    (DType::I64, Feature::ShaderInt64),
    (DType::U64, Feature::ShaderInt64),
];

/// What operations compute in: f16 and bf16 always in f32, so that an answer does not depend on the
/// adapter.
const fn computed_in(stored: DType) -> DType {
    match stored {
        DType::F16 | DType::Bf16 => DType::F32,
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        other => other,
    }
}

/// What wharf's kernels need of any adapter.
const NEEDED: [(Limit, u64); 6] = [
    (Limit::StorageBuffers, 5),
    (Limit::Invocations, 256),
    (Limit::GroupX, 256),
    (Limit::BindingBytes, 1 << 16),
    (Limit::BufferBytes, 1 << 18), // parameters of a batch
    (Limit::UniformBytes, 1 << 12),
];

/// What becomes of every dtype on one adapter under one policy, and the adapter it is for.
/// Printing it gives a line for each dtype.
///
/// ```
/// use wharf::caps::Caps;
/// use wharf::plan::negotiate;
/// use wharf::{DType, Policy};
///
/// let plan = negotiate(&Caps::webgpu_baseline(), &Policy::exact());
/// let f16 = plan.carriage(DType::F16);
/// assert_eq!(f16.stored_as(), "u32 (x2)"); // two of them in a word
/// assert_eq!(f16.computed_in(), "f32");
/// assert_eq!(plan.to_string().lines().count(), 1 + DType::ALL.len());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    caps: Caps,
    policy: Policy,
    rows: [Carriage; DType::ALL.len()],
}

/// Decides for every dtype how it is carried: a pure function.
///
/// ```
/// use wharf::caps::Caps;
/// use wharf::plan::{How, negotiate};
/// use wharf::{DType, Policy};
///
/// let plan = negotiate(&Caps::webgpu_baseline(), &Policy::exact());
/// assert_eq!(plan.carriage(DType::F16).how, How::Packed);
/// assert_eq!(plan.carriage(DType::F64).how, How::Rejected);
/// ```
#[must_use]
pub fn negotiate(caps: &Caps, policy: &Policy) -> Plan {
    let rows = std::array::from_fn(|i| carriage(caps, policy, DType::ALL[i]));
    Plan { caps: caps.clone(), policy: policy.clone(), rows }
}

/// What keeps an adapter from running any kernel.
pub(crate) fn unfit(caps: &Caps) -> Option<Reason> {
    if !caps.has(Feature::Compute) {
        return Some(Reason::Lacks { feature: Feature::Compute, policy: Permission::Never });
    }
    let below = |&&(limit, needed): &&(Limit, u64)| caps.limits.get(limit) < needed;
    NEEDED.iter().find(below).map(|&(limit, needed)| {
        let available = caps.limits.get(limit);
        Reason::Limit { limit, available, needed }
    })
}

fn carriage(caps: &Caps, policy: &Policy, dtype: DType) -> Carriage {
    if let Some(because) = unfit(caps) {
        return row(dtype, How::Rejected, None, false, because);
    }
    let needs = NEEDS.iter().find(|(d, _)| *d == dtype).map(|(_, feature)| *feature);
    match needs {
        None if dtype.width() == 4 => {
            row(dtype, How::Native, Some(dtype), false, Reason::Supported)
        }
        None => {
            let bits = dtype.width() * 8;
            row(dtype, How::Packed, Some(dtype), true, Reason::NoType { bits })
        }
        Some(feature) if caps.has(feature) => {
            row(dtype, How::Native, Some(dtype), false, Reason::Supported)
        }
        Some(feature) if dtype.width() < 4 => {
            let because = Reason::Lacks { feature, policy: Permission::NotNeeded };
            row(dtype, How::Packed, Some(dtype), true, because)
        }
        Some(feature) => converted(caps, policy, dtype, feature),
    }
}

/// A dtype that the adapter cannot store: narrowed where the policy allows, otherwise rejected.
fn converted(caps: &Caps, policy: &Policy, dtype: DType, feature: Feature) -> Carriage {
    let narrower = NARROWER.iter().find(|(from, _)| *from == dtype).map(|(_, to)| *to);
    let storable = |to: DType| carriage(caps, &Policy::exact(), to);
    let named = policy.allowed.iter().filter(|(from, _)| *from == dtype).map(|(_, to)| *to);
    let possible = |&to: &DType| convertible(dtype, to) && storable(to).stored.is_some();
    let (to, verdict, lossless) = if let Some(to) = named.clone().find(possible) {
        (Some(to), Permission::Allows(dtype, to), false)
    } else if let Some(to) = narrower.filter(|_| policy.lossless) {
        (Some(to), Permission::Preserves(dtype, to), true)
    } else if let Some(to) = named.clone().next() {
        (None, Permission::Impossible(dtype, to), false)
    } else {
        (None, narrower.map_or(Permission::Never, |to| Permission::Could(dtype, to)), false)
    };
    let because = Reason::Lacks { feature, policy: verdict };
    match to {
        None => row(dtype, How::Rejected, None, false, because),
        Some(to) => {
            let how = How::Converted { to, lossless };
            row(dtype, how, Some(to), storable(to).packed, because)
        }
    }
}

fn row(dtype: DType, how: How, stored: Option<DType>, packed: bool, because: Reason) -> Carriage {
    let computed = stored.filter(|stored| stored.computes()).map(computed_in);
    Carriage { dtype, how, stored, packed, computed, because }
}

impl Plan {
    /// What becomes of a dtype.
    #[must_use]
    pub const fn carriage(&self, dtype: DType) -> &Carriage {
        &self.rows[dtype as usize]
    }

    /// What becomes of each, in the order of [`DType::ALL`].
    #[must_use]
    pub const fn carriages(&self) -> &[Carriage] {
        &self.rows
    }

    /// The capabilities it was negotiated for, possibly downgraded.
    #[must_use]
    pub const fn caps(&self) -> &Caps {
        &self.caps
    }

    /// What the caller allowed.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The carriage of a dtype and what it is stored as; an error that says why if it is rejected.
    pub(crate) fn accept(&self, dtype: DType) -> Result<(&Carriage, Stored), Error> {
        let carriage = self.carriage(dtype);
        carriage.stored.map(|stored| (carriage, Stored(stored))).ok_or_else(|| {
            let because = carriage.because.clone();
            let (adapter, without_dxc) =
                (self.caps.identity.name.clone(), self.caps.is_without_dxc());
            NotCarried { dtype, because, adapter, without_dxc }.into()
        })
    }

    /// How values of a dtype would get there: as the plan says, or, as by
    /// [`Device::upload_as`](crate::Device::upload_as), as another dtype that is named. An error
    /// says why they would not.
    ///
    /// ```
    /// use wharf::caps::Caps;
    /// use wharf::plan::{How, negotiate};
    /// use wharf::{DType, Policy};
    ///
    /// let plan = negotiate(&Caps::webgpu_baseline(), &Policy::exact());
    /// let to = DType::F16;
    /// assert_eq!(plan.way(DType::F32, Some(to))?, How::Converted { to, lossless: false });
    /// assert!(plan.way(DType::F64, None).is_err());
    /// # Ok::<(), wharf::Error>(())
    /// ```
    pub fn way(&self, from: DType, to: Option<DType>) -> Result<How, Error> {
        self.route(from, to).map(|(how, _)| how)
    }

    /// How values of a dtype get there and what they are stored as: as the plan says, or as another
    /// dtype that was named, which is the permission to convert.
    pub(crate) fn route(&self, from: DType, to: Option<DType>) -> Result<(How, Stored), Error> {
        let (carriage, stored) = self.accept(to.unwrap_or(from))?;
        let how = match to {
            // One step straight to what the plan stores, which may convert once more: as the plan
            // says, if only what survives that.
            Some(to) if to != from => {
                let lossless = matches!(carriage.how, How::Converted { lossless: true, .. });
                How::Converted { to: *stored, lossless }
            }
            _ => carriage.how,
        };
        if *stored != from && !convertible(from, *stored) {
            return Err(CarriageCause::NoConversion { from, to: *stored }.into());
        }
        Ok((how, stored))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![["dtype", "how", "stored", "computed", "because"].map(String::from)];
        rows.extend(self.rows.iter().map(|c| {
            let [dtype, how, computed] =
                [c.dtype.name(), c.how.name(), c.computed_in()].map(Into::into);
            [dtype, how, c.stored_as(), computed, c.because.to_string()]
        }));
        for (i, [dtype, how, stored, computed, because]) in rows.iter().enumerate() {
            let line = format!("{dtype:<7}{how:<11}{stored:<10}{computed:<10}{because}");
            write!(f, "{}{}", if i == 0 { "" } else { "\n" }, line.trim_end())?;
        }
        self.caps.cooperative_line().map_or(Ok(()), |line| write!(f, "\n{line}"))
    }
}

/// A dtype that the plan does not carry.
#[derive(Debug)]
struct NotCarried {
    dtype: DType,
    because: Reason,
    adapter: String,
    without_dxc: bool,
}

impl NotCarried {
    /// Whether the card may have it, and its compiler has not.
    const fn is_for_want_of_dxc(&self) -> bool {
        use Feature::{ShaderF16, ShaderInt64};
        let because = &self.because;
        self.without_dxc
            && matches!(because, Reason::Lacks { feature: ShaderF16 | ShaderInt64, .. })
    }
}

impl fmt::Display for NotCarried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dtype, because, adapter, .. } = self;
        match because {
            Reason::Lacks { feature, .. } => {
                write!(f, "{dtype} cannot be stored: {adapter} lacks {}", feature.name())
            }
            because => write!(f, "{dtype} cannot be stored on {adapter}: {because}"),
        }
    }
}

impl Cause for NotCarried {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Rejected
    }

    fn help(&self) -> Option<String> {
        let allow = |from: &DType, to: &DType| {
            format!("`Policy::exact().allow(DType::{from:?}, DType::{to:?})`")
        };
        let Reason::Lacks { policy, .. } = &self.because else {
            return Some("choose another adapter: `Adapter::list()` shows them".into());
        };
        let dxc = match self.is_for_want_of_dxc() {
            true => format!(
                "DX12 has it by DXC only: lay {DXC} beside the program, or build with wgpu's \
                 feature `static-dxc`; or "
            ),
            false => String::new(),
        };
        let other = match policy {
            Permission::Could(from, to) if to.is_integer() => {
                format!("narrow with a range check: {}", allow(from, to))
            }
            // What Rust makes of a literal.
            Permission::Could(DType::F64, to) => format!(
                "write numbers as f32: `1.0f32`; round and get a receipt: {}; or keep only exact \
                 values: `Policy::lossless()`",
                allow(&DType::F64, to)
            ),
            Permission::Could(from, to) => format!(
                "round and get a receipt: {}; or keep only exact values: `Policy::lossless()`",
                allow(from, to)
            ),
            Permission::Impossible(..) => "allow another dtype, or convert on the host".into(),
            _ => "choose another adapter, or convert on the host".into(),
        };
        Some(format!("{dxc}{other}"))
    }
}
