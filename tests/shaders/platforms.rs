//! What other platforms get: naga's text for Metal, DX12 and GL, and our own text in a browser; and
//! what can be checked on a machine that runs none of them.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{env, fs};

use naga::back::{glsl, hlsl, msl, spv};
use wharf::wgsl::{Assembled, Needs, reflect};

/// To Metal, DX12 and GL, as far as these know the types.
pub(super) fn translate(kernel: &Assembled, module: &naga::Module) -> [Option<String>; 3] {
    let info = reflect::validate(kernel, module, kernel.needs).expect("valid a moment ago");
    for_browsers(kernel, module);
    let knows = |not: &[Needs]| not.iter().all(|need| !kernel.needs.contains(*need));
    let msl = knows(&[Needs::F64]).then(|| {
        metal(kernel, module, &info);
        let options = msl::Options {
            lang_version: (2, 4),
            fake_missing_bindings: true,
            ..Default::default()
        };
        msl::write_string(module, &info, &options, &Default::default())
            .unwrap_or_else(|e| panic!("{} in MSL: {e}\n{}", kernel.name, kernel.wgsl))
            .0
    });
    // naga panics on cooperative matrices in HLSL and GLSL; plans never have them there. Their
    // SPIR-V is written here because few drivers under test would make naga write it.
    let teams = kernel.needs.contains(Needs::COOPERATIVE);
    if teams {
        spirv(kernel, module, &info);
    }
    let hlsl = (!teams).then(|| {
        // FXC is asked where there is no DXC, and only for what needs nothing more.
        if kernel.needs == Needs::NONE {
            for_fxc(kernel, module, &info);
            let text = direct3d(kernel, module, &info, hlsl::ShaderModel::V5_1);
            written(kernel, module, "5_1", &text);
        }
        let text = direct3d(kernel, module, &info, hlsl::ShaderModel::V6_2);
        written(kernel, module, "6_2", &text);
        text
    });
    let glsl = knows(&[Needs::F16, Needs::INT64, Needs::COOPERATIVE]).then(|| {
        let options = glsl::Options { version: glsl::Version::Desktop(430), ..Default::default() };
        let pipeline = glsl::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: "main".into(),
            multiview: None,
        };
        let mut text = String::new();
        glsl::Writer::new(&mut text, module, &info, &options, &pipeline, Default::default())
            .and_then(|mut writer| writer.write())
            .unwrap_or_else(|e| panic!("{} in GLSL: {e}\n{}", kernel.name, kernel.wgsl));
        text
    });
    [msl, hlsl, glsl]
}

/// Checks that no constant is infinite or NaN: browsers refuse those, and naga does not.
fn for_browsers(kernel: &Assembled, module: &naga::Module) {
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    for function in entries.chain(module.functions.iter().map(|(_, function)| function)) {
        let all = &function.expressions;
        for (_, expression) in all.iter() {
            let naga::Expression::As { expr, kind: naga::ScalarKind::Float, convert: None } =
                *expression
            else {
                continue;
            };
            for bits in constant_bits(all, expr) {
                let finite = f32::from_bits(bits).is_finite();
                assert!(finite, "{} has {bits:#x} as a float\n{}", kernel.name, kernel.wgsl);
            }
        }
    }
}

/// The 32-bit integers of a constant expression; nothing for other expressions.
fn constant_bits(
    all: &naga::Arena<naga::Expression>,
    of: naga::Handle<naga::Expression>,
) -> Vec<u32> {
    match all[of] {
        naga::Expression::Literal(naga::Literal::U32(bits)) => vec![bits],
        naga::Expression::Literal(naga::Literal::I32(bits)) => vec![bits.cast_unsigned()],
        naga::Expression::Splat { value, .. } => constant_bits(all, value),
        naga::Expression::Compose { ref components, .. } => {
            components.iter().flat_map(|&part| constant_bits(all, part)).collect()
        }
        _ => Vec::new(),
    }
}

/// Translates to SPIR-V for Vulkan, with only the capabilities that are declared.
fn spirv(kernel: &Assembled, module: &naga::Module, info: &naga::valid::ModuleInfo) {
    let options = spv::Options { lang_version: (1, 5), ..Default::default() };
    let pipeline = spv::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: "main".into(),
    };
    let words = spv::write_vec(module, info, &options, Some(&pipeline))
        .unwrap_or_else(|e| panic!("{} in SPIR-V: {e}\n{}", kernel.name, kernel.wgsl));
    assert_eq!(words.first(), Some(&0x0723_0203), "{} in SPIR-V", kernel.name);
}

