//! Kernels of the user's own, on paper: what naga says of a text, and the text as it is run, with
//! overrides as constants and bindings where wharf binds them.
//!
//! ```text
//! override SIZE: u32 = 64;                       const    SIZE: u32 = 64;
//! @group(0) @binding(7) var<uniform> p: P;   ->  @group(1) @binding(0) var<uniform> p: P;
//! @group(1) @binding(3) var<storage> x: ...      @group(0) @binding(0) var<storage> x: ...
//! ```
//!
//! One way for native and browsers: those read the text, and pipelines are found by it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use naga::valid::{FunctionInfo, GlobalUse};
use naga::{AddressSpace, ArraySize, Handle, Module, TypeInner};

use super::assembled::Assembled;
use super::needs::Needs;
use super::params::BYTES_MAX;
use super::reflect::valid;
use super::scan::{Spot, without_comments};
use super::verdict::{placed, verdict};
use crate::dtype::DType;
use crate::error::{Error, Result, mistake};
use crate::op::Kind;
use additions::Additions;
use astray::astray;
use bounded::bounded;
use cause::OwnCause;
use endless::endless;
use halved::halved;
use metal::wide_division;
use normal::{Setting, normal};
use portable::{LENGTHS, TOLD, WRITTEN, adapted, arrays};

pub(crate) use portable::Stowage;

mod additions;
mod astray;
mod bounded;
pub(crate) mod cause;
mod endless;
mod halved;
mod metal;
mod normal;
mod portable;

/// A kernel as its user wrote it.
#[derive(Debug)]
pub(crate) struct OwnText {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// What a text is held to beyond what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rigour {
    /// How often an invocation goes through its loops at most.
    pub(crate) trips: Option<u32>,
    /// Whether places past the end of an array are others of it.
    pub(crate) astray: bool,
}

/// A storage binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    /// Its name in WGSL.
    pub(crate) name: String,
    /// What a tensor must be stored as.
    pub(crate) dtype: DType,
    /// Bytes from one element of the array to the next.
    pub(crate) stride: u32,
    /// How many elements the array has, where its type says so.
    pub(crate) count: Option<u32>,
    /// Whether the kernel may write it.
    pub(crate) writes: bool,
    /// Whether the kernel reads it, or adds to it.
    pub(crate) reads: bool,
    /// Its place among the arrays of `V`, if it is one of those.
    pub(crate) portable: Option<usize>,
}

/// A constant that can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tunable {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    pub(crate) is_missing: bool,
}

/// What a kernel is, once its overrides are constants.
#[derive(Debug)]
pub(crate) struct Reflection {
    /// What is run.
    pub(crate) kernel: Assembled,
    /// Its storage bindings, in order.
    pub(crate) ports: Vec<Port>,
    /// The uniform's name and bytes.
    pub(crate) uniform: Option<(String, u32)>,
    /// Where the lengths of the arrays of `V` follow it.
    pub(crate) lengths: Option<u32>,
    pub(crate) workgroup: [u32; 3],
    pub(crate) workgroup_bytes: u32,
    pub(crate) tunables: Vec<Tunable>,
    /// Where single integers of 64 bits are divided, which Metal's compiler refuses.
    pub(crate) wide_division: Option<Spot>,
    /// What ends its loops, where something does.
    pub(crate) bound: Option<Arc<LoopBound>>,
}

/// How often an invocation goes through its loops at most, and the text in which they stand.
#[derive(Debug)]
pub(crate) struct LoopBound {
    pub(crate) most: u32,
    text: String,
}

impl LoopBound {
    /// Where a loop stands.
    pub(crate) fn spot(&self, at: u32) -> Spot {
        Spot::of(&self.text, at as usize)
    }
}

