//! A kernel's text for Metal, and around it what calls it here.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use wgpu::naga;
use wharf::wgpu;

use naga::back::msl;
use naga::proc::BoundsCheckPolicy;

use super::device::Module;
use super::lanes::{Lanes, Library};

/// A kernel that can be run.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) library: Library,
    pub(super) size: [u32; 3],
    /// Whether its lanes wait for each other.
    pub(super) waits: bool,
    /// Whether the last group begins when it runs next.
    pub(super) last_first: AtomicBool,
    /// Which binding is given by each number.
    pub(super) bindings: Vec<(u32, u32)>,
    /// The numbers of those whose bytes a kernel asks for, in the order it is told them.
    pub(super) sized: Vec<usize>,
}

/// What a parameter of the kernel is, by its attribute.
const ATTRIBUTES: [(&str, &str); 9] = [
    ("threadgroup_position_in_grid", "wharf::three(lane.group)"),
    ("threadgroups_per_grid", "wharf::three(lane.groups)"),
    ("thread_position_in_threadgroup", "wharf::three(lane.local)"),
    ("thread_position_in_grid", "wharf::position(lane)"),
    ("thread_index_in_threadgroup", "lane.index"),
    ("thread_index_in_simdgroup", "lane.place"),
    ("simdgroup_index_in_threadgroup", "lane.team"),
    ("simdgroups_per_threadgroup", "wharf::teams(lane)"),
    ("threads_per_simdgroup", "wharf::team_lanes"),
];

pub(super) fn program(module: &Module, zero: bool, lanes: &Lanes) -> Result<Program, String> {
    let (module, checks) = (&module.module, module.checks);
    let flags = naga::valid::ValidationFlags::all();
    let info = naga::valid::Validator::new(flags, naga::valid::Capabilities::all())
        .validate(module)
        .map_err(|error| format!("naga: {error:?}"))?;
    let entry = module.entry_points.first().ok_or("no entry point")?;
    let policy = match checks.bounds_checks {
        true => BoundsCheckPolicy::Restrict,
        false => BoundsCheckPolicy::Unchecked,
    };
    let bindings: Vec<(u32, u32)> = module
        .global_variables
        .iter()
        .filter_map(|(_, variable)| variable.binding.map(|at| (at.group, at.binding)))
        .collect();
    let slot = |i: usize| Some(u8::try_from(i).unwrap_or(u8::MAX));
    let resources = bindings.iter().enumerate().map(|(i, &(group, binding))| {
        let target = msl::BindTarget { buffer: slot(i), mutable: true, ..Default::default() };
        (naga::ResourceBinding { group, binding }, target)
    });
    // As wgpu has it for Metal.
    let options = msl::Options {
        lang_version: (2, 4),
        per_entry_point_map: [(
            entry.name.clone(),
            msl::EntryPointResources {
                resources: resources.collect(),
                sizes_buffer: slot(bindings.len()),
                ..Default::default()
            },
        )]
        .into(),
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: policy,
            buffer: policy,
            image_load: policy,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: zero,
        force_loop_bounding: checks.force_loop_bounding,
        emit_int_div_checks: checks.int_div_checks,
        ..Default::default()
    };
    let pipeline = msl::PipelineOptions {
        entry_point: Some((naga::ShaderStage::Compute, entry.name.clone())),
        ..Default::default()
    };
    let (text, written) = msl::write_string(module, &info, &options, &pipeline)
        .map_err(|error| format!("naga's Metal: {error:?}"))?;
    let name = written.entry_point_names[0].as_ref().map_err(|error| format!("{error:?}"))?;
    let (text, sized) = (read_parts(&text), sized(&text));
    let globals: Vec<_> = module.global_variables.iter().collect();
    let number = |index: usize| {
        let at = globals.iter().find(|(handle, _)| handle.index() == index)?.1.binding?;
        bindings.iter().position(|&known| known == (at.group, at.binding))
    };
    let sized: Option<Vec<usize>> = sized.into_iter().map(number).collect();
    let sized = sized.ok_or("a size of what is not bound")?;
    let waits = text.contains("barrier(") || text.contains("simd_");
    let text = text.clone() + &glue(&text, name, bindings.len(), sized.len())?;
    let library = lanes.library(&text)?;
    let (size, last_first) = (entry.workgroup_size, AtomicBool::new(false));
    Ok(Program { library, size, waits, last_first, bindings, sized })
}

/// The text in which what reads several components, `.zw`, is a function: `.some<2, 3>()`.
fn read_parts(text: &str) -> String {
    let (mut all, mut rest) = (String::new(), text);
    while let Some(dot) = rest.find('.') {
        let (before, after) = rest.split_at(dot + 1);
        let name = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
        let name = &after[..name];
        all += before;
        let components: Option<Vec<String>> =
            name.chars().map(|c| "xyzw".find(c).map(|at| at.to_string())).collect();
        match components.filter(|components| components.len() > 1) {
            Some(components) => _ = write!(all, "some<{}>()", components.join(", ")),
            None => all += name,
        }
        rest = &after[name.len()..];
    }
    all + rest
}

/// The numbers of the variables whose sizes the kernel is told.
fn sized(text: &str) -> Vec<usize> {
    let Some((_, rest)) = text.split_once("struct _mslBufferSizes {") else { return Vec::new() };
    let body = rest.split('}').next().unwrap_or_default();
    let number =
        |line: &str| line.trim().strip_prefix("uint size")?.strip_suffix(';')?.parse().ok();
    body.lines().filter_map(number).collect()
}

/// What calls the kernel with one lane.
fn glue(text: &str, name: &str, sizes_at: usize, sizes: usize) -> Result<String, String> {
    let head = format!("kernel void {name}(");
    let parameters = text.split_once(&head).and_then(|(_, rest)| rest.split_once("\n) {"));
    let (parameters, _) = parameters.ok_or_else(|| format!("no {head}"))?;
    let mut arguments = Vec::new();
    for line in parameters.lines().map(|line| line.trim_start_matches([',', ' '])) {
        if line.is_empty() {
            continue;
        }
        let attribute = line.split_once("[[").and_then(|(_, rest)| rest.split_once("]]"));
        arguments.push(match attribute.map(|(name, _)| name) {
            Some(known) if known.starts_with("buffer(") => {
                let at = known.trim_start_matches("buffer(").trim_end_matches(')');
                match at.parse() == Ok(sizes_at) {
                    true => "all_sizes".into(),
                    false => format!("wharf::Given{{buffers[{at}]}}"),
                }
            }
            Some(known) => {
                let row = ATTRIBUTES.iter().find(|(name, _)| *name == known);
                row.ok_or_else(|| format!("an attribute [[{known}]]"))?.1.into()
            }
            None => format!("wharf::Shared<{}>{{}}", arguments.len()),
        });
    }
    let mut glue = String::from("\nWHARF_SHOWN void wharf_main(const wharf::Lane& lane, ");
    glue += "void* const* buffers, const uint* sizes) {\n";
    if sizes > 0 {
        let all = (0..sizes).map(|i| format!("sizes[{i}]")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(glue, "    const _mslBufferSizes all_sizes = {{{all}}};");
    }
    let _ = writeln!(glue, "    {name}({});\n}}", arguments.join(", "));
    Ok(glue)
}