/// Every function of a module, its entries too, with what naga knows of it.
fn functions<'a>(
    module: &'a naga::Module,
    info: &'a naga::valid::ModuleInfo,
) -> impl Iterator<Item = (&'a naga::Function, &'a naga::valid::FunctionInfo)> {
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    let entries = module.entry_points.iter().enumerate();
    functions.chain(entries.map(|(i, entry)| (&entry.function, info.get_entry_point(i))))
}

/// Checks that nothing is in a text which naga writes so that Metal's compiler refuses it: a single
/// integer of 64 bits that is divided, some of them that are shifted by counts of 32 bits.
fn metal(kernel: &Assembled, module: &naga::Module, info: &naga::valid::ModuleInfo) {
    use naga::BinaryOperator::{Divide, Modulo, ShiftLeft, ShiftRight};
    use naga::TypeInner::{Scalar, Vector};
    for (function, info) in functions(module, info) {
        for (_, expression) in function.expressions.iter() {
            let naga::Expression::Binary { op, left, .. } = *expression else { continue };
            let refused = match (op, info[left].ty.inner_with(&module.types)) {
                (Divide | Modulo, Scalar(of)) => of.width == 8,
                (ShiftLeft | ShiftRight, Vector { scalar, .. }) => scalar.width == 8,
                _ => false,
            };
            assert!(!refused, "{} has {op:?} of 64 bits\n{}", kernel.name, kernel.wgsl);
        }
    }
}

/// Translates to HLSL. Checks that no type occurs twice: naga writes an array's constructor once
/// for each name of its type, and DX12's compilers take two of them for one function.
fn direct3d(
    kernel: &Assembled,
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
    shader_model: hlsl::ShaderModel,
) -> String {
    let options = hlsl::Options {
        shader_model,
        fake_missing_bindings: true,
        // As wgpu sets them: how many workgroups there are is a constant of the call.
        special_constants_binding: Some(hlsl::BindTarget::default()),
        zero_initialize_workgroup_memory: !kernel.clears,
        ..Default::default()
    };
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &Default::default())
        .write(module, info, None)
        .unwrap_or_else(|e| panic!("{} in HLSL: {e}\n{}", kernel.name, kernel.wgsl));
    let mut types = HashSet::new();
    for line in text.lines().filter(|line| line.starts_with("typedef")) {
        assert!(types.insert(line), "{} has {line} twice in HLSL\n{}", kernel.name, kernel.wgsl);
    }
    text
}

/// Checks that no float is taken from a vector by a number that is computed: FXC multiplies by a
/// row of ones and zeros, and what is infinite or NaN beside it comes along.
fn for_fxc(kernel: &Assembled, module: &naga::Module, info: &naga::valid::ModuleInfo) {
    use naga::TypeInner::{Pointer, ValuePointer, Vector};
    for (function, info) in functions(module, info) {
        for (_, expression) in function.expressions.iter() {
            let naga::Expression::Access { base, .. } = *expression else { continue };
            let floats = |inner: &naga::TypeInner| match inner {
                Vector { scalar, .. } => scalar.kind == naga::ScalarKind::Float,
                _ => false,
            };
            let inner = info[base].ty.inner_with(&module.types);
            let by_number = match inner {
                Pointer { base, .. } => floats(&module.types[*base].inner),
                ValuePointer { size: Some(_), scalar, .. } => {
                    scalar.kind == naga::ScalarKind::Float
                }
                inner => floats(inner),
            };
            assert!(!by_number, "{} takes a float by a number\n{}", kernel.name, kernel.wgsl);
        }
    }
}

/// Writes the text into the folder that `WHARF_HLSL` names, for compilers of Direct3D 12
/// (`scripts/windows`), unless it needs more memory of a workgroup than there is.
fn written(kernel: &Assembled, module: &naga::Module, model: &str, text: &str) {
    let Ok(folder) = env::var("WHARF_HLSL") else { return };
    let shared = module.global_variables.iter().map(|(_, variable)| variable);
    let shared = shared.filter(|variable| variable.space == naga::AddressSpace::WorkGroup);
    let bytes =
        |variable: &naga::GlobalVariable| module.types[variable.ty].inner.size(module.to_ctx());
    if shared.map(bytes).sum::<u32>() > 32 << 10 {
        return;
    }
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    let name = kernel.name.replace('/', "_");
    let file = Path::new(&folder).join(format!("{name}-{:016x}.{model}.hlsl", hash.finish()));
    fs::write(&file, text).unwrap_or_else(|error| panic!("WHARF_HLSL={folder}: {error}"));
}