impl OwnText {
    /// Parses, validates and reflects it, with these overrides set: name, and value as WGSL; its
    /// arrays of `V` stored like this, and held to that.
    pub(crate) fn reflect(
        &self,
        values: &[(String, String)],
        stowage: &Stowage,
        rigour: Rigour,
    ) -> Result<Reflection> {
        let text = untold(adapted(&self.name, &self.text, stowage)?);
        // As it was written first, so that places are those of the file.
        let (module, _) = self.read(&text)?;
        let tunables = self.tunables(&module, values)?;
        let attempt = |number: &str| {
            let settings = tunables.iter().map(|tunable| setting(tunable, values, number));
            let normal = normal(&text, &settings.collect::<Vec<_>>());
            self.read(&normal).map(|(module, info)| (normal, module, info))
        };
        let others = || PLACEHOLDERS[1..].iter().find_map(|number| attempt(number).ok());
        let (normal, module, info) =
            attempt(PLACEHOLDERS[0]).or_else(|error| others().ok_or(error))?;
        let entry = self.entry(&module)?;
        self.check_loops(&normal, &module)?;
        let point = &module.entry_points[entry];
        let mut found = Reflection {
            kernel: self.assembled(&module, &point.name, normal.clone()),
            ports: Vec::new(),
            uniform: None,
            lengths: None,
            workgroup: point.workgroup_size,
            workgroup_bytes: 0,
            tunables,
            wide_division: wide_division(&module, &info).map(|at| Spot::of(&normal, at)),
            bound: None,
        };
        self.bind(&mut found, (&module, info.get_entry_point(entry)), &normal, stowage)?;
        let plain = without_comments(&normal);
        let mut added = Additions::default();
        if rigour.astray {
            added = astray(&plain, &module, &info);
        }
        if let Some(most) = rigour.trips
            && let Some(counted) = bounded(&plain, &module, most, found.ports.len())
        {
            added = added.and(counted);
            found.bound = Some(Arc::new(LoopBound { most, text: normal.clone() }));
        }
        let mut held = added.applied(&normal);
        if !stowage.halved.is_empty() {
            let (module, _) = self.read(&held)?;
            held = halved(&without_comments(&held), &module, &stowage.halved).applied(&held);
        }
        if held != normal {
            let (module, _) = self.read(&held)?;
            found.kernel = self.assembled(&module, found.kernel.entry, held);
        }
        Ok(found)
    }

    /// What it binds, each of which is judged.
    fn bind(
        &self,
        found: &mut Reflection,
        (module, used): (&Module, &FunctionInfo),
        normal: &str,
        stowage: &Stowage,
    ) -> Result<()> {
        let portable = arrays(&without_comments(&self.text));
        let mut globals: Vec<_> = module.global_variables.iter().collect();
        globals.sort_by_key(|(_, global)| global.binding.as_ref().map(|at| at.binding));
        for (handle, global) in globals {
            let bytes = module.types[global.ty].inner.size(module.to_ctx());
            let name = global.name.clone().unwrap_or_default();
            let at = || {
                let span = module.global_variables.get_span(handle).to_range();
                Spot::of(normal, span.map_or(0, |span| span.start))
            };
            let wrong = |why: String| {
                let (name, binding) = (self.name.clone(), name.clone());
                Error::from(OwnCause::Binding { name, spot: at(), binding, why })
            };
            match global.space {
                AddressSpace::Storage { access } => {
                    let mut port = port(module, global.ty, name.clone()).map_err(wrong)?;
                    port.writes = access.contains(naga::StorageAccess::STORE);
                    let reading = GlobalUse::READ | GlobalUse::ATOMIC;
                    port.reads = used[handle].intersects(reading);
                    port.portable = portable.iter().position(|array| array.name == port.name);
                    if let Some(array) = port.portable {
                        port.dtype = stowage.dtype(array);
                    }
                    self.check_place(global.binding, (0, found.ports.len() as u32))?;
                    found.ports.push(port);
                }
                AddressSpace::Uniform if found.uniform.is_some() => {
                    return Err(wrong("it is a second uniform, one is allowed".into()));
                }
                AddressSpace::Uniform if bytes as usize > BYTES_MAX => {
                    return Err(wrong(format!("it is {bytes} bytes, {BYTES_MAX} fit")));
                }
                AddressSpace::Uniform => {
                    self.check_place(global.binding, (1, 0))?;
                    let settled = settled(module, global.ty);
                    found.lengths = settled.map(|(_, lengths)| lengths);
                    let bytes = settled.map_or(bytes, |(written, _)| written);
                    found.uniform = (name != TOLD).then_some((name, bytes));
                }
                AddressSpace::WorkGroup if !used[handle].is_empty() => {
                    found.workgroup_bytes += bytes.next_multiple_of(16);
                }
                AddressSpace::Private | AddressSpace::WorkGroup | AddressSpace::Function => {}
                _ => return Err(wrong("it is neither a storage array nor a uniform".into())),
            }
        }
        if found.ports.iter().all(|port| !port.writes) {
            return Err(OwnCause::Silent { name: self.name.clone() }.into());
        }
        Ok(())
    }

