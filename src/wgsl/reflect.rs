//! What naga says about an assembled kernel: whether it is valid with the declared capabilities and
//! no others, and its bindings with their access. Pipelines take both from here; a test compares
//! with naga what a kernel's room declares of its parameters.

use core::fmt;

use naga::valid::{Capabilities, SubgroupOperationSet, ValidationFlags, Validator};

use super::assembled::Assembled;
use super::needs::Needs;
use super::scan::Spot;
use super::verdict::{placed, verdict};

/// What a binding is to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A storage buffer it reads.
    Read,
    /// A storage buffer it reads and writes.
    ReadWrite,
    /// The parameters.
    Uniform,
}

/// One binding of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// `@group`.
    pub group: u32,
    /// `@binding`.
    pub binding: u32,
    /// What it is to the kernel.
    pub access: Access,
}

/// A kernel that naga rejects: an error of wharf, or of a user's own kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The kernel's name.
    pub kernel: String,
    /// `shaders/fill.wgsl:12`, where known.
    pub origin: Option<String>,
    /// What naga says.
    pub message: String,
    /// The first byte that it means, where known.
    pub at: Option<usize>,
    /// The line that it means, marked, where known.
    pub picture: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}", self.kernel)?;
        if let Some(origin) = &self.origin {
            write!(f, " at {origin}")?;
        }
        write!(f, ": {}{}", self.message, self.picture)
    }
}

impl core::error::Error for Flaw {}

/// Parses, validates with the declared capabilities only, and reflects: the bindings by group, then
/// number.
///
/// # Errors
/// What naga found, at the line of the file it came from.
pub fn check(kernel: &Assembled) -> Result<(naga::Module, Vec<Binding>), Flaw> {
    let module = parse(kernel)?;
    validate(kernel, &module, kernel.needs)?;
    let bindings = bindings(&module);
    Ok((module, bindings))
}

/// The parsed module.
///
/// # Errors
/// What naga found, at the line of the file it came from.
pub fn parse(kernel: &Assembled) -> Result<naga::Module, Flaw> {
    naga::front::wgsl::parse_str(&kernel.wgsl).map_err(|error| {
        let at = error.location(&kernel.wgsl).and_then(placed);
        rejected(kernel, at, error.message().to_owned())
    })
}

/// Validates a module with these capabilities and no others.
///
/// # Errors
/// What naga found, at the line of the file it came from.
pub fn validate(
    kernel: &Assembled,
    module: &naga::Module,
    needs: Needs,
) -> Result<naga::valid::ModuleInfo, Flaw> {
    valid(module, needs).map_err(|error| {
        let (at, message) = verdict(&kernel.wgsl, module, &error);
        rejected(kernel, at, message)
    })
}

/// Validates any module with these capabilities and no others.
///
/// # Errors
/// What naga found.
#[allow(clippy::result_large_err, reason = "naga's own error, of a module in a test")]
pub fn valid(
    module: &naga::Module,
    needs: Needs,
) -> Result<naga::valid::ModuleInfo, naga::WithSpan<naga::valid::ValidationError>> {
    let mut validator = Validator::new(ValidationFlags::all(), capabilities(needs));
    if needs.contains(Needs::SUBGROUPS) {
        validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
        validator.subgroup_operations(SubgroupOperationSet::all());
    }
    validator.validate(module)
}

fn rejected(kernel: &Assembled, at: Option<usize>, message: String) -> Flaw {
    let spot = at.map(|at| Spot::of(&kernel.wgsl, at));
    let origin = spot.as_ref().map(|spot| kernel.origin(spot.line as u32));
    let picture = spot.map(|spot| spot.picture()).unwrap_or_default();
    Flaw { kernel: kernel.name.to_owned(), origin, message, at, picture }
}

/// naga's name for each need.
fn capabilities(needs: Needs) -> Capabilities {
    let table = [
        (Needs::F16, Capabilities::SHADER_FLOAT16 | Capabilities::SHADER_FLOAT16_IN_FLOAT32),
        (Needs::F64, Capabilities::FLOAT64),
        (Needs::INT64, Capabilities::SHADER_INT64),
        (Needs::SUBGROUPS, Capabilities::SUBGROUP),
        (Needs::COOPERATIVE, Capabilities::COOPERATIVE_MATRIX),
    ];
    let held = table.into_iter().filter(|(need, _)| needs.contains(*need));
    held.fold(Capabilities::empty(), |all, (_, capability)| all | capability)
}

fn bindings(module: &naga::Module) -> Vec<Binding> {
    let mut bindings = Vec::new();
    for (_, global) in module.global_variables.iter() {
        let access = match global.space {
            naga::AddressSpace::Uniform => Access::Uniform,
            naga::AddressSpace::Storage { access }
                if access.contains(naga::StorageAccess::STORE) =>
            {
                Access::ReadWrite
            }
            naga::AddressSpace::Storage { .. } => Access::Read,
            _ => continue,
        };
        if let Some(at) = &global.binding {
            bindings.push(Binding { group: at.group, binding: at.binding, access });
        }
    }
    bindings.sort_by_key(|b| (b.group, b.binding));
    bindings
}