    /// The first way to store its arrays of `V` for which it is valid; what is wrong with f32, if
    /// there is none.
    pub(crate) fn first(&self, values: &[(String, String)]) -> Result<Reflection> {
        let stored = |kind: Kind| Stowage { dtypes: vec![kind.dtype()], ..Stowage::default() };
        let first = self.reflect(values, &Stowage::default(), Rigour::default());
        match first {
            Err(error) if !arrays(&without_comments(&self.text)).is_empty() => {
                let mut others = Kind::ALL.iter().copied();
                let valid = others
                    .find_map(|kind| self.reflect(values, &stored(kind), Rigour::default()).ok());
                valid.ok_or(error)
            }
            first => first,
        }
    }

    /// Parses and validates a text, whatever it needs.
    fn read(&self, text: &str) -> Result<(Module, naga::valid::ModuleInfo)> {
        let wrong = |at: Option<usize>, why| {
            let name = self.name.clone();
            Error::from(match at.map(|at| Spot::of(text, at)) {
                Some(spot) => OwnCause::Wrong { name, spot, why },
                None => OwnCause::Somewhere { name, why },
            })
        };
        let module = naga::front::wgsl::parse_str(text).map_err(|error| {
            wrong(error.location(text).and_then(placed), error.message().to_owned())
        })?;
        let info = valid(&module, Needs::ALL).map_err(|error| {
            let (at, why) = verdict(text, &module, &error);
            wrong(at, why)
        })?;
        Ok((module, info))
    }

    /// The number of the only compute entry point.
    fn entry(&self, module: &Module) -> Result<usize> {
        let all = module.entry_points.iter().enumerate();
        let all: Vec<_> = all.filter(|(_, e)| e.stage == naga::ShaderStage::Compute).collect();
        let name = self.name.clone();
        match all.as_slice() {
            [(only, _)] => Ok(*only),
            [] => Err(OwnCause::NoEntry { name }.into()),
            several => {
                let names: Vec<_> = several.iter().map(|(_, e)| e.name.as_str()).collect();
                Err(OwnCause::Entries { name, entries: names.join(", ") }.into())
            }
        }
    }

    fn check_loops(&self, text: &str, module: &Module) -> Result<()> {
        let functions = module.functions.iter().map(|(_, function)| function);
        let all = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
        match all.into_iter().find_map(endless) {
            Some(at) => {
                let (name, spot) = (self.name.clone(), Spot::of(text, at));
                Err(OwnCause::Endless { name, spot }.into())
            }
            None => Ok(()),
        }
    }

    /// What can be set, of which `values` are.
    fn tunables(&self, module: &Module, values: &[(String, String)]) -> Result<Vec<Tunable>> {
        let mut tunables = Vec::new();
        for (_, constant) in module.overrides.iter() {
            let name = constant.name.clone().unwrap_or_default();
            let TypeInner::Scalar(scalar) = module.types[constant.ty].inner else { continue };
            let Some(dtype) = element(scalar) else { continue };
            let is_missing = constant.init.is_none() && values.iter().all(|(n, _)| *n != name);
            tunables.push(Tunable { name, dtype, is_missing });
        }
        let known = |name: &String| tunables.iter().any(|tunable| tunable.name == *name);
        if let Some((unknown, _)) = values.iter().find(|(name, _)| !known(name)) {
            let names: Vec<_> = tunables.iter().map(|tunable| tunable.name.as_str()).collect();
            let (name, given) = (self.name.clone(), unknown.clone());
            return Err(OwnCause::Override { name, given, has: names.join(", ") }.into());
        }
        Ok(tunables)
    }

    /// What is run, with no more needs than it has.
    fn assembled(&self, module: &Module, entry: &str, wgsl: String) -> Assembled {
        let less = |needs: Needs, need| {
            let rest = needs.without(need);
            if valid(module, rest).is_ok() { rest } else { needs }
        };
        let needs = Needs::ALL.each().fold(Needs::ALL, less);
        Assembled::own(interned(&self.name), interned(entry), wgsl, needs)
    }

    /// Checks that a binding is where the text should have it by now.
    fn check_place(
        &self,
        at: Option<naga::ResourceBinding>,
        (group, binding): (u32, u32),
    ) -> Result<()> {
        if at == Some(naga::ResourceBinding { group, binding }) {
            return Ok(());
        }
        Err(mistake(self.name.as_str(), format!("a binding at {at:?}, not at {group}, {binding}")))
    }
}

/// naga knows subgroups without being told, and does not want to be.
fn untold(mut text: String) -> String {
    const ENABLED: &str = "enable subgroups;";
    if let Some(at) = without_comments(&text).find(ENABLED) {
        text.replace_range(at..at + ENABLED.len(), &" ".repeat(ENABLED.len()));
    }
    text
}

fn setting(tunable: &Tunable, values: &[(String, String)], number: &str) -> Setting {
    let given = values.iter().find(|(name, _)| *name == tunable.name);
    let none = if tunable.dtype == DType::Bool { "true" } else { number };
    let none = || tunable.is_missing.then(|| none.to_owned());
    let value = given.map(|(_, value)| value.clone()).or_else(none);
    Setting { name: tunable.name.clone(), dtype: tunable.dtype, value }
}

/// What overrides of numbers are until they are set, the first for which a text is valid: nothing
/// that the kernel is run with.
const PLACEHOLDERS: [&str; 4] = ["1", "2", "64", "256"];

/// The dtype whose elements are these.
fn element(scalar: naga::Scalar) -> Option<DType> {
    use naga::ScalarKind::{Bool, Float, Sint, Uint};
    Some(match (scalar.kind, scalar.width) {
        (Float, 2) => DType::F16,
        (Float, 4) => DType::F32,
        (Float, 8) => DType::F64,
        (Sint, 4) => DType::I32,
        (Sint, 8) => DType::I64,
        (Uint, 4) => DType::U32,
        (Uint, 8) => DType::U64,
        (Bool, _) => DType::Bool,
        _ => return None,
    })
}

/// The bytes of a uniform as it was written, and where the lengths that follow it begin.
fn settled(module: &Module, ty: Handle<naga::Type>) -> Option<(u32, u32)> {
    let TypeInner::Struct { members, .. } = &module.types[ty].inner else { return None };
    let lengths = members.last().filter(|last| last.name.as_deref() == Some(LENGTHS))?;
    let written = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(WRITTEN));
    Some((written.map_or(0, |(_, ty)| ty.inner.size(module.to_ctx())), lengths.offset))
}

/// A storage binding of this type; or why there is none.
fn port(module: &Module, ty: Handle<naga::Type>, name: String) -> Result<Port, String> {
    const KIND: &str = "of numbers, quads or pairs of them, or atomics";
    let inner = |ty: Handle<naga::Type>| &module.types[ty].inner;
    let &TypeInner::Array { base, size, stride } = inner(ty) else {
        return Err(format!("it is no array {KIND}"));
    };
    let scalar = match *inner(base) {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => scalar,
        TypeInner::Vector { scalar, .. } => scalar,
        _ => return Err(format!("it is an array, but not {KIND}")),
    };
    let bytes = inner(base).size(module.to_ctx());
    if bytes != stride {
        return Err(format!(
            "its elements are {bytes} bytes, {stride} apart: tensors have no gaps"
        ));
    }
    let Some(dtype) = element(scalar) else { return Err(format!("it is no array {KIND}")) };
    let count = match size {
        ArraySize::Constant(count) => Some(count.get()),
        _ => None,
    };
    Ok(Port { name, dtype, stride, count, writes: false, reads: false, portable: None })
}

/// A name that lives as long as the process: each is kept once.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept = Box::leak(Box::<str>::from(name));
    names.insert(kept);
    kept
}
